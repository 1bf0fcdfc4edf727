use super::*;
use crate::policy::breaker::{OpenTime, Over};
use crate::policy::{Multiple, Percent};
use proptest::prelude::*;

fn rules() -> CircuitRules {
    CircuitRules {
        over: Over::Time { span: Millis(10_000), buckets: 10 },
        min: 4,
        errors: Some(Percent(5_000)),
        slow: Some(Percent(6_000)),
        consecutive: None,
        open: OpenTime { base: Millis(5_000), growing: Multiple(2_000), cap: Millis(18_000), jitter: Percent(0) },
        jitter: Jitter::NONE,
        stable: Millis(60_000),
        hint_cap: Millis(300_000),
        at_once: 1,
        successes: 2,
        lease: Millis(3_000),
    }
}

fn ending(blame: Blame) -> Ending {
    Ending { blame, slow: false, hint: None }
}

fn call(circuit: &mut Circuit, now: u64, blame: Blame) -> bool {
    let permit = circuit.admit(Millis(now)).unwrap();
    circuit.settle(Millis(now), permit, ending(blame))
}

fn opened(now: u64) -> Circuit {
    let mut circuit = Circuit::new(rules());
    for _ in 0..4 {
        call(&mut circuit, now, Blame::Failure);
    }
    assert!(matches!(circuit.state(Millis(now)), Breaker::Open { .. }));
    circuit
}

fn until(circuit: &mut Circuit, now: u64) -> u64 {
    match circuit.state(Millis(now)) {
        Breaker::Open { until, .. } => until.0,
        state => panic!("{state:?}"),
    }
}

#[test]
fn the_first_cause_in_the_fixed_order_is_named() {
    let mut circuit = opened(0);
    assert_eq!(circuit.cause(), Some(Cause::Errors));
    circuit = Circuit::new(CircuitRules { consecutive: Some(4), ..rules() });
    for _ in 0..4 {
        call(&mut circuit, 0, Blame::Failure);
    }
    assert_eq!(circuit.cause(), Some(Cause::Consecutive));
    circuit = Circuit::new(rules());
    for _ in 0..4 {
        let permit = circuit.admit(Millis(0)).unwrap();
        circuit.settle(Millis(0), permit, Ending { slow: true, ..ending(Blame::Success) });
    }
    assert_eq!((circuit.cause(), circuit.trips()), (Some(Cause::Slow), 1));
}

#[test]
fn a_statement_of_the_provider_opens_hard_and_a_failure_does_not() {
    let mut circuit = Circuit::new(rules());
    assert!(call(&mut circuit, 7, Blame::Hard));
    assert_eq!(circuit.state(Millis(7)), Breaker::Open { until: Millis(5_007), hard: true });
    assert_eq!(opened(0).state(Millis(0)), Breaker::Open { until: Millis(5_000), hard: false });
}

#[test]
fn a_lease_that_ends_opens_again_from_its_end_however_late_one_looks() {
    let mut circuit = opened(0);
    let lost = circuit.admit(Millis(5_500)).unwrap();
    assert_eq!(until(&mut circuit, 9_000), 18_500);
    // The open time after that one is over as well by now, and nobody is trying.
    assert_eq!(circuit.state(Millis(40_000)), Breaker::HalfOpen { slot: true });
    assert_eq!((circuit.cause(), circuit.trips()), (Some(Cause::Lease), 2));
    assert!(!circuit.settle(Millis(40_000), lost, ending(Blame::Success)));
}

#[test]
fn a_sign_of_life_moves_the_end_of_a_lease() {
    let mut circuit = opened(0);
    let trial = circuit.admit(Millis(5_000)).unwrap();
    circuit.renew(Millis(7_999), &trial);
    assert_eq!(circuit.state(Millis(10_998)), Breaker::HalfOpen { slot: false });
    assert!(circuit.settle(Millis(10_998), trial, ending(Blame::Success)));
}

#[test]
fn a_call_let_in_past_the_breaker_decides_nothing() {
    let mut circuit = opened(0);
    let past = circuit.admit_past(Millis(1));
    assert!(!circuit.settle(Millis(2), past, ending(Blame::Hard)));
    let past = circuit.admit_past(Millis(5_000));
    assert!(!past.is_trial());
    assert!(!circuit.settle(Millis(5_001), past, ending(Blame::Success)));
    assert_eq!(circuit.state(Millis(5_001)), Breaker::HalfOpen { slot: true });
}

#[test]
fn a_rollback_opens_what_is_closed_and_longer_than_before() {
    let mut circuit = opened(0);
    circuit.roll_back(Millis(1), None);
    assert_eq!(circuit.trips(), 1, "what is open stays as it is");
    call(&mut circuit, 5_000, Blame::Success);
    call(&mut circuit, 5_000, Blame::Success);
    assert_eq!(circuit.closed_at(), Some(Millis(5_000)));
    circuit.roll_back(Millis(6_000), Some(Millis(11_000)));
    assert_eq!(until(&mut circuit, 6_000), 17_000);
    assert_eq!(circuit.cause(), Some(Cause::Rollback));
}

