use super::*;
use crate::policy::Dialect;
use crate::wire::chat::answer::Asked;
use crate::wire::chat::{Answered, PieceKind, StreamEnded};
use crate::wire::translate::StreamReader;

fn event(value: Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

fn start() -> String {
    event(json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": "claude-x", "content": [], "stop_reason": null, "usage": {"input_tokens": 10, "output_tokens": 1}}}))
}

fn block(index: u64, block: Value) -> String {
    event(json!({"type": "content_block_start", "index": index, "content_block": block}))
}

fn delta(index: u64, delta: Value) -> String {
    event(json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

fn text(piece: &str) -> String {
    delta(0, json!({"type": "text_delta", "text": piece}))
}

fn stop(index: u64) -> String {
    event(json!({"type": "content_block_stop", "index": index}))
}

fn end(reason: &str) -> String {
    event(json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
        "usage": {"input_tokens": 12, "cache_read_input_tokens": 3, "output_tokens": 5}}))
}

fn last() -> String {
    event(json!({"type": "message_stop"}))
}

fn ping() -> String {
    event(json!({"type": "ping"}))
}

/// What came of a stream.
#[derive(Debug, PartialEq)]
struct Read {
    /// Events that a client would be sent, all of them.
    events: Vec<Value>,
    /// At which of them output began.
    output_at: Option<usize>,
    done: bool,
    verdict: Result<Answered, (Class, Option<Class>, &'static str)>,
}

fn read_pieces(pieces: &[&[u8]], include_usage: bool, how: StreamEnded) -> Read {
    let asked = Asked { stream: true, ..Asked::default() };
    let to = || Answering { created: 7, model: "asked".into(), include_usage };
    let mut reader = StreamReader::new(Dialect::Messages, asked, to);
    let (mut events, mut output_at, mut done, mut failed) = (Vec::new(), None, false, false);
    for piece in pieces {
        reader.push(Bytes::copy_from_slice(piece));
        while let Some(piece) = reader.next_piece() {
            match piece.kind {
                PieceKind::Output => {
                    output_at.get_or_insert(events.len());
                }
                PieceKind::Done => done = true,
                PieceKind::Error(_) | PieceKind::Malformed(_) => failed = true,
                PieceKind::Quiet | PieceKind::Finish => {}
            }
            let raw = std::str::from_utf8(&piece.raw).unwrap();
            let data = raw.strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok());
            if let Some(event) = data.filter(|_| !failed) {
                events.push(event);
            }
        }
    }
    let verdict = reader.end(how).map_err(|f| (f.class, f.cause, f.rule));
    Read { events, output_at, done, verdict }
}

fn read(events: &[String], how: StreamEnded) -> Read {
    read_pieces(&[events.concat().as_bytes()], true, how)
}

fn class(events: &[String], how: StreamEnded) -> (Class, Option<Class>) {
    let (class, cause, _) = read(events, how).verdict.unwrap_err();
    (class, cause)
}

fn told() -> Vec<String> {
    vec![
        start(),
        ping(),
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "zz"})),
        stop(0),
        block(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Hél"})),
        delta(1, json!({"type": "citations_delta", "citation": {}})),
        delta(1, json!({"type": "text_delta", "text": "lo"})),
        stop(1),
        block(2, json!({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}})),
        delta(2, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"a\""})),
        delta(2, json!({"type": "input_json_delta", "partial_json": ":1}"})),
        stop(2),
        event(json!({"type": "brand_new", "index": 2})),
        block(3, json!({"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}})),
        stop(3),
        end("tool_use"),
        last(),
    ]
}

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({"id": "msg_1", "object": "chat.completion.chunk", "created": 7, "model": "claude-x",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]})
}

