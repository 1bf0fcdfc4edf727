//! A target that speaks Anthropic Messages, behind clients that speak chat: as bytes on the wire.

use super::gateway_rig::{Act, Answer, Rig, Scripted, chunk, last_chunk, ok, stream_head, whole};
use super::serve_rig::{Folder, Served, command};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use switchback::policy::{Api, Class, Policy, Text, Tools};

/// The first target speaks Messages, any other chat.
fn first_speaks_messages(policy: &mut Policy) {
    policy.providers[0].api = Api::AnthropicMessages;
    policy.models[0].capabilities.tools = Some(Tools::Parallel);
}

fn rig(upstreams: Vec<Vec<Vec<Act>>>) -> Rig {
    Rig::with(upstreams, first_speaks_messages)
}

/// The same where a malformed request goes elsewhere.
fn rig_with_failover(upstreams: Vec<Vec<Vec<Act>>>) -> Rig {
    Rig::with(upstreams, |policy| {
        first_speaks_messages(policy);
        let row = &mut policy.matrices[0].rows[1];
        row.classes = row.classes.with(Class::InvalidRequest);
    })
}

fn message(content: Value, reason: &str) -> Vec<Act> {
    let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": content,
        "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 10, "cache_read_input_tokens": 2, "output_tokens": 3}});
    whole(200, "", &body.to_string())
}

fn said(text: &str) -> Vec<Act> {
    message(json!([{"type": "text", "text": text}]), "end_turn")
}

fn malformed() -> Vec<Act> {
    whole(
        400,
        "",
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"x.y: Extra inputs are not permitted"}}"#,
    )
}

fn event(value: Value) -> Act {
    chunk(&format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()))
}

fn begin() -> Act {
    event(
        json!({"type": "message_start", "message": {"id": "msg_1", "model": "claude-x", "usage": {"input_tokens": 10}}}),
    )
}

fn delta(text: &str) -> Act {
    event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}))
}

fn end(reason: &str) -> Act {
    event(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}}))
}

fn stop() -> Act {
    event(json!({"type": "message_stop"}))
}

fn overloaded() -> Act {
    event(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))
}

/// The text that came, why it ended, and the error's code.
fn told(answer: &Answer) -> (String, Option<String>, Option<String>, bool) {
    let (mut text, mut finish, mut code, mut done) = (String::new(), None, None, false);
    for event in answer.body.split("\n\n").filter_map(|event| event.strip_prefix("data: ")) {
        if event == "[DONE]" {
            done = true;
            continue;
        }
        let event: Value = serde_json::from_str(event).unwrap();
        let choice = &event["choices"][0];
        text.push_str(choice["delta"]["content"].as_str().unwrap_or(""));
        finish = choice["finish_reason"].as_str().map(str::to_owned).or(finish);
        code = event["error"]["code"].as_str().map(str::to_owned).or(code);
    }
    (text, finish, code, done)
}

