//! Two calls of one request.

use super::world::{Bench, HEAD, MATRIX};
use crate::decide::spend::Billing;
use crate::decide::*;
use crate::policy::class::{Blame, Verb};
use crate::policy::{Class, Effects, Millis, Money, Stage, Usage};
use proptest::prelude::*;

fn policy() -> String {
    let hedged = HEAD.replace("jitter none }", "jitter none; hedge after p95, at least 500ms }");
    format!("{hedged}{MATRIX}")
}

/// A streamed request whose targets usually have output after 900 ms.
fn bench_of(text: &str) -> Bench {
    let mut b = Bench::new(text, |f, _| f.stream = true);
    b.world.p95 = Some(Millis(900));
    b
}

fn bench() -> Bench {
    bench_of(&policy())
}

fn late(b: &mut Bench, attempt: u32) -> Next {
    b.step(Event::Attempt(attempt, Progress::HedgeDue))
}

fn at(next: &Next) -> Option<Millis> {
    match next {
        Next::Call(call) => call.hedge_at,
        other => panic!("no call but {other:?}"),
    }
}

/// A request whose second call was started because the first was late.
fn hedged() -> Bench {
    let mut b = bench();
    b.step(Event::Begin);
    let next = late(b.at(900), 1);
    assert_eq!(b.called(&next), "b");
    b
}

fn blames(b: &Bench) -> Vec<(String, Blame)> {
    b.world.settled.iter().map(|s| (b.graph.target_name(s.target).to_owned(), s.blame)).collect()
}

#[test]
fn a_call_is_late_after_the_p95_or_the_least() {
    let mut b = bench();
    assert_eq!(at(&b.at(100).step(Event::Begin)), Some(Millis(1_000)));
    let mut b = bench();
    b.world.p95 = Some(Millis(40));
    assert_eq!(at(&b.step(Event::Begin)), Some(Millis(500)));
    let mut b = bench();
    b.world.p95 = None;
    assert_eq!(at(&b.step(Event::Begin)), None, "nothing is known of the target");
    let mut b = bench();
    b.world.p95 = Some(Millis(10_000));
    assert_eq!(at(&b.step(Event::Begin)), None, "after the deadline nothing begins");
    let mut b = bench_of(&format!("{HEAD}{MATRIX}"));
    assert_eq!(at(&b.step(Event::Begin)), None, "off unless the budget says so");
}

#[test]
fn the_first_to_have_output_wins_and_the_other_is_called_off() {
    let mut b = hedged();
    b.step(Event::Attempt(2, Progress::Headers));
    let next = b.at(1_100).step(Event::Attempt(2, Progress::Output));
    assert!(matches!(next, Next::CallOff { attempt: 1 }), "{next:?}");
    assert!(b.run.committed());
    assert_eq!(blames(&b), [("a".into(), Blame::Neutral)]);
    assert_eq!(b.world.settled[0].latency, None, "how long it would have taken nobody knows");
    // Whatever is still heard of the loser says nothing.
    for progress in [Progress::Output, Progress::Served, Progress::Failed(Failure::of(Class::Connect, Stage::Sent))] {
        assert!(matches!(b.step(Event::Attempt(1, progress)), Next::GoOn));
    }
    assert!(matches!(b.at(1_500).step(Event::Attempt(2, Progress::Served)), Next::Finish));
    assert_eq!(b.run.target().map(|t| b.graph.target_name(t)), Some("b"));
    assert_eq!(blames(&b)[1..], [("b".into(), Blame::Success)]);
    assert_eq!(b.world.settled[1].latency, Some(vitals::Latency::FirstOutput(Millis(200))), "from its own beginning");
    let trail: Vec<_> = b.run.trail().iter().map(|s| (s.action, s.result.map(|r| r.lost))).collect();
    assert_eq!(trail, [(StepAction::Call, Some(true)), (StepAction::Hedge, Some(false))]);
}

#[test]
fn the_late_call_may_win_after_all() {
    let mut b = hedged();
    let next = b.at(1_000).step(Event::Attempt(1, Progress::Output));
    assert!(matches!(next, Next::CallOff { attempt: 2 }), "{next:?}");
    assert!(matches!(b.at(1_500).step(Event::Attempt(1, Progress::Served)), Next::Finish));
    assert_eq!(b.run.target().map(|t| b.graph.target_name(t)), Some("a"));
    assert_eq!(b.run.attempts(), 2);
}

