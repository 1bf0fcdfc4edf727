use super::*;
use crate::decide::recovery::Phase;
use crate::decide::vitals::Latency;
use crate::policy::breaker::{HalfOpen, OpenTime, Scopes, SlowAbove, SlowTrip};
use crate::policy::probe::ProbeRules;
use crate::policy::ramp::{RampRules, RampStage};
use crate::policy::{Class, Multiple, Percent, Scope};
use proptest::prelude::*;

const CHAT: Ask<'static> = Ask { session: "s", capability: Capability::Text };
const TOOLS: Ask<'static> = Ask { session: "s", capability: Capability::Tools };

fn ramp() -> RampRules {
    let stage = |percent: u32, lasts| RampStage { share: Percent(percent * 100), lasts: Millis(lasts) };
    RampRules { stages: vec![stage(10, 1_000), stage(50, 2_000)], ..RampRules::default() }
}

fn breaker() -> BreakerRules {
    let open = OpenTime { base: Millis(5_000), growing: Multiple(2_000), cap: Millis(60_000), jitter: Percent(0) };
    let half_open = HalfOpen { at_once: 1, successes: 1, lease: Some(Millis(3_000)) };
    BreakerRules { open, half_open, ..BreakerRules::default() }
}

fn spec(name: &str, upstream: &str, region: &str) -> TargetSpec {
    TargetSpec {
        upstream: upstream.to_string(),
        region: Some(region.to_string()),
        breaker: breaker(),
        ramp: ramp(),
        ..TargetSpec::plain(name, "acme")
    }
}

fn group(targets: Vec<TargetSpec>) -> Group {
    Group::new(GroupSpec { targets, attempt: Millis(8_000), instance: "one".to_string() })
}

/// Two models in two regions: `eu-a`, `eu-b`, `us-a`.
fn three() -> Group {
    group(vec![spec("eu-a", "a", "eu"), spec("eu-b", "b", "eu"), spec("us-a", "a", "us")])
}

fn call(group: &mut Group, place: usize, now: u64, ask: Ask<'_>, ended: &Ended) -> bool {
    let permit = group.admit(place, Millis(now), ask, (Admission::Normal, 0), true).unwrap();
    group.settle(place, Millis(now), permit, ended)
}

fn open(group: &mut Group, now: u64) -> Vec<String> {
    let open = group.circuits(Millis(now)).filter(|c| matches!(c.state, Breaker::Open { .. }));
    open.map(|c| c.key.to_string()).collect()
}

fn against(group: &mut Group, place: usize, now: u64, ask: Ask<'_>) -> Option<Reason> {
    let standing = group.standing(place, Millis(now), ask);
    crate::decide::select::reason(&standing, Millis(now))
}

#[test]
fn each_class_opens_the_breaker_of_its_scope_and_no_other() {
    let cases = [
        (Class::Connect, None, "provider=acme;region=eu"),
        (Class::Auth, None, "account=acme"),
        (Class::QuotaExhausted, None, "account=acme"),
        (Class::Permission, None, "provider=acme;account=acme;model=a"),
        (Class::NotFound, None, "provider=acme;account=acme;model=a"),
        (Class::NotFound, Some(Scope::Deployment), "target=eu-a"),
        (Class::ServerError, None, "target=eu-a"),
        (Class::ServerError, Some(Scope::Provider), "account=acme"),
        (Class::Overloaded, Some(Scope::Region), "provider=acme;region=eu"),
        (Class::SchemaInvalid, None, "target=eu-a;capability=tools"),
    ];
    for (class, scope, key) in cases {
        let mut group = three();
        let ended = Ended { scope, ..Ended::failed(class) };
        for _ in 0..5 {
            if against(&mut group, 0, 0, TOOLS).is_none() {
                call(&mut group, 0, 0, TOOLS, &ended);
            }
        }
        assert_eq!(open(&mut group, 0), [key], "{class}");
    }
}