#[test]
fn a_request_goes_out_in_the_targets_words_and_comes_back_in_the_callers() {
    let call = json!([{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "toolu_1", "name": "see", "input": {"n": 1}}]);
    let rig = rig(vec![vec![message(call, "tool_use")]]);
    let tools = json!([{"type": "function", "function": {"name": "see", "parameters": {"type": "object"}}}]);
    let answer =
        rig.chat("x-api-key: of-the-client\r\nanthropic-version: 1\r\n", json!({"tools": tools, "temperature": 0.5}));
    assert_eq!(answer.status, 200, "{answer:?}");
    let body = answer.json();
    assert_eq!((&body["object"], &body["model"]), (&json!("chat.completion"), &json!("claude-x")));
    assert_eq!(body["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(body["choices"][0]["message"]["content"], "I look.");
    assert_eq!(
        body["choices"][0]["message"]["tool_calls"][0]["function"],
        json!({"name": "see", "arguments": "{\"n\":1}"})
    );
    assert!(body["created"].as_u64().unwrap() > 1_700_000_000);
    let sent = rig.upstreams[0].calls().remove(0);
    assert!(sent.head.starts_with("POST /v1/messages HTTP/1.1"), "{}", sent.head);
    let head = sent.head.to_ascii_lowercase();
    assert!(head.contains("x-api-key: key-of-a") && head.contains("anthropic-version: 2023-06-01"), "{head}");
    assert!(!head.contains("authorization") && !head.contains("of-the-client"), "{head}");
    let want = json!({
        "model": "m-at-a", "max_tokens": 4000, "temperature": 0.5,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "secret prompt"}]}],
        "tools": [{"name": "see", "input_schema": {"type": "object"}}],
    });
    assert_eq!(sent.body, want);
    let record = rig.records(1).remove(0);
    assert_eq!(record["usage"], json!({"input": 12, "output": 3, "cached": 2}));
    assert_eq!((&record["model"], &record["steps"][0]["ours"]), (&json!("claude-x"), &json!(false)));
    assert!(!record.to_string().contains("key-of-a") && !record.to_string().contains("secret prompt"));
}

#[test]
fn a_stream_comes_as_a_stream_of_chat() {
    let events = vec![
        stream_head(),
        begin(),
        event(json!({"type": "ping"})),
        delta("Hel"),
        delta("lo"),
        end("max_tokens"),
        stop(),
        last_chunk(),
    ];
    let rig = rig(vec![vec![events]]);
    let answer = rig.chat("", json!({"stream": true, "max_tokens": 3, "stream_options": {"include_usage": true}}));
    assert_eq!(told(&answer), ("Hello".into(), Some("length".into()), None, true), "{answer:?}");
    assert!(answer.complete && answer.body.contains("\"prompt_tokens\":10"), "{answer:?}");
    assert!(!answer.body.contains("event:"), "no event of the other dialect: {answer:?}");
    let record = rig.records(1).remove(0);
    assert_eq!((&record["outcome"], &record["usage"]["output"]), (&json!("served"), &json!(3)));
}

