use super::frames::payloads;
use super::*;

fn stream<'a>(api: &'a str, content_type: &str, events: &[&'a str], end: End) -> Verdict {
    let headers = vec![("Content-Type".to_string(), content_type.to_string())];
    judge(&Exchange { provider: "", api, headers, came: Came::Stream { status: 200, events: events.to_vec(), end } }, 0)
}

fn whole(api: &str, body: &str) -> Option<Class> {
    let came = Came::Whole { status: 200, body, end: End::Clean };
    judge(&Exchange { provider: "", api, headers: Vec::new(), came }, 0).failure.map(|f| f.class)
}

const OUTPUT: &[(&str, &str)] = &[
    ("openai-chat", r#"{"choices":[{"delta":{"content":"a"}}]}"#),
    ("openai-chat", r#"{"choices":[{"delta":{"reasoning_content":"a"}}]}"#),
    ("openai-chat", r#"{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}"#),
    ("openai-responses", r#"{"type":"response.output_text.delta","delta":"a"}"#),
    ("openai-responses", r#"{"type":"response.function_call_arguments.delta","delta":"{"}"#),
    ("anthropic-messages", r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"a"}}"#),
    ("anthropic-messages", r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{"}}"#),
    (
        "anthropic-messages",
        r#"{"type":"content_block_start","content_block":{"type":"tool_use","name":"f","input":{}}}"#,
    ),
    ("gemini", r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}"#),
    ("bedrock-converse", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"a"}}}"#),
    ("bedrock-converse", r#"{"contentBlockIndex":0,"start":{"toolUse":{"name":"f"}}}"#),
    ("ollama-chat", r#"{"message":{"role":"assistant","content":"","thinking":"a"},"done":false}"#),
    ("cohere-chat", r#"{"type":"content-delta","delta":{"message":{"content":{"text":"a"}}}}"#),
    ("tgi-generate", r#"{"token":{"text":"a"},"generated_text":null}"#),
    ("dashscope-native", r#"{"output":{"choices":[{"message":{"content":"a"},"finish_reason":"null"}]}}"#),
];

const NO_OUTPUT: &[(&str, &str)] = &[
    ("openai-chat", r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#),
    ("openai-chat", r#"{"choices":[],"usage":{"prompt_tokens":3}}"#),
    ("openai-responses", r#"{"type":"response.created","response":{"output":[],"error":null}}"#),
    ("openai-responses", r#"{"type":"response.output_item.added","item":{"type":"message","content":[]}}"#),
    ("anthropic-messages", r#"{"type":"message_start","message":{"content":[]}}"#),
    ("anthropic-messages", r#"{"type":"content_block_start","content_block":{"type":"text","text":""}}"#),
    ("anthropic-messages", r#"{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"x"}}"#),
    ("gemini", r#"{"candidates":[{"content":{"parts":[{"text":""}]}}]}"#),
    ("bedrock-converse", r#"{"role":"assistant"}"#),
    ("ollama-chat", r#"{"message":{"role":"assistant","content":""},"done":false}"#),
];

#[test]
fn what_counts_as_output_is_stated_once() {
    for (rows, output) in [(OUTPUT, true), (NO_OUTPUT, false)] {
        for (api, event) in rows {
            let verdict = stream(api, "text/event-stream", &[&format!("data: {event}\n\n")], End::Reset);
            let failure = verdict.failure.unwrap();
            let class = if output { Class::PartialStream } else { Class::Truncated };
            assert_eq!(failure.class, class, "{api} {event}");
            assert_eq!(failure.stage == Stage::Output, output, "{api} {event}");
        }
    }
}

#[test]
fn every_framing_yields_its_payloads() {
    let data = |kind, pieces: &[&str]| -> Vec<(String, String, bool)> {
        payloads(kind, pieces).into_iter().map(|p| (p.name, p.data, p.exception)).collect()
    };
    let row = |name: &str, data: &str, exception| (name.to_string(), data.to_string(), exception);
    let sse = data("text/event-stream", &[": hi\n\nevent: a\nda", "ta: {}\n\nerror: {\"a\":1}\n\ndata: x"]);
    assert_eq!(sse, [row("a", "{}", false), row("error", "{\"a\":1}", true), row("", "x", false)]);
    assert_eq!(data("", &["{\"a\":1}\n{\"b\":", "2}\n"]), [row("", "{\"a\":1}", false), row("", "{\"b\":2}", false)]);
    assert_eq!(data("", &["[{\"a\":1}\n", ",\r\n{\"b\":2}", "]"]).len(), 2);
    let frame = ":message-type: exception\n:exception-type: throttlingException\n\n{\"message\":\"x\"}";
    assert_eq!(data("", &[frame]), [row("throttlingException", "{\"message\":\"x\"}", true)]);
    let error = ":message-type: error\n:error-code: internalError\n:error-message: gone\n\n";
    assert_eq!(data("", &[error]), [row("internalError", "gone", true)]);
    // A stream that is labelled as events and is an object.
    assert_eq!(data("text/event-stream", &["{\"error\":1}"]), [row("", "{\"error\":1}", false)]);
}

#[test]
fn an_event_that_is_not_closed_is_lost_unless_it_tells_an_error() {
    let first = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let end = |last| stream("openai-chat", "text/event-stream", &[first, last], End::Clean).failure.unwrap();
    assert_eq!(end("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}").class, Class::Truncated);
    let error = end("data: {\"error\":{\"type\":\"overloaded_error\"}}");
    assert_eq!((error.class, error.cause), (Class::PartialStream, Some(Class::Overloaded)));
}

#[test]
fn of_a_failure_told_twice_the_clearer_word_counts() {
    let general = "event: error\ndata: {\"type\":\"error\",\"message\":\"failed\"}\n\n";
    let clear = "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"x\"}}}\n\n";
    for events in [[general, clear], [clear, general]] {
        let verdict = stream("openai-responses", "text/event-stream", &events, End::Clean);
        assert_eq!((verdict.failure.unwrap().class, verdict.cause), (Class::RateLimit, Some(Class::RateLimit)));
    }
}

#[test]
fn every_success_is_judged() {
    let rows: &[(&str, &str, Option<Class>)] = &[
        ("openai-chat", r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#, None),
        ("openai-chat", "", Some(Class::EmptyResponse)),
        ("openai-chat", "<html></html>", Some(Class::MalformedResponse)),
        ("openai-chat", "Internal Server Error", Some(Class::MalformedResponse)),
        ("openai-chat", r#"{"status":"ok"}"#, Some(Class::MalformedResponse)),
        ("openai-chat", r#"{"choices":[{"message":{"content":"a"#, Some(Class::MalformedResponse)),
        ("openai-chat", r#"{"error":"boom"}"#, Some(Class::ServerError)),
        ("openai-chat", r#"{"code":20012,"message":"Model does not exist."}"#, Some(Class::NotFound)),
        ("openai-chat", "data: {\"error\":{\"code\":\"rate_limit_exceeded\"}}\n\n", Some(Class::RateLimit)),
        ("openai-chat", r#"{"choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}]}"#, Some(Class::Policy)),
        ("gemini", r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, Some(Class::Policy)),
        ("gemini", r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}]"#, None),
        ("bedrock-converse", r#"{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"end_turn"}"#, None),
        ("a-new-one", r#"{"choices":[{"message":{"content":"a"}}]}"#, None),
    ];
    for (api, body, class) in rows {
        assert_eq!(whole(api, body), *class, "{api} {body}");
    }
}

#[test]
fn faults_are_read_from_words_where_nothing_names_them() {
    let words = |words| {
        let came = Came::Nothing { fault: "", words };
        judge(&Exchange { provider: "", api: "", headers: Vec::new(), came }, 0).failure.unwrap().rule
    };
    assert_eq!(words("getaddrinfo ENOTFOUND a"), "fault-dns");
    assert_eq!(words("connect ECONNREFUSED 1.2.3.4:5"), "fault-refused");
    assert_eq!(words("invalid peer certificate: Expired"), "fault-tls");
    assert_eq!(words("UND_ERR_HEADERS_TIMEOUT"), "fault-headers-timeout");
    assert_eq!(words("socket hang up"), "fault-reset");
    assert_eq!(words("who knows"), "fault-other");
}