#[test]
fn a_stream_is_a_stream_of_chat() {
    let read = read(&told(), StreamEnded::Clean);
    let call = |index: u64, id: &str, name: &str| json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]});
    let more = |index: u64, piece: &str| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]});
    let usage = json!({"id": "msg_1", "object": "chat.completion.chunk", "created": 7, "model": "claude-x", "choices": [],
        "usage": {"prompt_tokens": 15, "completion_tokens": 5, "total_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0}}});
    let want = vec![
        chunk(json!({"role": "assistant", "content": ""}), None),
        chunk(json!({"reasoning_content": "hm"}), None),
        chunk(json!({"content": "Hél"}), None),
        chunk(json!({"content": "lo"}), None),
        chunk(call(0, "toolu_1", "f"), None),
        chunk(more(0, "{\"a\""), None),
        chunk(more(0, ":1}"), None),
        chunk(call(1, "toolu_2", "g"), None),
        chunk(more(1, "{}"), None),
        chunk(json!({}), Some("tool_calls")),
        usage,
    ];
    assert_eq!(read.events, want);
    assert_eq!((read.output_at, read.done), (Some(1), true));
    let answered = read.verdict.unwrap();
    assert_eq!(answered.usage, Some(Usage { input: 15, output: 5, cached: 3 }));
    assert_eq!((answered.model.as_deref(), answered.finish.as_deref()), (Some("claude-x"), Some("tool_calls")));
}

#[test]
fn however_it_is_cut_it_says_the_same() {
    let bytes = told().concat().into_bytes();
    let whole = read_pieces(&[&bytes], true, StreamEnded::Clean);
    assert_eq!(read_pieces(&bytes.chunks(1).collect::<Vec<_>>(), true, StreamEnded::Clean), whole);
    for at in 0..bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(read_pieces(&[head, tail], true, StreamEnded::Clean), whole, "cut at {at}");
    }
}

#[test]
fn wherever_it_breaks_off_it_is_not_whole() {
    let events = told();
    for to in 0..events.len() - 2 {
        for how in [StreamEnded::Clean, StreamEnded::Reset] {
            let read = read(&events[..to], how);
            assert!(read.verdict.is_err() && !read.done, "after {to} events");
            let partial = matches!(read.verdict, Err((Class::PartialStream, _, _)));
            assert_eq!(partial, read.output_at.is_some(), "after {to} events");
            assert!(read.events.iter().all(|e| e["choices"][0]["finish_reason"].is_null()));
        }
    }
    // The reason was told: that is an end, with or without the last event.
    assert!(read(&events[..events.len() - 1], StreamEnded::Clean).verdict.is_ok());
}

#[test]
fn usage_is_known_and_only_told_to_who_asked() {
    let bytes = [start(), text("a"), end("end_turn"), last()].concat();
    let read = read_pieces(&[bytes.as_bytes()], false, StreamEnded::Clean);
    assert!(read.events.iter().all(|event| event["usage"].is_null()));
    assert_eq!(read.verdict.unwrap().usage, Some(Usage { input: 15, output: 5, cached: 3 }));
}

#[test]
fn an_error_is_what_it_says_wherever_it_comes() {
    let overloaded = event(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}));
    assert_eq!(class(std::slice::from_ref(&overloaded), StreamEnded::Clean), (Class::Overloaded, None));
    assert_eq!(class(&[start(), ping(), overloaded.clone()], StreamEnded::Clean), (Class::Overloaded, None));
    let after = class(&[start(), text("a"), overloaded.clone()], StreamEnded::Clean);
    assert_eq!(after, (Class::PartialStream, Some(Class::Overloaded)));
    let late = class(&[start(), text("a"), end("end_turn"), overloaded], StreamEnded::Clean);
    assert_eq!(late, (Class::PartialStream, Some(Class::Overloaded)));
}

#[test]
fn a_refusal_is_policy_and_after_output_an_end_that_says_so() {
    let before = [start(), end("refusal"), last()];
    assert_eq!(class(&before, StreamEnded::Clean).0, Class::Policy);
    assert_eq!(read(&before, StreamEnded::Clean).output_at, None);
    let after = read(&[start(), text("a"), end("refusal"), last()], StreamEnded::Clean);
    assert_eq!(after.verdict.unwrap().finish.as_deref(), Some("content_filter"));
}

#[test]
fn a_pause_is_no_end() {
    assert_eq!(class(&[start(), end("pause_turn"), last()], StreamEnded::Clean).0, Class::Truncated);
    let after = class(&[start(), text("a"), end("pause_turn"), last()], StreamEnded::Clean);
    assert_eq!(after, (Class::PartialStream, Some(Class::Truncated)));
}

#[test]
fn an_answer_of_nothing_is_empty_and_what_is_something_else_is_malformed() {
    assert_eq!(class(&[start(), end("end_turn"), last()], StreamEnded::Clean).0, Class::EmptyResponse);
    assert_eq!(class(&[], StreamEnded::Clean).0, Class::EmptyResponse);
    let chat =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n".to_owned();
    assert_eq!(class(&[chat], StreamEnded::Clean).0, Class::MalformedResponse);
    assert_eq!(
        class(&["event: message_start\ndata: {\n\n".to_owned()], StreamEnded::Clean).0,
        Class::MalformedResponse
    );
    assert_eq!(class(&[start(), last()], StreamEnded::Clean).0, Class::Truncated);
}

#[test]
fn arguments_that_came_at_once_are_handed_on_at_the_end_of_their_block() {
    let read = read(
        &[
            start(),
            block(0, json!({"type": "tool_use", "id": "t", "name": "f", "input": {"n": 1}})),
            stop(0),
            end("tool_use"),
        ],
        StreamEnded::Clean,
    );
    assert_eq!(read.events[2]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"], "{\"n\":1}");
}

#[test]
fn a_call_whose_block_is_never_ended_has_its_arguments() {
    let call = |id: &str| block(0, json!({"type": "tool_use", "id": id, "name": "f", "input": {}}));
    let arguments = |reason: &str| -> Vec<String> {
        let read = read(&[start(), call("a"), call("b"), end(reason), last()], StreamEnded::Clean);
        let calls = read.events.iter().map(|e| &e["choices"][0]["delta"]["tool_calls"][0]);
        let told = calls.map(|c| format!("{}{}", c["index"], c["function"]["arguments"].as_str().unwrap_or("")));
        told.filter(|t| t.contains('{')).collect()
    };
    assert_eq!(arguments("tool_use"), ["0{}", "1{}"]);
    // The second was cut by length: nothing makes it look whole.
    assert_eq!(arguments("max_tokens"), ["0{}"]);
}

#[test]
fn an_event_of_another_name_that_holds_an_error_is_one() {
    let odd = event(json!({"type": "exception", "error": {"type": "rate_limit_error", "message": "slow"}}));
    assert_eq!(class(&[start(), odd.clone()], StreamEnded::Clean).0, Class::RateLimit);
    let after = class(&[start(), text("a"), odd], StreamEnded::Clean);
    assert_eq!(after, (Class::PartialStream, Some(Class::RateLimit)));
    let none = event(json!({"type": "brand_new", "error": null}));
    assert!(read(&[start(), text("a"), none, end("end_turn"), last()], StreamEnded::Clean).verdict.is_ok());
}
