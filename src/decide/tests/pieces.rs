//! The arithmetic under the runs.

use crate::decide::backoff::{Curve, Pauses};
use crate::decide::deadline::{Fit, TimeBudget, evidence};
use crate::decide::hold::Hold;
use crate::decide::select::{self, Pass};
use crate::decide::{Admission, Breaker, Health, Limits, Phase, Ramp, Reason, Standing, Timer, draw, ramp};
use crate::policy::class::Blame;
use crate::policy::contract::Pattern;
use crate::policy::{DicePurpose, Jitter, Millis, Percent};
use proptest::prelude::*;

#[test]
fn a_wait_is_whole_or_not_at_all() {
    let time = TimeBudget { deadline: Millis(10_000), reserve: Millis(2_000), min_attempt: Millis(500) };
    assert_eq!(time.wait(Millis(0), Millis(7_500), true), Fit::Yes(Millis(7_500)));
    assert_eq!(time.wait(Millis(0), Millis(7_501), true), Fit::MoveOn);
    assert_eq!(time.wait(Millis(0), Millis(9_501), false), Fit::Stop);
}

#[test]
fn evidence_is_inclusive() {
    assert_eq!(evidence(Millis(2_000), Millis(4_000), Percent(5_000)), Blame::Failure);
    assert_eq!(evidence(Millis(1_999), Millis(4_000), Percent(5_000)), Blame::Neutral);
}

#[test]
fn a_hold_only_moves_forward() {
    let mut hold = Hold::default();
    hold.extend(Millis(0), Millis(20_000), Millis(10_000));
    hold.extend(Millis(1_000), Millis(500), Millis(10_000));
    assert_eq!(hold.until, Millis(10_000));
    assert!(hold.holds(Millis(9_999)) && !hold.holds(Millis(10_000)));
}

#[test]
fn reasons_come_in_a_fixed_order() {
    let mut standing = Standing {
        stale: false,
        regional: false,
        disabled: true,
        health: Health::Down,
        breaker: Breaker::Open { until: Millis(9), hard: false },
        hold_until: Millis(9),
        busy: true,
        ramp: Ramp::Barred,
        last_resort_inflight: 0,
        tolerated: false,
    };
    let now = Millis(5);
    let mut seen = Vec::new();
    while let Some(reason) = select::reason(&standing, now) {
        seen.push(reason);
        match reason {
            Reason::Disabled => standing.disabled = false,
            Reason::Down => standing.health = Health::Degraded,
            Reason::BreakerOpen => standing.breaker = Breaker::HalfOpen { slot: false },
            Reason::Hold => standing.hold_until = Millis::ZERO,
            Reason::TrialBusy => standing.breaker = Breaker::Closed,
            Reason::Busy => standing.busy = false,
            Reason::Ramp => standing.ramp = Ramp::Full,
            Reason::Degraded => standing.health = Health::Healthy,
        }
    }
    assert_eq!(seen, Reason::ALL);
}

#[test]
fn the_last_resort_is_rationed_and_never_asks_who_refused() {
    let open = |until, hard| Standing { breaker: Breaker::Open { until: Millis(until), hard }, ..Standing::GOOD };
    let now = Millis(0);
    let pick = |s: &[Standing]| select::pick(Pass::LastResort, s.iter().enumerate(), now, 1);
    assert_eq!(pick(&[open(90, false), open(40, false)]), Some((1, Admission::LastResort)));
    assert_eq!(pick(&[open(90, true)]), None);
    assert_eq!(pick(&[Standing { disabled: true, ..Standing::GOOD }]), None);
    assert_eq!(pick(&[Standing { last_resort_inflight: 1, ..open(90, false) }]), None);
    assert_eq!(pick(&[Standing { hold_until: Millis(1), health: Health::Down, ..Standing::GOOD }]), None);
    let down = Standing { health: Health::Down, ..Standing::GOOD };
    let busy = Standing { breaker: Breaker::HalfOpen { slot: false }, ..Standing::GOOD };
    assert_eq!(pick(&[down, open(7, false), busy]), Some((2, Admission::LastResort)));
}

#[test]
fn patterns_cover_runs_of_any_length() {
    for (pattern, name, covers) in [
        ("eu-*", "eu-west", true),
        ("eu-*", "eu-", true),
        ("eu-*", "us-east", false),
        ("*", "", true),
        ("a*c*", "abcd", true),
        ("a*c", "abcb", false),
        ("a*bc", "abcbc", true),
    ] {
        assert_eq!(Pattern(pattern.into()).matches(name), covers, "{pattern} {name}");
    }
}

#[test]
fn timers_of_a_stream_are_apart() {
    let limits = Limits {
        connect_by: Millis(2_000),
        headers_by: Millis(5_000),
        output_by: Millis(4_000),
        idle: Millis(1_000),
        total_by: Millis::MAX,
        deadline: Millis(9_000),
        stream: true,
    };
    assert_eq!(limits.next(Phase::Connecting), (Millis(2_000), Timer::Connect));
    assert_eq!(limits.next(Phase::Waiting), (Millis(4_000), Timer::Headers));
    assert_eq!(limits.next(Phase::Opened { since: Millis(100) }), (Millis(4_000), Timer::FirstOutput));
    // Once output flows only silence ends it: the deadline was for its beginning.
    assert_eq!(limits.next(Phase::Flowing { since: Millis(8_500) }), (Millis(9_500), Timer::Idle));
    let whole = Limits { stream: false, ..limits };
    assert_eq!(whole.next(Phase::Opened { since: Millis(100) }), (Millis(1_100), Timer::Idle));
    assert_eq!(whole.next(Phase::Flowing { since: Millis(8_500) }), (Millis(9_000), Timer::Deadline));
}

#[test]
fn draws_repeat_and_spread() {
    let draws: Vec<u32> = (0..200).map(|i| draw::ppm(&format!("r{i}"), DicePurpose::Backoff, 1)).collect();
    assert_eq!(draws, (0..200).map(|i| draw::ppm(&format!("r{i}"), DicePurpose::Backoff, 1)).collect::<Vec<_>>());
    let low = draws.iter().filter(|d| **d < 500_000).count();
    assert!((60..140).contains(&low), "{low} of 200 in the lower half");
    assert_ne!(draw::ppm("r", DicePurpose::Backoff, 1), draw::ppm("r", DicePurpose::Backoff, 2));
}

proptest! {
    #[test]
    fn whoever_is_in_at_a_share_stays_in_at_a_larger_one(session in "[a-z0-9]{1,12}", a in 0u32..=10_000, b in 0u32..=10_000) {
        let (low, high) = (a.min(b), a.max(b));
        prop_assert!(!ramp::admits("t", 0, &session, Percent(low)) || ramp::admits("t", 0, &session, Percent(high)));
    }

    #[test]
    fn no_pause_leaves_its_bounds(
        base in 1u64..10_000, cap in 1u64..100_000, retry in 1u32..=u32::MAX, draw in 0u32..1_000_000, kind in 0usize..4,
    ) {
        let jitter = Jitter::ALL[kind];
        let curve = Curve { jitter, base: Millis(base), factor_pct: 200, cap: Millis(cap), floor: Millis(20) };
        let mut pauses = Pauses::new(curve);
        let (low, high) = pauses.bounds(retry);
        let pause = pauses.next(retry, draw);
        prop_assert!(low <= pause && pause <= high, "{low} {pause} {high}");
    }
}
