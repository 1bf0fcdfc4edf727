//! The same troubles where a target speaks another dialect than the client.

use super::world::{Act, Ask, P0, Reply, Scripts, classes, error, raw, skipped, stream, words};
use serde_json::{Value, json};
use switchback::decide::Breaker;

fn event(value: &Value) -> Act {
    raw(&format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()))
}

/// A whole answer in Messages.
fn message(text: &str) -> Reply {
    let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "served",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 100, "output_tokens": 12}});
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Reply::Answer { after: 100, status: 200, headers, acts: vec![Act::Say(body.to_string())] }
}

/// `a`, then whoever else, the named one speaking Messages.
fn speaking_messages(policy: P0, name: &str) -> P0 {
    policy.but(
        &format!("provider {name} {{ api emulated }}"),
        &format!("provider {name} {{ api anthropic-messages; key env K }}"),
    )
}

#[test]
fn an_error_as_the_first_event_of_another_dialect_is_never_seen() {
    let begin = event(
        &json!({"type": "message_start", "message": {"id": "msg_1", "model": "x", "usage": {"input_tokens": 1}}}),
    );
    let overloaded = event(&json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}));
    let scripts = Scripts::new().always("a", stream(100, vec![begin, overloaded])).always("b", words(100, &["b"]));
    let world = speaking_messages(P0::of(&["a", "b"]), "a").world(scripts);
    let answer = world.run(world.send(Ask::stream()));
    assert_eq!((answer.status, answer.target(), answer.complete), (200, "b", true));
    assert_eq!(answer.heard(), (vec!["b".to_owned()], true));
    assert!(!answer.body.contains("message_start") && !answer.body.contains("error"), "{}", answer.body);
    assert_eq!(world.order(), ["a", "a", "b"]);
    assert_eq!(world.standing("a").breaker, Breaker::Closed);
    assert_eq!(classes(&world.record()), ["overloaded", "overloaded", "ok"]);
}

#[test]
fn a_promised_form_is_kept_across_dialects_and_what_is_ours_blames_nobody() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    let form = json!({"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": schema}});
    let history = json!([
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "1", "reasoning_content": "opaque, of another vendor"},
        {"role": "user", "content": "two"},
    ]);
    let policy = speaking_messages(P0::of(&["a", "b", "c"]), "c")
        .but("target b { model m;", "model poor { modalities [text]; streaming yes; tools no; structured-output json-object; context 128k; max-output 16k }\ntarget b { model poor;")
        .but("target c { model m;", "target c { upstream \"own-name\"; model m;");
    let ask = || Ask::chat().saying("messages", history.clone()).saying("response_format", form.clone());
    let busy = || error(20, 503, "overloaded", "busy");
    let world = policy.world(Scripts::new().always("a", busy()).always("c", message("{\"n\":2}")));
    let answer = world.run(world.send(ask()));
    assert_eq!((answer.status, answer.target()), (200, "c"), "{}", answer.body);
    assert_eq!(world.order(), ["a", "a", "c"]);
    let sent = world.calls().pop().unwrap().body;
    assert_eq!((&sent["model"], &sent["output_config"]["format"]["schema"]), (&json!("own-name"), &schema));
    assert!(!sent.to_string().contains("opaque"), "what another vendor would refuse is left out: {sent}");
    assert_eq!(skipped(&world.record()), [("b".to_owned(), "capability:json-schema".to_owned())]);

    let malformed = error(20, 400, "invalid_request_error", "x.y: Extra inputs are not permitted");
    let world = policy.world(Scripts::new().always("a", busy()).always("c", malformed));
    let answers = world.run(async {
        let mut answers = Vec::new();
        for _ in 0..6 {
            answers.push(world.send(ask()).await.status);
        }
        answers
    });
    assert!(answers.iter().all(|status| *status != 400), "the client did nothing wrong: {answers:?}");
    assert_eq!(world.standing("c").breaker, Breaker::Closed);
    let records = world.records();
    assert_eq!(records[0]["steps"][2]["ours"], true);
}
