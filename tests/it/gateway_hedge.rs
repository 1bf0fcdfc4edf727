//! Hedges through the gateway, streams and whole answers alike: who answers, and whose connection is closed.

use super::gateway_rig::{Act, Answer, Rig, chat_body, done, finish, last_chunk, ok, role, stream_head, text, whole};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use switchback::policy::{Beyond, DaySpend, Hedge, Millis, Money, Policy, Price, Prices};
use switchback::record::dollars;

/// From here on a call is late, in milliseconds.
const LATE: u64 = 150;
/// How long a call takes that is late on a busy machine too and within its limits, in milliseconds.
const SLOW: u64 = 800;

fn answer(stream: bool, word: &str) -> Vec<Act> {
    if stream {
        return vec![stream_head(), role(), text(word), finish(), done(), last_chunk()];
    }
    ok(word)
}

fn after(pause: u64, mut acts: Vec<Act>) -> Vec<Act> {
    acts.insert(0, Act::Pause(pause));
    acts
}

fn overloaded() -> Vec<Act> {
    whole(503, "", r#"{"error": {"message": "no room", "type": "overloaded_error", "code": "overloaded"}}"#)
}

/// Hangs with its head sent, and of a stream all that comes before output.
fn hangs(stream: bool) -> Vec<Act> {
    if stream { vec![stream_head(), role(), Act::Hang] } else { vec![Act::Hang] }
}

fn hedges(policy: &mut Policy) {
    for budget in &mut policy.budgets {
        budget.hedge = Some(Hedge { at_least: Millis(LATE) });
    }
}

/// A gateway whose first target has answered twenty calls, each long before it was late.
fn rig(stream: bool, upstreams: Vec<Vec<Act>>) -> Rig {
    rig_of(stream, upstreams, |_| {})
}

fn rig_of(stream: bool, upstreams: Vec<Vec<Act>>, change: impl FnOnce(&mut Policy)) -> Rig {
    let scripts = upstreams.into_iter().enumerate().map(|(at, acts)| {
        let mut scripts = vec![answer(stream, "warm"); if at == 0 { 20 } else { 0 }];
        scripts.push(acts);
        scripts
    });
    let rig = Rig::with(scripts.collect(), |policy| {
        hedges(policy);
        change(policy);
    });
    for _ in 0..20 {
        assert_eq!(ask(&rig, stream).header("x-switchback-target"), Some("a"));
    }
    rig
}

fn ask(rig: &Rig, stream: bool) -> Answer {
    rig.chat("", json!({"stream": stream, "max_tokens": 1000}))
}

/// What the client could read, if the answer came to its end.
fn words(answer: &Answer) -> String {
    assert!(answer.complete, "{answer:?}");
    let Some(first) = answer.body.strip_prefix("data: ") else {
        return answer.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    };
    let events = first.split("\n\n").map(|event| event.trim_start_matches("data: "));
    let events = events.filter_map(|event| serde_json::from_str::<Value>(event).ok());
    events.filter_map(|event| event["choices"][0]["delta"]["content"].as_str().map(str::to_owned)).collect()
}

/// Waits until an upstream has seen its latest call closed.
fn closed(rig: &Rig, at: usize) -> Instant {
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        if let Some(closed) = rig.upstreams[at].calls().last().and_then(|call| call.closed) {
            return closed;
        }
        assert!(Instant::now() < until, "the call at upstream {at} is still open");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Of each step of the latest request: action, target, class, and whether it lost.
fn steps(rig: &Rig) -> Vec<(String, String, String, bool)> {
    let record = rig.records(21).pop().unwrap();
    let word = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let steps = record["steps"].as_array().unwrap().iter();
    steps.map(|s| (word(&s["action"]), word(&s["target"]), word(&s["class"]), s["lost"].as_bool().unwrap())).collect()
}

fn step(action: &str, target: &str, class: &str, lost: bool) -> (String, String, String, bool) {
    (action.to_owned(), target.to_owned(), class.to_owned(), lost)
}

fn metric(rig: &Rig, line: &str) -> bool {
    rig.send("GET", "/metrics", "", "").body.lines().any(|l| l == line)
}

#[test]
fn a_slow_call_is_overtaken_and_closed() {
    for stream in [true, false] {
        let rig = rig(stream, vec![hangs(stream), answer(stream, "from b")]);
        let began = Instant::now();
        let answer = ask(&rig, stream);
        let took = began.elapsed();
        assert_eq!((answer.status, words(&answer).as_str()), (200, "from b"));
        assert_eq!(answer.header("x-switchback-target"), Some("b"));
        assert_eq!(answer.header("x-switchback-attempts"), Some("2"));
        assert!(took >= Duration::from_millis(LATE) && took < Duration::from_millis(1_400), "{took:?}");
        closed(&rig, 0);
        assert_eq!(steps(&rig), [step("call", "a", "", true), step("hedge", "b", "", false)]);
        assert!(metric(&rig, r#"switchback_hedges_total{target="b",result="won"} 1"#));
        assert!(metric(&rig, r#"switchback_attempts_total{route="chat",target="a",class="lost",action="call"} 1"#));
    }
}

#[test]
fn a_fast_call_has_no_duplicate() {
    for stream in [true, false] {
        let rig = rig(stream, vec![answer(stream, "from a"), answer(stream, "from b")]);
        assert_eq!(words(&ask(&rig, stream)), "from a");
        std::thread::sleep(Duration::from_millis(LATE * 2));
        assert_eq!(rig.upstreams[1].calls().len(), 0);
    }
}

#[test]
fn the_late_call_may_win_after_all() {
    for stream in [true, false] {
        let rig = rig(stream, vec![after(SLOW, answer(stream, "from a")), hangs(stream)]);
        let answer = ask(&rig, stream);
        assert_eq!((words(&answer).as_str(), answer.header("x-switchback-target")), ("from a", Some("a")));
        closed(&rig, 1);
        assert_eq!(steps(&rig), [step("call", "a", "", false), step("hedge", "b", "", true)]);
        assert!(metric(&rig, r#"switchback_hedges_total{target="b",result="lost"} 1"#));
    }
}

#[test]
fn one_that_fails_leaves_the_other_running() {
    for stream in [true, false] {
        let rig = rig(stream, vec![after(SLOW, overloaded()), after(SLOW, answer(stream, "from b"))]);
        let answer = ask(&rig, stream);
        assert_eq!((words(&answer).as_str(), answer.header("x-switchback-attempts")), ("from b", Some("2")));
        assert_eq!(steps(&rig), [step("call", "a", "overloaded", false), step("hedge", "b", "", false)]);
    }
}

#[test]
fn when_both_fail_the_row_goes_on_to_the_next() {
    for stream in [true, false] {
        let rig = rig(stream, vec![after(SLOW, overloaded()), overloaded(), answer(stream, "from c")]);
        let answer = ask(&rig, stream);
        assert_eq!((words(&answer).as_str(), answer.header("x-switchback-attempts")), ("from c", Some("3")));
        let want = [
            step("call", "a", "overloaded", false),
            step("hedge", "b", "overloaded", false),
            step("failover", "c", "", false),
        ];
        assert_eq!(steps(&rig), want);
        assert!(metric(&rig, r#"switchback_hedges_total{target="b",result="failed"} 1"#));
    }
}

#[test]
fn what_is_not_to_be_tried_again_ends_both() {
    let refused = whole(400, "", r#"{"error": {"message": "no such field", "type": "invalid_request_error"}}"#);
    let rig = rig(false, vec![hangs(false), refused]);
    let answer = ask(&rig, false);
    assert_eq!((answer.status, answer.code().as_str()), (400, "invalid-request"));
    closed(&rig, 0);
    assert_eq!(steps(&rig)[..2], [step("call", "a", "", true), step("hedge", "b", "invalid-request", false)]);
}

#[test]
fn a_client_that_leaves_closes_both() {
    for stream in [true, false] {
        let rig = rig(stream, vec![hangs(stream), hangs(stream)]);
        let socket = rig.connect("POST", "/v1/chat/completions", "", &chat_body(json!({"stream": stream})));
        let until = Instant::now() + Duration::from_secs(5);
        while rig.upstreams[1].calls().is_empty() {
            assert!(Instant::now() < until, "no hedge");
            std::thread::sleep(Duration::from_millis(2));
        }
        let left = Instant::now();
        drop(socket);
        for at in [0, 1] {
            let closed = closed(&rig, at);
            assert!(closed.saturating_duration_since(left) < Duration::from_millis(300), "{:?}", closed - left);
        }
        assert_eq!(steps(&rig), [step("call", "a", "", false), step("hedge", "b", "", false)]);
        assert!(metric(&rig, r#"switchback_hedges_total{target="b",result="cancelled"} 1"#));
    }
}

/// What 1000 tokens of output cost at $1 for a million, in billionths of a dollar: the worst of each call here.
const WORST: u64 = 1_000_000;
/// What twenty answers cost that count two tokens each.
const WARM: u64 = 40_000;

/// Output costs $1 for a million tokens and input nothing; the route has so much for a day.
fn priced(cap: u64) -> impl FnOnce(&mut Policy) {
    move |policy| {
        for target in &mut policy.targets {
            target.prices = Prices { input: Some(Price(0)), cached: None, output: Some(Price(1_000_000_000)) };
        }
        for budget in &mut policy.budgets {
            budget.spend_per_day = Some(DaySpend { cap: Money(cap), then: Beyond::Stop });
        }
    }
}

fn spent(nano: u64) -> String {
    format!("switchback_spend_today_dollars{{route=\"chat\"}} {}", dollars(Money(nano)))
}

#[test]
fn who_lost_counts_at_its_worst_and_who_won_as_it_was_billed() {
    let rig = rig_of(false, vec![hangs(false), answer(false, "from b")], priced(WARM + 2 * WORST));
    assert_eq!(words(&ask(&rig, false)), "from b");
    let record = rig.records(21).pop().unwrap();
    let billed: Vec<_> = record["steps"].as_array().unwrap().iter().map(|s| s["billed_by"].clone()).collect();
    assert_eq!(billed, ["worst", "usage"]);
    assert_eq!(record["billed_usd"], json!(dollars(Money(WORST + 2_000))));
    assert!(metric(&rig, &spent(WARM + WORST + 2_000)), "nothing stays reserved");
    // So there is not enough for another call today.
    assert_eq!(ask(&rig, false).code(), "spend");
}

#[test]
fn a_client_that_leaves_is_charged_for_both() {
    let rig = rig_of(false, vec![hangs(false), hangs(false)], priced(WARM + 9 * WORST));
    let body = chat_body(json!({"max_tokens": 1000}));
    let socket = rig.connect("POST", "/v1/chat/completions", "", &body);
    let until = Instant::now() + Duration::from_secs(5);
    while rig.upstreams[1].calls().is_empty() {
        assert!(Instant::now() < until, "no hedge");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(metric(&rig, &spent(WARM + 2 * WORST)), "both are reserved while they run");
    drop(socket);
    assert_eq!(rig.records(21).pop().unwrap()["billed_usd"], json!(dollars(Money(2 * WORST))));
    assert!(metric(&rig, &spent(WARM + 2 * WORST)));
}

#[test]
fn a_day_that_covers_one_call_has_no_hedge() {
    let rig = rig_of(false, vec![after(400, answer(false, "from a")), answer(false, "from b")], priced(WARM + WORST));
    assert_eq!(words(&ask(&rig, false)), "from a");
    assert!(rig.upstreams[1].calls().is_empty());
    assert!(metric(&rig, &spent(WARM + 2_000)));
}
