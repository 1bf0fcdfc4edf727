//! What a day may cost, on every way to a call.

use super::world::{Bench, HEAD, MATRIX};
use crate::decide::spend::Billing;
use crate::decide::*;
use crate::policy::class::Verb;
use crate::policy::{Class, Millis, Money, Stage, Usage};

/// What each call costs at worst: 100 tokens in at $1/M, 50 out at $2/M.
const WORST: u64 = 200_000;

fn policy(then: &str) -> String {
    HEAD.replace("jitter none }", &format!("jitter none; spend $5/day {then} }}"))
        + "target d { model n; provider p; upstream \"d\"; price $0/M in, $0/M out }\ntier cheap { chain { d; c } }\n"
        + MATRIX
}

/// A request whose day has money for so many calls.
fn bench(then: &str, calls: u64) -> Bench {
    let mut bench = Bench::new(&policy(then), |_, _| {});
    bench.world.left = Money(WORST * calls);
    bench
}

fn spent(next: &Next) -> (&'static str, u16, Option<Millis>, bool) {
    let Next::Refuse(refused) = next else { panic!("{next:?}") };
    (refused.why.word(), refused.status, refused.retry_after, refused.answered)
}

const REFUSED: (&str, u16, Option<Millis>, bool) = ("spend", 503, Some(Millis(3_600_000)), true);

#[test]
fn the_first_call_is_not_made_that_the_day_does_not_cover() {
    let mut b = bench("then stop", 0);
    let next = b.step(Event::Begin);
    assert_eq!(spent(&next), REFUSED);
    assert_eq!(b.run.attempts(), 0);
    let skipped: Vec<_> = b.run.trail()[0].passed.iter().map(|p| p.why.to_string()).collect();
    assert_eq!(skipped, ["spend", "spend", "spend"]);
    assert!(b.world.reserved.is_empty());
}

#[test]
fn nor_any_that_a_failure_leads_to() {
    let ways: [(&str, Class, Stage); 4] = [
        ("retry", Class::Overloaded, Stage::Rejected),
        ("failover", Class::Connect, Stage::NotSent),
        ("wait", Class::RateLimit, Stage::Rejected),
        ("fallback", Class::ContextOverflow, Stage::Rejected),
    ];
    for (way, class, stage) in ways {
        // With money for a second call it is made …
        let mut b = bench("then stop", 2);
        b.step(Event::Begin);
        let next = b.fails(class, stage);
        let next = if let Next::Wait { until } = next { b.at(until.0).step(Event::Woke) } else { next };
        assert_eq!(b.called(&next).len(), 1, "{way}");
        assert_eq!(b.run.trail().last().unwrap().action.word(), way);
        assert_eq!(b.world.reserved, [(1, Money(WORST)), (2, Money(WORST))], "{way}");
        // … and without it is not.
        let mut b = bench("then stop", 1);
        b.step(Event::Begin);
        let next = b.fails(class, stage);
        assert_eq!(spent(&next), REFUSED, "{way}");
        assert_eq!(b.run.attempts(), 1, "{way}");
    }
}

#[test]
fn money_that_others_took_while_a_pause_ran_is_gone() {
    let mut b = bench("then stop", 2);
    b.step(Event::Begin);
    let Next::Wait { until } = b.fails(Class::Overloaded, Stage::Rejected) else { panic!() };
    b.world.left = Money(0);
    let next = b.at(until.0).step(Event::Woke);
    assert_eq!(spent(&next), REFUSED);
}

#[test]
fn a_key_of_a_pool_costs_like_any_call() {
    let pool = policy("then stop")
        .replace("provider p { api openai-chat;", "provider p { api openai-chat; keys [env A, env B];")
        .replace("auth                     -> failover", "auth -> next-key");
    let mut b = Bench::new(&pool, |_, _| {});
    (b.world.left, b.world.keys) = (Money(WORST), 2);
    b.step(Event::Begin);
    let next = b.fails(Class::Auth, Stage::Rejected);
    assert_eq!(spent(&next), REFUSED);
}

#[test]
fn who_is_too_dear_for_what_is_left_is_passed_over_for_one_who_is_not() {
    let dear = policy("then stop")
        .replace("target a { model m; provider p }", "target a { model m; provider p; price $9/M in, $9/M out }");
    let mut b = Bench::new(&dear, |_, _| {});
    b.world.left = Money(WORST);
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "b");
    assert_eq!(b.run.trail()[0].passed[0].why.to_string(), "spend");
}

#[test]
fn a_call_that_was_not_let_in_gives_its_money_back() {
    let mut b = bench("then stop", 9);
    b.world.taken.push((crate::policy::TargetId(b.id("a") as u16), Reason::TrialBusy));
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "b");
    assert_eq!(b.world.billed, [(1, Money(0))]);
    assert_eq!(b.world.reserved.len(), 2);
}

#[test]
fn when_it_is_spent_the_other_tier_is_asked_from_its_start() {
    let mut b = bench("then use cheap", 0);
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "d");
    // Not held against the cap, and counted all the same.
    assert_eq!(b.world.reserved, [(1, Money(0))]);
    // Its chain is the request's from here on.
    let next = b.fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "c");
    assert_eq!(b.world.reserved, [(1, Money(0)), (2, Money(WORST))]);
}

