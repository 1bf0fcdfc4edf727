//! `behaviours.json`: small stories in virtual time, each step with what must be observable after it.
//!
//! A driver of an area maps a story's words onto the engine's own types. It is shown `given` and each `do`, never what
//! is expected, and no name of the case.

use super::report::{Case, Report};
use serde_json::{Map, Value, json};

/// The engine's types behind one area, for one case.
pub trait Driver {
    /// Does what a step says at `now`, in milliseconds; returns everything observable after it. An operation that the
    /// driver does not know is observed as nothing.
    fn step(&mut self, now: u64, op: &Value) -> Value;
}

fn driver(area: &str, given: &Value) -> Option<Box<dyn Driver>> {
    Some(match area {
        "action" => super::action::driver(given),
        "backoff" => super::backoff::driver(given),
        "breaker" => super::breaker::driver(given),
        "contract" => super::contract::driver(given),
        "deadline" => super::deadline::driver(given),
        "health" => super::health::driver(given),
        "ramp" => super::ramp::driver(given),
        "replay" => super::replay::driver(given),
        "retry_after" => super::retry_after::driver(given),
        "retry_budget" => super::retry_budget::driver(given),
        "routing" => super::routing::driver(given),
        "scope" => super::scope::driver(given),
        _ => return None,
    })
}

/// Measures every case of the file.
pub fn measure(text: &str) -> Result<Report, String> {
    let cases: Vec<Value> = serde_json::from_str(text).map_err(|e| e.to_string())?;
    Ok(Report { measure: "cases", cases: cases.iter().map(|case| survived(case, driver)).collect() })
}

/// An engine that panics does not agree; the other cases are measured all the same.
fn survived(case: &Value, driver: fn(&str, &Value) -> Option<Box<dyn Driver>>) -> Case {
    let text = |name: &str| case[name].as_str().unwrap_or_default().to_string();
    std::panic::catch_unwind(|| judge(case, driver)).unwrap_or_else(|_| Case {
        id: text("id"),
        area: text("area"),
        miss: Some(("an observation".to_string(), "a panic".to_string())),
    })
}

fn judge(case: &Value, driver: impl Fn(&str, &Value) -> Option<Box<dyn Driver>>) -> Case {
    let text = |name: &str| case[name].as_str().unwrap_or_default().to_string();
    let (id, area) = (text("id"), text("area"));
    let Some(mut driver) = driver(&area, &case["given"]) else {
        return Case { id, area, miss: Some(("an engine for this area".to_string(), "none".to_string())) };
    };
    let steps = case["steps"].as_array().map_or(&[][..], Vec::as_slice);
    let miss = steps.iter().enumerate().find_map(|(n, step)| {
        let (Some(at), Some(expected)) = (step["at_ms"].as_u64(), step["expect"].as_object()) else {
            return Some((format!("step {} with at_ms and expect", n + 1), step.to_string()));
        };
        let (expected, got) = differing(expected, &driver.step(at, &step["do"]))?;
        Some((format!("step {}: {expected}", n + 1), got.to_string()))
    });
    let miss = miss.or_else(|| steps.is_empty().then(|| ("steps".to_string(), "none".to_string())));
    Case { id, area, miss }
}

/// The expected members that were not seen so, and what was seen in their place.
fn differing(expected: &Map<String, Value>, seen: &Value) -> Option<(Value, Value)> {
    let wrong: Map<String, Value> = expected
        .iter()
        .filter(|(name, value)| seen.get(name.as_str()) != Some(value))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    let got: Map<String, Value> =
        wrong.keys().map(|n| (n.clone(), seen.get(n).cloned().unwrap_or_else(|| json!("not observable")))).collect();
    (!wrong.is_empty()).then_some((wrong.into(), got.into()))
}

/// The word of the corpus for a word of the language.
pub fn spelled(word: &str) -> String {
    word.replace('-', "_")
}

/// A number that a case gives; 0 where it is missing.
pub fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Clock;

    impl Driver for Clock {
        fn step(&mut self, now: u64, op: &Value) -> Value {
            assert!(op.get("expect").is_none());
            json!({ "now": now, "none": null })
        }
    }

    fn judged(expect: &Value) -> Option<(String, String)> {
        let case =
            json!({ "id": "c", "area": "a", "steps": [{ "at_ms": 7, "do": { "op": "read" }, "expect": expect }] });
        judge(&case, |_, _| Some(Box::new(Clock))).miss
    }

    #[test]
    fn only_the_named_members_are_compared() {
        assert_eq!(judged(&json!({ "now": 7 })), None);
        assert_eq!(judged(&json!({ "none": null })), None);
        assert_eq!(judged(&json!({})), None);
    }

    #[test]
    fn what_differs_is_said_and_a_missing_member_is_no_null() {
        let said = |e: &str, g: &str| Some((format!("step 1: {e}"), g.to_string()));
        assert_eq!(judged(&json!({ "now": 8, "none": null })), said(r#"{"now":8}"#, r#"{"now":7}"#));
        assert_eq!(judged(&json!({ "other": null })), said(r#"{"other":null}"#, r#"{"other":"not observable"}"#));
    }

    #[test]
    fn a_panic_is_a_miss() {
        let case = json!({ "id": "c", "area": "a", "steps": [] });
        assert_eq!(survived(&case, |_, _| std::panic::resume_unwind(Box::new("planted"))).miss.unwrap().1, "a panic");
    }

    #[test]
    fn a_case_without_a_driver_or_without_steps_does_not_agree() {
        let case = json!({ "id": "c", "area": "a", "steps": [] });
        assert!(judge(&case, |_, _| None).miss.is_some());
        assert!(judge(&case, |_, _| Some(Box::new(Clock))).miss.is_some());
    }
}