#[test]
fn an_error_before_output_leads_elsewhere() {
    for events in [
        vec![stream_head(), overloaded(), last_chunk()],
        vec![stream_head(), begin(), overloaded(), last_chunk()],
        whole(529, "", r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
    ] {
        let rig = rig(vec![
            vec![events],
            vec![vec![
                stream_head(),
                super::gateway_rig::role(),
                super::gateway_rig::text("from b"),
                super::gateway_rig::finish(),
                super::gateway_rig::done(),
                last_chunk(),
            ]],
        ]);
        let answer = rig.chat("", json!({"stream": true}));
        assert_eq!(told(&answer), ("from b".into(), Some("stop".into()), None, true), "{answer:?}");
        assert_eq!(rig.records(1)[0]["steps"][0]["class"], "overloaded");
    }
}

#[test]
fn what_breaks_after_output_has_no_end() {
    for acts in [
        vec![],
        vec![last_chunk()],
        vec![Act::Reset],
        vec![overloaded(), last_chunk()],
        vec![end("pause_turn"), stop(), last_chunk()],
    ] {
        let mut events = vec![stream_head(), begin(), delta("Hel")];
        // What was written before a reset is to arrive.
        events.push(Act::Pause(50));
        events.extend(acts);
        let rig = rig(vec![vec![events], vec![ok("never")]]);
        let answer = rig.chat("", json!({"stream": true}));
        assert_eq!(told(&answer), ("Hel".into(), None, Some("partial-stream".into()), false), "{answer:?}");
        assert!(!answer.complete && rig.upstreams[1].calls().is_empty());
    }
}

#[test]
fn a_refusal_is_policy() {
    let refused = [message(json!([]), "refusal"), message(json!([{"type": "text", "text": "I"}]), "refusal")];
    for script in refused {
        let rig = rig(vec![vec![script], vec![ok("never")]]);
        let answer = rig.chat("", json!({}));
        assert_eq!((answer.status, answer.code().as_str()), (400, "policy"), "{answer:?}");
        assert!(rig.upstreams[1].calls().is_empty());
    }
    let rig = rig(vec![vec![vec![stream_head(), begin(), end("refusal"), stop(), last_chunk()]]]);
    assert_eq!(rig.chat("", json!({"stream": true})).code(), "policy");
}

#[test]
fn what_our_translation_brought_about_blames_nobody() {
    let rig = rig(vec![vec![
        malformed(),
        malformed(),
        malformed(),
        malformed(),
        malformed(),
        malformed(),
        malformed(),
        said("well"),
    ]]);
    for _ in 0..7 {
        let answer = rig.chat("", json!({}));
        assert_eq!((answer.status, answer.code().as_str()), (502, "invalid-request"), "{answer:?}");
        assert_eq!(answer.header("x-should-retry"), Some("false"));
        let error = &answer.json()["error"];
        assert_eq!(error["type"], "server_error");
        let words = error["message"].as_str().unwrap();
        assert!(
            words.contains("what this gateway made of the request")
                && words.ends_with("x.y: Extra inputs are not permitted")
        );
    }
    // As many failures in a row as open a breaker, and it is asked all the same.
    assert_eq!(rig.chat("", json!({})).json()["choices"][0]["message"]["content"], "well");
    for record in &rig.records(8)[..7] {
        let step = &record["steps"][0];
        assert_eq!(
            (&step["class"], &step["ours"], &step["status"]),
            (&json!("invalid-request"), &json!(true), &json!(400))
        );
        assert_eq!((&record["status"], &record["class"]), (&json!(502), &json!("invalid-request")));
        assert_eq!(step["breaker"], "closed");
    }
    let metrics = rig.send("GET", "/metrics", "", "").body;
    assert!(metrics.contains("switchback_attempts_ours_total{route=\"chat\",target=\"a\"} 7\n"), "{metrics}");
    assert!(!metrics.contains("switchback_breaker_state{"), "{metrics}");
}

#[test]
fn what_our_translation_brought_about_may_be_said_in_a_stream() {
    let bad = event(json!({"type": "error", "error": {"type": "invalid_request_error", "message": "x.y: no"}}));
    let rig = rig(vec![vec![vec![stream_head(), begin(), bad, last_chunk()]]]);
    let answer = rig.chat("", json!({"stream": true}));
    assert_eq!((answer.status, answer.code().as_str()), (502, "invalid-request"), "{answer:?}");
    assert_eq!(rig.records(1)[0]["steps"][0]["ours"], true);
}

#[test]
fn the_row_decides_where_what_is_ours_goes() {
    let rig = rig_with_failover(vec![vec![malformed()], vec![ok("from b")]]);
    let answer = rig.chat("", json!({}));
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "from b");
    let steps = rig.records(1).remove(0)["steps"].clone();
    assert_eq!((&steps[0]["ours"], &steps[1]["ours"]), (&json!(true), &json!(false)));
    assert_eq!(steps[1]["action"], "failover");
}

