//! Streams through the gateway, as bytes on the wire.

use super::gateway_rig::{Act, Answer, Rig, chat_body, chunk, done, event, event_text, finish, last_chunk, role};
use super::gateway_rig::{ok, stream_head, text};
use serde_json::{Value, json};
use std::io::Read;
use std::time::{Duration, Instant};

fn good(words: &[&str]) -> Vec<Act> {
    let mut acts = vec![stream_head(), role()];
    acts.extend(words.iter().map(|w| text(w)));
    acts.extend([finish(), done(), last_chunk()]);
    acts
}

/// Waits for the next byte. `read_exact` goes on where a signal interrupts it.
fn next_byte(socket: &mut std::net::TcpStream) -> u8 {
    let mut byte = [0];
    socket.read_exact(&mut byte).unwrap();
    byte[0]
}

fn ask(rig: &Rig) -> Answer {
    rig.chat("", json!({"stream": true}))
}

/// The data of events; pings are none.
fn events(answer: &Answer) -> Vec<String> {
    answer
        .body
        .split("\n\n")
        .filter(|e| e.starts_with("data:"))
        .map(|e| e.trim_start_matches("data: ").to_owned())
        .collect()
}

/// The words that came, the error's code, and whether anything claimed to be the end.
fn told(answer: &Answer) -> (String, Option<String>, bool) {
    let (mut words, mut code, mut ended) = (String::new(), None, false);
    for event in events(answer) {
        if event == "[DONE]" {
            ended = true;
            continue;
        }
        let event: Value = serde_json::from_str(&event).unwrap();
        words.push_str(event["choices"][0]["delta"]["content"].as_str().unwrap_or(""));
        ended |= event["choices"][0]["finish_reason"].is_string();
        code = event["error"]["code"].as_str().map(str::to_owned).or(code);
    }
    (words, code, ended)
}

#[test]
fn a_stream_is_handed_on_byte_by_byte() {
    let rig = Rig::new(vec![vec![good(&["Hel", "lo"])]]);
    let answer = ask(&rig);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("x-switchback-target"), Some("a"));
    assert!(answer.complete);
    let want = [
        event_text(json!({"role": "assistant", "content": ""}), None),
        event_text(json!({"content": "Hel"}), None),
        event_text(json!({"content": "lo"}), None),
        event_text(json!({}), Some("stop")),
        "data: [DONE]\n\n".into(),
    ];
    assert_eq!(answer.body, want.concat());
    assert_eq!(rig.records(1)[0]["outcome"], "served");
}

#[test]
fn output_is_forwarded_when_it_comes() {
    let acts = vec![stream_head(), role(), text("first"), Act::Pause(500), text("x"), finish(), done(), last_chunk()];
    let rig = Rig::new(vec![vec![acts]]);
    let began = Instant::now();
    let mut socket = rig.connect("POST", "/v1/chat/completions", "", &chat_body(json!({"stream": true})));
    let mut seen = String::new();
    while !seen.contains("first") {
        let byte = next_byte(&mut socket);
        seen.push(char::from(byte));
    }
    assert!(began.elapsed() < Duration::from_millis(450), "{:?}", began.elapsed());
}

#[test]
fn a_cut_after_output_ends_with_an_error_and_without_an_end() {
    for cut in [vec![Act::Reset], vec![], vec![last_chunk()]] {
        let mut acts = vec![stream_head(), role(), text("Hel"), Act::Pause(50)];
        acts.extend(cut);
        let rig = Rig::new(vec![vec![acts], vec![good(&["never"])]]);
        let answer = ask(&rig);
        assert_eq!(answer.status, 200);
        assert_eq!(told(&answer), ("Hel".into(), Some("partial-stream".into()), false), "{answer:?}");
        assert!(!answer.complete, "the chunked body must stay open-ended: {answer:?}");
        assert!(rig.upstreams[1].calls().is_empty(), "nobody may be called after output");
        let record = rig.records(1).remove(0);
        assert_eq!((&record["outcome"], &record["attempts"]), (&json!("cut"), &json!(1)));
        let last: Value = serde_json::from_str(events(&answer).last().unwrap()).unwrap();
        assert_eq!(last["error"]["request_id"], record["id"]);
    }
}

