//! Whole answers through the gateway: served, failed over, waited for, refused.

use super::gateway_rig::{Act, Rig, chat_body, completion, ok, whole};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use switchback::policy::{Answer, Api, Class, Correction, Millis, Script, ScriptLine, Window};

#[test]
fn an_answer_is_served_with_its_headers_and_its_record() {
    let rig = Rig::new(vec![vec![ok("hello")]]);
    let answer = rig.chat("authorization: Bearer theirs\r\nx-hint: warm\r\nx-switchback-session: s-1\r\n", json!({}));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.complete);
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "hello");
    assert_eq!(answer.json()["model"], "served-by-upstream");
    assert_eq!(answer.header("x-switchback-route"), Some("chat"));
    assert_eq!(answer.header("x-switchback-attempts"), Some("1"));
    assert_eq!(answer.header("x-switchback-target"), Some("a"));
    assert_eq!(answer.header("x-switchback-policy").unwrap().len(), 64);

    let calls = rig.upstreams[0].calls();
    assert_eq!(calls.len(), 1);
    let head = calls[0].head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/chat/completions http/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: bearer key-of-a") && head.contains("x-hint: warm"), "{head}");
    assert!(!head.contains("theirs") && !head.contains("x-switchback"), "{head}");
    assert_eq!(calls[0].body["model"], "m-at-a");

    let record = rig.records(1).remove(0);
    assert_eq!(record["id"], answer.header("x-switchback-id").unwrap());
    assert_eq!(record["outcome"], "served");
    assert_eq!(record["attempts"], 1);
    assert_eq!(record["target"], "a");
    let text = record.to_string();
    assert!(!text.contains("secret prompt") && !text.contains("key-of-a") && !text.contains("\"s-1\""), "{text}");
}