#[test]
fn what_concerns_the_request_alone_blames_nobody() {
    let mut group = three();
    for class in [Class::InvalidRequest, Class::Policy, Class::Unknown, Class::RateLimit] {
        (0..30).for_each(|_| assert!(!call(&mut group, 0, 0, CHAT, &Ended::failed(class)), "{class}"));
    }
    let shown = Ended { scope: Some(Scope::Request), ..Ended::failed(Class::ServerError) };
    (0..30).for_each(|_| assert!(!call(&mut group, 0, 0, CHAT, &shown)));
    assert!(open(&mut group, 0).is_empty());
}

#[test]
fn a_region_takes_its_targets_with_it_and_leaves_the_others() {
    let mut group = three();
    (0..5).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &Ended::failed(Class::Connect)));
    assert_eq!(against(&mut group, 0, 1, CHAT), Some(Reason::BreakerOpen));
    assert_eq!(against(&mut group, 1, 1, CHAT), Some(Reason::BreakerOpen));
    assert_eq!(against(&mut group, 2, 1, CHAT), None);
}

#[test]
fn a_broken_capability_leaves_the_others_and_good_chats_do_not_hide_it() {
    let mut group = three();
    (0..50).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &Ended::served(None)));
    (0..5).for_each(|_| _ = call(&mut group, 0, 0, TOOLS, &Ended::failed(Class::SchemaInvalid)));
    assert_eq!(against(&mut group, 0, 1, TOOLS), Some(Reason::BreakerOpen));
    assert_eq!(against(&mut group, 0, 1, CHAT), None);
    // It comes back by itself, without a ramp for those who did not leave.
    call(&mut group, 0, 5_000, TOOLS, &Ended::served(None));
    assert_eq!(group.phase(0, Millis(5_000), Capability::Tools), Phase::Ramping(Percent(1_000)));
    assert_eq!(group.phase(0, Millis(5_000), Capability::Text), Phase::Full);
    (0..4).for_each(|_| {
        let permit = group.admit(0, Millis(5_001), TOOLS, (Admission::Normal, 0), true).unwrap();
        group.settle(0, Millis(5_001), permit, &Ended::failed(Class::SchemaInvalid));
    });
    assert!(open(&mut group, 5_001).is_empty());
    call(&mut group, 0, 5_001, TOOLS, &Ended::failed(Class::SchemaInvalid));
    assert_eq!(open(&mut group, 5_001), ["target=eu-a;capability=tools"]);
}

#[test]
fn slowness_opens_the_target_alone() {
    let slow = Some(SlowTrip { share: Percent(8_000), above: SlowAbove::Fixed(Millis(10_000)) });
    let mut a = spec("eu-a", "a", "eu");
    a.breaker = BreakerRules { slow, ..a.breaker };
    let mut group = group(vec![a]);
    let late = Ended::served(Some(Latency::FirstOutput(Millis(10_001))));
    (0..20).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &late));
    assert_eq!(open(&mut group, 0), ["target=eu-a"]);
}

#[test]
fn an_account_that_comes_back_ramps_all_its_targets() {
    let mut group = three();
    call(&mut group, 0, 0, CHAT, &Ended::failed(Class::Auth));
    assert_eq!(against(&mut group, 2, 1, CHAT), Some(Reason::BreakerOpen));
    call(&mut group, 0, 5_000, CHAT, &Ended::served(None));
    for place in 0..3 {
        assert_eq!(group.phase(place, Millis(5_000), Capability::Text), Phase::Ramping(Percent(1_000)));
        assert_eq!(group.phase(place, Millis(6_000), Capability::Text), Phase::Ramping(Percent(5_000)));
        assert_eq!(group.phase(place, Millis(8_000), Capability::Text), Phase::Full);
    }
}

#[test]
fn the_trial_that_began_a_ramp_is_no_part_of_it() {
    let mut group = three();
    (0..5).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &Ended::failed(Class::ServerError)));
    call(&mut group, 0, 5_000, CHAT, &Ended::served(None));
    (0..4).for_each(|_| _ = call(&mut group, 0, 5_100, CHAT, &Ended::failed(Class::RateLimit)));
    (0..15).for_each(|_| _ = call(&mut group, 0, 5_100, CHAT, &Ended::served(None)));
    assert!(open(&mut group, 5_100).is_empty(), "19 of the 20 calls that a share needs");
    call(&mut group, 0, 5_100, CHAT, &Ended::served(None));
    assert_eq!(open(&mut group, 5_100), ["target=eu-a"]);
}