#[test]
fn an_error_event_after_output_is_told_as_one() {
    let error = chunk("data: {\"error\":{\"message\":\"engine died\",\"type\":\"server_error\"}}\n\n");
    let rig = Rig::new(vec![vec![vec![stream_head(), text("Hel"), error, done(), last_chunk()]]]);
    let answer = ask(&rig);
    assert_eq!(told(&answer), ("Hel".into(), Some("partial-stream".into()), false));
    assert!(answer.body.contains("engine died") && !answer.complete, "{answer:?}");
}

#[test]
fn an_error_after_the_finish_keeps_the_finish_back() {
    let error = chunk("data: {\"error\":{\"message\":\"engine died\",\"type\":\"server_error\"}}\n\n");
    let rig = Rig::new(vec![vec![vec![stream_head(), text("Hel"), finish(), error, done(), last_chunk()]]]);
    let answer = ask(&rig);
    assert_eq!(told(&answer), ("Hel".into(), Some("partial-stream".into()), false));
}

#[test]
fn before_output_a_failure_moves_on_and_nothing_of_it_is_seen() {
    let error = chunk("data: {\"error\":{\"message\":\"overloaded\",\"type\":\"overloaded_error\"}}\n\n");
    let starts: [Vec<Act>; 4] = [
        vec![stream_head(), role(), Act::Reset],
        vec![stream_head(), role(), error],
        vec![stream_head(), role(), chunk(": ping\n\n"), last_chunk()],
        vec![stream_head(), chunk("data: nonsense\n\n"), last_chunk()],
    ];
    for start in starts {
        let rig = Rig::new(vec![vec![start], vec![good(&["from b"])]]);
        let answer = ask(&rig);
        assert_eq!(told(&answer), ("from b".into(), None, true), "{answer:?}");
        assert!(answer.complete);
        assert_eq!(answer.header("x-switchback-attempts"), Some("2"));
        assert_eq!(answer.body.matches("\"role\"").count(), 1, "{answer:?}");
    }
}

#[test]
fn pings_and_roles_do_not_count_as_output() {
    let mut acts = vec![stream_head(), role()];
    for _ in 0..40 {
        acts.extend([Act::Pause(50), chunk(": ping\n\n")]);
    }
    let rig = Rig::with(vec![vec![acts], vec![good(&["b"])]], |p| {
        p.budgets[0].first_token = Some(switchback::policy::Millis(400));
    });
    let answer = ask(&rig);
    assert_eq!(answer.header("x-switchback-target"), Some("b"));
    assert_eq!(rig.records(1)[0]["steps"][0]["class"], "timeout-first-token");
}

#[test]
fn silence_after_output_breaks_the_stream_even_where_pings_come() {
    let mut acts = vec![stream_head(), text("Hel")];
    for _ in 0..60 {
        acts.extend([Act::Pause(50), chunk(": ping\n\n")]);
    }
    let rig = Rig::new(vec![vec![acts]]);
    let began = Instant::now();
    let answer = ask(&rig);
    assert_eq!(told(&answer), ("Hel".into(), Some("partial-stream".into()), false), "{answer:?}");
    assert!(began.elapsed() < Duration::from_millis(2_000), "{:?}", began.elapsed());
}

#[test]
fn a_stream_without_an_end_marker_is_complete_once_it_finished() {
    for end in [vec![last_chunk()], vec![Act::Reset], vec![Act::Hang]] {
        let mut acts = vec![stream_head(), text("all"), finish(), Act::Pause(50)];
        acts.extend(end);
        let rig = Rig::new(vec![vec![acts]]);
        let answer = ask(&rig);
        assert_eq!(told(&answer), ("all".into(), None, true), "{answer:?}");
        assert!(answer.complete && answer.body.ends_with("data: [DONE]\n\n"), "{answer:?}");
    }
}

