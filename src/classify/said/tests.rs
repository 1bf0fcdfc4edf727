use super::*;

fn said(body: &str) -> Said {
    Said::read(body.as_bytes())
}

#[test]
fn messages_are_found_in_every_usual_shape() {
    for body in [
        r#"{"error":{"message":"it broke"}}"#,
        r#"{"error":"it broke"}"#,
        r#"{"message":"it broke"}"#,
        r#"{"Message":"it broke"}"#,
        r#"{"detail":"it broke"}"#,
        r#"{"detail":{"error":"it broke"}}"#,
        r#"{"detail":[{"loc":["body"],"msg":"it broke"}]}"#,
        r#"[{"error":{"message":"it broke"}}]"#,
        r#"{"errors":[{"message":"it broke"}]}"#,
        r#"{"fault":{"faultstring":"it broke"}}"#,
        r#"{"base_resp":{"status_code":9,"status_msg":"it broke"}}"#,
        r#""it broke""#,
        "it broke",
        "\u{feff} {\"error\":{\"message\":\"it broke\"",
        "<title>it broke</title>",
        "<?xml version=\"1.0\"?>\n<Error><Code>X</Code><Message>it broke</Message></Error>",
        "<e:Fault xmlns:e=\"u\"><faultstring xml:lang=\"en\"><![CDATA[it broke]]></faultstring></e:Fault>",
    ] {
        assert_eq!(said(body).message, "it broke", "{body}");
    }
}

#[test]
fn the_innermost_error_speaks_first_and_all_are_heard() {
    let inner = r#"{"error":{"message":"full","type":"overloaded_error","code":529}}"#;
    let middle = serde_json::json!({"error": {"message": format!("APIError: {inner}"), "code": "500"}}).to_string();
    let outer = serde_json::json!({"error": {"message": "no luck", "code": "bad", "metadata": {"raw": middle}}});
    let said = said(&outer.to_string());
    assert_eq!((said.message.as_str(), said.code.as_deref(), said.status), ("full", Some("529"), Some(529)));
    assert_eq!(said.kind.as_deref(), Some("overloaded_error"));
    for word in ["bad", "500", "overloadederror", "apierror"] {
        assert!(said.has_word(word), "{word} in {:?}", said.words);
    }
    assert!(said.has_phrase("no luck") && said.has_phrase("full"));
}

#[test]
fn what_the_caller_wrote_is_not_heard() {
    let body = r#"{"error":{"message":"bad","failed_generation":"rate limit"},"input":{"message":"quota"},
                   "detail":[{"msg":"odd","input":"context length"}],"messages":[{"content":"overloaded"}]}"#;
    assert_eq!(said(body).text, "bad\nodd");
}

#[test]
fn codes_are_one_however_they_are_written() {
    for code in ["rate_limit_exceeded", "RateLimitExceeded", "rate-limit-exceeded", "a.b#RateLimitExceeded:http://x"] {
        let body = serde_json::json!({"__type": code}).to_string();
        assert!(said(&body).has_word("ratelimitexceeded"), "{code}");
    }
    let dotted = said(r#"{"code":"Throttling.RateQuota"}"#);
    assert!(dotted.has_word("throttling*") && dotted.has_word("*ratequota") && dotted.has_word("*ngra*"));
    assert!(!dotted.has_word("throttling") && !dotted.has_word("ratequotas"));
}

#[test]
fn codes_and_statuses_are_heard_in_prose() {
    let said = said("Error code: 429 - {'error': {'type': 'insufficient_quota'}} from openai.RateLimitError");
    assert_eq!(said.status, Some(429));
    assert!(said.has_word("insufficientquota") && said.has_word("ratelimiterror"));
    assert_eq!(self::said("see 4291 and status 42").status, None);
}

#[test]
fn phrases_know_gaps_lines_and_ends_of_numbers() {
    let said = said("The model `a b` is not found.\nlimit: 05");
    assert!(said.has_phrase("model * not found") && said.has_phrase("limit: 0"[..6].as_ref()));
    assert!(!said.has_phrase("model * limit"), "a gap ends with the line");
    assert!(!said.has_phrase("limit: 0"), "05 is no 0");
    assert!(self::said("limit: 0, used 1").has_phrase("limit: 0"));
}

#[test]
fn pages_are_read_as_they_are_seen() {
    let page =
        said("<!DOCTYPE html><style>.quota{}</style><script>rate limit</script><!-- auth --><h1>Gone&nbsp;</h1> away");
    assert!(page.page);
    assert_eq!(page.text, "gone&nbsp; away");
    assert!(!said("< 5 ms").page);
}

#[test]
fn long_bodies_are_heard_at_their_beginning_and_end() {
    let message = format!("first {} last", "x ".repeat(20_000));
    let said = said(&serde_json::json!({"message": message}).to_string());
    assert!(said.has_phrase("first") && said.has_phrase("last"));
    assert!(said.text.len() <= TEXT_BYTES + 64);
    let members = format!("{{{}\"code\":\"late\"}}", "\"a\":{\"b\":1},".repeat(300));
    assert!(!self::said(&members).has_word("late"));
}

#[test]
fn xml_is_an_error_and_no_page() {
    let aws = said(
        "<?xml version=\"1.0\"?><ErrorResponse xmlns=\"u\">\n <Error><Type>Sender</Type><Code>Throttling.Rate</Code>\
         <Message>a &lt; b &amp;amp; c</Message></Error><RequestId>quota</RequestId></ErrorResponse>",
    );
    assert!(!aws.page && aws.has_word("throttling*") && aws.has_word("sender") && !aws.has_phrase("quota"));
    assert_eq!((aws.code.as_deref(), aws.message.as_str()), (Some("Throttling.Rate"), "a < b &amp; c"));
    for page in ["<html><p>Code</p></html>", "<!DOCTYPE html><Code>x</Code>", "<p>sorry", "<", "<a", "<?xml?>", "<x/>"]
    {
        assert!(said(page).code.is_none(), "{page}");
    }
    assert!(said("<p>sorry, no service</p>").page && said("<?xml version='1.0'?><svg><path/></svg>").page);
}
