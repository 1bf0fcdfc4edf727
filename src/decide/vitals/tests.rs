use super::*;
use crate::policy::Multiple;
use crate::policy::probe::{SlowBeside, SlowLive, SlowWhen};
use proptest::prelude::*;

fn rules() -> ProbeRules {
    let slow = SlowWhen {
        beside: Some(SlowBeside { multiple: Multiple(3_000), at_least: Millis(100) }),
        above: None,
        live: None,
    };
    let baseline = BaselineRules { size: 20, min: 5, renew: Some(Millis(60_000)) };
    let health = HealthRules { down_after: 3, up_after: 2, degraded_after: 2, recovered_after: 2, slow, baseline };
    ProbeRules { health, ..ProbeRules::default() }
}

fn seen(rules: &ProbeRules) -> Vitals {
    let mut vitals = Vitals::new(rules, None);
    passes(&mut vitals, 0, 20, 200);
    vitals
}

fn passes(vitals: &mut Vitals, now: u64, times: u32, latency: u64) {
    (0..times).for_each(|_| _ = vitals.probe(Millis(now), Probed::Passed(Millis(latency))));
}

#[test]
fn slow_for_long_enough_is_the_new_normal() {
    let mut vitals = seen(&rules());
    passes(&mut vitals, 1_000, 2, 2_000);
    assert_eq!(vitals.state(), Health::Degraded);
    passes(&mut vitals, 60_999, 20, 2_000);
    assert_eq!((vitals.state(), vitals.baseline_p95()), (Health::Degraded, Some(Millis(200))));
    passes(&mut vitals, 61_000, 1, 2_000);
    assert_eq!((vitals.state(), vitals.baseline_p95()), (Health::Healthy, Some(Millis(2_000))));
}

#[test]
fn a_stated_baseline_stands_in_until_there_is_one() {
    let seed = Seed { p50: Millis(300), p95: Millis(900) };
    let mut vitals = Vitals::new(&rules(), Some(seed));
    assert_eq!(vitals.probe(Millis(0), Probed::Passed(Millis(2_701))), Judged::Slow);
    vitals = Vitals::new(&rules(), Some(seed));
    passes(&mut vitals, 0, 5, 200);
    assert_eq!(vitals.baseline_p95(), Some(Millis(200)));
}

#[test]
fn an_endpoint_can_be_proved_down_and_never_up() {
    let mut vitals = Vitals::new(&ProbeRules { kind: ProbeKind::Endpoint, ..rules() }, None);
    vitals.probe(Millis(0), Probed::Failed);
    assert_eq!(vitals.state(), Health::Down);
    assert_eq!(vitals.probe(Millis(1), Probed::Passed(Millis(1))), Judged::Skip);
    passes(&mut vitals, 1, 9, 1);
    assert_eq!(vitals.state(), Health::Down);
}

#[test]
fn a_bad_answer_that_counts_as_slow_degrades_and_teaches_nothing() {
    let mut vitals = seen(&rules());
    assert_eq!(vitals.probe(Millis(1), Probed::Poor), Judged::Slow);
    vitals.probe(Millis(2), Probed::Poor);
    assert_eq!((vitals.state(), vitals.baseline_p95()), (Health::Degraded, Some(Millis(200))));
}

#[test]
fn bad_answers_never_become_the_new_normal() {
    let mut vitals = seen(&rules());
    (1..=200).for_each(|n| _ = vitals.probe(Millis(n * 1_000), Probed::Poor));
    assert_eq!((vitals.state(), vitals.baseline_p95()), (Health::Degraded, Some(Millis(200))));
}

#[test]
fn a_state_is_seldom_looked_at_while_it_stays_and_often_while_it_may_change() {
    let mut vitals = seen(&rules());
    assert!(!vitals.is_changing());
    vitals.probe(Millis(1), Probed::Failed);
    assert!(vitals.is_changing(), "one failure of three");
    (2..4).for_each(|t| _ = vitals.probe(Millis(t), Probed::Failed));
    assert_eq!((vitals.state(), vitals.is_changing()), (Health::Down, false));
    vitals.probe(Millis(5), Probed::Passed(Millis(200)));
    assert!(vitals.is_changing(), "one pass of two");
    vitals.probe(Millis(6), Probed::Passed(Millis(200)));
    assert_eq!((vitals.state(), vitals.is_changing()), (Health::Healthy, false));
}