#[test]
fn throttled_calls_roll_a_ramp_back() {
    let mut group = three();
    (0..5).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &Ended::failed(Class::ServerError)));
    call(&mut group, 0, 5_000, CHAT, &Ended::served(None));
    (0..4).for_each(|_| _ = call(&mut group, 0, 5_100, CHAT, &Ended::failed(Class::RateLimit)));
    assert!(open(&mut group, 5_100).is_empty());
    let hint = Ended { hint: Some(Millis(20_000)), ..Ended::failed(Class::RateLimit) };
    call(&mut group, 0, 5_100, CHAT, &hint);
    let standing = group.standing(0, Millis(5_100), CHAT);
    assert_eq!(standing.breaker, Breaker::Open { until: Millis(25_100), hard: false });
}

#[test]
fn a_hold_covers_whom_the_answer_spoke_for() {
    let mut group = three();
    let held = |class| Ended { hold_until: Some(Millis(900)), ..Ended::failed(class) };
    call(&mut group, 0, 0, CHAT, &held(Class::RateLimit));
    let holds = |group: &mut Group| (0..3).map(|p| group.standing(p, Millis(0), CHAT).hold_until.0).collect::<Vec<_>>();
    assert_eq!(holds(&mut group), [900, 0, 0]);
    call(&mut group, 1, 0, CHAT, &held(Class::QuotaExhausted));
    assert_eq!(holds(&mut group), [900, 900, 900]);
}

#[test]
fn last_resort_is_rationed_and_decides_nothing() {
    let mut group = three();
    (0..5).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &Ended::failed(Class::ServerError)));
    let first = group.admit(0, Millis(1), CHAT, (Admission::LastResort, 0), true).unwrap();
    assert_eq!(first.admission(), Admission::LastResort);
    assert_eq!(group.admit(0, Millis(1), CHAT, (Admission::LastResort, 0), true).err(), Some(Reason::BreakerOpen));
    assert_eq!(group.admit(0, Millis(1), CHAT, (Admission::Normal, 0), true).err(), Some(Reason::BreakerOpen));
    // It succeeds everywhere on the path but at the breaker that it went past.
    group.settle(0, Millis(2), first, &Ended::served(None));
    assert_eq!(open(&mut group, 2), ["target=eu-a"]);
    assert_eq!(group.standing(0, Millis(2), CHAT).last_resort_inflight, 0);
}

#[test]
fn a_target_at_its_own_limit_is_busy_until_a_call_ends() {
    let mut group = group(vec![TargetSpec { max_concurrent: Some(1), ..spec("eu-a", "a", "eu") }]);
    let permit = group.admit(0, Millis(0), CHAT, (Admission::Normal, 0), true).unwrap();
    assert_eq!(group.admit(0, Millis(0), CHAT, (Admission::Normal, 0), true).err(), Some(Reason::Busy));
    group.settle(0, Millis(1), permit, &Ended::NEUTRAL);
    assert_eq!(against(&mut group, 0, 1, CHAT), None);
}

#[test]
fn a_trial_taken_by_another_between_asking_and_admitting_is_busy() {
    let mut group = three();
    call(&mut group, 0, 0, CHAT, &Ended::failed(Class::Auth));
    assert_eq!(against(&mut group, 1, 5_000, CHAT), None);
    let trial = group.admit(0, Millis(5_000), CHAT, (Admission::Trial, 0), true).unwrap();
    assert_eq!(trial.admission(), Admission::Trial);
    assert_eq!(group.admit(1, Millis(5_000), CHAT, (Admission::Trial, 0), true).err(), Some(Reason::TrialBusy));
    // A stream that goes on is not lost, and a client that leaves gives the place back.
    group.renew(0, Millis(7_000), &trial);
    assert_eq!(against(&mut group, 1, 9_000, CHAT), Some(Reason::TrialBusy));
    group.settle(0, Millis(9_000), trial, &Ended::NEUTRAL);
    assert_eq!(against(&mut group, 1, 9_000, CHAT), None);
}

