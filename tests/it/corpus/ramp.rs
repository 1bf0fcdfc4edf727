//! Area `ramp`: one target on its way back, with a breaker, a health and a ramp.

use super::behaviours::{Driver, number, spelled};
use super::breaker::{blame, count, percent, rules, word};
use serde_json::{Value, json};
use std::collections::HashMap;
use switchback::decide::group::spec::{GroupSpec, TargetSpec};
use switchback::decide::group::{Admitted, Group};
use switchback::decide::recovery::Phase;
use switchback::decide::target_state::{Ask, Ended};
use switchback::decide::vitals::Latency;
use switchback::decide::{Admission, Breaker, Health, ramp, select};
use switchback::policy::breaker::{BreakerRules, Capability, Scopes};
use switchback::policy::ramp::{RampStage, Rollback};
use switchback::policy::{Millis, RampRules};

struct Ramp {
    target: String,
    epoch: u64,
    group: Group,
    calls: HashMap<String, Admitted>,
}

pub fn driver(given: &Value) -> Box<dyn Driver> {
    let target = given["target"].as_str().unwrap_or_default().to_string();
    let stages = given["stages"].as_array().into_iter().flatten();
    let rollback = &given["rollback"];
    let ramp = RampRules {
        stages: stages
            .map(|s| RampStage { share: percent(&s["percent"]).unwrap(), lasts: Millis(number(s, "for_ms")) })
            .collect(),
        rollback: Rollback {
            errors: percent(&rollback["failure_pct"]).zip(count(&rollback["min_samples"])),
            consecutive: count(&rollback["consecutive"]),
        },
    };
    let epoch = number(given, "epoch");
    let breaker = BreakerRules { scopes: Scopes::of(&[]), ..rules(&given["breaker"]) };
    let spec = TargetSpec { breaker, ramp, epoch, ..TargetSpec::plain(target.clone(), "p") };
    let mut group = Group::new(GroupSpec { targets: vec![spec], attempt: Millis::ZERO, instance: String::new() });
    if let Some(health) = given["health"].as_str().and_then(Health::from_word) {
        group.note_health(0, Millis::ZERO, health);
    }
    Box::new(Ramp { target, epoch, group, calls: HashMap::new() })
}

fn ask(session: &str) -> Ask<'_> {
    Ask { session, capability: Capability::Text }
}

fn ended(op: &Value) -> Ended {
    let latency = op["latency_ms"].as_u64().map(|ms| Latency::FirstOutput(Millis(ms)));
    let hint = op["retry_after_ms"].as_u64().map(Millis);
    Ended { blame: blame(&op["outcome"]), hint, latency, ..Ended::NEUTRAL }
}

impl Ramp {
    fn phase(&mut self, now: Millis) -> Phase {
        self.group.phase(0, now, Capability::Text)
    }

    fn admit(&mut self, now: Millis, call: String, key: &str) -> Value {
        let mut standing = self.group.standing(0, now, ask(key));
        // What a pass makes of a degraded target is the business of another area.
        if standing.health == Health::Degraded {
            standing.health = Health::Healthy;
        }
        let why = select::reason(&standing, now);
        let bucket = ramp::bucket(&self.target, self.epoch, key);
        if let Some(why) = why {
            return json!({ "admit": false, "kind": null, "why": spelled(why.word()), "bucket": bucket });
        }
        let permit = self.group.admit(0, now, ask(key), (Admission::Normal, 0), true).unwrap();
        let kind = match permit.admission() {
            Admission::Normal => "normal",
            Admission::Trial => "trial",
            Admission::LastResort => "last_resort",
        };
        self.calls.insert(call, permit);
        json!({ "admit": true, "kind": kind, "why": null, "bucket": bucket })
    }
}

impl Driver for Ramp {
    fn step(&mut self, now: u64, op: &Value) -> Value {
        let now = Millis(now);
        let text = |name: &str| op[name].as_str().unwrap_or_default();
        let mut seen = match op["op"].as_str() {
            Some("bucket") => json!({ "bucket": ramp::bucket(&self.target, self.epoch, text("key")) }),
            Some("admit") => self.admit(now, text("call").to_string(), text("key")),
            Some("result") => {
                let permit = self.calls.remove(text("call"));
                json!({ "counted": permit.is_some_and(|p| self.group.settle(0, now, p, &ended(op))) })
            }
            Some("results") => {
                for _ in 0..number(op, "n") {
                    if !matches!(self.phase(now), Phase::Full | Phase::Ramping(_)) {
                        break;
                    }
                    let permit = self.group.admit(0, now, ask(""), (Admission::Normal, 0), true).unwrap();
                    self.group.settle(0, now, permit, &ended(op));
                }
                json!({})
            }
            Some("health") => {
                self.group.note_health(0, now, Health::from_word(text("state")).unwrap());
                json!({})
            }
            Some("read") => json!({}),
            _ => return Value::Null,
        };
        let phase = self.phase(now);
        seen["phase"] = json!(match phase {
            Phase::Full => "full",
            Phase::Ramping(_) => "ramping",
            Phase::Trial => "trial",
            Phase::Blocked => "blocked",
        });
        seen["percent"] = json!(phase.share().0 / 100);
        let breaker = self.group.circuits(now).next().unwrap().state;
        seen["breaker"] = json!(word(breaker));
        if let Breaker::Open { until, .. } = breaker {
            seen["open_until_ms"] = json!(until);
        }
        seen
    }
}
