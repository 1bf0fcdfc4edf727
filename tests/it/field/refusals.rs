//! Refusals before any byte: limits, quotas, credentials, and requests that are too large.

use super::world::{Ask, P0, Reply, Scripts, World, error, ok, with};
use super::world::{classes, codes, skipped};
use serde_json::json;
use switchback::decide::{Breaker, Health, Standing};

/// A limit that asks for so many seconds.
fn limited(seconds: &str) -> Reply {
    with(error(20, 429, "rate_limit_error", "slow down"), "retry-after", seconds)
}

fn untouched(world: &World, target: &str) {
    let standing = world.standing(target);
    assert_eq!((standing.health, standing.breaker), (Health::Healthy, Breaker::Closed), "{target}");
    assert_eq!(standing.hold_until.0, 0, "{target}");
}

fn is_open(standing: &Standing) -> bool {
    matches!(standing.breaker, Breaker::Open { .. })
}

#[test]
fn a_short_limit_is_waited_for() {
    let scripts = Scripts::new().times("a", 1, limited("2")).always("a", ok(300)).always("b", ok(100));
    let world = P0::of(&["a", "b"]).world(scripts);
    let answer = world.run(world.send(Ask::chat()));
    assert_eq!((answer.status, answer.target()), (200, "a"));
    assert_eq!(world.order(), ["a", "a"]);
    let again = world.called()[1].1;
    assert!((2_020..=2_220).contains(&again), "jitter only adds: {again}");
    assert_eq!(answer.took, again + 300);
    assert_eq!(world.standing("a").breaker, Breaker::Closed);
    let record = world.record();
    assert_eq!((&record["attempts"], &record["usage"]["output"]), (&json!(2), &json!(12)));
    assert_eq!(classes(&record), ["rate-limit", "ok"]);
    assert_eq!((&record["steps"][0]["stage"], &record["cost_certainty"]), (&json!("rejected"), &json!("exact")));
}

#[test]
fn a_limit_is_left_where_the_policy_says_next() {
    let policy = P0::of(&["a", "b"]).but("wait up to 5s, failover", "failover");
    let world = policy.world(Scripts::new().times("a", 1, limited("2")).always("a", ok(300)).always("b", ok(100)));
    let answer = world.run(world.send(Ask::chat()));
    assert_eq!((answer.status, answer.target(), answer.took), (200, "b", 120));
    assert_eq!(world.standing("a").hold_until.0, 2_020);
    let later = world.run(async {
        world.until(1_000).await;
        let held = world.send(Ask::chat()).await;
        world.until(2_100).await;
        [held, world.send(Ask::chat()).await]
    });
    assert_eq!(later.each_ref().map(|a| a.target().to_owned()), ["b", "a"]);
    assert_eq!(skipped(&world.records()[1]), [("a".to_owned(), "hold".to_owned())]);
}

#[test]
fn limits_without_a_hint_walk_the_regions_and_leave_the_vendor_at_rest() {
    let region = |n: u8| format!("target a{n} {{ model m; provider v; region r{n} }}\n");
    let targets = format!(
        "provider v {{ api emulated }}\n{}provider b {{ api emulated }}\ntarget b {{ model m; provider b }}",
        (1..=3).map(region).collect::<String>()
    );
    let policy = P0::with(&targets, "a1; a2; a3; b").but("wait up to 5s, failover", "failover");
    let none = || error(20, 429, "RESOURCE_EXHAUSTED", "Resource has been exhausted");
    let mut scripts = Scripts::new().always("b", ok(100));
    for target in ["a1", "a2", "a3"] {
        scripts = scripts.always(target, none());
    }
    let world = policy.world(scripts);
    let answer = world.run(world.send(Ask::chat()));
    assert_eq!((answer.status, answer.target()), (200, "b"));
    assert_eq!(world.order(), ["a1", "a2", "a3", "b"]);
    for (at, target) in ["a1", "a2", "a3"].into_iter().enumerate() {
        let standing = world.standing(target);
        assert_eq!(standing.hold_until.0, 20 * (at as u64 + 1) + 1_000, "not for ever and not zero");
        assert!(!is_open(&standing));
    }
    let next = world.run(world.send(Ask::chat()));
    assert_eq!((next.target(), next.header("x-switchback-attempts")), ("b", "1"));
    let records = world.records();
    assert_eq!(classes(&records[0]), ["rate-limit", "rate-limit", "rate-limit", "ok"]);
    assert!(skipped(&records[1]).iter().all(|(_, why)| why == "hold"));
}

