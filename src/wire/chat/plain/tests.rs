use super::*;
use proptest::prelude::*;

/// What the short way says is what the long way says; tells whether it said anything.
#[track_caller]
fn agree(text: &str) -> bool {
    let plain = read(text);
    if let Some(plain) = &plain {
        assert_eq!(Some(plain), Chunk::read_slowly(text).as_ref(), "{text}");
    }
    plain.is_some()
}

#[test]
fn ordinary_answers_are_read_in_one_pass() {
    for text in [
        r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5},"system_fingerprint":null}"#,
        r#"{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":1,"delta":{"content":""},"finish_reason":null}],"usage":null}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}},{"index":7,"delta":{}}]}"#,
        r#"{"model":"m","choices":[],"usage":{"prompt_tokens":3}}"#,
        r#" {"choices":[{"message":{"content":[{"type":"text","text":"a\"\\\u00e9"}]},"finish_reason":"st\u006fp"}]} "#,
        r#"{"choices":[{"message":{"content":"","refusal":"no"}}]}"#,
    ] {
        assert!(agree(text), "{text}");
    }
}

#[test]
fn what_is_out_of_the_ordinary_goes_the_long_way() {
    for text in [
        "",
        "[]",
        "{",
        r#"{"choices":[]} x"#,
        r#"{"error":{"code":503},"choices":[]}"#,
        r#"{"object":"error","choices":[]}"#,
        r#"{"object":"\u0065rror","choices":[]}"#,
        r#"{"err\u006fr":{"code":503}}"#,
        r#"{"choices":[{"error":{"code":502},"message":{"content":"x"}}]}"#,
        r#"{"choices":null}"#,
        r#"{"choices":[[0,{"content":"x"},"stop"]]}"#,
        r#"{"choices":[],"choices":[{"message":{"content":"x"}}]}"#,
        r#"{"model":"a","model":"b","choices":[]}"#,
        r#"{"choices":[{"message":{"content":"x"},"delta":{}}]}"#,
        r#"{"choices":[{"message":null}]}"#,
        r#"{"choices":[{"message":{"refusal":null,"refusal":"no"}}]}"#,
        r#"{"choices":[{"message":{"\ud800":1,"content":"x"}}]}"#,
    ] {
        assert!(!agree(text), "{text}");
    }
    assert!(broken::MARKS.iter().all(|mark| !agree(&format!(r#"{{"{mark}":1,"choices":[]}}"#))));
}

/// JSON of the words that matter here, in every place.
fn value() -> impl Strategy<Value = String> {
    let own = ["model", "usage", "choices", "message", "delta", "index", "finish_reason", "content", "refusal"];
    let others = ["tool_calls", "text", "prompt_tokens", "total_tokens", "x", "err\\u006fr", "\\ud800"];
    let names: Vec<&str> = own.iter().chain(&others).chain(broken::MARKS).copied().collect();
    let leaf = prop::sample::select(vec![
        "null",
        "true",
        "false",
        "0",
        "3",
        "-1",
        "1e9",
        "{}",
        "[]",
        "\"\"",
        "\"stop\"",
        "\"error\"",
        "\"\\ud800\"",
        "\"chat.completion\"",
        "\"a\\u0062\"",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 40, 5, move |inner| {
        let member = (prop::sample::select(names.clone()), inner.clone());
        let object = prop::collection::vec(member, 0..5).prop_map(|members| {
            let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        });
        let list = prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(",")));
        prop_oneof![3 => object, 1 => list]
    })
}

/// The same in the shape of an answer, so that many of them are ordinary ones.
fn answer() -> impl Strategy<Value = String> {
    let part = (prop::sample::select(vec!["message", "delta"]), value(), value(), value());
    let choice = (part, value(), value(), prop::sample::select(vec!["index", "error", "x"]));
    let choice = choice.prop_map(|((part, content, calls, refusal), finish, index, name)| {
        format!(
            r#"{{"{name}":{index},"{part}":{{"content":{content},"tool_calls":{calls},"refusal":{refusal}}},"finish_reason":{finish}}}"#
        )
    });
    (prop::collection::vec(choice, 0..3), value(), value(), prop::sample::select(vec!["x", "object", "status", "id"]))
        .prop_map(|(choices, model, usage, name)| {
            format!(r#"{{"{name}":{usage},"model":{model},"choices":[{}],"usage":{usage}}}"#, choices.join(","))
        })
}

proptest! {
    #[test]
    fn both_ways_say_the_same(any in value(), answer in answer()) {
        agree(&any);
        agree(&answer);
    }
}
