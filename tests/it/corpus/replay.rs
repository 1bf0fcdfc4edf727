//! Area `replay`: whether a failed attempt may be followed by another.

use super::behaviours::{Driver, number, spelled};
use serde_json::{Value, json};
use switchback::decide::replay::{Attempted, Replay};
use switchback::policy::class::Verb;
use switchback::policy::{Effects, Stage};

struct Replays {
    replay: Replay,
    key_honoured: bool,
}

pub fn driver(given: &Value) -> Box<dyn Driver> {
    let effects = if given["effect"] == "pure" { Effects::None } else { Effects::Unknown };
    let key = &given["idempotency"];
    Box::new(Replays {
        replay: Replay {
            effects,
            limit: u32::try_from(number(given, "max_ambiguous_replays")).unwrap_or(u32::MAX),
            used: 0,
        },
        key_honoured: key["key_sent"] == true && key["target_honours"] == true,
    })
}

/// The verb behind an action of the corpus.
pub fn verb(action: &Value) -> Option<Verb> {
    match action.as_str()? {
        "retry_same" => Some(Verb::Retry),
        other => Verb::from_word(other),
    }
}

fn stage(phase: &Value) -> Option<Stage> {
    match phase.as_str()? {
        "streaming" => Some(Stage::Output),
        other => Stage::from_word(&other.replace('_', "-")),
    }
}

impl Driver for Replays {
    fn step(&mut self, _now: u64, op: &Value) -> Value {
        let (Some(stage), Some(verb)) = (stage(&op["phase"]), verb(&op["action"])) else { return Value::Null };
        let committed = op["content_forwarded"] == true;
        match self.replay.allows(Attempted { stage, committed, key_honoured: self.key_honoured }, verb) {
            Ok(allowed) => {
                self.replay.take(allowed);
                json!({ "allowed": true, "why": spelled(allowed.word()) })
            }
            Err(barred) => json!({ "allowed": false, "why": spelled(barred.word()) }),
        }
    }
}