#[test]
fn live_latencies_also_count_where_a_probe_only_asks_whether_anybody_is_there() {
    let mut rules = ProbeRules { kind: ProbeKind::Endpoint, traffic: true, every: Millis(4_000), ..rules() };
    rules.health.slow.above = Some(Millis(1_000));
    let mut vitals = Vitals::new(&rules, None);
    vitals.probe(Millis(0), Probed::Inconclusive);
    (1..4).for_each(|t| vitals.traffic(Millis(t * 1_000), Latency::FirstOutput(Millis(1_001))));
    assert_eq!(vitals.state(), Health::Degraded);
    (4..6).for_each(|t| vitals.traffic(Millis(t * 1_000), Latency::FirstOutput(Millis(1_000))));
    assert_eq!(vitals.state(), Health::Healthy);
}

#[test]
fn live_latencies_degrade_where_they_may_and_lift_nothing_out_of_down() {
    let rules = ProbeRules { traffic: true, every: Millis(4_000), ..rules() };
    let mut vitals = seen(&rules);
    vitals.traffic(Millis(999), Latency::FirstOutput(Millis(5_000)));
    vitals.traffic(Millis(1_000), Latency::Whole(Millis(60_000)));
    assert!(!vitals.is_changing(), "too soon, or not to be compared");
    vitals.traffic(Millis(1_000), Latency::FirstOutput(Millis(5_000)));
    vitals.traffic(Millis(1_500), Latency::FirstOutput(Millis(5_000)));
    assert_eq!(vitals.state(), Health::Healthy, "one in a while");
    vitals.traffic(Millis(2_000), Latency::FirstOutput(Millis(5_000)));
    assert_eq!(vitals.state(), Health::Degraded);
    (0..3).for_each(|_| _ = vitals.probe(Millis(3_000), Probed::Failed));
    (4..9).for_each(|t| vitals.traffic(Millis(t * 1_000), Latency::FirstOutput(Millis(10))));
    assert_eq!(vitals.state(), Health::Down);
}

#[test]
fn a_probe_is_slow_while_live_traffic_is() {
    let mut rules = rules();
    rules.health.slow.live = Some(SlowLive { above: Millis(12_000), over: Millis(60_000), min: 20 });
    let mut vitals = seen(&rules);
    (0..19).for_each(|_| vitals.traffic(Millis(0), Latency::Whole(Millis(12_001))));
    assert_eq!(vitals.probe(Millis(1), Probed::Passed(Millis(200))), Judged::Ok);
    vitals.traffic(Millis(1), Latency::Whole(Millis(1)));
    assert_eq!(vitals.probe(Millis(59_999), Probed::Passed(Millis(200))), Judged::Slow);
    assert_eq!(vitals.probe(Millis(60_000), Probed::Passed(Millis(200))), Judged::Ok, "they are too old");
}

#[test]
fn what_nobody_looked_at_for_three_intervals_is_stale() {
    let mut vitals = Vitals::new(&rules(), None);
    assert_eq!(vitals.stale_at(), None);
    vitals.probe(Millis(5), Probed::Failed);
    vitals.probe(Millis(9_000), Probed::Inconclusive);
    assert_eq!(vitals.stale_at(), Some(Millis(30_005)));
}

proptest! {
    #[test]
    fn the_ring_ranks_as_sorting_would(size in 1u32..30, latencies in prop::collection::vec(0u64..50, 1..120)) {
        let mut ring = Ranked::new(size);
        for (n, latency) in latencies.iter().enumerate() {
            ring.push(Millis(*latency));
            let mut latest: Vec<u64> = latencies[..=n].iter().rev().take(size as usize).copied().collect();
            latest.sort_unstable();
            prop_assert_eq!(ring.p95(), Some(Millis(latest[(95 * latest.len()).div_ceil(100) - 1])));
        }
    }
}
