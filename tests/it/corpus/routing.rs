//! Area `routing`: the choice among candidates in policy order.

use super::behaviours::{Driver, number, spelled};
use serde_json::{Map, Value, json};
use switchback::decide::select::{Pass, pick, reason, return_in};
use switchback::decide::{Admission, Breaker, Health, Ramp, Standing, ramp};
use switchback::policy::{Millis, Percent};

struct Routing {
    targets: Vec<Value>,
    last_resort: bool,
    max_inflight: u32,
}

pub fn driver(given: &Value) -> Box<dyn Driver> {
    Box::new(Routing {
        targets: given["targets"].as_array().cloned().unwrap_or_default(),
        last_resort: given["last_resort"] == true,
        max_inflight: small(&given["last_resort_max_inflight"], 1),
    })
}

fn small(value: &Value, missing: u32) -> u32 {
    value.as_u64().map_or(missing, |n| u32::try_from(n).unwrap_or(u32::MAX))
}

fn id(target: &Value) -> &str {
    target["id"].as_str().unwrap_or_default()
}

fn standing(target: &Value, key: &str) -> Standing {
    let breaker = &target["breaker"];
    Standing {
        stale: false,
        regional: false,
        disabled: target["disabled"] == true,
        health: target["health"].as_str().and_then(Health::from_word).unwrap_or(Health::Healthy),
        breaker: match breaker["state"].as_str() {
            Some("open") => {
                Breaker::Open { until: Millis(number(breaker, "open_until_ms")), hard: breaker["hard"] == true }
            }
            Some("half_open") => Breaker::HalfOpen { slot: breaker["trial_slot"] == true },
            _ => Breaker::Closed,
        },
        hold_until: Millis(number(target, "hold_until_ms")),
        busy: false,
        ramp: match target["ramp_percent"].as_u64() {
            None => Ramp::Full,
            Some(percent) => {
                let share = Percent(u32::try_from(percent.saturating_mul(100)).unwrap_or(u32::MAX));
                let admitted = ramp::admits(id(target), number(target, "ramp_epoch"), key, share);
                if admitted { Ramp::Admitted } else { Ramp::Barred }
            }
        },
        last_resort_inflight: small(&target["last_resort_inflight"], 0),
        tolerated: false,
    }
}

impl Driver for Routing {
    fn step(&mut self, now: u64, op: &Value) -> Value {
        let now = Millis(now);
        let key = op["key"].as_str().unwrap_or_default();
        let used = |target: &Value| op["exclude"].as_array().is_some_and(|used| used.contains(&target["id"]));
        let candidates: Vec<(&str, Standing)> =
            self.targets.iter().filter(|t| !used(t)).map(|t| (id(t), standing(t, key))).collect();
        let standings = || candidates.iter().map(|(_, s)| s);
        let chosen = Pass::all(self.last_resort)
            .iter()
            .find_map(|pass| Some((*pass, pick(*pass, standings().enumerate(), now, self.max_inflight)?)));
        // Pass 1 looks no further than what it takes.
        let looked_at = match chosen {
            Some((Pass::Strict, (place, _))) => place,
            Some((Pass::Relaxed | Pass::LastResort, _)) | None => candidates.len(),
        };
        let skipped: Map<String, Value> = candidates[..looked_at]
            .iter()
            .filter_map(|(id, s)| Some((id.to_string(), json!(spelled(reason(s, now)?.word())))))
            .collect();
        let kind = chosen.map(|(_, (_, admission))| match admission {
            Admission::Normal => "normal",
            Admission::Trial => "trial",
            Admission::LastResort => "last_resort",
        });
        json!({
            "pass": chosen.map(|(pass, _)| pass.number()),
            "target": chosen.map(|(_, (place, _))| candidates[place].0),
            "kind": kind,
            "skipped": skipped,
            "retry_after_ms": if chosen.is_none() { return_in(standings(), now) } else { None },
        })
    }
}
