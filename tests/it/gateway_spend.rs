//! What a route may cost a day, as clients, upstreams, metrics and records see it.

use super::gateway_rig::{Act, Answer, Rig, chat_body, ok, whole};
use serde_json::{Value, json};
use switchback::policy::{Beyond, DaySpend, Millis, Money, Policy, Price, Prices, TierId};

/// What 1000 tokens of output cost at $1 for a million, in billionths of a dollar.
const THOUSAND: u64 = 1_000_000;

/// Gives targets a price of output, in dollars for a million tokens (input is free), and the route a day.
fn priced(policy: &mut Policy, output: &[u64], cap: u64) {
    for (target, dollars) in policy.targets.iter_mut().zip(output) {
        let price = |dollars: u64| Some(Price(dollars * 1_000_000_000));
        target.prices = Prices { input: price(0), cached: None, output: price(*dollars) };
    }
    policy.budgets[0].spend_per_day = Some(DaySpend { cap: Money(cap), then: Beyond::Stop });
}

fn ask(rig: &Rig) -> Answer {
    rig.chat("", json!({"max_tokens": 1000}))
}

/// The value of a metric's line.
fn metric(rig: &Rig, line: &str) -> Option<f64> {
    let page = rig.send("GET", "/metrics", "", "").body;
    page.lines().find_map(|l| l.strip_prefix(line)?.trim().parse().ok())
}

