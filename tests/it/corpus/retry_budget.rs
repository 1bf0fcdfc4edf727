//! Area `retry_budget`: what repetition may add to the load of one target.

use super::behaviours::Driver;
use super::breaker::{count, percent};
use serde_json::{Value, json};
use switchback::decide::bucket::{Bucket, Extra};
use switchback::policy::{Millis, Percent, Rate, RetryRatio};

struct Budget(Bucket);

pub fn driver(given: &Value) -> Box<dyn Driver> {
    let small = |name: &str| count(&given[name]).unwrap_or(0);
    let rules = RetryRatio {
        ratio: percent(&given["ratio_pct"]).unwrap_or(Percent(0)),
        at_least: Rate { count: small("min_per_sec"), per: Millis(1_000) },
        burst: small("capacity_tokens"),
    };
    Box::new(Budget(Bucket::holding(rules, small("initial_tokens"))))
}

impl Driver for Budget {
    fn step(&mut self, now: u64, op: &Value) -> Value {
        let now = Millis(now);
        let times = op["n"].as_u64().unwrap_or(1);
        let mut seen = match op["op"].as_str() {
            Some("first") => {
                (0..times).for_each(|_| self.0.arrive(now));
                json!({})
            }
            Some("spend") => {
                let call = match op["kind"].as_str() {
                    Some("retry_same") => Extra::Repeat,
                    Some("hedge") => Extra::Hedge,
                    Some("transparent") => Extra::Transparent,
                    Some("failover" | "fallback") => Extra::Moved,
                    _ => return Value::Null,
                };
                json!({ "granted": (0..times).filter(|_| self.0.take(now, call)).count() })
            }
            Some("read") => json!({}),
            _ => return Value::Null,
        };
        seen["balance_mt"] = json!(self.0.balance(now));
        seen
    }
}
