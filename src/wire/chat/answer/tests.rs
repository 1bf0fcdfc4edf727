use super::*;
use crate::classify::NoHeaders;
use crate::policy::Millis;

fn judged(body: &str, max_output: Option<u64>) -> Result<Answered, Classified> {
    judge(&NoHeaders, body.as_bytes(), &Asked { stream: false, max_output, choices: 1, ..Asked::default() }, 0)
}

fn class(body: &str) -> Class {
    judged(body, None).unwrap_err().class
}

/// An answer of one choice.
fn one(message: &str, finish: &str) -> String {
    format!(
        r#"{{"model":"served","choices":[{{"index":0,"message":{message},"finish_reason":{finish}}}],
            "usage":{{"prompt_tokens":7,"completion_tokens":40,"total_tokens":47,"prompt_tokens_details":{{"cached_tokens":5}}}}}}"#
    )
}

#[test]
fn an_answer_says_who_served_and_what_it_cost() {
    let answered = judged(&one(r#"{"content":"hi"}"#, r#""stop""#), None).unwrap();
    assert_eq!(answered.model.as_deref(), Some("served"));
    assert_eq!(answered.finish.as_deref(), Some("stop"));
    assert_eq!(answered.usage, Some(Usage { input: 7, output: 40, cached: 5 }));
}

#[test]
fn anything_a_caller_could_use_is_an_answer() {
    for message in [
        r#"{"content":" "}"#,
        r#"{"content":null,"refusal":"I would rather not"}"#,
        r#"{"content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"{"content":null,"function_call":{"name":"f"}}"#,
        r#"{"content":"","reasoning_content":"hm"}"#,
        r#"{"content":[{"type":"text","text":"x"}]}"#,
        r#"{"content":null,"audio":{"id":"a","data":"AAAA"}}"#,
    ] {
        assert!(judged(&one(message, r#""stop""#), None).is_ok(), "{message}");
    }
}

#[test]
fn a_success_with_nothing_in_it_is_none() {
    for body in [
        String::new(),
        "\n \n".into(),
        r#"{"choices":[]}"#.into(),
        r#"{"choices":null}"#.into(),
        one(r#"{"content":""}"#, "null"),
        one(r#"{"content":[{"type":"text","text":""}]}"#, r#""stop""#),
        one(r#"{"content":null,"tool_calls":[]}"#, r#""tool_calls""#),
    ] {
        assert_eq!(class(&body), Class::EmptyResponse, "{body}");
    }
}

#[test]
fn what_is_not_of_this_dialect_is_malformed() {
    for body in
        ["<!doctype html><html></html>", "OK", r#"{"choices":[{"#, r#"["choices"]"#, r#"{"output":"hi"}"#, "\u{0}"]
    {
        assert_eq!(class(body), Class::MalformedResponse, "{body}");
    }
    let stream = Asked { stream: true, max_output: None, choices: 1, ..Asked::default() };
    let body = one(r#"{"content":"hi"}"#, r#""stop""#);
    let failure = judge(&NoHeaders, body.as_bytes(), &stream, 0).unwrap_err();
    assert_eq!((failure.class, failure.rule), (Class::MalformedResponse, "body-not-stream"));
    let failure = judge(&NoHeaders, br#"{"error":{"code":"overloaded"}}"#, &stream, 0).unwrap_err();
    assert_eq!(failure.class, Class::Overloaded);
}

#[test]
fn an_error_under_a_success_is_an_error_with_its_hint() {
    let headers = vec![("Retry-After", "2")];
    let asked = Asked::default();
    let failure = judge(&headers, br#"{"error":{"message":"busy","code":503}}"#, &asked, 0).unwrap_err();
    assert_eq!((failure.class, failure.hint), (Class::Overloaded, Some(Millis(2_000))));
    let in_choice =
        r#"{"choices":[{"message":{"content":""},"finish_reason":"error","error":{"code":502,"message":"x"}}]}"#;
    assert_eq!(class(in_choice), Class::ServerError);
    assert_eq!(class(&one(r#"{"content":"ha"}"#, r#""error""#)), Class::ServerError);
    assert_eq!(class(&one(r#"{"content":"ha"}"#, r#""insufficient_system_resource""#)), Class::Overloaded);
    assert!(judged(&one(r#"{"content":"hi"}"#, r#""stop""#).replacen('{', r#"{"error":null,"#, 1), None).is_ok());
}

#[test]
fn a_filter_that_left_nothing_is_policy() {
    let failure = judged(&one(r#"{"content":null}"#, r#""content_filter""#), None).unwrap_err();
    assert_eq!((failure.class, failure.scope), (Class::Policy, Some(Scope::Request)));
    assert!(judged(&one(r#"{"content":"half a"}"#, r#""content_filter""#), None).is_ok());
}

#[test]
fn a_length_stop_is_a_failure_only_below_the_requests_own_limit() {
    let cut = one(r#"{"content":"once upon"}"#, r#""length""#);
    let failure = judged(&cut, Some(41)).unwrap_err();
    assert_eq!((failure.class, failure.stage, failure.scope), (Class::Truncated, Stage::Headers, Some(Scope::Request)));
    assert!(judged(&cut, Some(40)).is_ok());
    assert!(judged(&cut, None).is_ok());
    assert!(judged(&cut.replace("prompt_tokens", "x"), Some(41)).is_ok());
    // All of it went into thinking: at the limit that is what was asked for, elsewhere it is cut.
    let empty = one(r#"{"content":""}"#, r#""length""#);
    assert!(judged(&empty, Some(40)).is_ok());
    assert_eq!(class(&empty), Class::Truncated);
}

#[test]
fn reasoning_that_was_left_out_of_the_count_is_counted() {
    let body = one(r#"{"content":"x"}"#, r#""stop""#).replace("\"total_tokens\":47", "\"total_tokens\":300");
    assert_eq!(judged(&body, None).unwrap().usage.unwrap().output, 293);
}

#[test]
fn the_model_is_named_only_where_it_is_missing() {
    let named = |body: &str| String::from_utf8(with_model(Bytes::from(body.to_owned()), "m\"1").to_vec()).unwrap();
    assert_eq!(named(r#"{"model":"own","id":1}"#), r#"{"model":"own","id":1}"#);
    assert_eq!(named(r#" { "id" : 1 }"#), r#" {"model":"m\"1", "id" : 1 }"#);
    assert_eq!(named(r#"{"id":1,"model":""}"#), r#"{"id":1,"model":"m\"1"}"#);
    assert_eq!(named(r#"{"model":null}"#), r#"{"model":"m\"1"}"#);
    assert_eq!(named("{}"), r#"{"model":"m\"1"}"#);
    assert_eq!(named("[1]"), "[1]");
    assert_eq!(named("no json"), "no json");
}
