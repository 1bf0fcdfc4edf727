//! Probes find an outage and its end without any request that meets it.

use super::serve_rig::{Folder, Served, answer, command, until};
use serde_json::Value;
use std::collections::BTreeSet;

const POLICY: &str = r#"switchback 1
provider north { api emulated; probe quick }
provider south { api emulated }
model m { modalities [text]; streaming yes; tools no; structured-output none; context 32k; max-output 4k; price $1/M in, $2/M out }
target n { model m; provider north; script { answers ok after 1ms; from 0s to 900ms answers overloaded after 1ms } }
target s { model m; provider south; script { answers ok after 1ms } }
tier t { chain { n; s } }
matrix x { overloaded -> failover; otherwise -> stop }
budget u { deadline 10s; attempts 2; reserve 2s }
probe quick { every 60ms; timeout 50ms; down after 3 failures; up after 2 passes }
route chat { tier t; matrix x; budget u }
"#;

fn ask(served: &Served) -> String {
    let body = r#"{"model":"chat","messages":[{"role":"user","content":"hello"}]}"#;
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    answer(served.connect(&request)).0
}

fn health(served: &Served, state: &str) -> bool {
    served.get("/metrics").contains(&format!("switchback_health_state{{target=\"n\",state=\"{state}\"}} 1"))
}

#[test]
fn an_outage_is_found_without_traffic_and_so_is_its_end() {
    let folder = Folder::new("probes", POLICY);
    let records = folder.0.join("records.jsonl");
    let served = Served::of(command(&["--records", records.to_str().unwrap()], &folder.policy()));
    until("the probes find the outage", || health(&served, "down"));
    let head = ask(&served);
    assert!(head.contains("x-switchback-target: s") && head.contains("x-switchback-attempts: 1"), "{head}");
    until("the probes find its end", || health(&served, "healthy"));
    let head = ask(&served);
    assert!(head.contains("x-switchback-target: n"), "{head}");
    until("both records are there", || std::fs::read_to_string(&records).is_ok_and(|t| t.lines().count() == 2));
    let text = std::fs::read_to_string(&records).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["steps"][0]["skipped"][0]["reason"], "down");
    let metrics = served.get("/metrics");
    assert!(metrics.contains("switchback_probes_total{target=\"n\",result=\"fail\"}"), "{metrics}");
}

/// A policy of targets that are only probed: name, script, and what its probe says beside its interval.
fn probed(targets: &[(&str, &str, &str)]) -> String {
    let mut text = String::from(
        "switchback 1\nmodel m { modalities [text]; streaming yes; tools yes; structured-output none; context 32k; \
         max-output 4k; price $1/M in, $2/M out }\nmatrix x { otherwise -> stop }\n\
         budget u { deadline 10s; attempts 1; min-attempt 10ms }\n",
    );
    for (name, script, probe) in targets {
        let timeout = if probe.contains("timeout") { "" } else { "timeout 2s;" };
        text += &format!(
            "provider {name} {{ api emulated; probe {name} }}\n\
             probe {name} {{ every 60ms; {timeout} {probe} }}\n\
             target {name} {{ model m; provider {name}; script {{ {script} }} }}\n\
             tier {name} {{ chain {{ {name} }} }}\nroute {name} {{ tier {name}; matrix x; budget u }}\n"
        );
    }
    text
}

/// What the probes of a target were taken for so far, and how often.
fn results(metrics: &str, target: &str) -> Vec<(String, u64)> {
    let label = format!("switchback_probes_total{{target=\"{target}\",result=\"");
    let rows = metrics.lines().filter_map(|line| line.strip_prefix(&label)?.split_once("\"} "));
    rows.map(|(result, n)| (result.to_owned(), n.parse().unwrap())).collect()
}

fn stale(metrics: &str, target: &str) -> bool {
    metrics.contains(&format!("switchback_health_stale{{target=\"{target}\"}} 1"))
}

fn state(metrics: &str, target: &str, state: &str) -> bool {
    metrics.contains(&format!("switchback_health_state{{target=\"{target}\",state=\"{state}\"}} 1"))
}

