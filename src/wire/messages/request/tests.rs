use super::*;
use crate::wire::chat::request::read;
use proptest::prelude::*;
use serde_json::{Value, json};

fn chat(body: &Value) -> ChatRequest {
    read(body.to_string().into()).unwrap()
}

/// The request, written; `most` is 4096.
fn written(body: &Value) -> Value {
    let bytes = write(&chat(body), "claude", Some(4_096)).unwrap_or_else(|e| panic!("{e:?}: {body}"));
    serde_json::from_slice(&bytes).unwrap()
}

fn terms(more: Value) -> Vec<&'static str> {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let terms = beyond(&chat(&body));
    assert_eq!(write(&chat(&body), "claude", Some(1)).is_err(), !terms.is_empty(), "{body}");
    terms.iter().map(Term::word).collect()
}

#[test]
fn a_plain_request_is_a_plain_request() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let want = json!({
        "model": "claude", "max_tokens": 4096,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    });
    assert_eq!(written(&body), want);
}

#[test]
fn a_limit_is_the_requests_or_else_the_models() {
    let body = |more: &str| format!(r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}}]{more}}}"#);
    let limit = |more: &str, most| {
        let chat = read(body(more).into()).unwrap();
        write(&chat, "c", most).map(|b| serde_json::from_slice::<Value>(&b).unwrap()["max_tokens"].clone())
    };
    assert_eq!(limit(r#","max_tokens":7"#, Some(9)), Ok(json!(7)));
    assert_eq!(limit(r#","max_tokens":7,"max_completion_tokens":5"#, Some(9)), Ok(json!(5)));
    assert_eq!(limit("", Some(9)), Ok(json!(9)));
    assert_eq!(limit("", None), Err(Unwritten::NoLimit));
}

#[test]
fn a_whole_conversation_is_written_turn_by_turn() {
    let body = json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true},
        "messages": [
            {"role": "developer", "content": "be brief"},
            {"role": "system", "content": [{"type": "text", "text": "be kind"}, {"type": "text", "text": " "}]},
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/jpg;base64,AAAA", "detail": "high"}},
                {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,BBBB", "filename": "b.pdf"}},
            ]},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "see", "arguments": "{\"n\": 12345678901234567890, \"x\":1.0}"}},
                {"id": "functions.see:1", "type": "function", "function": {"name": "see", "arguments": ""}},
            ]},
            {"role": "tool", "tool_call_id": "functions.see:1", "content": ""},
            {"role": "tool", "tool_call_id": "call_1", "name": "see", "content": [{"type": "text", "text": "a cat"}]},
            {"role": "user", "content": "and?"},
        ],
    });
    let body = json!({
        "tools": [
            {"type": "function", "function": {"name": "see", "description": "Sees.", "strict": true,
                "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}},
            {"type": "function", "function": {"name": "wait"}},
            {"type": "function", "function": {"name": "go", "parameters": {"properties": {}}}},
        ],
        "tool_choice": "required", "parallel_tool_calls": false, "temperature": 0.5, "top_p": 0.9,
        "stop": ["END", "\n\nQ:"], "max_tokens": 100, "user": "u-1", "reasoning_effort": "minimal",
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "a": 1.10}}},
        "metadata": {"k": "v"}, "service_tier": "auto", "seed": null, "n": 1, "logprobs": false, "logit_bias": {},
        "presence_penalty": 0, "frequency_penalty": 0.0, "verbosity": "medium", "store": false, "modalities": ["text"],
        "prompt_cache_key": "k",
    }).as_object().unwrap().iter().fold(body, |mut body, (name, value)| {
        body[name] = value.clone();
        body
    });
    let want = json!({
        "model": "claude", "max_tokens": 100,
        "system": [{"type": "text", "text": "be brief"}, {"type": "text", "text": "be kind"}],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}},
                {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
                {"type": "document", "title": "b.pdf",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": "BBBB"}},
            ]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "call_1", "name": "see", "input": {"n": 12345678901234567890u64, "x": 1.0}},
                {"type": "tool_use", "id": "sb-id-66756e6374696f6e732e7365653a31", "name": "see", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "sb-id-66756e6374696f6e732e7365653a31"},
                {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "a cat"}]},
                {"type": "text", "text": "and?"},
            ]},
        ],
        "tools": [
            {"name": "see", "description": "Sees.", "strict": true,
                "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
            {"name": "wait", "input_schema": {"type": "object"}},
            {"name": "go", "input_schema": {"type": "object", "properties": {}}},
        ],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": true},
        "stop_sequences": ["END", "\n\nQ:"], "temperature": 0.5, "top_p": 0.9,
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object", "a": 1.10}}},
        "metadata": {"user_id": "u-1"}, "stream": true,
    });
    assert_eq!(written(&body), want);
}

