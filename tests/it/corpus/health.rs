//! Area `health`: what probes say of a target.

use super::behaviours::{Driver, number};
use super::breaker::{count, multiple};
use serde_json::{Value, json};
use switchback::decide::vitals::{Probed, Vitals};
use switchback::policy::probe::{BaselineRules, HealthRules, SlowBeside, SlowWhen};
use switchback::policy::{Millis, ProbeRules};

struct Health(Vitals);

pub fn driver(given: &Value) -> Box<dyn Driver> {
    let small = |name: &str| count(&given[name]).unwrap_or(0);
    let time = |name: &str| given[name].as_u64().map(Millis);
    let health = HealthRules {
        down_after: small("fall"),
        up_after: small("rise"),
        degraded_after: small("degrade_after"),
        recovered_after: small("recover_after"),
        slow: SlowWhen {
            beside: Some(SlowBeside {
                multiple: multiple(&given["multiple_pct"]),
                at_least: Millis(number(given, "floor_ms")),
            }),
            above: time("abs_ms"),
            live: None,
        },
        baseline: BaselineRules {
            size: small("baseline_size"),
            min: small("min_baseline"),
            renew: time("rebaseline_ms"),
        },
    };
    Box::new(Health(Vitals::new(&ProbeRules { health, ..ProbeRules::default() }, None)))
}

impl Driver for Health {
    fn step(&mut self, now: u64, op: &Value) -> Value {
        let probed = match op["result"].as_str() {
            Some("success") => Probed::Passed(Millis(number(op, "latency_ms"))),
            Some("failure") => Probed::Failed,
            _ => Probed::Inconclusive,
        };
        let times = match op["op"].as_str() {
            Some("probe") => 1,
            Some("probes") => number(op, "n"),
            Some("read") => 0,
            _ => return Value::Null,
        };
        let judged = (0..times).map(|_| self.0.probe(Millis(now), probed)).last();
        let mut seen = json!({ "state": self.0.state().word(), "baseline_p95_ms": self.0.baseline_p95() });
        if let Some(judged) = judged {
            seen["class"] = json!(judged.word());
        }
        seen
    }
}
