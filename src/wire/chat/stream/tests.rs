use super::*;
use crate::policy::Scope;

/// A chunk of one choice.
fn chunk(index: u64, delta: &str, finish: &str) -> String {
    format!(
        "data: {{\"model\":\"served\",\"choices\":[{{\"index\":{index},\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
    )
}

fn role() -> String {
    chunk(0, r#"{"role":"assistant","content":""}"#, "null")
}

fn text(words: &str) -> String {
    chunk(0, &format!(r#"{{"content":"{words}"}}"#), "null")
}

fn stop() -> String {
    chunk(0, "{}", r#""stop""#)
}

const DONE: &str = "data: [DONE]\n\n";
const USAGE: &str =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":5}}\n\n";

fn read(events: &[&str], how: StreamEnded) -> (Vec<PieceKind>, Result<Answered, Classified>) {
    read_for(Asked { stream: true, max_output: None, choices: 1, ..Asked::default() }, events, how)
}

fn read_for(asked: Asked, events: &[&str], how: StreamEnded) -> (Vec<PieceKind>, Result<Answered, Classified>) {
    let mut reader = StreamReader::new(asked);
    let mut kinds = Vec::new();
    for event in events {
        kinds.extend(reader.push(Bytes::from((*event).to_owned())).map(|p| p.kind));
    }
    (kinds, reader.end(how))
}

fn kinds(events: &[&str]) -> Vec<PieceKind> {
    read(events, StreamEnded::Clean).0
}

fn failure(events: &[&str], how: StreamEnded) -> Classified {
    read(events, how).1.unwrap_err()
}

#[test]
fn a_plain_stream_is_read_to_its_end() {
    let (kinds, end) = read(&[&role(), &text("one "), &text("two"), &stop(), USAGE, DONE], StreamEnded::Clean);
    use PieceKind::{Done, Finish, Output, Quiet};
    assert_eq!(kinds, [Quiet, Output, Output, Finish, Quiet, Done]);
    let answered = end.unwrap();
    assert_eq!(answered.model.as_deref(), Some("served"));
    assert_eq!(answered.finish.as_deref(), Some("stop"));
    assert_eq!(answered.usage, Some(Usage { input: 3, output: 2, cached: 0 }));
}

#[test]
fn pieces_are_the_bytes_that_came() {
    let all = [": hello\n\n", &role(), &text("x"), &stop(), DONE].concat();
    let mut reader = StreamReader::new(Asked::default());
    let mut raw = Vec::new();
    for cut in all.as_bytes().chunks(7) {
        raw.extend(reader.push(Bytes::copy_from_slice(cut)).flat_map(|p| p.raw));
    }
    assert_eq!(raw, all.as_bytes());
    assert!(reader.has_output() && reader.has_done());
}

#[test]
fn output_is_what_a_caller_could_use() {
    for delta in [
        r#"{"content":"x"}"#,
        r#"{"role":"assistant","content":"x"}"#,
        r#"{"content":"\n"}"#,
        r#"{"reasoning_content":"hm"}"#,
        r#"{"reasoning":"hm"}"#,
        r#"{"refusal":"no"}"#,
        r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#,
        r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}"#,
    ] {
        assert_eq!(kinds(&[&chunk(0, delta, "null")]), [PieceKind::Output], "{delta}");
    }
    let last = chunk(0, r#"{"content":"x"}"#, r#""stop""#);
    let (found, end) = read(&[&last], StreamEnded::Clean);
    assert_eq!(found, [PieceKind::Output]);
    assert!(end.is_ok());
}

#[test]
fn what_brings_nothing_is_no_output() {
    for delta in [
        "{}",
        "null",
        r#"{"role":"assistant"}"#,
        r#"{"role":"assistant","content":null,"refusal":null}"#,
        r#"{"content":"","reasoning_content":"","reasoning":null}"#,
        r#"{"tool_calls":[]}"#,
        r#"{"content":[{"type":"text","text":""}]}"#,
    ] {
        assert_eq!(kinds(&[&chunk(0, delta, "null")]), [PieceKind::Quiet], "{delta}");
    }
    let events =
        [": ping\n\n", "event: ping\ndata: x\n\n", "id: 3\n\n", USAGE, "data: {\"choices\":[],\"model\":\"\"}\n\n"];
    assert_eq!(kinds(&events), vec![PieceKind::Quiet; 5]);
}

#[test]
fn an_end_marker_alone_proves_nothing() {
    let cut = failure(&[&role(), DONE], StreamEnded::Clean);
    assert_eq!((cut.class, cut.stage), (Class::Truncated, Stage::Headers));
    let cut = failure(&[&role(), &text("x"), DONE], StreamEnded::Clean);
    assert_eq!((cut.class, cut.cause, cut.stage), (Class::PartialStream, Some(Class::Truncated), Stage::Output));
    assert_eq!(failure(&[&role()], StreamEnded::Reset).class, Class::Truncated);
    assert_eq!(failure(&[&text("x")], StreamEnded::Reset).class, Class::PartialStream);
}

#[test]
fn a_reason_alone_is_enough() {
    for how in [StreamEnded::Clean, StreamEnded::Reset] {
        assert!(read(&[&text("x"), &stop()], how).1.is_ok(), "{how:?}");
    }
    // The end is lost if its event is not closed.
    let open = stop();
    assert_eq!(failure(&[&text("x"), open.trim_end()], StreamEnded::Clean).class, Class::PartialStream);
}

#[test]
fn every_choice_needs_a_reason() {
    let other = chunk(1, r#"{"content":"y"}"#, "null");
    let other_stop = chunk(1, "{}", r#""length""#);
    assert!(read(&[&text("x"), &other, &stop(), &other_stop], StreamEnded::Clean).1.is_ok());
    assert_eq!(failure(&[&text("x"), &other, &stop(), DONE], StreamEnded::Clean).class, Class::PartialStream);
}

#[test]
fn a_stream_with_nothing_in_it_is_no_answer() {
    assert_eq!(failure(&[], StreamEnded::Clean).class, Class::EmptyResponse);
    assert_eq!(failure(&[": ping\n\n"], StreamEnded::Clean).class, Class::EmptyResponse);
    assert_eq!(failure(&[DONE], StreamEnded::Clean).class, Class::EmptyResponse);
    assert_eq!(failure(&[&role(), &stop(), DONE], StreamEnded::Clean).class, Class::EmptyResponse);
    assert_eq!(failure(&[], StreamEnded::Reset).class, Class::Truncated);
    assert_eq!(failure(&["data: {\"cho"], StreamEnded::Clean).class, Class::Truncated);
    assert_eq!(failure(&["data: {\"hello\":1}\n\n"], StreamEnded::Clean).class, Class::MalformedResponse);
    let filtered = failure(&[&role(), &chunk(0, "{}", r#""content_filter""#)], StreamEnded::Clean);
    assert_eq!((filtered.class, filtered.scope), (Class::Policy, Some(Scope::Request)));
}

#[test]
fn length_before_output_is_a_cut_unless_it_was_asked_for() {
    let finish = chunk(0, "{}", r#""length""#);
    let events = [finish.as_str(), USAGE, DONE];
    let end = |max_output| {
        read_for(Asked { stream: true, max_output, choices: 1, ..Asked::default() }, &events, StreamEnded::Clean).1
    };
    assert!(end(Some(2)).is_ok());
    assert_eq!(end(Some(3)).unwrap_err().class, Class::Truncated);
    assert_eq!(end(None).unwrap_err().class, Class::Truncated);
    // After output its end stands in the stream already.
    let after = [text("x"), finish.clone()].concat();
    assert!(
        read_for(
            Asked { stream: true, max_output: Some(3), choices: 1, ..Asked::default() },
            &[&after, USAGE, DONE],
            StreamEnded::Clean
        )
        .1
        .is_ok()
    );
}

#[test]
fn an_error_before_output_has_the_class_of_its_cause() {
    let class = |event: &str| {
        let (kinds, end) = read(&[&role(), event, &text("never read")], StreamEnded::Clean);
        let Some(PieceKind::Error(told)) = kinds.last() else { panic!("no error: {kinds:?}") };
        assert_eq!(end.unwrap_err(), *told);
        assert_eq!((kinds.len(), told.stage), (2, Stage::Headers));
        told.class
    };
    assert_eq!(
        class("data: {\"error\":{\"code\":\"insufficient_quota\",\"message\":\"\"}}\n\n"),
        Class::QuotaExhausted
    );
    assert_eq!(class("event: error\ndata: {\"message\":\"model busy\"}\n\n"), Class::Overloaded);
    assert_eq!(class("event: error\ndata: it broke\n\n"), Class::StreamEarly);
    assert_eq!(class("data: {\"object\":\"error\",\"message\":\"x\",\"code\":429}\n\n"), Class::RateLimit);
    assert_eq!(class("error: {\"type\":\"exceed_context_size_error\",\"message\":\"x\"}\n\n"), Class::ContextOverflow);
    assert_eq!(class(&chunk(0, "{}", r#""error""#)), Class::StreamEarly);
    assert_eq!(class(&chunk(0, "{}", r#""insufficient_system_resource""#)), Class::Overloaded);
}

#[test]
fn after_output_an_error_is_partial_and_keeps_its_cause() {
    let event = "data: {\"choices\":[{\"delta\":{},\"error\":{\"code\":429,\"message\":\"x\"}}]}\n\n";
    let (kinds, _) = read(&[&text("x"), event], StreamEnded::Clean);
    let Some(PieceKind::Error(told)) = kinds.last() else { panic!("no error") };
    assert_eq!((told.class, told.cause, told.stage), (Class::PartialStream, Some(Class::RateLimit), Stage::Output));
}

#[test]
fn a_frame_that_is_no_json_is_malformed() {
    let (kinds, end) = read(&[&role(), "data: {\"choices\":[{\"del\n\n", DONE], StreamEnded::Clean);
    assert!(matches!(&kinds[..], [PieceKind::Quiet, PieceKind::Malformed(_)]));
    assert_eq!(end.unwrap_err().class, Class::MalformedResponse);
    let cut = failure(&[&text("x"), "data: <html>\n\n"], StreamEnded::Clean);
    assert_eq!((cut.class, cut.cause), (Class::PartialStream, Some(Class::MalformedResponse)));
    let long = format!("data: {}", "x".repeat(crate::wire::sse::MAX_BLOCK));
    assert_eq!(failure(&[&long], StreamEnded::Clean).rule, "stream-overflow");
}

#[test]
fn content_that_nests_without_end_is_no_harm() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(kinds(&[&chunk(0, &format!("{{\"content\":{deep}}}"), "null")]), [PieceKind::Quiet]);
}

#[test]
fn a_stream_that_lacks_a_choice_is_cut_unless_it_says_that_it_is_done() {
    let two = Asked { stream: true, max_output: None, choices: 2, ..Asked::default() };
    let only = [
        r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    ];
    let read = |events: &[&str], how| {
        let mut reader = StreamReader::new(two);
        for event in events {
            for _ in reader.push(Bytes::from(format!("data: {event}\n\n"))) {}
        }
        reader.end(how)
    };
    assert_eq!(read(&only, StreamEnded::Reset).unwrap_err().class, Class::PartialStream);
    assert_eq!(read(&only, StreamEnded::Clean).unwrap_err().class, Class::PartialStream);
    assert!(read(&[only[0], only[1], "[DONE]"], StreamEnded::Clean).is_ok());
}

#[test]
fn an_error_in_another_vendors_envelope_is_read_in_live_traffic_too() {
    for (payload, want) in [
        (r#"{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}"#, Class::RateLimit),
        (r#"{"error_code":18,"error_msg":"Open api qps request limit reached"}"#, Class::RateLimit),
        (r#"{"success":false,"message":"the engine is overloaded"}"#, Class::Overloaded),
    ] {
        let event = format!("data: {payload}\n\n");
        let found = failure(&[&event], StreamEnded::Clean).class;
        assert_eq!(found, want, "{payload}");
    }
}

#[test]
fn an_answer_of_endlessly_many_choices_is_none() {
    let choices = |from: u64, to: u64| {
        let all: Vec<String> =
            (from..to).map(|n| format!("{{\"index\":{n},\"delta\":{{\"content\":\"a\"}}}}")).collect();
        format!("data: {{\"choices\":[{}]}}\n\n", all.join(","))
    };
    let failed = failure(&[&choices(0, 20_000)], StreamEnded::Clean);
    assert_eq!((failed.class, failed.rule), (Class::MalformedResponse, "stream-choices"));
    let (first, rest) = (choices(0, 1_000), choices(1_000, 2_000));
    assert_eq!(failure(&[&first, &rest], StreamEnded::Clean).class, Class::PartialStream);
    assert_eq!(kinds(&[&first]), [PieceKind::Output]);
}
