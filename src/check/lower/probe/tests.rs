use super::*;
use crate::check::sample::{found, policy};
use crate::policy::Multiple;

fn rules(body: &str) -> ProbeRules {
    let text = format!("probe b {{\n{body}\n}}\ndefaults {{ probe b }}");
    policy(&[("probe", &text)]).targets[0].probe.clone().unwrap()
}

fn wrong(body: &str) -> Vec<(&'static str, String)> {
    let text = format!("probe b {{\n{body}\n}}\ndefaults {{ probe b }}");
    found(&[("probe", &text)])
}

fn only(code: &'static str, text: &str) -> Vec<(&'static str, String)> {
    vec![(code, text.to_owned())]
}

#[test]
fn an_empty_block_has_the_languages_defaults() {
    assert_eq!(rules(""), ProbeRules::default());
    let written = "every 10s, jitter 10%\nkind generate\nprompt \"ping\"\nmax-tokens 5\nbad-answer fail\n\
        slow when latency > 3x baseline, at least 500ms\ndown after 3 failures\nup after 2 passes\n\
        degraded after 3 slow\nrecovered after 3 ok\nbaseline 100 probes, min 20, renew 30m\ntraffic no";
    assert_eq!(rules(written), ProbeRules::default());
}

#[test]
fn each_line_becomes_its_value() {
    let own = rules(
        "every 15s, jitter 20%\ntimeout 3s\nkind tools\nprompt \"hello\"\nmax-tokens 7\nanswer contains \"pong\"\n\
         bad-answer slow\ndown after 1 failure\nup after 1 pass\ndegraded after 1 slow\nrecovered after 4 ok\n\
         baseline 1000 probes, min 50, renew 1h\ntraffic yes\nspend $2.50/day",
    );
    let health = HealthRules {
        down_after: 1,
        up_after: 1,
        degraded_after: 1,
        recovered_after: 4,
        slow: HealthRules::default().slow,
        baseline: BaselineRules { size: 1_000, min: 50, renew: Some(Millis(3_600_000)) },
    };
    let expected = ProbeRules {
        every: Millis(15_000),
        jitter: Percent(2_000),
        timeout: Some(Millis(3_000)),
        kind: ProbeKind::Tools,
        prompt: "hello".into(),
        max_tokens: 7,
        answer_contains: Some("pong".into()),
        bad_answer: BadAnswer::Slow,
        health,
        traffic: true,
        spend_per_day: Some(Money(2_500_000_000)),
    };
    assert_eq!(own, expected);
}

#[test]
fn the_three_forms_of_slow_stand_beside_each_other_and_replace_the_default() {
    let slow = |lines: &str| rules(lines).health.slow;
    let all = slow(
        "slow when latency > 2.5x baseline, at least 200ms\nslow when latency > 12s\n\
         slow when p95 > 4s over 30s, min 10",
    );
    assert_eq!(all.beside, Some(SlowBeside { multiple: Multiple(2_500), at_least: Millis(200) }));
    assert_eq!(all.above, Some(Millis(12_000)));
    assert_eq!(all.live, Some(SlowLive { above: Millis(4_000), over: Millis(30_000), min: 10 }));
    let one = slow("slow when p95 > 4s over 30s");
    assert_eq!((one.beside, one.above, one.live.map(|live| live.min)), (None, None, Some(20)));
    let floor = slow("slow when latency > 2x baseline").beside.map(|beside| beside.at_least);
    assert_eq!(floor, Some(Millis(500)), "a part left out is that of the default line");
}

#[test]
fn own_settings_win_over_inherited_ones() {
    let text = "probe base { every 20s; slow when latency > 12s; down after 5 failures }\n\
        probe b { extends base; slow when latency > 4s }\ndefaults { probe b }";
    let own = policy(&[("probe", text)]).targets[0].probe.clone().unwrap();
    assert_eq!((own.every, own.health.down_after), (Millis(20_000), 5));
    assert_eq!(own.health.slow, SlowWhen { beside: None, above: Some(Millis(4_000)), live: None });
}

#[test]
fn a_line_that_cannot_be_meant_is_named() {
    for (line, code, text) in [
        ("every 0s", "SB0304", "0s"),
        ("every 10", "SB0301", "10"),
        ("every 10s jitter 10%", "SB0303", "jitter"),
        ("kind embedding", "SB0210", "embedding"),
        ("kind chat", "SB0305", "chat"),
        ("max-tokens 0", "SB0304", "0"),
        ("answer \"pong\"", "SB0303", "\"pong\""),
        ("answer contains \"\"", "SB0304", "\"\""),
        ("bad-answer degraded", "SB0305", "degraded"),
        ("slow when latency >= 12s", "SB0303", ">="),
        ("slow when p95 > 12s", "SB0307", "12s"),
        ("slow when p95 > 12s over 60s, min 600", "SB0304", "600"),
        ("slow when latency > 3x", "SB0307", "3x"),
        ("slow when latency > 12s, at least 1s", "SB0308", ", at least 1s"),
        ("slow when latency > 12s\nslow when latency > 13s", "SB0214", "slow when latency > 13s"),
        ("down after 1 failures", "SB0309", "failures"),
        ("down after 3 failure", "SB0309", "failure"),
        ("up after 2", "SB0309", "2"),
        ("up 2 passes", "SB0303", "2"),
        ("degraded after 3 failures", "SB0303", "failures"),
        ("baseline 100", "SB0309", "100"),
        ("baseline 10 probes, min 20", "SB0805", "20"),
        ("baseline 10 probes", "SB0805", "probes"),
        ("spend $2", "SB0303", "$2"),
        ("spend $2/request", "SB0303", "$2/request"),
    ] {
        assert_eq!(wrong(line), only(code, text), "{line}");
    }
}

#[test]
fn a_probe_that_outlasts_its_interval_is_a_warning() {
    assert_eq!(wrong("every 5s\ntimeout 6s"), only("SB0811", "timeout 6s"));
    assert_eq!(wrong("every 5s\ntimeout 5s"), []);
    let inherited = "probe base { timeout 8s }\nprobe b { extends base; every 4s }\nprobe c { extends b }\n\
        defaults { probe c }";
    assert_eq!(found(&[("probe", inherited)]), only("SB0811", "b"));
}

#[test]
fn no_probe_is_called_none() {
    assert_eq!(found(&[("probe", "probe none { }\ndefaults { probe none }")]), only("SB0203", "none"));
}

#[test]
fn what_an_answer_is_judged_by_says_nothing_where_none_is_looked_at() {
    let idle = |lines: &[&str]| lines.iter().map(|line| ("SB0813", (*line).to_owned())).collect::<Vec<_>>();
    let answers = "answer contains \"x\"";
    assert_eq!(wrong(&format!("kind endpoint\n{answers}\nup after 1 pass")), idle(&[answers, "up after 1 pass"]));
    let slow = ["slow when latency > 1s", "recovered after 1 ok"];
    assert_eq!(wrong(&format!("kind endpoint\n{}", slow.join("\n"))), idle(&slow));
    assert_eq!(wrong(&format!("kind endpoint\ntraffic yes\n{}", slow.join("\n"))), []);
    assert_eq!(wrong("kind endpoint\nbaseline 10 probes, min 5"), idle(&["baseline 10 probes, min 5"]));
    let extends = "probe c { bad-answer slow }\nprobe b { extends c; kind endpoint }\ndefaults { probe b }\nprobe d { extends c }";
    assert!(found(&[("probe", extends)]).iter().all(|(code, _)| *code != "SB0813"), "it may be meant for others");
}
