//! Area `deadline`: what still fits, and what a timeout says about a target.

use super::behaviours::{Driver, number};
use serde_json::{Value, json};
use switchback::decide::deadline::{Fit, TimeBudget, evidence};
use switchback::policy::class::Blame;
use switchback::policy::{Millis, Percent};

/// The time of a case.
pub fn time(given: &Value) -> TimeBudget {
    TimeBudget {
        deadline: Millis(number(given, "deadline_ms")),
        reserve: Millis(number(given, "reserve_ms")),
        min_attempt: Millis(number(given, "min_attempt_ms")),
    }
}

/// The word for what does not fit.
pub fn refused(fit: Fit) -> &'static str {
    match fit {
        Fit::Yes(_) => "fits",
        Fit::MoveOn => "move_on",
        Fit::Stop => "stop",
    }
}

struct Deadline {
    time: TimeBudget,
    least: Percent,
}

pub fn driver(given: &Value) -> Box<dyn Driver> {
    let percent = u32::try_from(number(given, "timeout_evidence_pct")).unwrap_or(u32::MAX);
    Box::new(Deadline { time: time(given), least: Percent(percent.saturating_mul(100)) })
}

impl Driver for Deadline {
    fn step(&mut self, now: u64, op: &Value) -> Value {
        let now = Millis(now);
        let others_left = op["others_left"] == true;
        let limit = Millis(number(op, "step_timeout_ms"));
        match op["op"].as_str() {
            Some("read") => json!({ "remaining_ms": self.time.remaining(now), "expired": self.time.expired(now) }),
            Some("attempt") => match self.time.attempt(now, limit, others_left) {
                Fit::Yes(granted) => json!({ "decision": "start", "timeout_ms": granted }),
                fit @ (Fit::MoveOn | Fit::Stop) => json!({ "decision": refused(fit) }),
            },
            Some("wait") => match self.time.wait(now, Millis(number(op, "wait_ms")), others_left) {
                Fit::Yes(until) => json!({ "decision": "wait", "resume_at_ms": until }),
                fit @ (Fit::MoveOn | Fit::Stop) => json!({ "decision": refused(fit) }),
            },
            Some("timed_out") => {
                let outcome = match evidence(Millis(number(op, "granted_ms")), limit, self.least) {
                    Blame::Success => "success",
                    Blame::Failure => "failure",
                    Blame::Hard => "hard_failure",
                    Blame::Throttled => "throttled",
                    Blame::Neutral => "neutral",
                };
                json!({ "breaker_outcome": outcome })
            }
            _ => Value::Null,
        }
    }
}
