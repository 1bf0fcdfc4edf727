//! Sequences over many requests: outages, overlapping signals, everything resting, and edits while requests run.

use super::world::{Act, Ask, P0, Reply, Scripts, World, codes, delta, error, finish, ok, role, skipped, stream, with};
use serde_json::json;
use switchback::decide::Breaker;

fn busy() -> Reply {
    error(50, 503, "overloaded", "busy")
}

#[test]
fn a_one_minute_outage_costs_a_few_calls_and_no_answer() {
    let policy = P0::of(&["a", "b"])
        .but("trip when errors >= 100% over 30s, min 5", "trip when consecutive >= 2")
        .but("defaults { breaker k }", "ramp g { 10% for 12s; 100% }\ndefaults { breaker k; ramp g }");
    let world =
        policy.world(Scripts::new().during("a", (8_000, 68_000), busy()).always("a", ok(100)).always("b", ok(100)));
    let answers = world.run(async {
        let mut answers = Vec::new();
        for n in 0..20 {
            world.until(n * 4_000).await;
            answers.push(world.send(Ask::chat().session(&format!("s{n}"))).await);
        }
        // Later than the sequence itself: with its whole ramp behind it.
        for n in 0..8 {
            world.until(80_000 + n * 10_000).await;
            answers.push(world.send(Ask::chat().session(&format!("t{n}"))).await);
        }
        answers
    });
    assert!(answers.iter().all(|a| a.status == 200));
    let met = world.called().iter().filter(|(t, at)| t == "a" && (8_000..68_000).contains(at)).count();
    assert!((2..=8).contains(&met), "{met} calls met the outage");
    let open = answers[3..17].iter().filter(|a| a.header("x-switchback-attempts") == "1").count();
    assert!(open >= 10, "who comes while it is open takes b with one call: {open}");
    assert_eq!(answers.last().unwrap().target(), "a", "it is back");
    assert_eq!(world.standing("a").breaker, Breaker::Closed);
    let records = world.records();
    let calls: u64 = records.iter().map(|r| r["attempts"].as_u64().unwrap()).sum();
    assert_eq!(calls, answers.iter().map(|a| a.header("x-switchback-attempts").parse::<u64>().unwrap()).sum::<u64>());
    assert!(records.iter().flat_map(skipped).any(|(t, why)| t == "a" && why == "ramp"), "by its ramp");
}

/// Two requests to `a` that overlap, with what the later one is told.
async fn overlap(world: &World) {
    let second = async {
        world.until(5).await;
        world.send(Ask::chat()).await
    };
    let (first, second) = tokio::join!(world.send(Ask::chat()), second);
    assert_eq!((first.target(), second.target()), ("b", "b"));
}

#[test]
fn of_two_hints_the_later_end_holds() {
    let limited = |after, seconds: Option<&str>| {
        let plain = error(after, 429, "rate_limit_error", "slow down");
        seconds.map_or(plain.clone(), |s| with(plain, "retry-after", s))
    };
    let policy = P0::of(&["a", "b"])
        .but("wait up to 5s, failover", "failover")
        .but("breaker k {", "breaker k { hold rate-limit up to 5m, default 5s;");
    for (second, until) in [(Some("20"), 20_255), (None, 5_255)] {
        let scripts = Scripts::new()
            .times("a", 1, limited(10, Some("1")))
            .times("a", 1, limited(250, second))
            .always("b", ok(50));
        let world = policy.world(scripts);
        world.run(overlap(&world));
        assert_eq!(world.standing("a").hold_until.0, until);
        // An earlier end that is heard later takes nothing from it.
        assert_eq!(world.standing("a").breaker, Breaker::Closed);
    }
    let scripts = Scripts::new()
        .times("a", 1, limited(250, Some("20")))
        .times("a", 1, limited(300, Some("1")))
        .always("b", ok(50));
    let world = policy.world(scripts);
    world.run(overlap(&world));
    assert_eq!(world.standing("a").hold_until.0, 20_250);
}

#[test]
fn where_everything_rests_the_refusal_says_when_the_first_comes_back() {
    let limited = |seconds: &str| with(error(10, 429, "rate_limit_error", "slow down"), "retry-after", seconds);
    let policy = P0::of(&["a", "b"]).but("wait up to 5s, failover", "failover");
    let world = policy.world(Scripts::new().always("a", limited("20")).times("b", 1, limited("7")).always("b", ok(50)));
    let (first, second, third) = world.run(async {
        let first = world.send(Ask::chat()).await;
        let second = world.send(Ask::chat()).await;
        world.until(7_100).await;
        (first, second, world.send(Ask::chat()).await)
    });
    assert_eq!(first.status, 503);
    assert_eq!((second.status, second.code().as_str(), second.header("retry-after")), (503, "no-target", "7"));
    assert_eq!((third.status, third.target()), (200, "b"));
    assert_eq!(world.order(), ["a", "b", "b"], "nobody is called while all rest");
    let records = world.records();
    assert_eq!((&records[1]["refusal"], &records[1]["attempts"]), (&json!("no-target"), &json!(0)));
}