#[test]
fn of_whole_answers_the_first_complete_one_wins() {
    let mut b = hedged();
    assert!(matches!(b.at(1_000).step(Event::Attempt(2, Progress::Served)), Next::Finish));
    assert_eq!(blames(&b), [("a".into(), Blame::Neutral), ("b".into(), Blame::Success)]);
}

#[test]
fn a_failure_before_the_hedge_is_an_ordinary_one() {
    let mut b = bench();
    b.step(Event::Begin);
    let next = b.at(300).fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "b");
    assert_eq!(b.run.trail()[1].action, StepAction::Row(Verb::Failover));
    // That call may be late in its turn.
    assert_eq!(at(&next), Some(Millis(1_200)));
    assert!(matches!(late(b.at(900), 1), Next::GoOn), "the first call is no more");
}

#[test]
fn whoever_fails_leaves_the_other_running() {
    for (failing, other) in [(1, 2), (2, 1)] {
        let mut b = hedged();
        let failed = Progress::Failed(Failure::of(Class::Overloaded, Stage::Rejected));
        assert!(matches!(b.at(1_000).step(Event::Attempt(failing, failed)), Next::GoOn));
        assert_eq!(blames(&b).len(), 1, "its ledgers are settled at once");
        assert!(
            matches!(b.at(1_200).step(Event::Attempt(other, Progress::Output)), Next::GoOn),
            "nobody is left to end"
        );
        assert!(matches!(b.at(1_300).step(Event::Attempt(other, Progress::Served)), Next::Finish));
    }
}

#[test]
fn when_both_fail_the_matrix_decides_and_the_first_is_told_of() {
    let mut b = hedged();
    let failed = |class| Progress::Failed(Failure::of(class, Stage::Rejected));
    b.at(1_000).step(Event::Attempt(1, failed(Class::RateLimit)));
    let Next::Wait { until } = b.at(1_100).step(Event::Attempt(2, failed(Class::Overloaded))) else { panic!() };
    assert_eq!(until, Millis(1_300), "a retry where the last of them ran, with a backoff of its own");
    let next = b.at(1_300).step(Event::Woke);
    assert_eq!((b.called(&next).as_str(), at(&next)), ("b", None), "one hedge for each request");
    // Both targets of the model were used: what is left is the other model.
    let next = b.at(1_400).fails(Class::Overloaded, Stage::Rejected);
    assert_eq!(b.called(&next), "c");
    let Next::Refuse(refused) = b.at(1_500).fails(Class::Overloaded, Stage::Rejected) else { panic!() };
    assert_eq!((refused.why.word(), refused.attempt, b.run.attempts()), ("rate-limit", Some(1), 4));
}

#[test]
fn what_is_not_to_be_tried_again_ends_both() {
    let mut b = hedged();
    let failed = Progress::Failed(Failure::of(Class::InvalidRequest, Stage::Rejected));
    let Next::Refuse(refused) = b.at(1_000).step(Event::Attempt(2, failed)) else { panic!() };
    assert_eq!((refused.status, refused.attempt), (400, Some(2)));
    assert_eq!(blames(&b), [("b".into(), Blame::Neutral), ("a".into(), Blame::Neutral)]);
    assert!(b.run.trail()[0].result.unwrap().lost);
}

#[test]
fn whatever_ends_the_request_ends_both_calls() {
    let mut b = hedged();
    assert!(matches!(b.step(Event::ClientGone), Next::Abandon));
    assert_eq!(blames(&b).len(), 2);
    assert!(b.run.trail().iter().all(|s| s.result.is_some_and(|r| !r.lost)), "neither lost to the other");
    let mut b = hedged();
    let Next::Refuse(refused) = b.at(10_000).step(Event::Attempt(2, Progress::TimedOut(Timer::Deadline))) else {
        panic!()
    };
    assert_eq!((refused.status, blames(&b).len()), (504, 2));
}