#[test]
fn a_hint_far_beyond_the_deadline_is_a_quota() {
    let long = with(error(20, 429, "rate_limit_error", "limit reached"), "retry-after", "10800");
    let told =
        error(20, 429, "rate_limit_error", "You have exhausted your quota. Your quota will reset after 142h40m0s.");
    for (reply, rests) in [(long, 10_800_000), (told, 21_600_000)] {
        let world = P0::of(&["a", "b"]).world(Scripts::new().always("a", reply).always("b", ok(100)));
        let answer = world.run(world.send(Ask::chat()));
        assert_eq!((answer.status, answer.target(), answer.took), (200, "b", 120));
        assert_eq!(world.order(), ["a", "b"]);
        let standing = world.standing("a");
        assert_eq!(standing.hold_until.0, 20 + rests, "as long as it says, at most what the policy takes");
        let next = world.run(async {
            world.until(600_000).await;
            world.send(Ask::chat()).await
        });
        assert_eq!(next.header("x-switchback-attempts"), "1", "no quick retry");
        assert_eq!(classes(&world.records()[0]), ["quota-exhausted", "ok"]);
    }
}

/// Five keys of one provider.
fn pool(attempts: u8) -> P0 {
    let keys = "provider v { api emulated; keys [env K1, env K2, env K3, env K4, env K5] }\ntarget a { model m; provider v }\n";
    P0::with(keys, "a")
        .but("auth, permission -> failover", "auth, permission -> next-key, failover")
        .but("quota-exhausted -> failover", "quota-exhausted -> next-key, failover")
        .but("attempts 4", &format!("attempts {attempts}"))
}

#[test]
fn dead_credentials_are_walked_past_and_rest_alone() {
    let scripts = Scripts::new()
        .times("a", 2, error(20, 401, "invalid_api_key", "Incorrect API key provided"))
        .times("a", 1, error(20, 402, "insufficient_credits", "Insufficient credits"))
        .times("a", 1, error(20, 403, "permission_error", "This key is not allowed to use the model"))
        .always("a", ok(100));
    let world = pool(6).world(scripts);
    let [first, second] = world.run(async { [world.send(Ask::chat()).await, world.send(Ask::chat()).await] });
    assert_eq!((first.status, first.took), (200, 180), "no backoff between keys");
    assert_eq!(second.status, 200);
    let keys: Vec<_> = world.calls().into_iter().map(|c| c.key.unwrap()).collect();
    assert_eq!(keys, ["K1", "K2", "K3", "K4", "K5", "K5"]);
    untouched(&world, "a");
    let records = world.records();
    assert_eq!(classes(&records[0]), ["auth", "auth", "quota-exhausted", "permission", "ok"]);
    assert_eq!(records[0]["cost_certainty"], "exact");
    assert_eq!(records[1]["steps"][0]["key"], 5);
}

#[test]
fn an_allowance_that_is_used_up_rests_its_key_and_no_other() {
    let long = with(error(20, 429, "rate_limit_error", "limit reached"), "retry-after", "10800");
    let world = pool(6).world(Scripts::new().times("a", 1, long).always("a", ok(100)));
    let later = world.run(async {
        world.send(Ask::chat()).await;
        world.until(10_000_000).await;
        world.send(Ask::chat()).await;
        world.until(10_900_000).await;
        world.send(Ask::chat()).await
    });
    assert_eq!(later.status, 200);
    let keys: Vec<_> = world.calls().into_iter().map(|c| c.key.unwrap()).collect();
    assert_eq!(keys, ["K1", "K2", "K2", "K1"], "as long as it says, and then it is tried first again");
    untouched(&world, "a");
}

#[test]
fn a_cap_below_the_pool_is_said_when_the_policy_is_checked() {
    let said = |attempts| codes(&World::new(pool(attempts).text(), Scripts::new()));
    assert!(said(4).contains(&"attempts-below-pool"), "{:?}", said(4));
    assert!(!said(6).contains(&"attempts-below-pool"), "{:?}", said(6));
}

/// Three targets whose models differ in one limit.
fn three(limit: &str, values: [&str; 3]) -> P0 {
    let model = |(name, value): (&str, &str)| {
        format!(
            "provider {name} {{ api emulated }}\ntarget {name} {{ model m-{name}; provider {name} }}\n\
             model m-{name} {{ modalities [text]; streaming yes; tools no; structured-output none; {} }}\n",
            limit.replace('?', value)
        )
    };
    let targets: String = ["a", "b", "c"].into_iter().zip(values).map(model).collect();
    P0::with(&targets, "a; b; c")
}