#[test]
fn in_the_middle_of_a_request_that_is_a_fallback() {
    for (class, stage) in [(Class::Overloaded, Stage::Rejected), (Class::Connect, Stage::NotSent)] {
        let mut b = bench("then use cheap", 1);
        let next = b.step(Event::Begin);
        assert_eq!(b.called(&next), "a");
        let next = b.fails(class, stage);
        assert_eq!(b.called(&next), "d");
        let step = &b.run.trail()[1];
        assert_eq!(step.action, StepAction::Row(Verb::Fallback));
        assert!(step.passed.iter().any(|p| p.why.to_string() == "spend"), "{:?}", step.passed);
    }
    // A kill switch for fallback holds for this one too.
    let mut b =
        Bench::new(&policy("then use cheap").replace("budget short }", "budget short; fallback no }"), |_, _| {});
    b.world.left = Money(WORST);
    b.step(Event::Begin);
    let Next::Refuse(refused) = b.fails(Class::Connect, Stage::NotSent) else { panic!() };
    assert_eq!((refused.why.word(), refused.status), ("connect", 503));
}

#[test]
fn a_row_of_the_other_tier_does_not_lead_around_the_cap() {
    let around = policy("then use cheap")
        .replace("connect, timeout-*       -> failover, fallback", "connect, timeout-* -> fallback to t");
    let mut b = Bench::new(&around, |_, _| {});
    b.world.left = Money(0);
    b.step(Event::Begin);
    let next = b.fails(Class::Connect, Stage::NotSent);
    assert_eq!(spent(&next), REFUSED);
}

fn billed(b: &Bench) -> Vec<Billing> {
    b.run.trail().iter().filter_map(|step| step.result?.bill).map(|bill| bill.by).collect()
}

#[test]
fn a_call_is_settled_with_what_it_cost_and_with_the_worst_where_nobody_knows() {
    let usage = Usage { input: 90, output: 10, cached: 0 };
    let mut b = bench("then stop", 9);
    b.step(Event::Begin);
    b.fails(Class::Connect, Stage::NotSent);
    b.fails(Class::TimeoutHeaders, Stage::Sent);
    b.step(Event::Attempt(3, Progress::Counted(usage)));
    b.step(Event::Attempt(3, Progress::Served));
    assert_eq!(b.world.billed, [(1, Money(0)), (2, Money(WORST)), (3, Money(110_000))]);
    assert_eq!(billed(&b), [Billing::Nothing, Billing::Worst, Billing::Usage]);
    assert_eq!(b.run.billed(), Some(Money(WORST + 110_000)));
    // Served without a word on tokens, and left in the middle.
    for end in [Event::Attempt(1, Progress::Served), Event::ClientGone] {
        let mut b = bench("then stop", 9);
        b.step(Event::Begin);
        b.step(end);
        assert_eq!(b.world.billed, [(1, Money(WORST))]);
        assert_eq!(billed(&b), [Billing::Worst]);
    }
}

#[test]
fn what_another_target_cost_more_is_all_that_was_billed_less_what_the_first_would_have_cost() {
    let usage = Usage { input: 100, output: 50, cached: 0 };
    let prices = |a: &str, b: &str| {
        format!("{HEAD}{MATRIX}")
            .replace("target a { model m; provider p }", &format!("target a {{ model m; provider p; {a} }}"))
            .replace("target b { model m; provider q }", &format!("target b {{ model m; provider q; {b} }}"))
    };
    let delta = |text: &str, stage: Stage, usage: Option<Usage>| {
        let mut b = Bench::new(text, |_, _| {});
        b.step(Event::Begin);
        b.fails(Class::Connect, stage);
        if let Some(usage) = usage {
            b.step(Event::Attempt(2, Progress::Counted(usage)));
        }
        b.step(Event::Attempt(2, Progress::Served));
        b.run.cost_delta(&b.graph)
    };
    let dearer = prices("price $1/M in, $2/M out", "price $3/M in, $6/M out");
    assert_eq!(delta(&dearer, Stage::NotSent, Some(usage)), Some(400_000));
    // A call that may have been billed beside it is part of it.
    assert_eq!(delta(&dearer, Stage::Sent, Some(usage)), Some(600_000));
    assert_eq!(delta(&dearer, Stage::NotSent, None), None, "no tokens");
    let cheaper = prices("price $3/M in, $6/M out", "price $1/M in, $2/M out");
    assert_eq!(delta(&cheaper, Stage::NotSent, Some(usage)), Some(-400_000));
    let unpriced = HEAD.replace("; price $1/M in, $2/M out", "") + MATRIX;
    assert_eq!(delta(&unpriced, Stage::NotSent, Some(usage)), None, "no prices");
    // The first one served, however often it was asked.
    let mut b = Bench::new(&dearer, |_, _| {});
    b.step(Event::Begin);
    b.step(Event::Attempt(1, Progress::Counted(usage)));
    b.step(Event::Attempt(1, Progress::Served));
    assert_eq!(b.run.cost_delta(&b.graph), None);
}
