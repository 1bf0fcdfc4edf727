//! Silence, slowness, and trouble inside a stream.

use super::world::{Act, Ask, P0, Reply, Scripts, World, classes, delta, error, finish, ok, raw, role, stream, words};
use serde_json::{Value, json};
use switchback::decide::{Breaker, Health};

fn fine(world: &World, target: &str) {
    let standing = world.standing(target);
    assert_eq!((standing.health, standing.breaker), (Health::Healthy, Breaker::Closed), "{target}");
}

#[test]
fn no_headers_at_all_is_left_without_a_second_try() {
    let world = P0::of(&["a", "b"]).world(Scripts::new().always("a", Reply::Hang).always("b", ok(500)));
    let answer = world.run(world.send(Ask::chat()));
    assert_eq!((answer.status, answer.target(), answer.took), (200, "b", 10_500));
    assert_eq!(world.called(), [("a".to_owned(), 0), ("b".to_owned(), 10_000)]);
    assert_eq!(world.calls()[0].closed, Some(10_000), "its connection is closed");
    let record = world.record();
    assert_eq!(classes(&record), ["timeout-headers", "ok"]);
    assert_eq!((&record["steps"][0]["stage"], &record["cost_certainty"]), (&json!("sent"), &json!("at-least")));
    assert_eq!(record["steps"][1]["left_ms"], 20_000);
}

#[test]
fn pings_and_a_role_are_no_first_token() {
    let mut acts = vec![role()];
    for _ in 0..60 {
        acts.extend([Act::Pause(1_000), raw(": ping\n\n")]);
    }
    let world = P0::of(&["a", "b"])
        .world(Scripts::new().always("a", stream(100, acts)).always("b", words(380, &["from ", "b"])));
    let answer = world.run(world.send(Ask::stream()));
    assert_eq!((answer.status, answer.target(), answer.complete), (200, "b", true));
    assert_eq!(answer.heard(), (vec!["from ".to_owned(), "b".to_owned()], true));
    assert_eq!(answer.body.matches("\"role\"").count(), 1, "a single start: {}", answer.body);
    assert_eq!(world.called(), [("a".to_owned(), 0), ("b".to_owned(), 8_000)]);
    assert_eq!(world.calls()[0].closed, Some(8_000));
    assert_eq!(classes(&world.record()), ["timeout-first-token", "ok"]);
}

#[test]
fn a_caller_without_time_is_nobodys_fault() {
    let world = P0::of(&["a", "b"]).world(Scripts::new().always("a", ok(300)).always("b", ok(300)));
    let (hurried, last) = world.run(async {
        let mut hurried = Vec::new();
        for _ in 0..20 {
            hurried.push(world.send(Ask::chat().header("x-switchback-deadline-ms", "1")).await);
        }
        (hurried, world.send(Ask::chat()).await)
    });
    assert!(hurried.iter().all(|a| a.status == 504 && a.code() == "deadline"));
    assert_eq!((last.status, last.target()), (200, "a"));
    assert_eq!(world.order(), ["a"]);
    fine(&world, "a");
    let records = world.records();
    assert!(records[..20].iter().all(|r| r["refusal"] == "deadline" && r["attempts"] == 0));
}

#[test]
fn a_caller_with_too_little_time_is_no_witness() {
    let world = P0::of(&["a"]).world(Scripts::new().always("a", ok(2_000)));
    let answers = world.run(async {
        let mut answers = Vec::new();
        for _ in 0..20 {
            answers.push(world.send(Ask::chat().header("x-switchback-deadline-ms", "600")).await);
        }
        answers
    });
    assert!(answers.iter().all(|a| a.status == 504 && a.took == 600));
    fine(&world, "a");
    assert_eq!(world.order().len(), 20);
}