#[test]
fn an_oversized_prompt_goes_straight_to_who_can_hold_it() {
    let policy = three("context ?; max-output 4k", ["32k", "16k", "200k"]);
    let world = policy.world(Scripts::new().always("a", ok(100)).always("c", ok(100)));
    let [large, small] =
        world.run(async { [world.send(Ask::chat().of_tokens(40_000)).await, world.send(Ask::chat()).await] });
    assert_eq!((large.target(), large.header("x-switchback-attempts")), ("c", "1"));
    assert_eq!(small.target(), "a");
    ["a", "b"].iter().for_each(|t| untouched(&world, t));
    let record = &world.records()[0];
    assert_eq!(skipped(record), [("a", "context_tokens"), ("b", "context_tokens")].map(|(t, w)| (t.into(), w.into())));
}

#[test]
fn an_overflow_that_shows_itself_goes_to_a_larger_window_alone() {
    let overflow =
        "This model's maximum context length is 32768 tokens. However, your messages resulted in 40012 tokens.";
    let plain = error(20, 400, "context_length_exceeded", overflow);
    let wrapped = error(20, 502, "upstream_error", overflow);
    for reply in [plain, wrapped] {
        // It states more than it holds.
        let policy = three("context ?; max-output 4k", ["128k", "100k", "200k"]);
        let world = policy.world(Scripts::new().times("a", 1, reply).always("a", ok(100)).always("c", ok(100)));
        let [large, small] =
            world.run(async { [world.send(Ask::chat().of_tokens(40_000)).await, world.send(Ask::chat()).await] });
        assert_eq!((large.status, large.target()), (200, "c"));
        assert_eq!(small.target(), "a");
        assert_eq!(world.order(), ["a", "c", "a"]);
        untouched(&world, "a");
        assert_eq!(classes(&world.records()[0]), ["context-overflow", "ok"]);
    }
}

#[test]
fn too_many_tokens_a_minute_is_a_limit_and_no_overflow() {
    let said = "Request too large for model `m` on tokens per minute (TPM): Limit 8000, Requested 40012, please reduce your message size and try again.";
    let world =
        P0::of(&["a", "b"]).world(Scripts::new().always("a", error(20, 413, "tokens", said)).always("b", ok(100)));
    let answer = world.run(world.send(Ask::chat().of_tokens(40_000)));
    assert_eq!((answer.status, answer.target()), (200, "b"));
    assert_eq!(world.standing("a").breaker, Breaker::Closed);
    assert_eq!(classes(&world.record()), ["rate-limit", "ok"]);
}

#[test]
fn a_backup_that_gives_less_output_is_never_asked() {
    let policy = three("context 200k; max-output ?", ["131k", "8k", "100k"]);
    let world = policy.world(Scripts::new().always("a", error(20, 503, "overloaded", "busy")).always("c", ok(100)));
    let answer = world.run(world.send(Ask::chat().saying("max_tokens", json!(64_000))));
    assert_eq!((answer.status, answer.target()), (200, "c"));
    assert_eq!(world.order(), ["a", "a", "c"]);
    assert!(world.calls().iter().all(|c| c.body["max_tokens"] == 64_000));
    let record = world.record();
    assert_eq!(skipped(&record), [("b".to_owned(), "output_tokens".to_owned())]);
    assert_eq!(classes(&record), ["overloaded", "overloaded", "ok"]);
}

#[test]
fn a_promised_form_is_kept_or_the_request_is_refused() {
    let schema =
        json!({"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": {"type": "object"}}});
    let ask = || Ask::chat().saying("response_format", schema.clone());
    let policy = |forms: [&str; 3]| {
        let text = three("context 32k; max-output 4k", ["", "", ""]);
        let form = |p: P0, (name, form): (&str, &str)| {
            p.but(
                &format!("model m-{name} {{ modalities [text]; streaming yes; tools no; structured-output none"),
                &format!("model m-{name} {{ modalities [text]; streaming yes; tools no; structured-output {form}"),
            )
        };
        ["a", "b", "c"].into_iter().zip(forms).fold(text, form)
    };
    let world = policy(["json-schema", "json-object", "json-schema"]).world(
        Scripts::new()
            .always("a", error(20, 503, "overloaded", "busy"))
            .always("c", super::world::said(100, "{}", "stop", 3)),
    );
    let answer = world.run(world.send(ask()));
    assert_eq!((answer.status, answer.target()), (200, "c"));
    let last = world.calls().pop().unwrap();
    assert_eq!((&last.body["model"], &last.body["response_format"]), (&json!("m-c"), &schema));
    assert_eq!(skipped(&world.record()), [("b".to_owned(), "capability:json-schema".to_owned())]);

    let world = policy(["none", "json-object", "none"]).world(Scripts::new());
    let answer = world.run(world.send(ask()));
    assert_eq!((answer.status, answer.code().as_str()), (503, "contract"));
    assert!(world.calls().is_empty());
    assert_eq!((&world.record()["refusal"]), &json!("contract"));
}