#[test]
fn open_times_grow_to_the_cap_and_jitter_only_adds() {
    let jitter = Jitter { share: Percent(1_000), seed: 42 };
    let mut circuit = Circuit::new(CircuitRules { jitter, ..rules() });
    call(&mut circuit, 0, Blame::Hard);
    let mut at = 0;
    for base in [5_000, 10_000, 18_000, 18_000] {
        let end = until(&mut circuit, at);
        assert!((base..=base + base / 10).contains(&(end - at)), "{base}: {}", end - at);
        at = end;
        call(&mut circuit, at, Blame::Failure);
    }
}

#[test]
fn whoever_carries_a_breaker_over_finds_its_trials_free() {
    let mut old = opened(0);
    let trial = old.admit(Millis(5_000)).unwrap();
    let mut new = old.carried(rules());
    assert_eq!(new.state(Millis(5_000)), Breaker::HalfOpen { slot: true });
    assert!(!new.settle(Millis(5_000), trial, ending(Blame::Failure)));
    assert_eq!(new.trips(), 1);
}

#[test]
fn a_clock_that_was_read_before_another_does_not_turn_back() {
    let mut circuit = opened(0);
    assert_eq!(circuit.state(Millis(5_000)), Breaker::HalfOpen { slot: true });
    let trial = circuit.admit(Millis(4_000)).unwrap();
    assert_eq!(circuit.state(Millis(7_999)), Breaker::HalfOpen { slot: false });
    assert!(circuit.settle(Millis(3_000), trial, ending(Blame::Success)));
}

/// One thing that may happen to a breaker.
#[derive(Clone, Copy, Debug)]
enum Step {
    Admit,
    Settle(usize, Blame, bool),
    Forget(usize),
    Look,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let blame = prop_oneof![
        4 => Just(Blame::Success),
        4 => Just(Blame::Failure),
        1 => Just(Blame::Hard),
        1 => Just(Blame::Throttled),
        1 => Just(Blame::Neutral),
    ];
    let step = prop_oneof![
        3 => Just(Step::Admit),
        3 => (0usize..6, blame, any::<bool>()).prop_map(|(n, b, slow)| Step::Settle(n, b, slow)),
        1 => (0usize..6).prop_map(Step::Forget),
        2 => Just(Step::Look),
    ];
    prop::collection::vec((0u64..4_000, step), 1..120)
}

/// Runs the steps and returns how the breaker stands after each; `eager` looks at every instant on the way.
fn run(steps: &[(u64, Step)], rules: CircuitRules, eager: bool) -> Vec<(Breaker, Totals, u64)> {
    let mut circuit = Circuit::new(rules);
    let (mut now, mut held, mut seen) = (0, Vec::new(), Vec::new());
    for (pause, step) in steps {
        if eager {
            (now..now + pause).step_by(97).for_each(|t| _ = circuit.state(Millis(t)));
        }
        now += pause;
        let at = Millis(now);
        match *step {
            Step::Admit => held.extend(circuit.admit(at).ok().map(|p| (now, p))),
            Step::Settle(n, blame, slow) if n < held.len() => {
                let (_, permit) = held.remove(n);
                circuit.settle(at, permit, Ending { blame, slow, hint: None });
            }
            Step::Forget(n) if n < held.len() => drop(held.remove(n)),
            Step::Settle(..) | Step::Forget(_) | Step::Look => {}
        }
        let trials = |held: &[(u64, Permit)], circuit: &mut Circuit| {
            held.iter().filter(|(_, p)| p.is_trial() && circuit.knows(at, p)).count()
        };
        assert!(trials(&held, &mut circuit) <= rules.at_once.min(rules.successes) as usize);
        // A lease always ends: nothing that was let in longer ago than that is a trial still.
        assert!(held.iter().all(|(t, p)| !p.is_trial() || now < t + rules.lease.0 || !circuit.knows(at, p)));
        seen.push((circuit.state(at), circuit.totals(at), circuit.trips()));
    }
    seen
}

proptest! {
    #[test]
    fn looking_more_often_changes_nothing(steps in steps(), at_once in 1u32..4, successes in 1u32..4) {
        let rules = CircuitRules { at_once, successes, ..rules() };
        prop_assert_eq!(run(&steps, rules, false), run(&steps, rules, true));
    }

    #[test]
    fn a_stale_permit_changes_nothing(steps in steps(), blame in prop_oneof![Just(Blame::Success), Just(Blame::Hard)]) {
        let mut circuit = Circuit::new(rules());
        let early = circuit.admit(Millis(0)).unwrap();
        let (mut now, mut held) = (0, Vec::new());
        for (pause, step) in steps {
            now += pause;
            match step {
                Step::Admit => held.extend(circuit.admit(Millis(now)).ok()),
                Step::Settle(n, blame, slow) if n < held.len() => {
                    let permit = held.remove(n);
                    circuit.settle(Millis(now), permit, Ending { blame, slow, hint: None });
                }
                Step::Settle(..) | Step::Forget(_) | Step::Look => {}
            }
        }
        if !circuit.knows(Millis(now), &early) {
            let before = (circuit.state(Millis(now)), circuit.totals(Millis(now)), circuit.trips());
            prop_assert!(!circuit.settle(Millis(now), early, ending(blame)));
            prop_assert_eq!((circuit.state(Millis(now)), circuit.totals(Millis(now)), circuit.trips()), before);
        }
    }
}
