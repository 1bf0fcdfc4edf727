//! Area `breaker`: one breaker, its states and its permits.

use super::behaviours::{Driver, number};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use switchback::decide::Breaker;
use switchback::decide::circuit::{Circuit, CircuitRules, Ending, Permit};
use switchback::policy::breaker::{BreakerRules, HalfOpen, OpenTime, Over, SlowAbove, SlowTrip};
use switchback::policy::class::Blame;
use switchback::policy::{Millis, Multiple, Percent};

/// A count that a case gives; none where it is missing.
pub fn count(value: &Value) -> Option<u32> {
    value.as_u64().map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}

/// A percentage that a case gives, in basis points.
pub fn percent(value: &Value) -> Option<Percent> {
    count(value).map(|n| Percent(n.saturating_mul(100)))
}

/// A multiple that a case gives in per cent.
pub fn multiple(value: &Value) -> Multiple {
    Multiple(count(value).unwrap_or(100).saturating_mul(10))
}

/// The rules of a case.
pub fn rules(given: &Value) -> BreakerRules {
    let window = &given["window"];
    let small = |name: &str| count(&given[name]).unwrap_or(0);
    let slow = given["slow_ms"].as_u64().map(|limit| SlowTrip {
        // Slow calls may fail trials without any share of them that trips: no share is ever reached then.
        share: percent(&given["slow_pct"]).unwrap_or(Percent(u32::MAX)),
        above: SlowAbove::Fixed(Millis(limit)),
    });
    BreakerRules {
        over: match window["kind"].as_str() {
            Some("count") => Over::Calls(count(&window["size"]).unwrap_or(0)),
            _ => {
                Over::Time { span: Millis(number(window, "span_ms")), buckets: count(&window["buckets"]).unwrap_or(0) }
            }
        },
        min: small("min_samples"),
        errors: percent(&given["failure_pct"]),
        slow,
        consecutive: count(&given["consecutive"]),
        open: OpenTime {
            base: Millis(number(given, "open_ms")),
            growing: multiple(&given["open_factor_pct"]),
            cap: Millis(number(given, "open_max_ms")),
            jitter: Percent(0),
        },
        half_open: HalfOpen {
            at_once: small("trial_max_inflight"),
            successes: small("trial_successes"),
            lease: Some(Millis(number(given, "trial_timeout_ms"))),
        },
        stable: Some(Millis(number(given, "stable_ms"))),
        hint_cap: Millis(number(given, "retry_after_cap_ms")),
        ..BreakerRules::default()
    }
}

/// The breaker of a case.
pub fn circuit(rules: &BreakerRules) -> Circuit {
    Circuit::new(CircuitRules::of(rules, Millis::ZERO, Millis::ZERO, "", ""))
}

/// What an outcome says.
pub fn blame(outcome: &Value) -> Blame {
    match outcome.as_str() {
        Some("success") => Blame::Success,
        Some("failure") => Blame::Failure,
        Some("hard_failure") => Blame::Hard,
        Some("throttled") => Blame::Throttled,
        _ => Blame::Neutral,
    }
}

/// The state, and what is observable in it.
pub fn observed(circuit: &mut Circuit, now: Millis) -> Map<String, Value> {
    let state = circuit.state(now);
    let mut seen = Map::new();
    seen.insert("state".to_string(), json!(word(state)));
    match state {
        Breaker::Open { until, .. } => _ = seen.insert("open_until_ms".to_string(), json!(until)),
        Breaker::HalfOpen { .. } => {}
        Breaker::Closed => {
            let totals = circuit.totals(now);
            seen.insert("samples".to_string(), json!(totals.samples));
            seen.insert("failures".to_string(), json!(totals.failures));
            seen.insert("slow".to_string(), json!(totals.slow));
        }
    }
    seen
}

/// The corpus's word for a state.
pub fn word(state: Breaker) -> String {
    super::behaviours::spelled(state.word())
}

struct One {
    rules: BreakerRules,
    circuit: Circuit,
    calls: HashMap<String, Permit>,
}

pub fn driver(given: &Value) -> Box<dyn Driver> {
    let rules = rules(given);
    Box::new(One { circuit: circuit(&rules), rules, calls: HashMap::new() })
}

impl One {
    fn ending(&self, op: &Value) -> Ending {
        let slow = self.rules.slow.zip(op["latency_ms"].as_u64());
        Ending {
            blame: blame(&op["outcome"]),
            slow: slow.is_some_and(|(rule, latency)| rule.above.is_slow(Millis(latency), None)),
            hint: op["retry_after_ms"].as_u64().map(Millis),
        }
    }
}

impl Driver for One {
    fn step(&mut self, now: u64, op: &Value) -> Value {
        let now = Millis(now);
        let call = op["call"].as_str().unwrap_or_default().to_string();
        let mut seen = match op["op"].as_str() {
            Some("admit") => {
                let permit = self.circuit.admit(now).ok();
                let kind = permit.as_ref().map(|p| if p.is_trial() { "trial" } else { "normal" });
                self.calls.extend(permit.map(|p| (call, p)));
                json!({ "admit": kind.is_some(), "kind": kind })
            }
            Some("result") => {
                let permit = self.calls.remove(&call);
                let ending = self.ending(op);
                json!({ "counted": permit.is_some_and(|p| self.circuit.settle(now, p, ending)) })
            }
            Some("calls") => {
                let ending = self.ending(op);
                let mut admitted = 0;
                for _ in 0..number(op, "n") {
                    if let Ok(permit) = self.circuit.admit(now) {
                        self.circuit.settle(now, permit, ending);
                        admitted += 1;
                    }
                }
                json!({ "admitted": admitted })
            }
            Some("read") => json!({}),
            _ => return Value::Null,
        };
        seen.as_object_mut().unwrap().extend(observed(&mut self.circuit, now));
        seen
    }
}