#[test]
fn a_down_that_nobody_confirms_bars_no_more_and_ramps() {
    let mut group = group(vec![TargetSpec { probe: Some(ProbeRules::default()), ..spec("eu-a", "a", "eu") }]);
    group.probe(0, Millis(0), Probed::Failed);
    assert_eq!(against(&mut group, 0, 29_999, CHAT), Some(Reason::Down));
    assert_eq!(group.phase(0, Millis(30_500), Capability::Text), Phase::Ramping(Percent(1_000)));
    assert_eq!(group.phase(0, Millis(33_000), Capability::Text), Phase::Full);
    group.probe(0, Millis(33_000), Probed::Failed);
    assert_eq!(against(&mut group, 0, 33_001, CHAT), Some(Reason::Down));
}

#[test]
fn what_is_stale_is_shown_as_such_and_a_probe_that_passes_bars_nobody() {
    let mut group = group(vec![TargetSpec { probe: Some(ProbeRules::default()), ..spec("eu-a", "a", "eu") }]);
    assert!(!group.standing(0, Millis(90_000), CHAT).stale, "nobody has looked yet");
    group.probe(0, Millis(100_000), Probed::Failed);
    assert!(!group.standing(0, Millis(129_999), CHAT).stale);
    assert!(group.standing(0, Millis(130_000), CHAT).stale);
    assert_eq!(group.phase(0, Millis(130_500), Capability::Text), Phase::Ramping(Percent(1_000)));
    // The first of the two passes that end a `down` that was looked at all the time.
    group.probe(0, Millis(131_500), Probed::Passed(Millis(100)));
    let standing = group.standing(0, Millis(131_500), CHAT);
    assert_eq!((standing.health, standing.stale), (Health::Healthy, false));
    assert_eq!(
        group.phase(0, Millis(131_500), Capability::Text),
        Phase::Ramping(Percent(5_000)),
        "and its ramp goes on"
    );
    group.probe(0, Millis(131_600), Probed::Failed);
    assert_eq!(against(&mut group, 0, 131_600, CHAT), Some(Reason::Down));
}

#[test]
fn a_breaker_that_closes_while_its_target_is_slow_ramps_in_the_first_stage_until_it_is_fast() {
    let mut group = three();
    (0..5).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &Ended::failed(Class::ServerError)));
    group.note_health(0, Millis(1_000), Health::Degraded);
    call(&mut group, 0, 5_000, CHAT, &Ended::served(None));
    for now in [5_000, 6_500, 60_000] {
        assert_eq!(group.phase(0, Millis(now), Capability::Text), Phase::Ramping(Percent(1_000)), "{now}");
    }
    group.note_health(0, Millis(60_000), Health::Healthy);
    assert_eq!(group.phase(0, Millis(60_999), Capability::Text), Phase::Ramping(Percent(1_000)));
    assert_eq!(group.phase(0, Millis(61_000), Capability::Text), Phase::Ramping(Percent(5_000)));
    assert_eq!(group.phase(0, Millis(63_000), Capability::Text), Phase::Full);
    group.note_health(0, Millis(63_000), Health::Degraded);
    assert_eq!(group.phase(0, Millis(63_001), Capability::Text), Phase::Full, "slow after the ramp is no ramp");
}

#[test]
fn the_samples_of_a_rollback_are_those_of_one_stage_and_its_run_that_of_the_ramp() {
    let back = || {
        let mut group = three();
        (0..5).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &Ended::failed(Class::ServerError)));
        call(&mut group, 0, 5_000, CHAT, &Ended::served(None));
        group
    };
    let limited = Ended::failed(Class::RateLimit);
    // 19 calls with 4 failures in the first stage; the twentieth call is the first of the second.
    let mut group = back();
    (0..15).for_each(|_| _ = call(&mut group, 0, 5_500, CHAT, &Ended::served(None)));
    (0..4).for_each(|_| _ = call(&mut group, 0, 5_999, CHAT, &limited));
    call(&mut group, 0, 6_000, CHAT, &Ended::served(None));
    assert!(open(&mut group, 6_000).is_empty());
    // Two in the first stage and three in the second are five in a row.
    let mut group = back();
    (0..2).for_each(|_| _ = call(&mut group, 0, 5_999, CHAT, &limited));
    (0..2).for_each(|_| _ = call(&mut group, 0, 6_000, CHAT, &limited));
    assert!(open(&mut group, 6_000).is_empty());
    call(&mut group, 0, 6_000, CHAT, &limited);
    assert_eq!(open(&mut group, 6_000), ["target=eu-a"]);
}

