//! What a hedge and its loser cost: kept before the call, settled on every way out, held against both caps.

use super::world::{Bench, HEAD, MATRIX};
use crate::decide::spend::Billing;
use crate::decide::*;
use crate::policy::{Class, Millis, Money, Stage, Usage};

/// What each call costs at worst: 100 tokens in at $1/M, 50 out at $2/M.
const WORST: u64 = 200_000;
const USAGE: Usage = Usage { input: 90, output: 10, cached: 0 };
const BY_USAGE: u64 = 110_000;

/// A streamed request whose day has money for so many calls, and whose first call is late at 900 ms.
fn bench(rules: &str, calls: u64) -> Bench {
    let hedged = HEAD.replace("jitter none }", &format!("jitter none; hedge after p95, at least 500ms; {rules} }}"));
    let mut b = Bench::new(&format!("{hedged}{MATRIX}"), |f, _| f.stream = true);
    (b.world.p95, b.world.left) = (Some(Millis(900)), Money(WORST * calls));
    b.step(Event::Begin);
    b
}

const DAY: &str = "spend $5/day then stop";

fn late(b: &mut Bench) -> Next {
    b.at(900).step(Event::Attempt(1, Progress::HedgeDue))
}

fn hedged() -> Bench {
    let mut b = bench(DAY, 9);
    let next = late(&mut b);
    assert_eq!(b.called(&next), "b");
    assert_eq!(b.world.reserved, [(1, Money(WORST)), (2, Money(WORST))]);
    b
}

fn bills(b: &Bench) -> Vec<Billing> {
    b.run.trail().iter().filter_map(|step| step.result?.bill).map(|bill| bill.by).collect()
}

#[test]
fn who_loses_costs_the_worst_from_the_moment_at_which_it_lost() {
    for (winner, loser) in [(1, 2), (2, 1)] {
        let mut b = hedged();
        b.step(Event::Attempt(loser, Progress::Headers));
        b.step(Event::Attempt(winner, Progress::Output));
        assert_eq!(b.world.billed, [(loser, Money(WORST))], "what it had read of its prompt nobody says");
        // Whatever is still heard of it is no second bill.
        b.step(Event::Attempt(loser, Progress::Counted(USAGE)));
        b.step(Event::Attempt(loser, Progress::Served));
        b.step(Event::Attempt(winner, Progress::Counted(USAGE)));
        b.step(Event::Attempt(winner, Progress::Served));
        assert_eq!(b.world.billed, [(loser, Money(WORST)), (winner, Money(BY_USAGE))]);
        assert_eq!(b.run.billed(), Some(Money(WORST + BY_USAGE)));
    }
}

#[test]
fn so_it_is_with_whole_answers() {
    for (winner, loser) in [(1, 2), (2, 1)] {
        let mut b = hedged();
        b.step(Event::Attempt(winner, Progress::Counted(USAGE)));
        assert!(matches!(b.step(Event::Attempt(winner, Progress::Served)), Next::Finish));
        assert_eq!(b.world.billed, [(loser, Money(WORST)), (winner, Money(BY_USAGE))]);
    }
}

#[test]
fn each_other_end_settles_both() {
    let failed = |class, stage| Progress::Failed(Failure::of(class, stage));
    // The client leaves, and the deadline comes.
    for end in [Event::ClientGone, Event::Attempt(2, Progress::TimedOut(Timer::Deadline))] {
        let mut b = hedged();
        b.step(end);
        assert!(b.world.kept().is_empty());
        assert_eq!(bills(&b), [Billing::Worst, Billing::Worst]);
    }
    // One is refused in a way that ends both: it was not processed, and the other may have been.
    let mut b = hedged();
    b.step(Event::Attempt(2, failed(Class::InvalidRequest, Stage::Rejected)));
    assert_eq!(b.world.billed, [(2, Money(0)), (1, Money(WORST))]);
    // Both fail, one after the other, and so does what follows.
    let mut b = hedged();
    b.step(Event::Attempt(1, failed(Class::Connect, Stage::NotSent)));
    assert_eq!(b.world.kept(), [2]);
    let next = b.step(Event::Attempt(2, failed(Class::TimeoutHeaders, Stage::Sent)));
    assert_eq!(b.called(&next), "c");
    assert_eq!(b.world.kept(), [3]);
    b.step(Event::Attempt(3, failed(Class::Connect, Stage::NotSent)));
    assert_eq!(b.world.billed, [(1, Money(0)), (2, Money(WORST)), (3, Money(0))]);
    // After output the client leaves: the loser was settled before.
    let mut b = hedged();
    b.step(Event::Attempt(2, Progress::Output));
    b.step(Event::ClientGone);
    assert_eq!(b.world.billed, [(1, Money(WORST)), (2, Money(WORST))]);
}

#[test]
fn a_hedge_that_the_day_does_not_cover_is_not_made_and_costs_no_token() {
    let mut b = bench(DAY, 1);
    assert!(matches!(late(&mut b), Next::GoOn));
    assert_eq!((b.run.attempts(), b.world.paid.len(), b.world.reserved.len()), (1, 0, 1));
    // The late call goes on, and its failure is told as what it is once there is money again.
    b.world.left = Money(WORST);
    let next = b.at(1_000).fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "b");
    assert!(b.run.trail()[1].passed.is_empty(), "that there was too little before is no reason now");
}

#[test]
fn who_is_too_dear_for_a_hedge_is_passed_over_for_one_who_is_not() {
    let hedged = HEAD.replace("jitter none }", &format!("jitter none; hedge after p95, at least 500ms; {DAY} }}"));
    let text = format!("{hedged}{MATRIX}")
        .replace("target b { model m; provider q }", "target b { model m; provider q; price $9/M in, $9/M out }")
        .replace("target c { model n; provider q; upstream \"c-big\" }", "target c { model m; provider q; region eu }");
    let mut b = Bench::new(&text, |f, _| f.stream = true);
    (b.world.p95, b.world.left) = (Some(Millis(900)), Money(WORST * 2));
    b.step(Event::Begin);
    let next = late(&mut b);
    assert_eq!(b.called(&next), "c");
    let passed: Vec<_> = b.run.trail()[1].passed.iter().map(|p| p.why.to_string()).collect();
    assert_eq!(passed, ["spend"]);
}

#[test]
fn a_hedge_that_was_not_let_in_gives_its_money_back() {
    let mut b = bench(DAY, 9);
    b.world.taken.push((crate::policy::TargetId(b.id("b") as u16), Reason::Busy));
    assert!(matches!(late(&mut b), Next::GoOn));
    assert_eq!(b.world.billed, [(2, Money(0))]);
    assert_eq!(b.world.kept(), [1]);
}

#[test]
fn the_caps_of_a_request_count_a_hedge_like_any_call() {
    // Money for two calls: the hedge is one of them, and nothing is left for a third.
    let mut b = bench("spend $0.0004/request", 9);
    let next = late(&mut b);
    assert_eq!(b.called(&next), "b");
    b.step(Event::Attempt(1, Progress::Failed(Failure::of(Class::Connect, Stage::NotSent))));
    let next = b.fails(Class::Connect, Stage::NotSent);
    assert!(matches!(next, Next::Refuse(_)), "{next:?}");
    assert_eq!((b.run.attempts(), b.run.spent()), (2, Money(2 * WORST)));
    let mut b = bench("spend $0.0006/request", 9);
    late(&mut b);
    b.step(Event::Attempt(1, Progress::Failed(Failure::of(Class::Connect, Stage::NotSent))));
    let next = b.fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "c");
}