#[test]
fn numbers_and_schemas_go_out_as_they_were_written() {
    let body = r#"{"model":"m","temperature":1.0,"messages":[{"role":"user","content":"hi"},
        {"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"n\":123456789012345678901234567890,\"f\":1.0}"}}]},
        {"role":"tool","tool_call_id":"a","content":"x"}],
        "tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","maximum":1e400}}}]}"#;
    let bytes = write(&read(body.into()).unwrap(), "c", Some(1)).unwrap();
    let text = std::str::from_utf8(&bytes).unwrap();
    for kept in [r#""temperature":1.0"#, r#"{"n":123456789012345678901234567890,"f":1.0}"#, r#""maximum":1e400"#] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn choices_of_tools() {
    let choice = |more: Value| {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {"name": "f"}}]});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        written(&body)["tool_choice"].clone()
    };
    assert_eq!(choice(json!({})), Value::Null);
    assert_eq!(choice(json!({"parallel_tool_calls": true})), Value::Null);
    assert_eq!(choice(json!({"tool_choice": "auto"})), json!({"type": "auto"}));
    assert_eq!(choice(json!({"tool_choice": "none"})), json!({"type": "none"}));
    let named = json!({"type": "function", "function": {"name": "f"}});
    assert_eq!(choice(json!({"tool_choice": named})), json!({"type": "tool", "name": "f"}));
    let one = json!({"type": "auto", "disable_parallel_tool_use": true});
    assert_eq!(choice(json!({"parallel_tool_calls": false})), one);
    let without = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "tool_choice": "auto"});
    assert_eq!(written(&without)["tool_choice"], Value::Null);
}