#[test]
fn a_stream_that_names_no_model_says_who_serves() {
    let bare = |delta: Value, finish: Option<&str>| {
        let body = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        chunk(&format!("data: {body}\n\n"))
    };
    let acts = vec![stream_head(), bare(json!({"content": "x"}), None), bare(json!({}), Some("stop")), done()];
    let rig = Rig::new(vec![vec![acts]]);
    let answer = ask(&rig);
    for event in events(&answer).iter().filter(|e| *e != "[DONE]") {
        let event: Value = serde_json::from_str(event).unwrap();
        assert_eq!(event["model"], "m-at-a");
    }
}

#[test]
fn a_whole_error_under_a_success_is_no_stream() {
    let error = super::gateway_rig::whole(200, "", r#"{"error":{"message":"busy","type":"overloaded_error"}}"#);
    let rig = Rig::new(vec![vec![error], vec![good(&["b"])]]);
    assert_eq!(ask(&rig).header("x-switchback-target"), Some("b"));
}

#[test]
fn a_client_that_leaves_closes_the_upstream_and_ends_the_retries() {
    let rig = Rig::new(vec![vec![vec![stream_head(), role(), text("Hel"), Act::Hang]], vec![ok("b")]]);
    let mut socket = rig.connect("POST", "/v1/chat/completions", "", &chat_body(json!({"stream": true})));
    next_byte(&mut socket);
    leaves(&rig, socket);
}

#[test]
fn a_client_that_leaves_before_the_head_closes_the_upstream_too() {
    for stream in [true, false] {
        let rig = Rig::new(vec![vec![vec![Act::Hang]], vec![ok("b")]]);
        let socket = rig.connect("POST", "/v1/chat/completions", "", &chat_body(json!({"stream": stream})));
        while rig.upstreams[0].calls().is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
        leaves(&rig, socket);
    }
}

fn leaves(rig: &Rig, socket: std::net::TcpStream) {
    let left = Instant::now();
    drop(socket);
    let record = rig.records(1).remove(0);
    assert_eq!((&record["outcome"], &record["attempts"]), (&json!("cancelled"), &json!(1)));
    let closed = loop {
        if let Some(closed) = rig.upstreams[0].calls()[0].closed {
            break closed;
        }
        assert!(left.elapsed() < Duration::from_secs(5), "the upstream stayed open");
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(closed - left < Duration::from_millis(100), "{:?}", closed - left);
    assert!(rig.upstreams[1].calls().is_empty());
}

#[test]
fn a_client_that_leaves_during_a_wait_ends_it() {
    let limited = super::gateway_rig::whole(
        429,
        "retry-after: 3\r\n",
        r#"{"error":{"message":"slow","code":"rate_limit_exceeded"}}"#,
    );
    let rig = Rig::new(vec![vec![limited]]);
    let socket = rig.connect("POST", "/v1/chat/completions", "", &chat_body(json!({})));
    while rig.upstreams[0].calls().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(50));
    let left = Instant::now();
    drop(socket);
    assert_eq!(rig.records(1)[0]["outcome"], "cancelled");
    assert!(left.elapsed() < Duration::from_millis(200), "{:?}", left.elapsed());
    assert_eq!(rig.upstreams[0].calls().len(), 1);
}

#[test]
fn a_slow_client_is_not_the_targets_fault() {
    let piece = "x".repeat(60_000);
    let mut acts = vec![stream_head()];
    // Far more than sockets and queues hold, so that the upstream has to wait for the client.
    acts.extend((0..400).map(|_| event(json!({"content": piece.as_str()}), None)));
    acts.extend([finish(), done(), last_chunk()]);
    let rig = Rig::new(vec![vec![acts]]);
    let mut socket = rig.connect("POST", "/v1/chat/completions", "", &chat_body(json!({"stream": true})));
    let first = next_byte(&mut socket);
    // Longer than the longest silence that the budget allows.
    std::thread::sleep(Duration::from_millis(1_200));
    let mut rest = vec![first];
    socket.read_to_end(&mut rest).unwrap();
    let rest = String::from_utf8(rest).unwrap();
    assert!(rest.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "{}", &rest[rest.len() - 200..]);
    assert_eq!(rest.matches("\"content\"").count(), 400);
    assert_eq!(rig.records(1)[0]["outcome"], "served");
}