#[test]
fn a_call_from_before_an_outage_says_nothing_in_the_ramp_after_it() {
    let mut group = three();
    let early: Vec<_> =
        (0..9).map(|_| group.admit(0, Millis(0), CHAT, (Admission::Normal, 0), true).unwrap()).collect();
    (0..5).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &Ended::failed(Class::ServerError)));
    call(&mut group, 0, 5_000, CHAT, &Ended::served(None));
    for permit in early {
        assert!(!group.settle(0, Millis(5_500), permit, &Ended::failed(Class::ServerError)));
    }
    assert!(open(&mut group, 5_500).is_empty());
    assert_eq!(group.phase(0, Millis(5_500), Capability::Text), Phase::Ramping(Percent(1_000)));
}

#[test]
fn a_hint_of_the_tripping_answer_lengthens_an_open_time_up_to_its_cap_and_never_shortens_it() {
    for (hint, until) in [(1_000, 5_000), (20_000, 20_000), (900_000, 300_000)] {
        let mut group = three();
        let asks = Ended { hint: Some(Millis(hint)), ..Ended::failed(Class::ServerError) };
        (0..4).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &Ended::failed(Class::ServerError)));
        call(&mut group, 0, 0, CHAT, &asks);
        let open = Breaker::Open { until: Millis(until), hard: false };
        assert_eq!(group.standing(0, Millis(0), CHAT).breaker, open, "{hint}");
    }
}

#[test]
fn a_repeat_needs_a_token_and_a_first_arrival_pays_in() {
    let mut group = three();
    while group.take(0, Millis(0), Extra::Repeat) {}
    assert_eq!(group.balance(0, Millis(0)), 0);
    (0..5).for_each(|_| _ = call(&mut group, 0, 0, CHAT, &Ended::served(None)));
    assert!(group.covers(0, Millis(0), Extra::Repeat) && group.take(0, Millis(0), Extra::Repeat));
    assert!(!group.covers(0, Millis(0), Extra::Repeat));
}

#[test]
fn another_policy_keeps_what_it_did_not_change() {
    let mut old = three();
    (0..5).for_each(|_| _ = call(&mut old, 0, 0, CHAT, &Ended::failed(Class::ServerError)));
    call(&mut old, 1, 0, CHAT, &Ended { hold_until: Some(Millis(700)), ..Ended::failed(Class::RateLimit) });
    let mut changed = spec("us-a", "a", "us");
    changed.breaker.min = 3;
    let mut new = group(vec![spec("eu-a", "a", "eu"), spec("eu-b", "b", "eu"), changed.clone()]);
    new.take_over(&old);
    assert_eq!(open(&mut new, 1), ["target=eu-a"]);
    assert_eq!(new.standing(1, Millis(1), CHAT).hold_until, Millis(700));

    let mut other = spec("eu-a", "a", "eu");
    other.breaker.scopes = Scopes::of(&[]);
    let mut newest = group(vec![other]);
    newest.take_over(&new);
    assert!(open(&mut newest, 1).is_empty(), "other rules, another breaker");
}