fn failed() -> Vec<Act> {
    whole(500, "", r#"{"error":{"message":"broken"}}"#)
}

#[test]
fn a_day_that_is_spent_is_told_with_the_time_to_the_next_one_and_calls_nobody() {
    // Answers count two tokens: 2 millionths of a dollar each.
    let rig = Rig::with(vec![vec![ok("a")]], |policy| priced(policy, &[1], THOUSAND + 3_000));
    assert_eq!(ask(&rig).status, 200);
    assert_eq!(ask(&rig).status, 200);
    assert_eq!(metric(&rig, "switchback_spend_today_dollars{route=\"chat\"}"), Some(0.000_004));
    assert_eq!(metric(&rig, "switchback_spend_cap_dollars{route=\"chat\"}"), Some(0.001_003));
    let answer = ask(&rig);
    assert_eq!((answer.status, answer.code().as_str()), (503, "spend"));
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    let after: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    let wall = rig.engine.clock.wall_ms() / 1_000;
    let midnight = 86_400 - wall % 86_400;
    assert!(after.abs_diff(midnight) <= 5 || after <= 5, "{after} is not {midnight}");
    let error = &answer.json()["error"];
    assert_eq!(error["type"], "server_error");
    assert!(error["message"].as_str().unwrap().contains("money"), "{error}");
    assert_eq!(rig.upstreams[0].calls().len(), 2);
    assert_eq!(metric(&rig, "switchback_refusals_total{route=\"chat\",refusal=\"spend\"}"), Some(1.0));
    let record = rig.records(3).pop().unwrap();
    assert_eq!((record["refusal"].as_str(), record["attempts"].as_u64()), (Some("spend"), Some(0)));
    let skipped = &record["steps"][0]["skipped"][0];
    assert_eq!((skipped["target"].as_str(), skipped["reason"].as_str()), (Some("a"), Some("spend")));
    // A smaller one still fits.
    assert_eq!(rig.chat("", json!({"max_tokens": 900})).status, 200);
}

#[test]
fn requests_at_once_never_reserve_more_than_the_day_has() {
    let slow = |text: &str| [vec![Act::Pause(1_200)], ok(text)].concat();
    let rig = Rig::with(vec![vec![slow("a")]], |policy| priced(policy, &[1], 5 * THOUSAND));
    let body = chat_body(json!({"max_tokens": 1000}));
    let sockets: Vec<_> = (0..16).map(|_| rig.connect("POST", "/v1/chat/completions", "", &body)).collect();
    let statuses: Vec<u16> = sockets.into_iter().map(|socket| Answer::read(socket).status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 5, "{statuses:?}");
    assert_eq!(rig.upstreams[0].calls().len(), 5);
    assert_eq!(metric(&rig, "switchback_spend_today_dollars{route=\"chat\"}"), Some(0.000_010));
}

#[test]
fn what_is_not_known_counts_as_the_worst_and_a_failover_has_to_fit() {
    // Broken answers may have been billed: the day has money for one call more, and then for none.
    let rig = Rig::with(vec![vec![failed()], vec![failed(), ok("b")]], |policy| priced(policy, &[1, 1], 2 * THOUSAND));
    let answer = ask(&rig);
    assert_eq!((answer.status, answer.code().as_str()), (503, "server-error"));
    // Records come in the order in which requests are over.
    rig.records(1);
    let answer = ask(&rig);
    assert_eq!((answer.status, answer.code().as_str()), (503, "spend"));
    assert_eq!(rig.upstreams.iter().map(|u| u.calls().len()).collect::<Vec<_>>(), [1, 1]);
    let record = rig.records(2).remove(0);
    assert_eq!(record["steps"][0]["billed_by"], "worst");
    assert_eq!(record["billed_usd"], json!(0.002));
    // Between two calls of one request.
    let rig = Rig::with(vec![vec![failed()], vec![ok("b")]], |policy| priced(policy, &[1, 1], THOUSAND));
    let answer = ask(&rig);
    assert_eq!((answer.status, answer.code().as_str()), (503, "spend"));
    assert_eq!(answer.header("x-switchback-attempts"), Some("1"));
    assert!(rig.upstreams[1].calls().is_empty());
}

#[test]
fn a_client_that_leaves_is_charged_for_the_call_that_it_left() {
    let rig = Rig::with(vec![vec![vec![Act::Hang]]], |policy| priced(policy, &[1], 2 * THOUSAND));
    let body = chat_body(json!({"max_tokens": 1000}));
    let socket = rig.connect("POST", "/v1/chat/completions", "", &body);
    while rig.upstreams[0].calls().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    drop(socket);
    let record = rig.records(1).pop().unwrap();
    assert_eq!((record["outcome"].as_str(), record["billed_usd"].as_f64()), (Some("cancelled"), Some(0.001)));
    assert_eq!(metric(&rig, "switchback_spend_today_dollars{route=\"chat\"}"), Some(0.001));
}

#[test]
fn when_it_is_spent_the_other_tier_serves_and_a_reload_does_not_make_money() {
    let change = |policy: &mut Policy| {
        priced(policy, &[1, 0], THOUSAND);
        let mut cheap = policy.tiers[0].clone();
        cheap.name = "u".into();
        cheap.chains[0].ranks.remove(0);
        policy.tiers[0].chains[0].ranks.truncate(1);
        policy.tiers.push(cheap);
        policy.budgets[0].spend_per_day.as_mut().unwrap().then = Beyond::Use(TierId(1));
    };
    let rig = Rig::with(vec![vec![ok("a")], vec![ok("b")]], change);
    assert_eq!(ask(&rig).header("x-switchback-target"), Some("a"));
    let answer = ask(&rig);
    assert_eq!((answer.status, answer.header("x-switchback-target")), (200, Some("b")));
    rig.exchange(|policy| {
        change(policy);
        policy.budgets[0].idle = Millis(600);
    });
    assert_eq!(ask(&rig).header("x-switchback-target"), Some("b"));
}

#[test]
fn a_dearer_failover_shows_what_it_cost_more() {
    let broken = || whole(503, "", r#"{"error":{"message":"busy"}}"#);
    let rig = Rig::with(vec![vec![broken(), ok("a")], vec![ok("b")]], |policy| {
        priced(policy, &[1, 5], 0);
        policy.budgets[0].spend_per_day = None;
    });
    assert_eq!(ask(&rig).header("x-switchback-target"), Some("b"));
    let record = rig.records(1).pop().unwrap();
    // Two tokens at $5 instead of $1 for a million.
    assert_eq!((record["cost_usd"].clone(), record["cost_delta_usd"].clone()), (json!(0.00001), json!(0.000008)));
    assert_eq!(record["steps"][0]["billed_by"], "nothing");
    assert_eq!(ask(&rig).header("x-switchback-target"), Some("a"));
    assert_eq!(rig.records(2).pop().unwrap()["cost_delta_usd"], Value::Null);
    assert_eq!(metric(&rig, "switchback_failover_cost_dollars_total{route=\"chat\"}"), Some(0.000_008));
    assert_eq!(metric(&rig, "switchback_spend_cap_dollars{route=\"chat\"}"), None);
}
