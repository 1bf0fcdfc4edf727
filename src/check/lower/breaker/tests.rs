use super::*;
use crate::check::sample::{found, policy};
use crate::policy::{Class, HoldRule, Policy};

fn with(body: &str) -> Policy {
    let text = format!("breaker b {{\n{body}\n}}\ndefaults {{ breaker b }}");
    policy(&[("breaker", &text)])
}

fn rules(body: &str) -> BreakerRules {
    with(body).providers[0].breaker
}

fn wrong(body: &str) -> Vec<(&'static str, String)> {
    let text = format!("breaker b {{\n{body}\n}}\ndefaults {{ breaker b }}");
    found(&[("breaker", &text)])
}

fn only(code: &'static str, text: &str) -> Vec<(&'static str, String)> {
    vec![(code, text.to_owned())]
}

const BUILT_IN: fn() -> BreakerRules = BreakerRules::default;

#[test]
fn an_empty_block_has_the_languages_defaults() {
    assert_eq!(rules(""), BUILT_IN());
    let written = "scopes [account, region, model, target, capability]\n\
        trip when errors >= 50% over 30s, min 20\ntrip when consecutive >= 5\n\
        open 30s, doubling to 5m, jitter 10%\nhalf-open 1 at once, 2 successes\nhint-cap 5m\ntimeout-evidence 50%\n\
        hold rate-limit up to 5m, default 1s\nhold overloaded, server-error up to 5m\n\
        hold quota-exhausted up to 6h, default 5m";
    assert_eq!(rules(written), BUILT_IN());
}

#[test]
fn each_line_becomes_its_value() {
    let own = rules(
        "scopes [target, account]\ntrip when errors >= 5% over 100 calls, min 40\ntrip when slow >= 80% above 10s\n\
         open 60s\nhalf-open 3 at once, 1 success, lease 10s\nstable 7m\nhint-cap 1m\ntimeout-evidence 75%",
    );
    assert_eq!(own.scopes, Scopes::of(&[BreakerScope::Account, BreakerScope::Target]));
    assert_eq!((own.over, own.min), (Over::Calls(100), 40));
    assert_eq!(own.errors, Some(Percent(500)));
    assert_eq!(own.slow, Some(SlowTrip { share: Percent(8_000), above: SlowAbove::Fixed(Millis(10_000)) }));
    assert_eq!(own.consecutive, None, "a written `trip` replaces all defaults");
    let constant =
        OpenTime { base: Millis(60_000), growing: Multiple(1_000), cap: Millis(60_000), jitter: Percent(1_000) };
    assert_eq!(own.open, constant);
    assert_eq!(own.half_open, HalfOpen { at_once: 3, successes: 1, lease: Some(Millis(10_000)) });
    assert_eq!((own.stable, own.hint_cap), (Some(Millis(420_000)), Millis(60_000)));
    assert_eq!(own.timeout_evidence, Percent(7_500));
}

#[test]
fn open_times_grow_by_a_factor() {
    let open = |line: &str| rules(line).open;
    let times = |base, growing, cap, jitter| OpenTime {
        base: Millis(base),
        growing: Multiple(growing),
        cap: Millis(cap),
        jitter: Percent(jitter),
    };
    assert_eq!(open("open 20s, doubling to 2m"), times(20_000, 2_000, 120_000, 1_000));
    assert_eq!(open("open 20s, growing 1.5x to 2m, jitter 0%"), times(20_000, 1_500, 120_000, 0));
    assert_eq!(open("open 5s, jitter 25%"), times(5_000, 1_000, 5_000, 2_500));
}

#[test]
fn a_part_left_out_is_that_of_the_default_line() {
    let own = rules("trip when errors >= 20%");
    assert_eq!((own.over, own.min), (BUILT_IN().over, BUILT_IN().min));
    let slow = rules("trip when slow >= 80% above 2.5x baseline over 60s, min 10\ntrip when errors >= 20%");
    assert_eq!((slow.over, slow.min), (Over::Time { span: Millis(60_000), buckets: 10 }, 10));
    assert_eq!(slow.slow.unwrap().above, SlowAbove::Baseline(Multiple(2_500)));
}