proptest! {
    /// Calls of all kinds at three targets, some never settled: whatever happens, no breaker stays barred for good, and
    /// the places of calls that were settled are free again.
    #[test]
    fn everything_ends(steps in prop::collection::vec((0u64..2_000, 0usize..3, any::<bool>(), 0usize..22, any::<bool>()), 1..150)) {
        let mut group = three();
        let (mut now, mut lost) = (0, [0u32; 3]);
        for (pause, place, tools, class, forget) in steps {
            now += pause;
            let ask = if tools { TOOLS } else { CHAT };
            let Ok(permit) = group.admit(place, Millis(now), ask, (Admission::Normal, 0), true) else { continue };
            if forget {
                lost[place] += 1;
                drop(permit);
            } else {
                let ended = Class::ALL.get(class).map_or(Ended::served(None), |c| Ended::failed(*c));
                group.settle(place, Millis(now), permit, &ended);
            }
        }
        for (place, lost) in lost.into_iter().enumerate() {
            prop_assert_eq!(group.target(place).unwrap().inflight(), lost);
        }
        // An open time, a lease and the open time after it, however they follow each other.
        now += 60_000 + 3_000 + 60_000;
        for place in 0..3 {
            let standing = group.standing(place, Millis(now), CHAT);
            let barred = matches!(standing.breaker, Breaker::Open { .. } | Breaker::HalfOpen { slot: false });
            prop_assert!(!barred);
        }
    }
}

/// What happens to one target, for a run of it that is looked at seldom and one that is looked at often.
#[derive(Clone, Copy, Debug)]
enum Step {
    Call(Option<Class>),
    Lost,
    Probe(Probed),
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        4 => Just(Step::Call(None)),
        4 => Just(Step::Call(Some(Class::ServerError))),
        1 => Just(Step::Call(Some(Class::RateLimit))),
        1 => Just(Step::Call(Some(Class::Auth))),
        1 => Just(Step::Lost),
        2 => Just(Step::Probe(Probed::Passed(Millis(100)))),
        1 => Just(Step::Probe(Probed::Passed(Millis(9_000)))),
        2 => Just(Step::Probe(Probed::Failed)),
    ];
    prop::collection::vec((0u64..9_000, step), 1..100)
}

fn story(steps: &[(u64, Step)], eager: bool) -> Vec<(Phase, Standing, Vec<u64>)> {
    let mut probe = ProbeRules::default();
    probe.health.slow.above = Some(Millis(5_000));
    probe.health.down_after = 2;
    let mut group = group(vec![TargetSpec { probe: Some(probe), ..spec("eu-a", "a", "eu") }]);
    let (mut now, mut seen) = (0, Vec::new());
    for (pause, step) in steps {
        if eager {
            (now..now + pause).step_by(1_013).for_each(|t| _ = group.standing(0, Millis(t), CHAT));
        }
        now += pause;
        let at = Millis(now);
        match *step {
            Step::Probe(probed) => _ = group.probe(0, at, probed),
            Step::Lost => drop(group.admit(0, at, CHAT, (Admission::Normal, 0), true)),
            Step::Call(class) => {
                if let Ok(permit) = group.admit(0, at, CHAT, (Admission::Normal, 0), true) {
                    group.settle(0, at, permit, &class.map_or(Ended::served(None), Ended::failed));
                }
            }
        }
        let trips = group.circuits(at).map(|c| c.trips).collect();
        seen.push((group.phase(0, at, Capability::Text), group.standing(0, at, CHAT), trips));
    }
    seen
}

proptest! {
    #[test]
    fn looking_more_often_changes_nothing(steps in steps()) {
        prop_assert_eq!(story(&steps, false), story(&steps, true));
    }

    /// Nobody is let in while the phase is blocked, and a target that never had an outage has no ramp.
    #[test]
    fn a_ramp_follows_an_outage(steps in steps()) {
        let (mut outage, mut before) = (false, Phase::Full);
        for (phase, standing, _) in story(&steps, false) {
            prop_assert_eq!(phase == Phase::Blocked, standing.health == Health::Down || matches!(standing.breaker, Breaker::Open { .. }));
            outage |= matches!(phase, Phase::Blocked | Phase::Trial);
            if matches!(phase, Phase::Ramping(_)) {
                prop_assert!(outage, "a ramp after {before:?}");
            }
            before = phase;
        }
    }
}

/// A target of another region that did well just now.
fn well(group: &mut Group, place: usize, now: u64) {
    assert!(call(group, place, now, CHAT, &Ended::served(None)));
}

