//! Area `retry_after`: what a hint says, and what it leads to.

use super::behaviours::{Driver, number};
use super::deadline::{refused, time};
use serde_json::{Value, json};
use switchback::classify::{Headers, hint};
use switchback::decide::deadline::{Fit, TimeBudget};
use switchback::decide::hold::Hold;
use switchback::policy::Millis;

struct RetryAfter {
    time: TimeBudget,
    hold: Hold,
    hold_cap: Millis,
    inline_max: Millis,
}

pub fn driver(given: &Value) -> Box<dyn Driver> {
    Box::new(RetryAfter {
        time: time(given),
        hold: Hold::default(),
        hold_cap: Millis(number(given, "hold_cap_ms")),
        inline_max: Millis(number(given, "inline_max_ms")),
    })
}

/// The headers of an answer in a case.
struct Given<'a>(&'a Value);

impl Headers for Given<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.as_object()?.iter().find(|(n, _)| n.eq_ignore_ascii_case(name))?;
        value.as_str()
    }
}

impl RetryAfter {
    fn on_error(&mut self, now: Millis, op: &Value) -> Value {
        let hint = Millis(number(op, "retry_after_ms"));
        let others_left = op["others_left"] == true;
        self.hold.extend(now, hint, self.hold_cap);
        let wait = hint.max(Millis(number(op, "backoff_ms")));
        // What is too long to sit out is asked as a wait that fits nowhere.
        let asked = if hint <= self.inline_max { wait } else { Millis::MAX };
        let mut seen = match self.time.wait(now, asked, others_left) {
            Fit::Yes(until) => json!({ "decision": "wait", "wait_ms": until.less(now) }),
            fit @ (Fit::MoveOn | Fit::Stop) => json!({ "decision": refused(fit), "wait_ms": null }),
        };
        seen["hold_until_ms"] = json!(self.hold.until);
        seen
    }
}

impl Driver for RetryAfter {
    fn step(&mut self, now: u64, op: &Value) -> Value {
        let now = Millis(now);
        match op["op"].as_str() {
            Some("parse") => {
                let hint = hint::parse(&Given(&op["headers"]), number(op, "wall_ms"));
                json!({
                    "retry_after_ms": hint.map(|h| h.wait),
                    "source": hint.map(|h| h.source.word()),
                })
            }
            Some("on_error") => self.on_error(now, op),
            Some("held") => json!({ "held": self.hold.holds(now) }),
            _ => Value::Null,
        }
    }
}
