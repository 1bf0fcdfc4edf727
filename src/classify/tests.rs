use super::*;
use crate::classify::vendor::ANYBODY;
use crate::policy::Stage;
use hint::{Hint, HintSource, parse};
use http::answer;

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
    assert_eq!(hint(&[("retry-after", "999999999")]), found(999_999_999_000, HintSource::RetryAfter));
    // An instant as a number, and a number that nobody can mean.
    let at = (NOON / 1_000 + 7).to_string();
    assert_eq!(hint(&[("retry-after", &at)]), found(7_000, HintSource::RetryAfter));
    assert_eq!(hint(&[("retry-after", "1000000000")]), found(0, HintSource::RetryAfter));
    assert_eq!(hint(&[("retry-after", &"9".repeat(40))]), None);
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
fn who_is_told_to_wait_for_an_hour_has_used_up_an_allowance() {
    let told = |seconds: &'static str| answer(429, &vec![("retry-after", seconds)], b"", NOON);
    assert_eq!((told("3599").class, told("3599").rule), (Class::RateLimit, "status-429"));
    assert_eq!((told("3600").class, told("3600").rule), (Class::QuotaExhausted, "wait-long"));
    assert_eq!(told("10800").hint, Some(Millis(10_800_000)));
    assert_eq!(answer(503, &vec![("retry-after", "10800")], b"", NOON).class, Class::Overloaded);
}

