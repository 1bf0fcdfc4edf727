//! What the gateway refuses by itself: in OpenAI's shape, with an id, and without any upstream call.

use super::gateway_rig::{Answer, Rig, chat_body, ok};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

fn check(rig: &Rig, answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{answer:?}");
    let error = &answer.json()["error"];
    assert!(error["message"].is_string() && error["type"].is_string(), "{error}");
    assert_eq!(error["request_id"].as_str(), answer.header("x-switchback-id"));
    assert_eq!(answer.header("x-switchback-policy").unwrap().len(), 64);
    assert!(rig.upstreams.iter().all(|u| u.calls().is_empty()), "an upstream was called");
}

#[test]
fn each_has_its_status_and_its_code() {
    let rig = Rig::new(vec![vec![ok("a")]]);
    let chat = "/v1/chat/completions";
    let good = chat_body(json!({}));
    check(&rig, &rig.send("POST", chat, "", "{\"model\":"), 400, "invalid_json");
    check(&rig, &rig.send("POST", chat, "", "[1]"), 400, "invalid-request");
    check(&rig, &rig.send("POST", chat, "", r#"{"model":"chat"}"#), 400, "invalid-request");
    check(&rig, &rig.chat("", json!({"model": "nobody"})), 404, "model_not_found");
    check(&rig, &rig.send("GET", chat, "", ""), 405, "method_not_allowed");
    check(&rig, &rig.send("POST", "/v1/models", "", ""), 405, "method_not_allowed");
    check(&rig, &rig.send("GET", "/v1/nothing", "", ""), 404, "not_found");
    check(&rig, &rig.chat("", json!({"user": "x".repeat(70_000)})), 413, "body_too_large");
    check(&rig, &rig.chat("x-switchback-deadline-ms: 0\r\n", json!({})), 504, "deadline");
    check(&rig, &rig.chat("x-switchback-deadline-ms: soon\r\n", json!({})), 400, "invalid-request");
    check(&rig, &rig.chat("x-switchback-deadline-ms: -1\r\n", json!({})), 400, "invalid-request");
    let tools = json!({"tools": [{"type": "function", "function": {"name": "f"}}]});
    check(&rig, &rig.chat("", tools), 503, "contract");
    assert_eq!(rig.send("POST", chat, "", &good).status, 200);
}

#[test]
fn what_never_became_a_decision_is_recorded_too() {
    let rig = Rig::new(vec![vec![ok("a")]]);
    let sent = [
        rig.send("POST", "/v1/chat/completions", "", "{"),
        rig.chat("", json!({"model": "nobody"})),
        rig.chat("x-switchback-pin: elsewhere\r\n", json!({})),
        rig.chat("", json!({"user": "x".repeat(70_000)})),
    ];
    let records = rig.records(sent.len());
    for (answer, record) in sent.iter().zip(&records) {
        assert_eq!(record["id"].as_str(), answer.header("x-switchback-id"));
        assert_eq!(record["status"], answer.status);
        assert_eq!((&record["outcome"], &record["attempts"]), (&json!("refused"), &json!(0)));
        assert_eq!(record["steps"], json!([]));
    }
    let classes: Vec<_> = records.iter().map(|r| r["class"].as_str().unwrap()).collect();
    assert_eq!(classes, ["invalid-request", "not-found", "invalid-request", "payload-too-large"]);
    assert_eq!(records[1]["request"]["model"], "nobody");
    assert_eq!((&records[1]["route"], &records[2]["route"]), (&json!(null), &json!("chat")));
}

#[test]
fn a_body_without_a_length_is_capped_too() {
    let rig = Rig::new(vec![vec![ok("a")]]);
    let mut socket = TcpStream::connect(rig.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let head =
        "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    socket.write_all(head.as_bytes()).unwrap();
    let piece = "x".repeat(16 * 1024);
    for _ in 0..8 {
        // The gateway may have hung up already.
        let _ = socket.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes());
    }
    check(&rig, &Answer::read(socket), 413, "body_too_large");
}

#[test]
fn a_callers_deadline_bounds_the_whole_answer() {
    use super::gateway_rig::Act;
    let rig = Rig::new(vec![vec![vec![Act::Hang]]]);
    let began = std::time::Instant::now();
    let answer = rig.chat("x-switchback-deadline-ms: 400\r\n", json!({}));
    assert_eq!((answer.status, answer.code().as_str()), (504, "deadline"), "{answer:?}");
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(390) && took < Duration::from_millis(1_400), "{took:?}");
}

#[test]
fn operators_pages_answer() {
    let rig = Rig::new(vec![vec![ok("a")]]);
    assert_eq!(rig.send("GET", "/healthz", "", "").body, "ok\n");
    let ready = rig.send("GET", "/readyz", "", "");
    assert_eq!(ready.status, 200);
    assert_eq!(ready.json()["ready"], true);
    assert_eq!(ready.json()["reload"]["ok"], true);
    assert_eq!(ready.json()["policy"].as_str(), ready.header("x-switchback-policy"));
    let models = rig.send("GET", "/v1/models", "", "").json();
    assert_eq!(models["data"][0]["id"], "chat");
    let metrics = rig.send("GET", "/metrics", "", "");
    assert!(metrics.body.contains("switchback_policy_reload_ok 1\n"), "{}", metrics.body);
    let hash = ready.json()["policy"].as_str().unwrap().to_owned();
    assert!(metrics.body.contains(&format!("switchback_policy_info{{hash=\"{hash}\"}} 1\n")));
}