#[test]
fn a_failure_moves_on_and_the_counts_agree() {
    let failing = whole(503, "", r#"{"error":{"message":"busy","code":"overloaded"}}"#);
    let rig = Rig::new(vec![vec![failing], vec![ok("from b")]]);
    let answer = rig.chat("", json!({}));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-switchback-attempts"), Some("2"));
    assert_eq!(answer.header("x-switchback-target"), Some("b"));
    let record = rig.records(1).remove(0);
    let calls = rig.upstreams.iter().map(|u| u.calls().len()).sum::<usize>();
    let steps = record["steps"].as_array().unwrap().iter().filter(|s| !s["target"].is_null()).count();
    assert_eq!((calls, steps, &record["attempts"]), (2, 2, &json!(2)));
    let metrics = rig.send("GET", "/metrics", "", "").body;
    assert!(metrics.contains(r#"switchback_requests_total{route="chat",result="served"} 1"#), "{metrics}");
    let failed = r#"switchback_attempts_total{route="chat",target="a",class="overloaded",action="call"} 1"#;
    let served = r#"switchback_attempts_total{route="chat",target="b",class="ok",action="failover"} 1"#;
    assert!(metrics.contains(failed) && metrics.contains(served), "{metrics}");
}

#[test]
fn a_failure_is_read_by_the_table_of_whoever_is_asked() {
    let says = || whole(400, "", r#"{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}"#);
    let class = |name: &str| {
        let rig = Rig::with(vec![vec![says()], vec![ok("b")]], |policy| policy.providers[0].name = name.to_owned());
        rig.chat("", json!({}));
        rig.records(1).remove(0)["steps"][0]["class"].clone()
    };
    assert_eq!((class("anybody"), class("deepseek")), (json!("invalid-request"), json!("policy")));
}

#[test]
fn a_failure_that_the_policy_knows_better_is_what_it_says() {
    let says = || whole(400, "", r#"{"error":{"message":"there are no seats left"}}"#);
    let rig = Rig::with(vec![vec![says()], vec![ok("b")]], |policy| {
        let seats = Correction { status: 400, text: Some("No Seats".into()), class: Class::Overloaded };
        policy.targets[0].corrections = vec![seats];
    });
    let answer = rig.chat("", json!({}));
    assert_eq!((answer.status, answer.header("x-switchback-target")), (200, Some("b")));
    let step = rig.records(1).remove(0)["steps"][0].clone();
    assert_eq!((&step["class"], &step["rule"]), (&json!("overloaded"), &json!("policy-correction")));
}

#[test]
fn a_connection_that_is_refused_or_reset_moves_on() {
    let rig = Rig::with(vec![vec![vec![Act::Reset]], vec![ok("b")], vec![ok("c")]], |policy| {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        policy.providers[1].base_url = Some(switchback::policy::Text::Literal(format!("http://{nobody}/v1")));
    });
    let answer = rig.chat("", json!({}));
    assert_eq!((answer.status, answer.header("x-switchback-target")), (200, Some("c")));
    let steps = rig.records(1).remove(0)["steps"].clone();
    assert_eq!((&steps[0]["class"], &steps[0]["stage"]), (&json!("connect"), &json!("sent")));
    assert_eq!((&steps[1]["class"], &steps[1]["stage"]), (&json!("connect"), &json!("not-sent")));
}

#[test]
fn an_upstream_that_says_nothing_runs_into_its_limit_and_is_closed() {
    let rig = Rig::with(vec![vec![vec![Act::Hang]], vec![ok("b")]], |p| p.budgets[0].headers = Some(Millis(300)));
    let answer = rig.chat("", json!({}));
    assert_eq!(answer.header("x-switchback-target"), Some("b"));
    assert_eq!(rig.records(1).remove(0)["steps"][0]["class"], "timeout-headers");
    let until = Instant::now() + Duration::from_secs(5);
    while rig.upstreams[0].calls()[0].closed.is_none() {
        assert!(Instant::now() < until, "the connection stayed open");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_answer_that_breaks_off_is_no_answer() {
    let body = completion(None, "half");
    let half = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{}", body.len(), &body[..20]);
    let rig = Rig::new(vec![vec![vec![Act::Say(half)]], vec![whole(200, "", "<html>")], vec![ok("c")]]);
    let answer = rig.chat("", json!({}));
    assert_eq!(answer.header("x-switchback-target"), Some("c"));
    let steps = rig.records(1).remove(0)["steps"].clone();
    assert_eq!((&steps[0]["class"], &steps[1]["class"]), (&json!("truncated"), &json!("malformed-response")));
}

#[test]
fn an_answer_without_a_model_says_who_served() {
    let rig = Rig::new(vec![vec![whole(200, "", &completion(None, "x"))]]);
    assert_eq!(rig.chat("", json!({})).json()["model"], "m-at-a");
}

#[test]
fn a_hint_is_waited_for() {
    let limited = whole(429, "retry-after-ms: 300\r\n", r#"{"error":{"message":"slow","code":"rate_limit_exceeded"}}"#);
    let rig = Rig::new(vec![vec![limited, ok("now")]]);
    let began = Instant::now();
    let answer = rig.chat("", json!({}));
    assert_eq!((answer.status, answer.header("x-switchback-attempts")), (200, Some("2")));
    assert!(began.elapsed() >= Duration::from_millis(300), "{:?}", began.elapsed());
}

#[test]
fn a_hold_spares_the_next_request_the_same_call() {
    let limited = whole(429, "retry-after: 30\r\n", r#"{"error":{"message":"slow","code":"rate_limit_exceeded"}}"#);
    let rig = Rig::new(vec![vec![limited], vec![ok("b")]]);
    assert_eq!(rig.chat("", json!({})).header("x-switchback-attempts"), Some("2"));
    assert_eq!(rig.chat("", json!({})).header("x-switchback-attempts"), Some("1"));
    assert_eq!(rig.upstreams[0].calls().len(), 1);
    // Records come in the order in which they are done, which is not that of the answers.
    let second = rig.records(2).into_iter().find(|r| r["attempts"] == 1).unwrap();
    assert_eq!(second["steps"][0]["skipped"], json!([{"target": "a", "reason": "hold", "regional": false}]));
}

#[test]
fn exhausted_is_503_with_the_cause_and_the_time_to_come_back() {
    let limited =
        whole(429, "retry-after: 30\r\n", r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#);
    let rig = Rig::new(vec![vec![limited]]);
    let answer = rig.chat("", json!({}));
    assert_eq!((answer.status, answer.code().as_str()), (503, "rate-limit"));
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    let after: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((29..=30).contains(&after), "{after}");
    assert_eq!(answer.header("x-switchback-target"), None);
    assert_eq!(answer.json()["error"]["message"], "slow down");
}

#[test]
fn a_bad_request_is_the_senders_and_nobody_else_is_called() {
    let bad = whole(400, "", r#"{"error":{"message":"no such role","type":"invalid_request_error"}}"#);
    let rig = Rig::new(vec![vec![bad], vec![ok("b")]]);
    let answer = rig.chat("", json!({}));
    assert_eq!((answer.status, answer.code().as_str()), (400, "invalid-request"));
    assert_eq!(answer.json()["error"]["message"], "no such role");
    assert_eq!(answer.json()["error"]["request_id"], Value::from(answer.header("x-switchback-id").unwrap()));
    assert!(rig.upstreams[1].calls().is_empty());
}

#[test]
fn a_pin_asks_that_target_alone() {
    let rig = Rig::new(vec![vec![ok("a")], vec![ok("b")]]);
    let answer = rig.chat("x-switchback-pin: b\r\n", json!({}));
    assert_eq!(answer.header("x-switchback-target"), Some("b"));
    assert!(rig.upstreams[0].calls().is_empty());
    let answer = rig.chat("x-switchback-pin: z\r\n", json!({}));
    assert_eq!((answer.status, answer.code().as_str()), (400, "invalid-request"));
}

#[test]
fn an_emulated_provider_is_called_like_any_other() {
    let rig = Rig::with(vec![vec![ok("never")], vec![ok("b")]], |policy| {
        policy.providers[0].api = Api::Emulated;
        policy.providers[0].base_url = None;
        let line = |answer, times| ScriptLine {
            window: Window::Since(Millis(0)),
            share: None,
            answer,
            after: Millis(20),
            times,
            span: switchback::source::Span::default(),
        };
        let busy = Answer::Status { status: 503, retry_after: None, code: None };
        let lines = vec![line(Answer::Ok { text: Some("emulated".into()) }, None), line(busy, Some(1))];
        policy.targets[0].script = Some(Script { lines, repeats: None });
    });
    let first = rig.chat("", json!({}));
    assert_eq!(first.header("x-switchback-target"), Some("b"), "{first:?}");
    let second = rig.chat("", json!({"stream": true}));
    assert_eq!(second.header("x-switchback-target"), Some("a"), "{second:?}");
    assert!(second.complete && second.body.ends_with("data: [DONE]\n\n"), "{second:?}");
    assert!(rig.upstreams[0].calls().is_empty());
}

#[test]
fn a_gateway_that_is_stopped_finishes_what_runs() {
    let slow = || [vec![Act::Pause(400)], ok("late")].concat();
    let mut rig = Rig::draining(vec![vec![slow()]], Duration::from_secs(5), |_| {});
    let socket = rig.connect("POST", "/v1/chat/completions", "", &chat_body(json!({})));
    while rig.upstreams[0].calls().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    rig.stop();
    let answer = super::gateway_rig::Answer::read(socket);
    assert_eq!((answer.status, answer.complete), (200, true), "{answer:?}");
    assert_eq!(rig.ended(), 0);
    assert!(std::net::TcpStream::connect(rig.address).is_err(), "it still takes connections");
}

#[test]
fn what_still_runs_after_the_drain_is_cut_off_and_recorded() {
    let mut rig = Rig::draining(vec![vec![vec![Act::Hang]]], Duration::from_millis(100), |_| {});
    let _socket = rig.connect("POST", "/v1/chat/completions", "", &chat_body(json!({})));
    while rig.upstreams[0].calls().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    rig.stop();
    assert_eq!(rig.ended(), 1);
    assert_eq!(rig.records(1)[0]["outcome"], "cancelled");
    while rig.engine.meters.running_now() > 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_running_request_keeps_the_policy_it_began_with() {
    let slow = [vec![Act::Pause(300)], ok("late")].concat();
    let rig = Rig::new(vec![vec![slow, ok("now")]]);
    let before = rig.send("GET", "/readyz", "", "").json()["policy"].clone();
    let socket = rig.connect("POST", "/v1/chat/completions", "", &chat_body(json!({})));
    while rig.upstreams[0].calls().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let after = rig.exchange(|policy| policy.budgets[0].attempts = 2);
    let running = super::gateway_rig::Answer::read(socket);
    assert_eq!(running.header("x-switchback-policy"), before.as_str());
    assert_eq!(rig.chat("", json!({})).header("x-switchback-policy"), Some(after.as_str()));
    assert_ne!(before.as_str(), Some(after.as_str()));
}

#[test]
fn what_an_upstream_quotes_of_its_credential_goes_to_nobody() {
    const KEY: &str = "k3y+with/odd==signs";
    let said = format!("{{\"error\":{{\"message\":\"bad key {KEY} (Bearer {KEY})\",\"code\":\"{KEY}\"}}}}");
    let rig = Rig::with(vec![vec![whole(401, "", &said)]], |policy| {
        policy.providers[0].keys = vec![switchback::policy::Text::Literal(KEY.into())];
    });
    let answer = rig.chat("", json!({}));
    assert_eq!(answer.code(), "auth", "{answer:?}");
    assert!(!answer.body.contains(KEY) && answer.body.contains("[key]"), "{answer:?}");
    let record = rig.records(1)[0].to_string();
    assert!(!record.contains(KEY), "{record}");
}

#[test]
fn an_error_whose_body_trickles_is_bounded_by_the_attempt() {
    use super::gateway_rig::Act;
    let slow = vec![
        Act::Say("HTTP/1.1 500 X\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{".into()),
        Act::Pause(5_000),
    ];
    let rig = Rig::with(vec![vec![slow], vec![ok("b")]], |policy| {
        for budget in &mut policy.budgets {
            budget.attempt_timeout = Some(switchback::policy::Millis(600));
        }
    });
    let began = std::time::Instant::now();
    let answer = rig.chat("", json!({}));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(began.elapsed() < std::time::Duration::from_millis(1_700), "{:?}", began.elapsed());
}
