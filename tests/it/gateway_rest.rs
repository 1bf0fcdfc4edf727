//! A request that nobody admits now: told when somebody returns, or kept until then where its route says so.

use super::gateway_rig::{Rig, chat_body, ok, whole};
use serde_json::json;
use std::time::{Duration, Instant};
use switchback::policy::{Action, Exhausted, Millis};

/// Both targets told everybody to stay away: `a` for long, `b` for a little while.
fn resting(exhausted: Exhausted) -> Rig {
    let told =
        |after: &str| whole(429, &format!("retry-after-ms: {after}\r\n"), r#"{"error":{"message":"slow down"}}"#);
    let rig = Rig::with(vec![vec![told("60000"), ok("a")], vec![told("3000"), ok("b")]], |policy| {
        policy.routes[0].exhausted = exhausted;
        for row in &mut policy.matrices[0].rows {
            row.actions.retain(|a| !matches!(a.action, Action::Wait { .. }));
        }
        policy.budgets[0].attempts = 2;
    });
    assert_eq!(rig.chat("", json!({})).status, 503);
    // An answer goes out before its request is over.
    while rig.engine.meters.running_now() > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    rig
}

#[test]
fn where_all_rest_the_client_is_told_when_the_first_returns_and_nobody_is_called() {
    let rig = resting(Exhausted::Stop { status: 503 });
    let answer = rig.chat("", json!({}));
    assert_eq!((answer.status, answer.code().as_str()), (503, "no-target"));
    assert_eq!(answer.header("retry-after"), Some("3"), "rounded up");
    assert_eq!(rig.upstreams.iter().map(|u| u.calls().len()).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn where_the_route_says_so_the_first_to_return_is_waited_for() {
    let rig = resting(Exhausted::Wait { up_to: Millis(5_000) });
    let began = Instant::now();
    let answer = rig.chat("", json!({}));
    assert_eq!((answer.status, answer.header("x-switchback-target")), (200, Some("b")));
    assert!(began.elapsed() > Duration::from_millis(2_000), "{:?}", began.elapsed());
    let record = rig.records(2).pop().unwrap();
    assert!(record["steps"][0]["wait_ms"].as_u64().unwrap() > 2_000, "{record}");
    assert_eq!(record["steps"][0]["skipped"], json!([{"target": "a", "reason": "hold", "regional": false}]));
    // A caller without the time for it is told at once.
    let rig = resting(Exhausted::Wait { up_to: Millis(5_000) });
    let answer = rig.chat("x-switchback-deadline-ms: 700\r\n", json!({}));
    assert_eq!((answer.status, answer.code().as_str()), (503, "no-target"));
}

#[test]
fn a_client_that_leaves_ends_its_wait() {
    let rig = resting(Exhausted::Wait { up_to: Millis(5_000) });
    let waiting = rig.connect("POST", "/v1/chat/completions", "", &chat_body(json!({})));
    // It is taken, and waits; a client that is gone before that was never there.
    while rig.engine.meters.running_now() == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(waiting);
    let record = rig.records(2).pop().unwrap();
    assert_eq!((record["outcome"].as_str(), record["attempts"].as_u64()), (Some("cancelled"), Some(0)));
}
