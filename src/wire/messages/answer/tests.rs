use super::*;

fn to() -> Answering {
    Answering { created: 7, model: "asked".into(), include_usage: false }
}

fn message(more: Value) -> Value {
    let mut body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x",
        "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 3}});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn chat(more: Value) -> Value {
    let bytes = chat_of(&message(more).to_string(), &to()).unwrap().unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn failed(more: Value) -> (Class, &'static str) {
    let failure = chat_of(&message(more).to_string(), &to()).unwrap().unwrap_err();
    (failure.class, failure.rule)
}

#[test]
fn a_message_is_a_completion() {
    let want = json!({
        "id": "msg_1", "object": "chat.completion", "created": 7, "model": "claude-x",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}, "logprobs": null,
            "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}},
    });
    assert_eq!(chat(json!({})), want);
    assert_eq!(chat(json!({"model": ""}))["model"], "asked");
}

#[test]
fn calls_are_calls_and_outrank_a_plain_stop() {
    let answer = chat(json!({"stop_reason": "tool_use", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "zz"},
        {"type": "text", "text": "I "}, {"type": "text", "text": "call.", "citations": []},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 1}},
        {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
    ]}));
    let call = |id: &str, name: &str, arguments: &str| {
        json!({"id": id, "type": "function",
        "function": {"name": name, "arguments": arguments}})
    };
    let want = json!({"role": "assistant", "content": "I call.", "reasoning_content": "hm",
        "tool_calls": [call("toolu_1", "f", "{\"n\":1}"), call("toolu_2", "g", "{}")]});
    assert_eq!(answer["choices"][0]["message"], want);
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn each_end_has_its_word_or_is_a_failure() {
    let finish = |reason: &str| chat(json!({"stop_reason": reason}))["choices"][0]["finish_reason"].clone();
    for (reason, want) in [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("compaction", "compaction"),
    ] {
        assert_eq!(finish(reason), want, "{reason}");
    }
    assert_eq!(failed(json!({"stop_reason": "refusal"})), (Class::Policy, "finish-filter"));
    assert_eq!(failed(json!({"stop_reason": "refusal", "content": []})), (Class::Policy, "finish-filter"));
    assert_eq!(failed(json!({"stop_reason": "pause_turn"})), (Class::Truncated, "finish-pause"));
    assert_eq!(chat(json!({"stop_reason": null}))["choices"][0]["finish_reason"], Value::Null);
}

#[test]
fn what_was_cached_is_part_of_the_input() {
    let usage = json!({"input_tokens": 2, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 100,
        "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}});
    let want = json!({"prompt_tokens": 107, "completion_tokens": 9, "total_tokens": 116,
        "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 4}});
    assert_eq!(chat(json!({"usage": usage}))["usage"], want);
    assert_eq!(chat(json!({"usage": null}))["usage"], Value::Null);
}

#[test]
fn what_is_no_message_is_left_to_the_judge() {
    for body in [
        "",
        "{}",
        "[]",
        "<html>",
        r#"{"type":"error","error":{}}"#,
        r#"{"type":"message"}"#,
        r#"{"choices":[]}"#,
        r#"{"type":"message","content":"text"}"#,
    ] {
        assert!(chat_of(body, &to()).is_none(), "{body}");
    }
}

#[test]
fn of_an_answer_in_many_pieces_none_is_lost() {
    let pieces: Vec<Value> = (0..5_000).map(|n| json!({"type": "text", "text": format!("{n},")})).collect();
    let told = chat(json!({"content": pieces}));
    assert!(told["choices"][0]["message"]["content"].as_str().unwrap().ends_with(",4999,"));
}