#[test]
fn a_hedge_needs_everything() {
    fn none(what: &str, change: impl FnOnce(&mut Bench)) {
        let mut b = bench();
        b.step(Event::Begin);
        change(&mut b);
        assert!(matches!(late(b.at(900), 1), Next::GoOn), "{what}");
        assert_eq!(b.run.attempts(), 1, "{what}");
    }
    let standing = |b: &mut Bench, change: fn(&mut Standing)| change(&mut b.world.standings[1]);
    none("a token", |b| b.world.tokens = false);
    none("healthy", |b| standing(b, |s| s.health = Health::Degraded));
    none("healthy, whatever is tolerated", |b| {
        standing(b, |s| (s.health, s.tolerated) = (Health::Degraded, true));
    });
    none("no ramp", |b| standing(b, |s| s.ramp = Ramp::Admitted));
    none("no trial", |b| standing(b, |s| s.breaker = Breaker::HalfOpen { slot: true }));
    none("no hold", |b| standing(b, |s| s.hold_until = Millis(60_000)));
    none("no output", |b| _ = b.step(Event::Attempt(1, Progress::Output)));
    none("the door still open", |b| b.world.taken.push((crate::policy::TargetId(1), Reason::Busy)));
    for (what, from, to) in [
        ("an attempt", "attempts 4", "attempts 1"),
        ("a replay", "attempts 4", "attempts 4; replays 0"),
        ("another deployment", "target b { model m; provider q }", "target b { model m; provider p; upstream \"m\" }"),
        ("the same model", "target b { model m; provider q }", "target b { model n; provider q }"),
        ("the kill switch off", "budget short }", "budget short; failover no }"),
        ("no side effects", "budget short }", "budget short; side-effects unknown }"),
        ("money for both", "attempts 4", "attempts 4; spend $0.0003/request"),
        ("time", "min-attempt", "min-attempt"),
    ] {
        let mut b = bench_of(&policy().replace(from, to));
        let began = b.step(Event::Begin);
        let when = if what == "time" { Millis(9_600) } else { at(&began).unwrap() };
        assert!(matches!(late(b.at(when.0), 1), Next::GoOn), "{what}");
    }
    let mut b = Bench::new(&policy(), |f, _| (f.stream, f.effects) = (true, Effects::Unknown));
    b.world.p95 = Some(Millis(900));
    b.step(Event::Begin);
    assert!(matches!(late(b.at(900), 1), Next::GoOn), "a request that says so itself");
}

#[test]
fn the_next_target_stands_in_where_the_first_is_not_well() {
    let text = policy()
        .replace("target c { model n; provider q; upstream \"c-big\" }", "target c { model m; provider q; region eu }");
    let mut b = bench_of(&text);
    b.step(Event::Begin);
    b.world.standings[1].health = Health::Degraded;
    let next = late(b.at(900), 1);
    assert_eq!(b.called(&next), "c");
    let passed: Vec<_> = b.run.trail()[1].passed.iter().map(|p| p.why.to_string()).collect();
    assert_eq!(passed, ["degraded"]);
}

#[test]
fn a_hedge_is_no_arrival_at_its_target() {
    let b = hedged();
    assert_eq!(b.world.arrivals, [true, false], "it is paid for, and pays for nobody");
    assert_eq!(b.world.paid, [crate::policy::TargetId(1)]);
}

/// What may happen next, whatever it is.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Late(u32),
    Headers(u32),
    Output(u32),
    Counted(u32),
    Served(u32),
    Fails(u32, usize, usize),
    TimesOut(u32, usize),
    Wakes,
    Leaves,
}

fn happens() -> impl Strategy<Value = Happens> {
    let n = 1u32..5;
    prop_oneof![
        4 => n.clone().prop_map(Happens::Late),
        2 => n.clone().prop_map(Happens::Headers),
        1 => n.clone().prop_map(Happens::Output),
        1 => n.clone().prop_map(Happens::Counted),
        1 => n.clone().prop_map(Happens::Served),
        4 => (n.clone(), 0..Class::ALL.len(), 0usize..4).prop_map(|(n, c, s)| Happens::Fails(n, c, s)),
        2 => (n, 0usize..6).prop_map(|(n, t)| Happens::TimesOut(n, t)),
        4 => Just(Happens::Wakes),
        1 => Just(Happens::Leaves),
    ]
}