#[test]
fn where_everything_rests_a_request_may_wait_for_the_first_to_come_back() {
    let limited = |seconds: &str| with(error(10, 429, "rate_limit_error", "slow down"), "retry-after", seconds);
    let policy = P0::of(&["a", "b"])
        .but("wait up to 5s, failover", "failover")
        .but("route chat {", "route chat { exhausted wait up to 10s;");
    let scripts = || Scripts::new().always("a", limited("20")).times("b", 1, limited("7")).always("b", ok(50));
    let world = policy.world(scripts());
    // The first request asked both, so that nobody it has not used comes back; the second comes while all rest.
    let (first, second) = world.run(async {
        let second = async {
            world.until(1_000).await;
            world.send(Ask::chat()).await
        };
        tokio::join!(world.send(Ask::chat()), second)
    });
    assert_eq!((first.status, second.status, second.target()), (503, 200, "b"));
    assert!((6_000..7_100).contains(&second.took), "{}", second.took);
    assert!(world.called().iter().all(|(_, at)| *at < 100 || *at >= 7_000), "nobody is called while all rest");
    let world = policy.world(scripts());
    let hurried = world.run(async {
        world.send(Ask::chat().header("x-switchback-deadline-ms", "600")).await;
        world.send(Ask::chat().header("x-switchback-deadline-ms", "5000")).await
    });
    assert_eq!((hurried.status, hurried.took), (503, 0), "a wait fits whole or is not taken");
}

#[test]
fn calls_record_and_cap_agree() {
    let policy = P0::of(&["a", "b"]);
    let world = policy.world(Scripts::new().always("a", busy()).always("b", busy()));
    let answer = world.run(world.send(Ask::chat()));
    assert_eq!(answer.header("x-switchback-attempts"), "4");
    assert_eq!(
        (answer.status, answer.header("x-should-retry")),
        (503, "false"),
        "the client's library is told not to repeat it"
    );
    assert_eq!(world.order(), ["a", "a", "b", "b"]);
    let record = world.record();
    assert_eq!(record["attempts"], 4);
    assert_eq!(record["steps"].as_array().unwrap().iter().filter(|s| s["target"].is_string()).count(), 4);
}

#[test]
fn targets_of_one_credential_are_left_together() {
    let targets = "provider v { api emulated; key env K }\ntarget a { model m; provider v; upstream \"m-1\" }\n\
                   target b { model m; provider v; upstream \"m-2\" }\nprovider w { api emulated }\ntarget c { model m; provider w }\n";
    let same = targets.replace("m-2", "m-1");
    for (targets, reply) in [
        (targets, error(20, 401, "invalid_api_key", "Incorrect API key provided")),
        (targets, error(20, 403, "account_suspended", "This account has been suspended")),
        // Without more knowledge it speaks for the account's use of the model.
        (&same, error(20, 403, "permission_error", "Forbidden")),
    ] {
        let world = P0::with(targets, "a; b; c").world(Scripts::new().always("a", reply).always("c", ok(100)));
        let answer = world.run(world.send(Ask::chat()));
        assert_eq!((answer.status, answer.target()), (200, "c"));
        assert_eq!(world.order(), ["a", "c"], "the same credential is not tried again");
        assert_eq!(skipped(&world.record()), [("b".to_owned(), "breaker-open".to_owned())]);
    }
    let world = P0::with(targets, "a; b").world(Scripts::new());
    assert!(codes(&world).contains(&"one-outage-away"), "{:?}", codes(&world));
}

#[test]
fn a_chain_longer_than_the_cap_is_said_and_the_cap_holds() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let policy = P0::of(&names).but("attempts 4", "attempts 5").but("retry once, failover", "failover");
    let mut scripts = Scripts::new();
    for name in names {
        scripts = scripts.always(name, busy());
    }
    let world = policy.world(scripts);
    let said: Vec<_> = world.diagnostics.iter().filter(|d| d.entry().name == "attempts-below-chain").collect();
    assert_eq!(said.len(), 1, "{:?}", codes(&world));
    let answer = world.run(world.send(Ask::chat()));
    assert_eq!(answer.header("x-switchback-attempts"), "5");
    assert_eq!(world.order(), names[..5]);
}

