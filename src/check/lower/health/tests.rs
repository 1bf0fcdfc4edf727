use crate::check::sample::{codes, found, policy};
use crate::decide::ledgers::Plan;
use crate::graph::Graph;
use crate::policy::probe::Seed;
use crate::policy::{Millis, Percent, Policy, Rate, RetryRatio};
use crate::ready::prepare;
use crate::source::Sources;

const PROVIDERS: &str = "provider left { api openai-chat; base-url \"http://127.0.0.1:1/v1\"; SAYS }\n\
    provider right { api openai-chat; base-url \"http://127.0.0.1:2/v1\" }";
const BLOCKS: &str = "breaker one { hint-cap 1m }\nbreaker two { hint-cap 2m }\n\
    probe one { every 11s }\nprobe two { every 12s }\nprobe three { every 13s }\n\
    ramp one { 1% for 10s; 100% }\nramp two { 2% for 10s; 100% }\nramp three { 3% for 10s; 100% }";

fn set(provider: &str, target: &str, defaults: &str) -> Policy {
    let providers = PROVIDERS.replace("SAYS", provider);
    let targets =
        format!("target one {{ model small; provider left; {target} }}\ntarget two {{ model small; provider right }}");
    let defaults = format!("defaults {{ {defaults} }}");
    policy(&[("provider", &providers), ("target", &targets), ("health", BLOCKS), ("defaults", &defaults)])
}

/// The interval of a target's probe in seconds, and the share of its ramp's first stage in whole percent.
fn of(policy: &Policy, at: usize) -> (Option<u64>, Option<u32>) {
    let target = &policy.targets[at];
    (target.probe.as_ref().map(|p| p.every.0 / 1_000), target.ramp.stages.first().map(|s| s.share.0 / 100))
}

#[test]
fn a_target_goes_before_its_provider_and_that_before_the_defaults() {
    let nothing = set("", "", "");
    assert_eq!((of(&nothing, 0), of(&nothing, 1)), ((None, None), (None, None)));
    let defaults = set("", "", "probe one; ramp one");
    assert_eq!((of(&defaults, 0), of(&defaults, 1)), ((Some(11), Some(1)), (Some(11), Some(1))));
    let provider = set("probe two; ramp two", "", "probe one; ramp one");
    assert_eq!((of(&provider, 0), of(&provider, 1)), ((Some(12), Some(2)), (Some(11), Some(1))));
    let target = set("probe two; ramp two", "probe three; ramp three", "probe one; ramp one");
    assert_eq!((of(&target, 0), of(&target, 1)), ((Some(13), Some(3)), (Some(11), Some(1))));
    let none = set("probe two; ramp two", "probe none; ramp none", "probe one; ramp one");
    assert_eq!((of(&none, 0), of(&none, 1)), ((None, None), (Some(11), Some(1))));
}

#[test]
fn a_provider_has_its_own_breaker_or_the_sets_or_the_languages() {
    let caps = |policy: &Policy| policy.providers.iter().map(|p| p.breaker.hint_cap.0 / 60_000).collect::<Vec<_>>();
    assert_eq!(caps(&set("", "", "")), [5, 5]);
    assert_eq!(caps(&set("", "", "breaker one")), [1, 1]);
    assert_eq!(caps(&set("breaker two", "", "breaker one")), [2, 1]);
}

#[test]
fn buckets_baselines_and_limits_are_read() {
    let own = set("retry-ratio 10%, at least 2/min, burst 5", "baseline p50 100ms, p95 1s; max-concurrent 4", "");
    let rate = Rate { count: 2, per: Millis(60_000) };
    assert_eq!(own.providers[0].retry, RetryRatio { ratio: Percent(1_000), at_least: rate, burst: 5 });
    assert_eq!(own.providers[1].retry, RetryRatio::default());
    assert_eq!(own.targets[0].seed, Some(Seed { p50: Millis(100), p95: Millis(1_000) }));
    assert_eq!((own.targets[0].max_concurrent, own.targets[1].max_concurrent), (Some(4), None));
    let part = set("retry-ratio 10%", "", "").providers[0].retry;
    assert_eq!(part, RetryRatio { ratio: Percent(1_000), ..RetryRatio::default() });
}

