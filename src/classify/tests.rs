use super::*;
use crate::policy::Stage;
use hint::{Hint, HintSource, parse};
use http::{answer, error_event};

const NOON: u64 = 1_750_000_000_000;

fn hint(headers: &[(&str, &str)]) -> Option<Hint> {
    parse(&headers.to_vec(), NOON)
}

#[test]
fn the_most_exact_hint_wins_and_fractions_round_up() {
    let found = |ms, source| Some(Hint { wait: Millis(ms), source });
    assert_eq!(hint(&[("Retry-After", " 3 ")]), found(3_000, HintSource::RetryAfter));
    assert_eq!(hint(&[("retry-after", "9"), ("Retry-After-Ms", "20.01")]), found(21, HintSource::RetryAfterMs));
    assert_eq!(hint(&[("retry-after", "0.25001")]), found(251, HintSource::RetryAfter));
    assert_eq!(hint(&[("retry-after", "0.250")]), found(250, HintSource::RetryAfter));
    assert_eq!(hint(&[("retry-after-ms", "?"), ("retry-after", "1")]), found(1_000, HintSource::RetryAfter));
    assert_eq!(hint(&[("retry-after", &"9".repeat(40))]), found(u64::MAX, HintSource::RetryAfter));
}

#[test]
fn what_is_no_number_and_no_date_is_absent() {
    for text in ["", " ", "-1", "+1", "1.", ".5", "1s", "1e3", "1,5", "0x10", "tomorrow", "2026-01-01T00:00:00Z"] {
        assert_eq!(hint(&[("retry-after", text)]), None, "{text:?}");
    }
    // Two obsolete forms of a date, and one in another zone.
    for text in ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 2094 08:49:37 +0200"] {
        assert_eq!(hint(&[("retry-after", text)]), None, "{text:?}");
    }
}

#[test]
fn a_date_counts_from_the_answers_own_clock_if_it_has_one() {
    let (later, now) = (hint::http_date(NOON + 90_000), hint::http_date(NOON + 60_000));
    let found = |ms| Some(Hint { wait: Millis(ms), source: HintSource::HttpDate });
    assert_eq!(hint(&[("retry-after", &later)]), found(90_000));
    assert_eq!(hint(&[("retry-after", &later), ("date", &now)]), found(30_000));
    assert_eq!(hint(&[("retry-after", &later), ("date", "no date")]), found(90_000));
    assert_eq!(hint(&[("retry-after", &hint::http_date(NOON - 5_000))]), found(0));
}

#[test]
fn a_status_alone_has_a_class_and_a_stage() {
    let rows = [
        (400, Class::InvalidRequest, Stage::Rejected),
        (401, Class::Auth, Stage::Rejected),
        (402, Class::QuotaExhausted, Stage::Rejected),
        (403, Class::Permission, Stage::Rejected),
        (404, Class::NotFound, Stage::Rejected),
        (408, Class::TimeoutHeaders, Stage::Headers),
        (409, Class::RateLimit, Stage::Headers),
        (413, Class::PayloadTooLarge, Stage::Rejected),
        (418, Class::Unknown, Stage::Headers),
        (422, Class::InvalidRequest, Stage::Rejected),
        (425, Class::RateLimit, Stage::Headers),
        (429, Class::RateLimit, Stage::Rejected),
        (500, Class::ServerError, Stage::Headers),
        (502, Class::ServerError, Stage::Headers),
        (503, Class::Overloaded, Stage::Rejected),
        (504, Class::ServerError, Stage::Headers),
        (529, Class::Overloaded, Stage::Rejected),
        (302, Class::Unknown, Stage::Headers),
    ];
    for (status, class, stage) in rows {
        let found = answer(status, &NoHeaders, b"", 0);
        assert_eq!((found.class, found.stage, found.status), (class, stage, Some(status)), "{status}");
    }
}