#[test]
fn whatever_would_be_lost_is_named() {
    let user = |content: Value| json!({"messages": [{"role": "user", "content": content}]});
    let messages = |list: Value| json!({"messages": list});
    let call = |id: &str, arguments: &str| {
        json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function",
        "function": {"name": "f", "arguments": arguments}}]})
    };
    let hi = json!({"role": "user", "content": "hi"});
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
    let cases: Vec<(Value, &[&str])> = vec![
        (json!({"n": 2}), &["n"]),
        (json!({"logprobs": true, "top_logprobs": 3}), &["logprobs"]),
        (json!({"logit_bias": {"1": 5}}), &["logit-bias"]),
        (json!({"seed": 1}), &["seed"]),
        (json!({"presence_penalty": 0.5}), &["penalties"]),
        (json!({"frequency_penalty": -1}), &["penalties"]),
        (json!({"temperature": 1.2}), &["temperature"]),
        (json!({"response_format": {"type": "json_object"}}), &["json-object"]),
        (json!({"verbosity": "low"}), &["verbosity"]),
        (json!({"stop": " "}), &["stop-blank"]),
        (json!({"stop": ["a", "\n"]}), &["stop-blank"]),
        (json!({"modalities": ["text", "audio"], "audio": {"voice": "x"}}), &["audio"]),
        (json!({"functions": [{"name": "f"}]}), &["functions"]),
        (json!({"store": true}), &["hosted"]),
        (json!({"web_search_options": {}}), &["hosted"]),
        (json!({"tools": [{"type": "web_search"}]}), &["other-tools"]),
        (json!({"tools": [{"type": "custom", "custom": {"name": "f"}}]}), &["other-tools"]),
        (
            json!({"tools": [{"type": "function", "function": {"name": "f"}}],
            "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}}),
            &["tool-subset"],
        ),
        (json!({"top_k": 5}), &["other-members"]),
        (json!({"reasoning_effort": "utmost"}), &["other-members"]),
        (
            user(json!([{"type": "input_audio", "input_audio": {"data": "A", "format": "wav"}}])),
            &["audio", "turn-order"],
        ),
        (user(json!([{"type": "text", "text": "a"}, {"type": "file", "file": {"file_id": "f-1"}}])), &["files"]),
        (
            user(json!([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "http://a/b.png"}}])),
            &["image-source"],
        ),
        (
            user(
                json!([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:image/tiff;base64,AA"}}]),
            ),
            &["image-source"],
        ),
        (user(json!([{"type": "text", "text": "a"}, {"type": "hologram"}])), &["parts"]),
        (user(json!("")), &["turn-order"]),
        (messages(json!([{"role": "user", "name": "ann", "content": "hi"}])), &["names"]),
        (messages(json!([{"role": "user", "content": "hi", "priority": 1}])), &["other-members"]),
        (messages(json!([hi, {"role": "system", "content": "now in French"}, hi])), &["late-system"]),
        (messages(json!([{"role": "assistant", "content": "x"}, hi])), &["turn-order"]),
        (messages(json!([hi, {"role": "assistant", "content": "Once upon"}])), &["turn-order"]),
        (messages(json!([{"role": "system", "content": "x"}])), &["turn-order"]),
        (messages(json!([hi, call("a", "{}"), hi])), &["tool-pairing", "undefined-tools"]),
        (messages(json!([hi, result])), &["tool-pairing"]),
        (messages(json!([hi, call("a", "{}"), result])), &["undefined-tools"]),
        (messages(json!([hi, call("a", "[1]"), hi])), &["tool-arguments"]),
        (messages(json!([hi, call("a", "{\"x\":"), hi])), &["tool-arguments"]),
        (messages(json!([hi, {"role": "function", "name": "f", "content": "x"}])), &["names", "functions"]),
        (messages(json!([hi, {"role": "narrator", "content": "x"}])), &["parts"]),
    ];
    for (more, want) in cases {
        assert_eq!(terms(more.clone()), want, "{more}");
    }
}

#[test]
fn what_says_nothing_here_is_left_out() {
    let none = json!({"stream_options": null, "prompt_cache_key": "x", "prediction": {"type": "content", "content": "x"},
        "prompt_cache_retention": "24h", "service_tier": "flex", "metadata": {"a": "b"}, "parallel_tool_calls": true});
    assert!(terms(none).is_empty());
    assert_eq!(
        written(&json!({"model": "m", "reasoning_effort": "none", "messages": [{"role": "user", "content": "hi"}]}))["thinking"],
        json!({"type": "disabled"})
    );
}

#[test]
fn two_ids_are_never_one() {
    let ids = |a: &str, b: &str| {
        let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let body = json!({"model": "m", "tools": [{"type": "function", "function": {"name": "f"}}], "messages": [
            {"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [call(a), call(b)]},
            {"role": "tool", "tool_call_id": b, "content": "2"}, {"role": "tool", "tool_call_id": a, "content": "1"}]});
        written(&body)["messages"][1]["content"].as_array().unwrap().iter().map(|c| c["id"].clone()).collect::<Vec<_>>()
    };
    for (a, b) in [("x:0", "x.0"), ("é", "e"), ("", "sb-id-"), ("x:0", "sb-id-783a30")] {
        let ids = ids(a, b);
        assert_ne!(ids[0], ids[1], "{a} {b}");
    }
}

/// Says what is wrong with a request of this dialect.
fn check(request: &Value) -> Result<(), String> {
    let turns = request["messages"].as_array().ok_or("no messages")?;
    let names: Vec<&Value> = request["tools"].as_array().into_iter().flatten().map(|t| &t["name"]).collect();
    if request["max_tokens"].as_u64().is_none_or(|n| n == 0) {
        return Err("no limit".into());
    }
    let mut open: Vec<String> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        let want = if at % 2 == 0 { "user" } else { "assistant" };
        if turn["role"] != want {
            return Err(format!("turn {at} is not the {want}'s"));
        }
        let content = turn["content"].as_array().ok_or("no list of blocks")?;
        if content.is_empty() {
            return Err(format!("turn {at} is empty"));
        }
        let mut results = true;
        for block in content {
            match block["type"].as_str().ok_or("no type")? {
                "text" if block["text"].as_str().is_none_or(|t| t.trim().is_empty()) => return Err("blank".into()),
                "text" | "image" => results = false,
                "tool_use" => {
                    let id = block["id"].as_str().ok_or("no id")?.to_owned();
                    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
                    if !id.bytes().all(fits) || id.is_empty() || ids.contains(&id) || !block["input"].is_object() {
                        return Err(format!("call {block}"));
                    }
                    if !names.contains(&&block["name"]) {
                        return Err("unknown tool".into());
                    }
                    ids.push(id.clone());
                    open.push(id);
                }
                "tool_result" => {
                    let id = block["tool_use_id"].as_str().ok_or("no id")?;
                    let place = open.iter().position(|o| o == id).ok_or(format!("result of nothing: {id}"))?;
                    open.remove(place);
                    if !results || want != "user" {
                        return Err("a result that is not first".into());
                    }
                }
                other => return Err(format!("a block {other}")),
            }
        }
        if want == "user" && !open.is_empty() {
            return Err(format!("calls without result: {open:?}"));
        }
    }
    if turns.len() % 2 == 0 { Err("does not end with the user".into()) } else { Ok(()) }
}

#[test]
fn the_check_finds_what_is_wrong() {
    let turn = |role: &str, blocks: Value| json!({"role": role, "content": blocks});
    let text = json!([{"type": "text", "text": "a"}]);
    let of = |turns: Value| check(&json!({"max_tokens": 1, "messages": turns}));
    assert!(of(json!([turn("user", text.clone())])).is_ok());
    for bad in [
        json!([turn("user", text.clone()), turn("user", text.clone())]),
        json!([turn("user", json!([]))]),
        json!([turn("user", json!([{"type": "text", "text": " "}]))]),
        json!([turn("user", json!([{"type": "tool_result", "tool_use_id": "x"}]))]),
        json!([turn("user", text.clone()), turn("assistant", text)]),
    ] {
        assert!(of(bad.clone()).is_err(), "{bad}");
    }
}

/// A text, often with nothing in it.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-zé\"\\\\ ]{1,12}", 1 => Just(String::new()), 1 => Just(" \n".to_owned())]
}