#[test]
fn a_running_stream_ends_on_the_policy_it_began_with() {
    let mut acts = vec![role()];
    acts.extend((0..10).flat_map(|n| [Act::Pause(1_000), delta(&format!("w{n} "))]));
    acts.extend(finish());
    let world = P0::of(&["a", "b"]).world(Scripts::new().always("a", stream(100, acts)).always("b", ok(100)));
    let (old, new) = world.run(async {
        let edit = async {
            world.until(3_500).await;
            world.exchange(P0::of(&["b"]).text());
            world.send(Ask::chat()).await
        };
        tokio::join!(world.send(Ask::stream()), edit)
    });
    assert_eq!((old.target(), old.complete, old.heard().0.len()), ("a", true, 10));
    assert_eq!(new.target(), "b");
    assert_ne!(old.header("x-switchback-policy"), new.header("x-switchback-policy"));
    let records = world.records();
    assert_eq!(
        records[1]["policy"].as_str(),
        Some(old.header("x-switchback-policy")),
        "the record names the policy that decided"
    );
}

/// A conversation of one session, asked every ten seconds: `a` fails once.
fn conversation(change: impl Fn(P0) -> P0) -> Vec<String> {
    let policy = change(
        P0::of(&["a", "b"])
            .but("trip when errors >= 100% over 30s, min 5", "trip when consecutive >= 1")
            .but("retry once, failover", "failover"),
    );
    let world =
        policy.world(Scripts::new().during("a", (9_000, 11_000), busy()).always("a", ok(100)).always("b", ok(100)));
    let mut served = Vec::new();
    world.run(async {
        for n in 0..6 {
            world.until(n * 10_000).await;
            served.push(world.send(Ask::chat().session("s")).await.target().to_owned());
        }
    });
    served
}

/// The share of sessions that metrics show of `a`, after each request of such a conversation: the first stage is small.
fn shown_of_a_ramp() -> [Option<String>; 4] {
    let policy = P0::of(&["a", "b"])
        .but("trip when errors >= 100% over 30s, min 5", "trip when consecutive >= 1")
        .but("retry once, failover", "failover")
        .but("open 10s", "open 5s")
        .but("defaults {", "ramp g { 0.25% for 25s; 100% }\ndefaults { ramp g;");
    let world =
        policy.world(Scripts::new().during("a", (9_000, 11_000), busy()).always("a", ok(100)).always("b", ok(100)));
    let shown = |world: &World| {
        let metrics = world.metrics();
        let line = metrics.lines().find_map(|l| l.strip_prefix("switchback_ramp_percent{target=\"a\"} "));
        line.map(str::to_owned)
    };
    let send_at = |ms: u64| {
        world.run(async {
            world.until(ms).await;
            world.send(Ask::chat().session("s")).await;
        });
        shown(&world)
    };
    [0, 10_000, 20_000, 50_000].map(send_at)
}

#[test]
fn a_conversation_goes_home_as_the_policy_says() {
    // Once its breaker has let it come back; with a ramp, when the session is in; with affinity, while it is used.
    let at_once = conversation(|p| p.but("open 10s", "open 5s"));
    assert_eq!(at_once, ["a", "b", "a", "a", "a", "a"]);
    let ramped = conversation(|p| {
        p.but("open 10s", "open 5s").but("defaults {", "ramp g { 0.01% for 25s; 100% }\ndefaults { ramp g;")
    });
    assert_eq!(ramped, ["a", "b", "a", "b", "b", "a"]);
    // Full, its breaker open, in its first stage after a good trial, and full again.
    assert_eq!(shown_of_a_ramp(), ["100", "0", "0.25", "100"].map(|share| Some(share.to_owned())));
    let at_home =
        conversation(|p| p.but("open 10s", "open 5s").but("chain { a; b }", "affinity session for 5m; chain { a; b }"));
    assert_eq!(at_home, ["a", "b", "b", "b", "b", "b"]);
}

#[test]
fn a_refusal_of_our_own_is_final() {
    let world = P0::of(&["a", "b"]).world(Scripts::new());
    let answer = world.run(world.send(Ask::chat().saying("max_tokens", json!(64_000))));
    assert_eq!((answer.status, answer.code().as_str(), answer.header("x-should-retry")), (503, "contract", "false"));
    assert!(world.calls().is_empty());
    assert_eq!(world.record()["attempts"], 0);
}
