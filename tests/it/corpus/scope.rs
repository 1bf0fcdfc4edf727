//! Area `scope`: several breakers on the path of one call.

use super::behaviours::{Driver, number};
use super::breaker::{circuit, observed, rules};
use serde_json::{Value, json};
use std::collections::HashMap;
use switchback::decide::circuit::{Circuit, Ending};
use switchback::decide::path::{self, Blocked, CircuitId, Path, PathPermit};
use switchback::policy::Millis;
use switchback::policy::breaker::BreakerRules;
use switchback::policy::class::Blame;

struct Scopes {
    scopes: Vec<Value>,
    class_scope: Value,
    rules: BreakerRules,
    keys: Vec<String>,
    circuits: Vec<Circuit>,
    calls: HashMap<String, (Path, PathPermit)>,
}

pub fn driver(given: &Value) -> Box<dyn Driver> {
    Box::new(Scopes {
        scopes: given["scopes"].as_array().cloned().unwrap_or_default(),
        class_scope: given["class_scope"].clone(),
        rules: rules(&given["breaker"]),
        keys: Vec::new(),
        circuits: Vec::new(),
        calls: HashMap::new(),
    })
}

impl Scopes {
    fn id(&mut self, key: &str) -> CircuitId {
        let at = self.keys.iter().position(|k| k == key).unwrap_or_else(|| {
            self.keys.push(key.to_string());
            self.circuits.push(circuit(&self.rules));
            self.keys.len() - 1
        });
        CircuitId(u32::try_from(at).unwrap())
    }

    fn path(&mut self, target: &Value) -> Path {
        let key = |scope: &Value| {
            let dims = scope["dims"].as_array().into_iter().flatten().filter_map(Value::as_str);
            dims.map(|d| format!("{d}={}", target[d].as_str().unwrap_or_default())).collect::<Vec<_>>().join(";")
        };
        let keys: Vec<String> = self.scopes.iter().map(key).collect();
        keys.iter().map(|key| self.id(key)).collect()
    }

    fn admit(&mut self, now: Millis, target: &Value) -> Result<(Path, PathPermit), Blocked> {
        let path = self.path(target);
        path::admit(&mut self.circuits, &path, now).map(|permit| (path, permit))
    }

    fn end(&mut self, now: Millis, (path, permit): (Path, PathPermit), result: &Value) {
        let blame = if result == "success" { Blame::Success } else { Blame::Failure };
        let blamed = result.as_str().and_then(|class| self.class_scope[class].as_str());
        let at = self.scopes.iter().position(|scope| scope["name"].as_str() == blamed && blamed.is_some());
        let ending = Ending { blame, ..Ending::NEUTRAL };
        path::settle(&mut self.circuits, now, permit, ending, at.map(|at| path[at]));
    }
}

impl Driver for Scopes {
    fn step(&mut self, now: u64, op: &Value) -> Value {
        let now = Millis(now);
        let call = op["call"].as_str().unwrap_or_default().to_string();
        match op["op"].as_str() {
            Some("admit") => match self.admit(now, &op["target"]) {
                Ok(admitted) => {
                    self.calls.insert(call, admitted);
                    json!({ "admit": true, "blocked_by": null })
                }
                Err(blocked) => json!({ "admit": false, "blocked_by": self.keys[blocked.by.index()] }),
            },
            Some("result") => {
                if let Some(admitted) = self.calls.remove(&call) {
                    self.end(now, admitted, &op["result"]);
                }
                json!({})
            }
            Some("calls") => {
                let mut admitted = 0;
                for _ in 0..number(op, "n") {
                    if let Ok(call) = self.admit(now, &op["target"]) {
                        self.end(now, call, &op["result"]);
                        admitted += 1;
                    }
                }
                json!({ "admitted": admitted })
            }
            Some("read") => {
                let id = self.id(op["key"].as_str().unwrap_or_default());
                observed(&mut self.circuits[id.index()], now).into()
            }
            _ => Value::Null,
        }
    }
}
