//! Area `backoff`: the pauses of one request.

use super::behaviours::{Driver, number};
use serde_json::{Value, json};
use switchback::decide::backoff::{Curve, Pauses};
use switchback::policy::{Jitter, Millis};

struct Backoff(Pauses);

pub fn driver(given: &Value) -> Box<dyn Driver> {
    Box::new(Backoff(Pauses::new(Curve {
        jitter: Jitter::from_word(given["jitter"].as_str().unwrap_or_default()).unwrap_or(Jitter::None),
        base: Millis(number(given, "base_ms")),
        factor_pct: number(given, "factor_pct"),
        cap: Millis(number(given, "cap_ms")),
        floor: Millis(number(given, "floor_ms")),
    })))
}

impl Driver for Backoff {
    fn step(&mut self, _now: u64, op: &Value) -> Value {
        let retry = u32::try_from(number(op, "retry")).unwrap_or(u32::MAX);
        match op["op"].as_str() {
            Some("delay") => {
                let draw = u32::try_from(number(op, "u_ppm")).unwrap_or(u32::MAX);
                json!({ "delay_ms": self.0.next(retry, draw) })
            }
            Some("bounds") => {
                let (min, max) = self.0.bounds(retry);
                json!({ "min_ms": min, "max_ms": max })
            }
            Some("new_target") => {
                self.0.new_target();
                json!({})
            }
            _ => Value::Null,
        }
    }
}
