//! What timers say about a target: the granted-time rule, timer by timer.

use super::world::{Bench, HEAD, MATRIX};
use crate::decide::*;
use crate::policy::Millis;
use crate::policy::class::Blame;

/// Nothing but the deadline of 10s and the `attempt-timeout` of 4s.
const PLAIN: &str = "idle 15s";

/// A policy whose budget has these limits too.
fn policy(limits: &str) -> String {
    format!("{HEAD}{MATRIX}").replace("reserve 3s", &format!("reserve 3s; {limits}"))
}

/// What this timer of the first call says when it runs out, where the caller gives `left` milliseconds in all.
fn said(limits: &str, stream: bool, left: u64, timer: Timer) -> Blame {
    let mut b = Bench::new(&policy(limits), |facts, _| {
        facts.stream = stream;
        facts.deadline = Some(Millis(left));
    });
    let Next::Call(call) = b.step(Event::Begin) else { panic!("no call in {left}ms") };
    let due = match timer {
        Timer::Connect => call.limits.connect_by,
        Timer::Headers => call.limits.headers_by,
        Timer::FirstOutput => call.limits.output_by,
        Timer::Idle => call.limits.output_by.min(call.limits.idle),
        Timer::Total => call.limits.total_by,
        Timer::Deadline => call.limits.deadline,
    };
    b.at(due.0).last(Progress::TimedOut(timer));
    b.world.settled[0].blame
}

// The reserve shrinks in proportion: of 2500ms a call is granted 1750.

#[test]
fn a_timeout_counts_only_if_a_fair_part_was_granted() {
    assert_eq!(said(PLAIN, false, 10_000, Timer::Headers), Blame::Failure);
    assert_eq!(said(PLAIN, false, 2_500, Timer::Headers), Blame::Neutral, "1.75s of 4s");
    // 2857ms less three tenths of it are 2000ms: exactly half of 4s.
    assert_eq!(said(PLAIN, false, 2_858, Timer::Headers), Blame::Failure, "half is enough");
    assert_eq!(said(PLAIN, false, 2_854, Timer::Headers), Blame::Neutral, "and a little less is not");
}

#[test]
fn each_timer_is_compared_with_its_own_limit() {
    // Headers had all of their second, whatever the whole call was granted.
    assert_eq!(said("headers 1s", false, 2_500, Timer::Headers), Blame::Failure);
    // The answer was granted 1.75s of its 4s: that headers are due after one does not make it more.
    assert_eq!(said("headers 1s", false, 2_500, Timer::Idle), Blame::Neutral);
    assert_eq!(said("first-token 2s", true, 2_500, Timer::FirstOutput), Blame::Failure, "1.75s of 2s");
    assert_eq!(said("first-token 2s", false, 2_500, Timer::Idle), Blame::Neutral, "no stream, no first token");
}

#[test]
fn a_connection_that_had_no_time_is_no_witness_either() {
    assert_eq!(said(PLAIN, false, 10_000, Timer::Connect), Blame::Failure);
    assert_eq!(said(PLAIN, false, 1_500, Timer::Connect), Blame::Failure, "1.05s of 2s");
    assert_eq!(said(PLAIN, false, 1_300, Timer::Connect), Blame::Neutral, "0.91s of 2s");
}

#[test]
fn silence_and_the_length_of_a_stream_are_never_cut_short_by_the_caller() {
    assert_eq!(said("idle 500ms", false, 2_500, Timer::Idle), Blame::Failure, "silent for all of its half second");
    assert_eq!(said(PLAIN, true, 2_500, Timer::Idle), Blame::Failure);
    assert_eq!(said("total 8s", true, 2_500, Timer::Total), Blame::Failure);
    assert_eq!(said(PLAIN, false, 2_500, Timer::Deadline), Blame::Neutral);
}