fn content() -> impl Strategy<Value = Value> {
    let part = prop_oneof![
        words().prop_map(|text| json!({"type": "text", "text": text})),
        Just(json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}})),
    ];
    prop_oneof![
        words().prop_map(Value::from),
        Just(Value::Null),
        prop::collection::vec(part, 0..3).prop_map(Value::from)
    ]
}

/// What the assistant says, with calls and their results; ids are numbered later.
fn round() -> impl Strategy<Value = (Value, usize, Vec<Value>)> {
    (content(), 0usize..3, prop::collection::vec(content(), 3))
}

fn conversation() -> impl Strategy<Value = Vec<Value>> {
    let begin = prop::collection::vec(words(), 0..3);
    let rounds = prop::collection::vec((content(), prop::collection::vec(round(), 0..3)), 0..4);
    (begin, rounds, any::<bool>()).prop_map(|(begin, rounds, odd)| {
        let mut messages: Vec<Value> = begin.iter().map(|t| json!({"role": "system", "content": t})).collect();
        messages.push(json!({"role": "user", "content": "begin"}));
        let mut number = 0;
        for (said, rounds) in rounds {
            for (said, calls, results) in rounds {
                let ids: Vec<String> =
                    (0..calls).map(|n| format!("{}{}", if odd { "f:" } else { "call_" }, number + n)).collect();
                number += calls;
                let call =
                    |id: &String| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
                let calls: Vec<Value> = ids.iter().map(call).collect();
                let mut message = json!({"role": "assistant", "content": said});
                if !calls.is_empty() {
                    message["tool_calls"] = calls.into();
                }
                messages.push(message);
                for (id, result) in ids.iter().rev().zip(results) {
                    messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
                }
            }
            messages.push(json!({"role": "user", "content": said}));
        }
        messages.push(json!({"role": "user", "content": "end"}));
        messages
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn whatever_can_be_said_is_said_rightly(messages in conversation()) {
        let body = json!({"model": "m", "messages": messages, "tools": [{"type": "function", "function": {"name": "f"}}]});
        let written = written(&body);
        prop_assert_eq!(check(&written), Ok(()), "{}", written);
        // Nothing that was said is lost, and nothing is added.
        let texts = |value: &Value| value.to_string().matches("\"type\":\"tool_use\"").count();
        let calls: usize = messages.iter().filter_map(|m| m["tool_calls"].as_array()).map(Vec::len).sum();
        prop_assert_eq!(texts(&written), calls);
    }

    #[test]
    fn a_conversation_in_any_order_is_right_or_named(mut messages in conversation(), swaps in prop::collection::vec((0usize..32, 0usize..32), 0..4)) {
        for (a, b) in swaps {
            let length = messages.len();
            messages.swap(a % length, b % length);
        }
        let body = json!({"model": "m", "messages": messages, "tools": [{"type": "function", "function": {"name": "f"}}]});
        let chat = chat(&body);
        match write(&chat, "c", Some(1)) {
            Ok(bytes) => {
                let written: Value = serde_json::from_slice(&bytes).unwrap();
                prop_assert_eq!(check(&written), Ok(()), "{}", written);
            }
            Err(Unwritten::Terms(terms)) => prop_assert!(!terms.is_empty() && terms == beyond(&chat)),
            Err(Unwritten::NoLimit) => prop_assert!(false),
        }
    }
}

#[test]
fn many_calls_take_no_longer_for_being_many() {
    // Each id would be compared with each before it: ten thousand million times.
    let many = 100_000;
    let call = |n: usize| format!(r#"{{"id":"call_{n:06}","function":{{"name":"f"}}}}"#);
    let answer = |n: usize| format!(r#"{{"role":"tool","tool_call_id":"call_{n:06}","content":"x"}}"#);
    let list = |of: &dyn Fn(usize) -> String| (0..many).rev().map(of).collect::<Vec<_>>().join(",");
    let body = format!(
        r#"{{"model":"m","tools":[{{"function":{{"name":"f"}}}}],"messages":[{{"role":"user","content":"hi"}},
            {{"role":"assistant","tool_calls":[{}]}},{}]}}"#,
        list(&call),
        (0..many).map(answer).collect::<Vec<_>>().join(",")
    );
    let chat = crate::wire::chat::request::read(body.into()).unwrap();
    let began = std::time::Instant::now();
    assert!(beyond(&chat).is_empty());
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}