#[test]
fn each_end_of_a_probe_is_what_it_says_about_its_target() {
    let cases = [
        ("well", "answers ok after 1ms", "", "ok", "healthy"),
        ("cut-by-its-limit", "answers ok \"one two three four five six seven\" after 1ms", "", "ok", "healthy"),
        ("late", "answers ok after 20ms", "slow when latency > 10ms", "slow", "degraded"),
        ("hanging", "answers hangs", "timeout 50ms", "fail", "down"),
        ("resetting", "answers resets", "", "fail", "down"),
        ("overloaded", "answers overloaded", "", "fail", "down"),
        ("gone", "answers not-found", "", "fail", "down"),
        ("empty", "answers empty", "", "fail", "down"),
        ("empty-is-slow", "answers empty", "bad-answer slow", "slow", "degraded"),
        ("garbled", "answers invalid-json", "", "fail", "down"),
        ("garbled-is-slow", "answers invalid-json", "bad-answer slow", "slow", "degraded"),
        ("wrong", "answers ok \"ping\" after 1ms", "answer contains \"pong\"", "fail", "down"),
        ("right", "answers ok \"pong\" after 1ms", "answer contains \"pong\"", "ok", "healthy"),
        ("prose", "answers ok \"I would call it\" after 1ms", "kind tools", "fail", "down"),
        ("limited", "answers 429", "", "skip", "healthy"),
        ("locked", "answers auth", "", "skip", "healthy"),
        ("broke", "answers quota-exhausted", "", "skip", "healthy"),
        ("strange", "answers invalid-request", "", "skip", "healthy"),
        ("there", "answers overloaded", "kind endpoint", "skip", "healthy"),
        ("not-there", "answers resets", "kind endpoint", "fail", "down"),
    ];
    let folder = Folder::new("probe-ends", &probed(&cases.map(|(name, script, probe, ..)| (name, script, probe))));
    let served = Served::new(&[], &folder.policy());
    let all = |metrics: &str| cases.iter().all(|(name, ..)| results(metrics, name).iter().any(|(_, n)| *n >= 4));
    until("each target was probed four times", || all(&served.get("/metrics")));
    let metrics = served.get("/metrics");
    for (name, _, _, result, health) in cases {
        let seen: BTreeSet<String> = results(&metrics, name).into_iter().map(|(result, _)| result).collect();
        assert_eq!(seen, BTreeSet::from([result.to_owned()]), "{name}");
        assert!(state(&metrics, name, health), "{name} is {health}: {metrics}");
    }
    // Probes are no calls of requests, and no samples of breakers.
    assert!(
        !metrics.contains("switchback_attempts_total{") && !metrics.contains("switchback_breaker_state{"),
        "{metrics}"
    );
}

#[test]
fn probes_stop_when_their_money_for_the_day_is_spent_and_that_is_no_failure() {
    // Four bytes of question and five tokens of answer: $0.000014 a probe; its tool makes one dearer.
    let targets = [
        ("thrifty", "answers ok after 1ms", "spend $0.00003/day"),
        ("free", "answers ok after 1ms", "spend $1/day"),
        ("broke", "answers ok after 1ms", "spend $0.00000001/day"),
        ("dear", "answers ok after 1ms", "kind tools; spend $0.00003/day"),
    ];
    let folder = Folder::new("probe-money", &probed(&targets));
    let served = Served::new(&[], &folder.policy());
    let count = |name, result: &str| {
        let found = results(&served.get("/metrics"), name).into_iter().find(|(r, _)| r == result);
        found.map_or(0, |(_, n)| n)
    };
    until("it is spent", || count("thrifty", "skip") >= 5 && count("free", "ok") >= 8);
    assert_eq!((count("thrifty", "ok"), count("free", "skip"), count("broke", "ok")), (2, 0, 0));
    until("a tool is paid for as well", || count("dear", "skip") >= 2);
    assert_eq!(count("dear", "fail"), 0);
    assert!(state(&served.get("/metrics"), "thrifty", "healthy"));
}

#[test]
fn a_state_that_nobody_confirms_is_shown_as_stale_in_metric_and_record_and_a_stale_down_bars_nobody() {
    let targets = [
        // Says nothing any more after a while: limits are about us.
        ("quiet", "answers ok after 1ms; at 1s answers 429 after 1ms", ""),
        ("fallen", "answers overloaded after 1ms; at 1s answers 429 after 1ms", "down after 1 failure"),
    ];
    let folder = Folder::new("probe-stale", &probed(&targets));
    let records = folder.0.join("records.jsonl");
    let served = Served::of(command(&["--records", records.to_str().unwrap()], &folder.policy()));
    let metrics = || served.get("/metrics");
    until("one is well and one is down", || {
        state(&metrics(), "quiet", "healthy") && state(&metrics(), "fallen", "down")
    });
    assert!(!stale(&metrics(), "quiet"));
    until("both are stale", || stale(&metrics(), "quiet") && stale(&metrics(), "fallen"));
    assert!(!state(&metrics(), "fallen", "down"));
    for route in ["quiet", "fallen"] {
        let body = format!(r#"{{"model":"{route}","messages":[{{"role":"user","content":"hello"}}]}}"#);
        let length = body.len();
        let (head, _) = answer(served.connect(&format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )));
        assert!(head.contains("x-switchback-attempts: 1"), "{head}");
    }
    until("both records are there", || std::fs::read_to_string(&records).is_ok_and(|t| t.lines().count() == 2));
    for line in std::fs::read_to_string(&records).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["steps"][0]["health_stale"], true, "{line}");
    }
}
