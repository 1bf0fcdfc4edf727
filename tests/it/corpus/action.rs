//! Area `action`: walking a row of the matrix.

use super::behaviours::{Driver, number};
use super::replay::verb;
use serde_json::{Value, json};
use switchback::decide::action::{Bar, Checks, Tally, walk};
use switchback::policy::class::Verb;
use switchback::policy::{Action, FallbackTo};

struct Matrix {
    rows: Value,
    max_attempts: u32,
    max_retries_same: u32,
    tally: Tally,
}

pub fn driver(given: &Value) -> Box<dyn Driver> {
    let cap = |name: &str| u32::try_from(number(given, name)).unwrap_or(u32::MAX);
    Box::new(Matrix {
        rows: given["matrix"].clone(),
        max_attempts: cap("max_attempts"),
        max_retries_same: cap("max_retries_same"),
        // One attempt has been made before a case begins.
        tally: Tally { attempts: 1, retries_here: 0 },
    })
}

/// What the corpus says of the request, as answers to the walk's questions.
struct Said<'a> {
    matrix: &'a Matrix,
    op: &'a Value,
}

impl Checks for Said<'_> {
    fn bars(&mut self, bar: Bar, action: Action) -> bool {
        let verb = action.verb();
        let left = |name: &str| number(self.op, name) > 0;
        match bar {
            Bar::Attempts => !self.matrix.tally.may_attempt(self.matrix.max_attempts),
            Bar::PerTarget => verb == Verb::Retry && !self.matrix.tally.may_retry(self.matrix.max_retries_same),
            Bar::Replay => self.op["replay_ok"][name(verb)] == false,
            Bar::Target => match verb {
                Verb::Failover => !left("equivalents_left"),
                Verb::Fallback => !left("fallbacks_left"),
                Verb::Retry | Verb::Wait | Verb::NextKey | Verb::Repair | Verb::Continue | Verb::Stop => false,
            },
            Bar::Token => verb == Verb::Retry && self.op["budget_ok"] == false,
            // The corpus knows no cap on cost.
            Bar::Money => false,
            Bar::Time => self.op["time_ok"][name(verb)] == false,
        }
    }
}

fn name(verb: Verb) -> &'static str {
    match verb {
        Verb::Retry => "retry_same",
        other => other.word(),
    }
}

fn reason(bar: Bar) -> &'static str {
    match bar {
        Bar::Attempts => "max_attempts",
        Bar::PerTarget => "max_retries_same",
        Bar::Replay => "replay",
        Bar::Target => "no_target",
        Bar::Token => "budget",
        Bar::Money => "money",
        Bar::Time => "time",
    }
}

impl Matrix {
    fn action(&self, word: &Value) -> Option<Action> {
        Some(match verb(word)? {
            Verb::Retry => Action::Retry { times: self.max_retries_same },
            Verb::Failover => Action::Failover,
            Verb::Fallback => Action::Fallback(FallbackTo::OtherModel),
            Verb::Stop => Action::Stop { status: None },
            Verb::Wait | Verb::NextKey | Verb::Repair | Verb::Continue => return None,
        })
    }
}

impl Driver for Matrix {
    fn step(&mut self, _now: u64, op: &Value) -> Value {
        let row = op["class"].as_str().and_then(|class| self.rows[class].as_array());
        let words = row.map_or(&[][..], Vec::as_slice);
        let Some(row) = words.iter().map(|w| self.action(w)).collect::<Option<Vec<_>>>() else {
            return Value::Null;
        };
        let walked = walk(row.into_iter().map(|action| ((), action)), &mut Said { matrix: self, op });
        let verb = walked.taken.map_or(Verb::Stop, |(_, action)| action.verb());
        self.tally.take(verb);
        let rejected: Vec<String> =
            walked.barred.iter().map(|(action, bar)| format!("{}:{}", name(action.verb()), reason(*bar))).collect();
        json!({ "action": name(verb), "rejected": rejected })
    }
}