#[test]
fn own_trips_replace_inherited_ones_and_holds_do_so_by_class() {
    let text = "breaker base {\n trip when errors >= 20% over 60s, min 10\n hint-cap 1m\n\
        hold rate-limit up to 1m, default 3s\n hold overloaded up to 2m\n}\n\
        breaker b { extends base; trip when consecutive >= 7; hold overloaded, connect up to 4m, default 1s }\n\
        defaults { breaker b }";
    let own = policy(&[("breaker", text)]).providers[0].breaker;
    assert_eq!((own.errors, own.consecutive), (None, Some(7)));
    assert_eq!((own.over, own.min), (BUILT_IN().over, BUILT_IN().min), "the window went with its line");
    assert_eq!(own.hint_cap, Millis(60_000));
    let hold = |cap, default: Option<u64>| Some(HoldRule { cap: Millis(cap), default: default.map(Millis) });
    assert_eq!(own.holds.of(Class::RateLimit), hold(60_000, Some(3_000)));
    assert_eq!(own.holds.of(Class::Overloaded), hold(240_000, Some(1_000)));
    assert_eq!(own.holds.of(Class::Connect), hold(240_000, Some(1_000)));
    assert_eq!(own.holds.of(Class::QuotaExhausted), BUILT_IN().holds.of(Class::QuotaExhausted));
}

#[test]
fn a_hold_names_classes_or_patterns() {
    let own = rules("hold timeout-* up to 30s");
    for class in [Class::TimeoutHeaders, Class::TimeoutFirstToken, Class::TimeoutIdle] {
        assert_eq!(own.holds.of(class), Some(HoldRule { cap: Millis(30_000), default: None }));
    }
    assert_eq!(wrong("hold policy up to 5s"), only("SB0303", "policy"));
    assert_eq!(wrong("hold rate-limitt up to 5s"), only("SB0502", "rate-limitt"));
    assert_eq!(wrong("hold rate-limit up to 5s, default 6s"), only("SB0304", "6s"));
    assert_eq!(wrong("hold rate-limit 5s"), only("SB0303", "5s"));
    assert_eq!(
        wrong("hold timeout-* up to 5s\nhold timeout-idle up to 6s"),
        only("SB0214", "hold timeout-idle up to 6s")
    );
}

#[test]
fn a_line_that_cannot_be_meant_is_named() {
    for (line, code, text) in [
        ("scopes [account]", "SB0802", "[account]"),
        ("scopes [target, planet]", "SB0305", "planet"),
        ("trip errors >= 5%", "SB0303", "errors"),
        ("trip when error >= 5%", "SB0305", "error"),
        ("trip when errors > 5%", "SB0303", ">"),
        ("trip when errors >= 5", "SB0301", "5"),
        ("trip when errors >= 0%", "SB0304", "0%"),
        ("trip when errors >= 50% over 1001ms, min 20", "SB0804", "1001ms"),
        ("trip when errors >= 50% over 30s min 20", "SB0303", "min"),
        ("trip when errors >= 50% over 30s, min 20, min 30", "SB0214", "min"),
        ("trip when errors >= 50% over 30s, max 20", "SB0305", "max"),
        ("trip when errors >= 50% over 20 call, min 20", "SB0309", "call"),
        ("trip when errors >= 50% over 10 calls, min 20", "SB0805", "min 20"),
        ("trip when errors >= 50% over 10 calls", "SB0805", "over 10 calls"),
        ("trip when slow >= 80%", "SB0307", "80%"),
        ("trip when slow >= 80% above 0.5x baseline", "SB0304", "0.5x"),
        ("trip when consecutive >= 5 over 60s", "SB0308", "over 60s"),
        ("open 0s", "SB0304", "0s"),
        ("open 5m, doubling to 30s", "SB0806", "5m, doubling to 30s"),
        ("open 30s, doubling to 5m, growing 3x to 6m", "SB0214", "growing"),
        ("half-open 1 at once", "SB0307", "once"),
        ("half-open 1 at once, 1 successes", "SB0309", "successes"),
        ("half-open 1 at once, 2", "SB0309", "2"),
        ("half-open 0 at once, 2 successes", "SB0304", "0"),
    ] {
        assert_eq!(wrong(line), only(code, text), "{line}");
    }
}

#[test]
fn a_breaker_has_one_window() {
    let two = "trip when errors >= 50% over 30s, min 20\ntrip when slow >= 80% above 10s over 60s";
    assert_eq!(wrong(two), only("SB0803", "over 60s"));
    let two = "trip when errors >= 50% over 30s, min 20\ntrip when slow >= 80% above 10s over 30s, min 30";
    assert_eq!(wrong(two), only("SB0803", "min 30"));
    let twice = "trip when errors >= 50%\ntrip when errors >= 20%";
    assert_eq!(wrong(twice), only("SB0214", "trip when errors >= 20%"));
}

#[test]
fn one_failure_that_is_enough_is_a_warning() {
    for line in ["trip when errors >= 5% over 60s, min 20", "trip when consecutive >= 1"] {
        assert_eq!(wrong(line), only("SB0807", line));
    }
    assert_eq!(wrong("trip when errors >= 5% over 60s, min 21"), []);
    let inherited = "breaker base { trip when consecutive >= 1 }\nbreaker b { extends base }\ndefaults { breaker b }";
    assert_eq!(found(&[("breaker", inherited)]), only("SB0807", "trip when consecutive >= 1"));
}