#[test]
fn an_error_as_the_first_event_is_never_seen() {
    let event = |error: Value| raw(&format!("data: {}\n\n", json!({"error": error})));
    let overloaded = event(json!({"type": "overloaded_error", "message": "Overloaded"}));
    let quota = event(
        json!({"type": "insufficient_quota", "code": "insufficient_quota", "message": "You exceeded your current quota"}),
    );
    let unavailable = event(json!({"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}));
    let cases = [
        (overloaded, vec!["a", "a", "b"], "overloaded"),
        (quota, vec!["a", "b"], "quota-exhausted"),
        (unavailable, vec!["a", "a", "b"], "overloaded"),
    ];
    for (first, order, class) in cases {
        let world = P0::of(&["a", "b"])
            .world(Scripts::new().always("a", stream(100, vec![role(), first])).always("b", words(100, &["b"])));
        let answer = world.run(world.send(Ask::stream()));
        assert_eq!((answer.status, answer.target(), answer.complete), (200, "b", true), "{class}");
        assert_eq!(answer.heard(), (vec!["b".to_owned()], true));
        assert!(!answer.body.contains("error") && answer.body.matches("\"role\"").count() == 1, "{}", answer.body);
        assert_eq!(world.order(), order);
        let standing = world.standing("a");
        let rests = standing.hold_until.0 > 0 || matches!(standing.breaker, Breaker::Open { hard: true, .. });
        assert_eq!(rests, class == "quota-exhausted");
        assert_eq!(classes(&world.record())[0], class);
    }
}

/// Forty words, and then what comes.
fn forty(then: Option<Act>) -> Reply {
    let mut acts = vec![role()];
    acts.extend((0..40).map(|n| delta(&format!("w{n} "))));
    acts.push(Act::Pause(50));
    acts.extend(then);
    stream(100, acts)
}

#[test]
fn a_stream_cut_after_forty_words_ends_as_what_it_is() {
    for then in [Some(Act::Cut), None] {
        let world =
            P0::of(&["a", "b"]).world(Scripts::new().always("a", forty(then)).always("b", words(10, &["never"])));
        let answer = world.run(world.send(Ask::stream()));
        let (heard, ended) = answer.heard();
        assert_eq!(heard.concat(), (0..40).map(|n| format!("w{n} ")).collect::<String>());
        assert!(!ended && !answer.complete, "nothing claims to be the end");
        assert_eq!(answer.code(), "partial-stream");
        assert_eq!(answer.body.matches("\"error\"").count(), 1);
        assert_eq!(world.order(), ["a"]);
        assert_eq!(
            world.metric(
                "switchback_attempts_total{route=\"chat\",target=\"a\",class=\"partial-stream\",action=\"call\"}"
            ),
            Some(1)
        );
        let record = world.record();
        assert_eq!(
            (&record["outcome"], &record["usage"], &record["partial_output"]),
            (&json!("cut"), &Value::Null, &json!(40))
        );
        assert_eq!((&record["cost_certainty"], &record["cost_usd"]), (&json!("at-least"), &json!(0.00008)));
    }
}

#[test]
fn a_whole_answer_that_is_cut_goes_on_elsewhere() {
    let half = Reply::Answer {
        after: 100,
        status: 200,
        headers: vec![("content-type".into(), "application/json".into())],
        acts: vec![raw("{\"id\":\"c-1\",\"choices\":[{\"mess"), Act::Cut],
    };
    let world = P0::of(&["a", "b"]).world(Scripts::new().always("a", half).always("b", ok(100)));
    let answer = world.run(world.send(Ask::chat()));
    assert_eq!((answer.status, answer.target(), answer.complete), (200, "b", true));
    let record = world.record();
    assert_eq!(classes(&record).last(), Some(&"ok"));
    assert_eq!(record["cost_certainty"], "at-least", "what was cut may have been billed");
}

/// Words, one a second, for a minute.
fn long() -> Reply {
    let mut acts = vec![role()];
    acts.extend((0..60).flat_map(|n| [Act::Pause(1_000), delta(&format!("w{n} "))]));
    acts.extend(finish());
    stream(100, acts)
}

#[test]
fn a_client_that_leaves_ends_its_call_and_nothing_more_begins() {
    let before = stream(100, vec![role(), Act::Stall]);
    for (ask, reply, closed, pieces) in [
        (Ask::stream().leaving_after(1_000), before, 1_000, None),
        (Ask::stream().leaving_after_events(10), long(), 10_100, Some(10)),
    ] {
        let world = P0::of(&["a", "b"]).world(Scripts::new().always("a", reply).always("b", ok(100)));
        world.run(async {
            world.send(ask).await;
            world.until(60_000).await;
        });
        let calls = world.calls();
        assert_eq!(calls.len(), 1);
        let late = calls[0].closed.unwrap() - closed;
        assert!(late <= 100, "closed {late} ms after the client left");
        fine(&world, "a");
        let record = world.record();
        assert_eq!(record["outcome"], "cancelled");
        assert_eq!(record["partial_output"].as_u64(), pieces);
        let sure = if pieces.is_some() { "at-least" } else { "unknown" };
        assert_eq!(record["cost_certainty"], sure);
    }
}

#[test]
fn a_client_that_leaves_during_a_backoff_ends_it() {
    let policy = P0::of(&["a", "b"]).but("backoff 250ms to 250ms", "backoff 2s to 2s");
    let world = policy.world(Scripts::new().always("a", error(20, 503, "overloaded", "busy")).always("b", ok(100)));
    world.run(async {
        world.send(Ask::chat().leaving_after(500)).await;
        world.until(60_000).await;
    });
    assert_eq!(world.called(), [("a".to_owned(), 0)]);
    let record = world.record();
    assert_eq!(
        (&record["outcome"], &record["status"], &record["cost_certainty"]),
        (&json!("cancelled"), &json!(499), &json!("exact"))
    );
}

#[test]
fn a_client_that_leaves_gives_its_trial_back() {
    let policy = P0::of(&["a", "b"]).but("min 5", "min 1").but("retry once, failover", "failover");
    let scripts = Scripts::new()
        .times("a", 1, error(20, 503, "overloaded", "busy"))
        .times("a", 1, Reply::Hang)
        .always("a", ok(100))
        .always("b", ok(100));
    let world = policy.world(scripts);
    world.run(async {
        world.send(Ask::chat()).await;
        world.until(10_100).await;
        world.send(Ask::chat().leaving_after(1_000)).await;
        world.until(11_200).await;
    });
    assert_eq!(world.standing("a").breaker, Breaker::HalfOpen { slot: true }, "neither a failure nor a success");
    let next = world.run(world.send(Ask::chat()));
    assert_eq!(next.target(), "a");
    assert_eq!(world.standing("a").breaker, Breaker::Closed);
}

#[test]
fn a_stream_names_who_serves_and_the_record_what_was_asked() {
    let world = P0::of(&["a", "b"])
        .world(Scripts::new().always("a", error(20, 503, "overloaded", "busy")).always("b", words(100, &["b"])));
    let answer = world.run(world.send(Ask::stream()));
    assert_eq!((answer.target(), answer.header("x-switchback-attempts")), ("b", "3"));
    let events = answer.body.lines().filter_map(|l| serde_json::from_str::<Value>(l.strip_prefix("data: ")?).ok());
    let models: Vec<Value> = events.map(|e| e["model"].clone()).collect();
    assert!(models.iter().all(|m| m == "served") && !models.is_empty(), "{models:?}");
    let record = world.record();
    assert_eq!(
        (&record["request"]["model"], &record["model"], &record["target"]),
        (&json!("chat"), &json!("served"), &json!("b"))
    );
}
