//! Probes find an outage and its end without any request that meets it.

use super::serve_rig::{Folder, Served, answer, command};
use serde_json::Value;
use std::time::{Duration, Instant};

const POLICY: &str = r#"switchback 1
# allow SB0612: the emulator stands in
provider north { api emulated; probe quick }
# allow SB0612: the emulator stands in
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

fn until(what: &str, such: impl Fn() -> bool) {
    let late = Instant::now() + Duration::from_secs(10);
    while !such() {
        assert!(Instant::now() < late, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
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