#[test]
fn who_got_the_request_as_it_was_written_knows_better() {
    let theirs = whole(400, "", r#"{"error":{"message":"messages: bad","type":"invalid_request_error","code":null}}"#);
    let rig = rig_with_failover(vec![vec![malformed()], vec![theirs]]);
    let answer = rig.chat("", json!({}));
    assert_eq!(answer.json()["error"]["message"], "messages: bad", "{answer:?}");
    let steps = rig.records(1).remove(0)["steps"].clone();
    assert_eq!((&steps[0]["ours"], &steps[1]["ours"]), (&json!(true), &json!(false)));
}

#[test]
fn a_malformed_request_in_the_callers_own_words_is_the_callers() {
    let theirs = whole(400, "", r#"{"error":{"message":"messages: bad","type":"invalid_request_error","code":null}}"#);
    let rig = Rig::new(vec![vec![theirs]]);
    let answer = rig.chat("", json!({}));
    assert_eq!((answer.status, answer.code().as_str()), (400, "invalid-request"));
    assert_eq!(rig.records(1)[0]["steps"][0]["ours"], false);
}

#[test]
fn what_would_be_lost_passes_the_target_over() {
    let rig = rig(vec![vec![said("never")], vec![ok("from b")]]);
    let answer = rig.chat("", json!({"seed": 7, "logprobs": true}));
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "from b");
    assert!(rig.upstreams[0].calls().is_empty());
    let skipped = rig.records(1)[0]["steps"][0]["skipped"].clone();
    let want = json!([{"target": "a", "reason": "dialect:logprobs", "regional": false}, {"target": "a", "reason": "dialect:seed", "regional": false}]);
    assert_eq!(skipped, want);
    let alone = self::rig(vec![vec![said("never")]]);
    let answer = alone.chat("", json!({"seed": 7}));
    assert_eq!((answer.status, answer.code().as_str()), (503, "contract"));
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("a (dialect:seed)"), "{answer:?}");
}

#[test]
fn a_target_whose_output_limit_is_not_known_needs_one_from_the_request() {
    let rig = Rig::with(vec![vec![said("well")]], |policy| {
        first_speaks_messages(policy);
        policy.models[0].capabilities.max_output = None;
    });
    let answer = rig.chat("", json!({}));
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("a (unknown:output_tokens)"), "{answer:?}");
}

#[test]
fn an_answer_of_another_dialect_is_malformed() {
    let rig = rig(vec![vec![ok("from a")], vec![ok("from b")]]);
    let answer = rig.chat("", json!({}));
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "from b");
    assert_eq!(rig.records(1)[0]["steps"][0]["class"], "malformed-response");
}

#[test]
fn a_key_that_an_upstream_quotes_is_not_handed_on() {
    let quoted = whole(
        401,
        "",
        r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key: k-secret-of-a"}}"#,
    );
    let rig = Rig::with(vec![vec![quoted]], |policy| {
        first_speaks_messages(policy);
        policy.providers[0].keys = vec![Text::Literal("k-secret-of-a".into())];
    });
    let answer = rig.chat("", json!({}));
    assert_eq!(answer.code(), "auth");
    assert!(!answer.body.contains("k-secret-of-a"), "{answer:?}");
}

#[test]
fn a_probe_asks_in_the_targets_words() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let upstream = Scripted::new(&runtime, vec![said("pong")]);
    let policy = format!(
        r#"switchback 1
provider p {{ api anthropic-messages; base-url "http://{}/v1"; probe quick }}
model m {{ modalities [text]; streaming yes; tools no; structured-output none; context 32k; max-output 4k; price $1/M in, $2/M out }}
target n {{ model m; provider p }}
tier t {{ chain {{ n }} }}
matrix x {{ otherwise -> stop }}
budget u {{ deadline 10s; attempts 1 }}
probe quick {{ every 60ms; timeout 5s; answer contains "pong" }}
route chat {{ tier t; matrix x; budget u }}
"#,
        upstream.address
    );
    let folder = Folder::new("probes-messages", &policy);
    let served = Served::of(command(&[], &folder.policy()));
    let late = Instant::now() + Duration::from_secs(10);
    while !served.get("/metrics").contains("switchback_probes_total{target=\"n\",result=\"ok\"}") {
        assert!(Instant::now() < late, "{}", served.get("/metrics"));
        std::thread::sleep(Duration::from_millis(20));
    }
    let call = upstream.calls().remove(0);
    assert!(call.head.starts_with("POST /v1/messages HTTP/1.1"), "{}", call.head);
    assert_eq!(
        (&call.body["max_tokens"], &call.body["messages"][0]["content"][0]["text"]),
        (&json!(5), &json!("ping"))
    );
}