#[test]
fn codes_and_phrases_say_more_than_the_status() {
    let rows: &[(u16, &str, Class)] = &[
        (429, r#"{"error":{"message":"pay first","code":"insufficient_quota"}}"#, Class::QuotaExhausted),
        (429, r#"{"error":{"message":"pay first","type":"insufficient_quota","code":null}}"#, Class::QuotaExhausted),
        (400, r#"{"error":{"code":"context_length_exceeded","message":"too much"}}"#, Class::ContextOverflow),
        (400, r#"{"error":"the prompt is too long for this model"}"#, Class::ContextOverflow),
        (500, r#"{"object":"error","message":"The maximum context length is 10 tokens"}"#, Class::ContextOverflow),
        (400, r#"{"error":{"code":"content_filter","message":"no"}}"#, Class::Policy),
        (
            400,
            r#"{"error":{"code":"bad","message":"no","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            Class::Policy,
        ),
        (400, r#"[{"error":{"message":"User location is not supported here"}}]"#, Class::Permission),
        (400, r#"{"error":{"message":"Incorrect API key given"}}"#, Class::Auth),
        (403, r#"{"reason":"NOT_ENOUGH_BALANCE","message":"empty purse"}"#, Class::QuotaExhausted),
        (429, r#"{"error":{"message":"Model busy"}}"#, Class::Overloaded),
        (400, r#"{"error":{"code":"tool_use_failed","message":"no call"}}"#, Class::SchemaInvalid),
        (400, r#"{"detail":"Model does not exist"}"#, Class::NotFound),
        (503, r#"{"error":{"message":"sorry","type":"server_error"}}"#, Class::Overloaded),
        (401, r#"{"error":{"message":"who are you","type":"invalid_request_error"}}"#, Class::Auth),
        (400, r#"{"error":{"message":"{\"error\":{\"message\":\"x\",\"code\":\"invalid_api_key\"}}"}}"#, Class::Auth),
    ];
    for (status, body, class) in rows {
        assert_eq!(answer(*status, &NoHeaders, body.as_bytes(), 0).class, *class, "{status} {body}");
    }
}

#[test]
fn a_hint_counts_where_waiting_helps_and_nowhere_else() {
    let headers = vec![("Retry-After", "4"), ("X-Should-Retry", "False")];
    let throttled = answer(429, &headers, b"", NOON);
    assert_eq!((throttled.hint, throttled.no_retry), (Some(Millis(4_000)), true));
    assert_eq!(answer(400, &headers, b"", NOON).hint, None);
    assert_eq!(answer(429, &vec![("retry-after", "0")], b"", NOON).hint, None);
}

#[test]
fn pages_and_texts_are_messages() {
    let page = answer(502, &NoHeaders, b"<html><head><TITLE>502 Bad Gateway</TITLE></head><body>x</body></html>", 0);
    assert_eq!(page.message.as_deref(), Some("502 Bad Gateway"));
    assert_eq!(answer(500, &NoHeaders, b"it broke\n", 0).message.as_deref(), Some("it broke"));
    assert_eq!(answer(500, &NoHeaders, b"<html>no title", 0).message, None);
    assert_eq!(answer(500, &NoHeaders, b"\xff\xfe<title>", 0).class, Class::ServerError);
}

#[test]
fn messages_are_bounded_and_show_no_key() {
    let body = r#"{"error":{"message":"bad key sk-live_1234567890*** given (Bearer abc.def) for task-force"}}"#;
    let message = answer(401, &NoHeaders, body.as_bytes(), 0).message.unwrap();
    assert_eq!(message, "bad key [key] given (Bearer [key]) for task-force");
    let long = Classified::of(Class::Unknown, Stage::Sent, "t").saying(&"ü\n".repeat(600)).message.unwrap();
    assert_eq!(long.chars().count(), said::MESSAGE_CHARS);
    assert!(long.ends_with('…') && !long.contains('\n'));
}

#[test]
fn codes_are_told_unless_they_only_repeat_a_status() {
    let code = |body: &str| answer(429, &NoHeaders, body.as_bytes(), 0).code;
    assert_eq!(code(r#"{"error":{"code":"slow_down","type":"requests"}}"#).as_deref(), Some("slow_down"));
    assert_eq!(code(r#"{"error":{"code":429,"type":"requests"}}"#).as_deref(), Some("requests"));
    assert_eq!(code(r#"{"error":{"code":"429"}}"#).as_deref(), Some("429"));
    assert_eq!(code("{}"), None);
}

#[test]
fn an_error_inside_a_success_has_the_class_of_its_cause() {
    let rows: &[(&str, Class)] = &[
        (r#"{"error":{"message":"busy","code":503}}"#, Class::Overloaded),
        (r#"{"error":{"message":"gone","code":"502"}}"#, Class::ServerError),
        (r#"{"error":{"message":"x","type":"rate_limit_error"}}"#, Class::RateLimit),
        (r#"{"error":{"message":"x","type":"invalid_request_error"}}"#, Class::InvalidRequest),
        (r#"{"error":{"message":"x","type":"invalid_request_error","status_code":429}}"#, Class::RateLimit),
        (r#"{"error":{"message":"it broke","type":"server_error"}}"#, Class::StreamEarly),
        (r#"{"error":{"message":"it broke","code":500}}"#, Class::StreamEarly),
        (r#"{"error":{}}"#, Class::StreamEarly),
        ("it broke", Class::StreamEarly),
    ];
    for (body, class) in rows {
        let found = error_event(body.as_bytes(), 0);
        assert_eq!((found.class, found.stage), (*class, Stage::Headers), "{body}");
    }
}

#[test]
fn after_output_every_failure_is_partial_and_keeps_its_cause() {
    let overloaded = error_event(br#"{"error":{"code":"overloaded"}}"#, 0).after_output();
    assert_eq!((overloaded.class, overloaded.cause), (Class::PartialStream, Some(Class::Overloaded)));
    assert_eq!(overloaded.stage, Stage::Output);
    assert_eq!(overloaded.clone().after_output(), overloaded);
    assert_eq!(error_event(b"{}", 0).after_output().cause, Some(Class::ServerError));
}

#[test]
fn faults_know_whether_anything_left() {
    let of = |f| (fault(f).class, fault(f).stage);
    assert_eq!(of(Fault::Dns), (Class::Connect, Stage::NotSent));
    assert_eq!(of(Fault::Refused), (Class::Connect, Stage::NotSent));
    assert_eq!(of(Fault::Tls), (Class::Connect, Stage::NotSent));
    assert_eq!(of(Fault::ConnectTimeout), (Class::Connect, Stage::NotSent));
    assert_eq!(of(Fault::ResetBeforeHeaders { sent: false }), (Class::Connect, Stage::NotSent));
    assert_eq!(of(Fault::ResetBeforeHeaders { sent: true }), (Class::Connect, Stage::Sent));
    assert_eq!(of(Fault::Other { sent: true }), (Class::Connect, Stage::Sent));
    assert_eq!(of(Fault::BodyReset { output: false }), (Class::Truncated, Stage::Headers));
    assert_eq!(of(Fault::BodyReset { output: true }), (Class::PartialStream, Stage::Output));
}

#[test]
fn rules_are_written_so_that_they_can_fit() {
    let rules: Vec<_> = rules::all().map(|(_, rule)| rule).collect();
    for rule in &rules {
        for phrase in rule.phrases {
            assert_eq!(*phrase, phrase.to_lowercase(), "{}", rule.name);
            assert!((3..=40).contains(&phrase.chars().count()) || !phrase.is_ascii(), "{}: {phrase}", rule.name);
            assert!(!phrase.starts_with('*') && !phrase.ends_with('*'), "{}: {phrase}", rule.name);
        }
        for code in rule.codes {
            assert_eq!(code.trim_matches('*'), said::normal(code), "{}", rule.name);
        }
        assert!(!rule.source.is_empty(), "{}", rule.name);
    }
    let mut names: Vec<_> = rules.iter().map(|r| r.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn each_table_belongs_to_a_vendor_and_each_row_can_be_reached() {
    for (name, table) in vendors::TABLES {
        let vendor = Vendor::named(name);
        assert!(vendor.rules.iter().map(|r| r.name).eq(table.iter().map(|r| r.name)), "{name}");
        for rule in *table {
            let never = rule.codes.is_empty() && rule.phrases.is_empty();
            assert!(!never, "{}: fits everything", rule.name);
        }
    }
}