#[test]
fn a_request_above_a_minutes_tokens_is_a_limit_that_no_wait_helps() {
    let body = |rest: &str| format!(r#"{{"error":{{"message":"Request too large for m{rest}"}}}}"#);
    let above = answer(413, &NoHeaders, body(" on tokens per minute (TPM): Limit 6000, Requested 9000").as_bytes(), 0);
    assert_eq!((above.class, above.scope, above.no_retry), (Class::RateLimit, Some(Scope::Request), true));
    let long = answer(413, &NoHeaders, body("").as_bytes(), 0);
    assert_eq!((long.class, long.no_retry), (Class::ContextOverflow, false));
}

#[test]
fn an_account_that_is_closed_is_closed_for_every_model() {
    let scope = |code: &str| answer(403, &NoHeaders, format!(r#"{{"error":{{"code":"{code}"}}}}"#).as_bytes(), 0).scope;
    assert_eq!((scope("account_disabled"), scope("access_denied")), (Some(Scope::Account), None));
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

fn error_event(payload: &[u8]) -> Classified {
    http::error_of(&ANYBODY, payload, None, &NoHeaders, 0)
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
        let found = error_event(body.as_bytes());
        assert_eq!((found.class, found.stage), (*class, Stage::Headers), "{body}");
    }
}

#[test]
fn after_output_every_failure_is_partial_and_keeps_its_cause() {
    let overloaded = error_event(br#"{"error":{"code":"overloaded"}}"#).after_output();
    assert_eq!((overloaded.class, overloaded.cause), (Class::PartialStream, Some(Class::Overloaded)));
    assert_eq!(overloaded.stage, Stage::Output);
    assert_eq!(overloaded.clone().after_output(), overloaded);
    assert_eq!(error_event(b"{}").after_output().cause, Some(Class::ServerError));
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

#[test]
fn every_place_of_a_hint_is_asked_in_order() {
    let ask = |headers: &[(&str, &str)], body: &str| {
        hint::wait(&headers.to_vec(), &said::Said::read(body.as_bytes()), NOON, true).map(|h| (h.wait.0, h.source))
    };
    let prose = r#"{"error":{"message":"Limit 6000. Please try again in 1m2.5s."}}"#;
    let member = r#"{"error":{"message":"try again in 9s","details":[{"retryDelay":"48.5s"}]}}"#;
    let bucket = [("X-RateLimit-Remaining-Tokens", "0"), ("x-ratelimit-reset-tokens", "6m0s")];
    assert_eq!(ask(&[], prose), Some((62_500, HintSource::Prose)));
    assert_eq!(ask(&[], member), Some((48_500, HintSource::Body)));
    assert_eq!(ask(&bucket, member), Some((360_000, HintSource::Bucket)));
    // A zero is no wait, and the next place is asked.
    assert_eq!(ask(&[("retry-after-ms", "0"), ("retry-after", "1")], ""), Some((1_000, HintSource::RetryAfter)));
    assert_eq!(ask(&[("retry-after", "0")], prose), Some((62_500, HintSource::Prose)));
}

#[test]
fn buckets_count_where_they_are_empty() {
    let reset =
        |headers: &[(&str, &str)]| hint::wait(&headers.to_vec(), &said::Said::default(), NOON, true).map(|h| h.wait.0);
    assert_eq!(reset(&[("x-ratelimit-remaining-a", "1"), ("x-ratelimit-reset-a", "5s")]), None);
    assert_eq!(reset(&[("x-ratelimit-remaining-a", "-1"), ("x-ratelimit-reset-a", "5s")]), None);
    let instant = "2025-06-15T15:07:10Z";
    assert_eq!(reset(&[("a-tokens-remaining", "0"), ("a-tokens-reset", instant)]), Some(30_000), "{NOON}");
    let ms = (NOON + 4_000).to_string();
    assert_eq!(reset(&[("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", &ms)]), Some(4_000));
    assert_eq!(reset(&[("ratelimit", "limit=10, remaining=0, reset=50")]), Some(50_000));
    assert_eq!(reset(&[("ratelimit", "\"a\";r=0;t=7")]), Some(7_000));
    let two = [("r-remaining-a", "0"), ("r-reset-a", "5"), ("r-remaining-b", "0"), ("r-reset-b", "350ms")];
    assert_eq!(reset(&two), Some(5_000), "all of them have to be full again");
}

#[test]
fn prose_waits_need_a_unit_and_words_of_waiting() {
    let wait = |text: &str| hint::wait(&NoHeaders, &said::Said::read(text.as_bytes()), NOON, true).map(|h| h.wait.0);
    for (text, ms) in [
        ("Please retry after 7 seconds.", 7_000),
        ("please try again after 1 seconds", 1_000),
        ("Retry in about 2 minutes and 5 seconds", 125_000),
        ("quota will reset after 539.4ms", 539),
        ("请在 30 秒后重试", 30_000),
        ("resets in 3h27m", 12_420_000),
    ] {
        assert_eq!(wait(text), Some(ms), "{text}");
    }
    for text in
        ["retry after 7", "limit of 40 requests / 60s", "try again in 2 models", "in 5 minutes", "wait a moment"]
    {
        assert_eq!(wait(text), None, "{text}");
    }
}

#[test]
fn instants_in_bodies_count_from_the_answers_clock() {
    let body = r#"{"error":{"code":"usage_limit_reached","resets_at":"2026-04-01T02:00:00+02:00"}}"#;
    let headers = vec![("date", "Tue, 31 Mar 2026 23:00:00 GMT")];
    let found = answer(429, &headers, body.as_bytes(), NOON);
    assert_eq!((found.class, found.hint), (Class::QuotaExhausted, Some(Millis(3_600_000))));
    for odd in ["2026-04-01 02:00:00", "2026-13-01T00:00:00Z", "2026-04-01T00:00:00+99999:00", "2026-04-01T25:00:00Z"] {
        let body = format!(r#"{{"code":"usage_limit_reached","resets_at":"{odd}"}}"#);
        assert_eq!(answer(429, &headers, body.as_bytes(), NOON).hint, None, "{odd}");
    }
}

#[test]
fn a_short_wait_beside_an_allowance_that_is_gone_is_none() {
    let body = |wait| format!(r#"{{"error":{{"message":"100 requests per day. Try again in {wait}."}}}}"#);
    assert_eq!(answer(429, &NoHeaders, body("42s").as_bytes(), 0).hint, None);
    let long = answer(429, &NoHeaders, body("11m30s").as_bytes(), 0);
    assert_eq!((long.class, long.hint), (Class::QuotaExhausted, Some(Millis(690_000))));
}

#[test]
fn an_empty_bucket_of_a_day_is_an_allowance() {
    let headers = vec![("x-ratelimit-remaining-requests-day", "0"), ("x-ratelimit-reset-requests-day", "33011.4")];
    let found = answer(429, &headers, b"", 0);
    assert_eq!((found.class, found.hint, found.rule), (Class::QuotaExhausted, Some(Millis(33_011_400)), "bucket-long"));
}

#[test]
fn the_vendor_is_asked_first_and_so_is_the_one_that_a_relay_names() {
    let body = br#"{"error":{"code":"insufficient_quota","message":"x"}}"#;
    let of = |name: &str| http::answer_of(Vendor::named(name), 429, &NoHeaders, body, 0).class;
    assert_eq!(of("openai"), Class::QuotaExhausted);
    assert_eq!(of("DashScope (intl)"), Class::RateLimit);
    assert_eq!(of("nobody"), Class::QuotaExhausted);
    let relayed =
        br#"{"error":{"code":429,"message":"x","metadata":{"provider_name":"Alibaba","raw":"insufficient_quota"}}}"#;
    assert_eq!(http::answer_of(Vendor::named("openrouter"), 429, &NoHeaders, relayed, 0).class, Class::RateLimit);
    let header = vec![("X-Amzn-ErrorType", "ServiceQuotaExceededException:http://a/")];
    assert_eq!(answer(400, &header, b"{}", 0).rule, "aws-quota");
}

#[test]
fn a_vendor_is_known_by_its_name_and_not_by_its_first_letters() {
    let named = |name: &str| Vendor::named(name).name;
    assert_eq!(
        (named("openai-eu"), named("my"), named("january"), named("alba")),
        ("openai", "anybody", "anybody", "anybody")
    );
    assert_eq!(named("tgi-local"), named("tgi"));
    assert_ne!(named("tgi"), "anybody");
}