#[test]
fn one_region_that_fails_beside_one_that_does_well_is_regional() {
    let mut group = three();
    well(&mut group, 2, 0);
    for n in 1..=5 {
        assert!(!group.is_regional(0, Millis(n)), "four failures open nothing");
        call(&mut group, 0, n, CHAT, &Ended::failed(Class::Connect));
    }
    assert_eq!([0, 1, 2].map(|place| group.is_regional(place, Millis(6))), [true, true, false]);
    assert!(group.standing(1, Millis(6), CHAT).regional && !group.standing(2, Millis(6), CHAT).regional);
    // Its trial is still a matter of the region, its end is not.
    let permit = group.admit(0, Millis(5_005), CHAT, (Admission::Trial, 0), false).unwrap();
    assert!(group.is_regional(0, Millis(5_006)));
    group.settle(0, Millis(5_010), permit, &Ended::served(None));
    assert!(!group.is_regional(0, Millis(5_011)));
}

#[test]
fn nothing_is_regional_where_no_other_region_was_seen_to_do_well() {
    let fail = |group: &mut Group, place, now| {
        (0..5).for_each(|_| _ = call(group, place, now, CHAT, &Ended::failed(Class::Connect)));
    };
    let mut silent = three();
    fail(&mut silent, 0, 0);
    assert!(!silent.is_regional(0, Millis(1)), "the other region may be as bad");
    let mut both = three();
    well(&mut both, 2, 0);
    fail(&mut both, 0, 1);
    fail(&mut both, 2, 1);
    assert!(!both.is_regional(0, Millis(2)) && !both.is_regional(2, Millis(2)), "that is the provider");
    let mut old = group(vec![
        TargetSpec {
            breaker: BreakerRules {
                open: OpenTime { base: Millis(900_000), cap: Millis(900_000), ..breaker().open },
                ..breaker()
            },
            ..spec("eu-a", "a", "eu")
        },
        spec("us-a", "a", "us"),
    ]);
    well(&mut old, 1, 0);
    fail(&mut old, 0, 1);
    assert!(old.is_regional(0, Millis(299_999)));
    assert!(!old.is_regional(0, Millis(300_000)), "five minutes ago says nothing");
    let mut apart =
        group(vec![spec("eu-a", "a", "eu"), TargetSpec { provider: "other".into(), ..spec("us-a", "a", "us") }]);
    well(&mut apart, 1, 0);
    fail(&mut apart, 0, 1);
    assert!(!apart.is_regional(0, Millis(2)), "another provider's region is no evidence");
}

#[test]
fn a_target_that_fails_in_a_region_that_does_well_is_not_regional() {
    let mut group = three();
    well(&mut group, 1, 0);
    well(&mut group, 2, 0);
    (0..5).for_each(|_| _ = call(&mut group, 0, 1, CHAT, &Ended::failed(Class::ServerError)));
    assert_eq!(open(&mut group, 1), ["target=eu-a"]);
    assert!(!group.is_regional(0, Millis(2)), "its neighbour does well");
    (0..5).for_each(|_| _ = call(&mut group, 1, 2, CHAT, &Ended::failed(Class::ServerError)));
    assert!(group.is_regional(0, Millis(3)) && group.is_regional(1, Millis(3)), "now nothing there does");
    let mut account = three();
    well(&mut account, 2, 0);
    call(&mut account, 0, 1, CHAT, &Ended::failed(Class::Auth));
    assert!(!account.is_regional(0, Millis(2)), "a credential is no place");
}

#[test]
fn probes_tell_of_regions_too() {
    let probed =
        |name: &str, region: &str| TargetSpec { probe: Some(ProbeRules::default()), ..spec(name, "a", region) };
    let mut group = group(vec![probed("eu-a", "eu"), probed("us-a", "us")]);
    group.probe(1, Millis(0), Probed::Passed(Millis(100)));
    group.probe(0, Millis(0), Probed::Failed);
    let standing = group.standing(0, Millis(1), CHAT);
    assert!(standing.health == Health::Down && standing.regional && !standing.stale);
    // Older than three intervals it is stale, bars nobody, and is no region's failure.
    let every = ProbeRules::default().every.0;
    let standing = group.standing(0, Millis(3 * every), CHAT);
    assert!(standing.health == Health::Healthy && standing.stale && !standing.regional);
}
