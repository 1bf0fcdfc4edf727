use super::*;
use crate::policy::Modality;

fn ok(body: &str) -> ChatRequest {
    read(Bytes::from(body.to_owned())).unwrap()
}

fn bad(body: &str) -> BadRequest {
    read(Bytes::from(body.to_owned())).unwrap_err()
}

const PLAIN: &str = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;

/// A plain request with one more member.
fn with(member: &str) -> String {
    PLAIN.replacen('{', &format!("{{{member},"), 1)
}

#[test]
fn a_plain_request_asks_for_nothing_special() {
    let facts = ok(PLAIN).facts("r-1");
    assert_eq!((facts.id.as_str(), facts.model.as_str()), ("r-1", "m"));
    assert!(!facts.stream && !facts.tools && !facts.parallel_tools);
    assert_eq!(facts.structured_output, StructuredOutput::None);
    assert_eq!(facts.max_output, None);
    assert_eq!(facts.modalities.iter().collect::<Vec<_>>(), [Modality::Text]);
    assert_eq!(facts.effects, Effects::None);
}

#[test]
fn what_is_no_json_is_told_with_its_place() {
    let error = bad("{\"model\": \"m\",\n  \"messages\": [1,]}");
    assert_eq!((error.status, error.code), (400, "invalid_json"));
    assert!(error.message.contains("line 2, column 18"), "{}", error.message);
    assert_eq!(bad("").code, "invalid_json");
    assert_eq!(bad(r#"{"model":"m""#).code, "invalid_json");
    assert_eq!(bad(&format!("{PLAIN} x")).code, "invalid_json");
    let error = read(Bytes::from_static(b"{\"model\":\"\xff\"}")).unwrap_err();
    assert_eq!(error.code, "invalid_json");
}

#[test]
fn what_every_request_needs_is_asked_for() {
    let param = |body: &str| {
        let error = bad(body);
        assert_eq!((error.status, error.code), (400, "invalid-request"), "{body}");
        error.param
    };
    let is = |name: &str| Some(name.to_owned());
    assert_eq!(param("[]"), None);
    assert_eq!(param("7"), None);
    assert_eq!(param(r#"{"messages":[1]}"#), is("model"));
    assert_eq!(param(r#"{"model":3,"messages":[1]}"#), is("model"));
    assert_eq!(param(r#"{"model":"","messages":[1]}"#), is("model"));
    assert_eq!(param(r#"{"model":"m"}"#), is("messages"));
    assert_eq!(param(r#"{"model":"m","messages":[]}"#), is("messages"));
    assert_eq!(param(r#"{"model":"m","messages":"hi"}"#), is("messages"));
    assert_eq!(param(&with(r#""stream":"yes""#)), is("stream"));
    assert_eq!(param(&with(r#""stream_options":{}"#)), is("stream_options"));
    for number in ["0", "-5", "1.5", "\"9\"", "true"] {
        assert_eq!(param(&with(&format!("\"max_tokens\":{number}"))), is("max_tokens"));
        assert_eq!(param(&with(&format!("\"max_completion_tokens\":{number}"))), is("max_completion_tokens"));
        assert_eq!(param(&with(&format!("\"n\":{number}"))), is("n"));
    }
    assert_eq!(param(&with(r#""n":99999999999999999999"#)), is("n"));
}

#[test]
fn a_second_model_cannot_slip_through() {
    assert_eq!(bad(r#"{"model":"a","messages":[1],"model":"b"}"#).param.as_deref(), Some("model"));
    assert_eq!(bad(r#"{"model":"a","messages":[1],"\u006dodel":"b"}"#).param.as_deref(), Some("model"));
    assert_eq!(bad(r#"{"model":"a","messages":[1],"store":false,"store":true}"#).param.as_deref(), Some("store"));
    // What nobody here reads is between sender and target.
    ok(r#"{"model":"a","messages":[1],"seed":1,"seed":2}"#);
}

#[test]
fn limits_count_for_all_choices() {
    let max = |member: &str| ok(&with(member)).asked().max_output;
    assert_eq!(max(r#""max_tokens":50"#), Some(50));
    assert_eq!(max(r#""max_tokens":50,"max_completion_tokens":70"#), Some(70));
    assert_eq!(max(r#""max_tokens":50,"n":3"#), Some(150));
    assert_eq!(max(r#""max_tokens":null"#), None);
    assert_eq!(max(&format!("\"max_tokens\":{},\"n\":9", u64::MAX)), Some(u64::MAX));
}

#[test]
fn streams_say_whether_they_want_usage() {
    let request = ok(&with(r#""stream":true,"stream_options":{"include_usage":true}"#));
    assert!(request.stream() && request.include_usage() && request.asked().stream);
    assert!(!ok(&with(r#""stream":true"#)).include_usage());
    assert!(!ok(&with(r#""stream":null,"stream_options":null"#)).stream());
}

#[test]
fn tools_are_seen_in_both_forms() {
    let facts = |member: &str| ok(&with(member)).facts("r");
    let function = r#"[{"type":"function","function":{"name":"f"}}]"#;
    let tools = facts(&format!("\"tools\":{function},\"parallel_tool_calls\":true"));
    assert!(tools.tools && tools.parallel_tools);
    assert_eq!(tools.effects, Effects::None);
    assert!(!facts(&format!("\"tools\":{function}")).parallel_tools);
    assert!(facts(r#""functions":[{"name":"f"}]"#).tools);
    assert!(!facts(r#""tools":[],"parallel_tool_calls":true"#).parallel_tools);
}

#[test]
fn what_runs_elsewhere_or_is_kept_has_effects() {
    let effects = |member: &str| ok(&with(member)).facts("r").effects;
    assert_eq!(effects(r#""tools":[{"type":"function"},{"type":"code_interpreter"}]"#), Effects::Unknown);
    assert_eq!(effects(r#""web_search_options":{}"#), Effects::Unknown);
    assert_eq!(effects(r#""store":true"#), Effects::Unknown);
    assert_eq!(effects(r#""store":false,"web_search_options":null,"tools":[{"type":"custom"}]"#), Effects::None);
}

#[test]
fn forms_and_metadata_are_facts() {
    let form =
        |kind: &str| ok(&with(&format!("\"response_format\":{{\"type\":\"{kind}\"}}"))).facts("r").structured_output;
    assert_eq!(form("text"), StructuredOutput::None);
    assert_eq!(form("json_object"), StructuredOutput::JsonObject);
    assert_eq!(form("json_schema"), StructuredOutput::JsonSchema);
    let facts = ok(&with(r#""metadata":{"team":"blue","n":3,"q":"a\"b"}"#)).facts("r");
    assert_eq!(facts.metadata, [("team".into(), "blue".into()), ("q".into(), "a\"b".into())]);
}

#[test]
fn parts_tell_their_kind_wherever_they_stand() {
    let kinds = |content: &str| {
        let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":{content}}},7,null]}}"#);
        ok(&body).facts("r").modalities.iter().collect::<Vec<_>>()
    };
    assert_eq!(kinds(r#"[{"type":"text","text":"image_url"}]"#), [Modality::Text]);
    assert_eq!(kinds(r#"[{"image_url":{"url":"x"},"type":"image_url"}]"#), [Modality::Text, Modality::Image]);
    assert_eq!(
        kinds(r#"[{"type":"input_audio","input_audio":{}},{"type":"f\u0069le","file":{}}]"#),
        [Modality::Text, Modality::Audio, Modality::File]
    );
    assert_eq!(kinds(r#"[{"type":3},[{"type":"video_url"}]]"#), [Modality::Text, Modality::Video]);
    assert_eq!(kinds(r#"{"type":{"type":"file"}}"#), [Modality::Text]);
}

#[test]
fn tokens_are_estimated_upwards() {
    let text = |n: usize| format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{}"}}]}}"#, "a".repeat(n));
    let tokens = |body: &str| ok(body).facts("r").tokens;
    // `messages` is 30 bytes beside the text: half of all, and a tenth more, rounded up.
    assert_eq!(tokens(&text(69)), 55);
    assert_eq!(tokens(&text(71)), 56);
    let tools = format!("{{\"tools\":[{}],", " ".repeat(98));
    assert_eq!(tokens(&text(69).replacen('{', &tools, 1)), 110);
}

#[test]
fn pictures_do_not_count_by_their_bytes() {
    let image =
        format!(r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{}"}}}}"#, "A".repeat(900_000));
    let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":[{image},{image}]}}]}}"#);
    let tokens = ok(&body).facts("r").tokens;
    assert!((4_000..4_200).contains(&tokens), "{tokens}");
}

#[test]
fn only_the_model_changes_on_the_way_out() {
    let body = "{ \"stream\" : false,\n \"model\" :  \"a\\u0062\" , \"messages\":[ {\"model\":\"x\"} ], \"top\":1e3 }";
    let request = ok(body);
    assert_eq!(request.model(), "ab");
    assert_eq!(request.upstream_body("up\"stream"), body.replacen("\"a\\u0062\"", "\"up\\\"stream\"", 1));
    assert_eq!(request.body(), body);
}

#[test]
fn deep_nesting_is_no_harm() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let request = ok(&format!(r#"{{"model":"m","messages":[{{"content":{deep}}}]}}"#));
    assert!(request.facts("r").tokens > 50_000);
}