const TIMERS: [Timer; 6] =
    [Timer::Connect, Timer::Headers, Timer::FirstOutput, Timer::Idle, Timer::Total, Timer::Deadline];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_in_whatever_order(
        steps in prop::collection::vec((0u64..900, happens()), 1..25), tokens in 0u32..4, stands in 0usize..4,
        money in 0u64..5,
    ) {
        let mut b = bench_of(&policy().replace("hedge after", "spend $5/day; hedge after"));
        b.world.purse = Some(tokens);
        b.world.left = Money(200_000 * money);
        let healths = [Health::Healthy, Health::Degraded, Health::Down];
        if let Some(health) = healths.get(stands) {
            b.world.standings[1].health = *health;
        }
        let mut running: Vec<u32> = Vec::new();
        let mut next = b.step(Event::Begin);
        let mut now = 0;
        for (pause, what) in steps {
            let committed = b.run.committed();
            match next {
                Next::Call(call) => {
                    prop_assert!(!committed, "a call after output");
                    running.push(call.attempt);
                }
                Next::CallOff { attempt } => {
                    prop_assert!(running.contains(&attempt));
                    running.retain(|n| *n != attempt);
                }
                Next::GoOn => {}
                Next::Wait { .. } => prop_assert!(running.is_empty(), "it waits while a call runs"),
                Next::Finish | Next::Refuse(_) | Next::Break(_) | Next::Abandon => running.clear(),
            }
            prop_assert!(running.len() <= 2 && (!committed || running.len() <= 1), "{running:?}");
            prop_assert_eq!(b.world.inside(), running.len(), "permits are those of the calls that run");
            let mut kept = b.world.kept();
            kept.sort_unstable();
            running.sort_unstable();
            prop_assert_eq!(&kept, &running, "money is kept for the calls that run");
            if b.run.outcome().is_some() {
                break;
            }
            now += pause;
            let waits = matches!(next, Next::Wait { .. });
            b.at(now);
            let event = match what {
                Happens::Late(n) => Event::Attempt(n, Progress::HedgeDue),
                Happens::Headers(n) => Event::Attempt(n, Progress::Headers),
                Happens::Output(n) => Event::Attempt(n, Progress::Output),
                Happens::Counted(n) => {
                    Event::Attempt(n, Progress::Counted(Usage { input: 9, output: 9, cached: 0 }))
                }
                Happens::Served(n) => Event::Attempt(n, Progress::Served),
                Happens::Fails(n, class, stage) => {
                    Event::Attempt(n, Progress::Failed(Failure::of(Class::ALL[class], Stage::ALL[stage])))
                }
                Happens::TimesOut(n, timer) => Event::Attempt(n, Progress::TimedOut(TIMERS[timer])),
                Happens::Wakes if !waits => {
                    next = Next::GoOn;
                    continue;
                }
                Happens::Wakes => Event::Woke,
                Happens::Leaves => Event::ClientGone,
            };
            if let Event::Attempt(n, Progress::Failed(_) | Progress::TimedOut(_) | Progress::Served) = event {
                running.retain(|running| *running != n);
            }
            let after = b.step(event);
            // While it waits nothing of a call is heard that is still running.
            next = if waits && matches!(after, Next::GoOn) { next } else { after };
        }
        if b.run.outcome().is_none() {
            b.step(Event::ClientGone);
        }
        prop_assert_eq!(b.world.inside(), 0, "each permit is settled on every way out");
        prop_assert_eq!(b.world.settled.len(), b.world.arrivals.len(), "and exactly once");
        prop_assert_eq!(b.world.kept(), Vec::<u32>::new(), "so is the money, on every way out");
        prop_assert!(u64::from(b.run.attempts()) <= money, "no call beyond the day");
        let mut bills = b.run.trail().iter().filter_map(|s| Some((s.result?.lost, s.result?.bill?.by)));
        prop_assert!(bills.all(|(lost, by)| !lost || by != Billing::Nothing), "who lost is not free");
        let trail = b.run.trail();
        let calls = trail.iter().filter(|s| s.target.is_some()).count();
        prop_assert_eq!(calls, usize::try_from(b.run.attempts()).unwrap());
        prop_assert!(calls <= 4, "attempts cap");
        let hedges = trail.iter().filter(|s| s.action == StepAction::Hedge);
        prop_assert!(hedges.clone().count() <= 1);
        let paid = trail.iter().filter(|s| {
            matches!(s.action, StepAction::Hedge | StepAction::Row(Verb::Retry | Verb::Wait))
        });
        prop_assert!(paid.count() <= usize::try_from(tokens).unwrap(), "each repeat and hedge is paid for");
        prop_assert!(trail.iter().all(|s| s.target.is_none() || s.result.is_some()), "each call has its end");
        if stands < healths.len() && healths[stands] != Health::Healthy {
            prop_assert_eq!(hedges.count(), 0);
        }
    }
}