#[test]
fn a_setting_that_cannot_be_meant_is_named() {
    let wrong = |provider: &str, target: &str| {
        let providers = PROVIDERS.replace("SAYS", provider);
        let targets = format!("target one {{ model small; provider left; {target} }}\n{RIGHT}");
        found(&[("provider", &providers), ("target", &targets), ("defaults", "defaults { }")])
    };
    const RIGHT: &str = "target two { model small; provider right }";
    let only = |code: &'static str, text: &str| vec![(code, text.to_owned())];
    assert_eq!(wrong("breaker quick", ""), only("SB0202", "quick"));
    assert_eq!(wrong("probe none", ""), only("SB0202", "none"), "only a target can switch off");
    assert_eq!(wrong("retry-ratio 20", ""), only("SB0301", "20"));
    assert_eq!(wrong("retry-ratio 20%, at least 1", ""), only("SB0301", "1"));
    assert_eq!(wrong("retry-ratio 20%, at least 1s", ""), only("SB0302", "1s"));
    assert_eq!(wrong("retry-ratio 20%, at least 1/week", ""), only("SB0302", "1/week"));
    assert_eq!(wrong("retry-ratio 20%, burst 5, burst 6", ""), only("SB0214", "burst"));
    assert_eq!(wrong("", "probe light"), only("SB0202", "light"));
    assert_eq!(wrong("", "max-concurrent 0"), only("SB0304", "0"));
    assert_eq!(wrong("", "baseline p50 300ms"), only("SB0307", "300ms"));
    assert_eq!(wrong("", "baseline p50 300ms, p95 200ms"), only("SB0304", "200ms"));
    assert_eq!(wrong("", "baseline p50 300ms, p95 400ms from eu-west"), only("SB0210", "from"));
    let twice = "baseline p50 1s, p95 2s; baseline p50 1s, p95 3s";
    assert_eq!(wrong("", twice), only("SB0214", "baseline p50 1s, p95 3s"));
}

#[test]
fn providers_of_one_account_name_one_breaker() {
    let with = |left: &str, right: &str, defaults: &str| {
        let provider = |name: &str, port: u8, says: &str| {
            format!(
                "provider {name} {{ api openai-chat; base-url \"http://127.0.0.1:{port}/v1\"; account x; {says} }}\n"
            )
        };
        let providers = provider("left", 1, left) + &provider("right", 2, right);
        let blocks = "breaker one { }\nbreaker two { }\nprovider other { api openai-chat; breaker two }\n\
            target third { model small; provider other }";
        let defaults = format!("defaults {{ {defaults} }}");
        let found = codes(&[
            ("provider", &providers),
            ("tier", "tier chat { chain { one; two; third } }"),
            ("budget", "budget short { deadline 10s; attempts 3 }"),
            ("blocks", blocks),
            ("defaults", &defaults),
        ]);
        found.contains(&"SB0801")
    };
    assert!(with("breaker one", "breaker two", ""));
    assert!(with("breaker one", "", ""));
    assert!(!with("breaker one", "breaker one", ""));
    assert!(!with("breaker one", "", "breaker one"));
    assert!(!with("", "", ""));
}

fn graph(policy: &str) -> Graph {
    prepare(Sources::from_texts([("a.sbk", policy)])).ready.unwrap().graph
}

#[test]
fn the_ledgers_are_made_from_what_was_resolved() {
    let text = "switchback 1\n\
        provider p { api openai-chat; base-url \"http://127.0.0.1:1/v1\"; retry-ratio 10%; breaker b }\n\
        model m { modalities [text]; context 32k; max-output 4k }\n\
        target a { model m; provider p; probe o; ramp g; baseline p50 1s, p95 2s; max-concurrent 3 }\n\
        tier t { chain { a } }\nmatrix x { otherwise -> stop }\nbudget u { deadline 10s; attempts 1 }\n\
        route r { tier t; matrix x; budget u }\nbreaker b { hint-cap 1m }\nprobe o { every 11s }\n\
        ramp g { 5% for 20s; 100% }\n";
    let whole = graph(text);
    let plan = Plan::of_graph(&whole, "here");
    let (spec, policy) = (&plan.groups[0].targets[0], whole.policy());
    let (target, provider) = (&policy.targets[0], &policy.providers[0]);
    assert_eq!((spec.breaker, spec.retry), (provider.breaker, provider.retry));
    assert_eq!((&spec.probe, spec.seed, &spec.ramp), (&target.probe, target.seed, &target.ramp));
    assert_eq!(spec.max_concurrent, Some(3));
    assert_eq!(spec.breaker.hint_cap, Millis(60_000));
    for (from, to) in [
        ("retry-ratio 10%", "retry-ratio 11%"),
        ("hint-cap 1m", "hint-cap 2m"),
        ("every 11s", "every 12s"),
        ("5% for 20s", "6% for 20s"),
        ("p95 2s", "p95 3s"),
        ("max-concurrent 3", "max-concurrent 4"),
    ] {
        assert_ne!(graph(&text.replace(from, to)).hash(), whole.hash(), "{from}");
    }
}
