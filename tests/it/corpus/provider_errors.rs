//! `provider-errors.jsonl`: failures as they stand on the wire, and what they are.
//!
//! Each line goes through the function that `switchback classify` prints: what it says is compared, and nothing else.

use super::behaviours::spelled;
use super::report::{Case, Report};
use serde_json::{Value, json};
use switchback::wire::exchange::{judge, line};

/// Our wall clock, for answers that carry no date: 2026-01-01.
const WALL_MS: u64 = 1_767_225_600_000;

/// What is measured, and how a miss is told.
type Miss = fn(&Value, &Value) -> Option<(Value, Value)>;

/// Measures every line of the file.
pub fn measure(text: &str) -> Result<Vec<Report>, String> {
    let lines: Vec<Value> = text
        .lines()
        .filter(|l| !l.is_empty())
        .map(|l| serde_json::from_str(l).map_err(|e| e.to_string()))
        .collect::<Result<_, _>>()?;
    let seen: Vec<Value> = lines.iter().map(classify).collect::<Result<_, _>>()?;
    let report = |measure, miss: Miss| Report {
        measure,
        cases: lines.iter().zip(&seen).filter_map(|(line, seen)| case(line, seen, measure, miss)).collect(),
    };
    Ok(vec![
        report("class", class),
        report("scope", scope),
        report("hint", hint),
        report("stage", stage),
        report("cause", cause),
    ])
}

/// What `switchback classify` prints for a line.
pub fn classify(line: &Value) -> Result<Value, String> {
    let line = line::read(&line.to_string())?;
    let verdict = judge(&line.exchange(), WALL_MS);
    serde_json::to_value(line::Answer::of(line.id.clone(), &verdict)).map_err(|e| e.to_string())
}

fn case(line: &Value, seen: &Value, measure: &str, miss: Miss) -> Option<Case> {
    let expected = &line["expect"];
    if matches!(measure, "stage" | "cause") && expected.get(measure).is_none() {
        return None;
    }
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_string();
    let rule = &seen["rule"];
    let miss = miss(expected, seen).map(|(e, g)| (e.to_string(), format!("{g} by {rule}")));
    Some(Case { id: text("id"), area: text("api"), miss })
}

/// A word of ours as the corpus writes it.
fn theirs(word: &Value) -> Value {
    match word.as_str() {
        Some("stream-early") => json!("stream_error_before_output"),
        Some("timeout-first-token") => json!("timeout_idle"),
        Some(word) => json!(spelled(word)),
        None => Value::Null,
    }
}

fn any(expected: &Value, name: &str, also: &str, got: Value) -> Option<(Value, Value)> {
    let agrees = expected[name] == got || expected[also].as_array().is_some_and(|a| a.contains(&got));
    (!agrees).then(|| (expected[name].clone(), got))
}

fn class(expected: &Value, seen: &Value) -> Option<(Value, Value)> {
    any(expected, "class", "also", theirs(&seen["class"]))
}

fn scope(expected: &Value, seen: &Value) -> Option<(Value, Value)> {
    any(expected, "scope", "scope_also", theirs(&seen["scope"]))
}

fn stage(expected: &Value, seen: &Value) -> Option<(Value, Value)> {
    let stage = if seen["stage"] == "output" { "after_output" } else { "before_output" };
    any(expected, "stage", "", json!(stage))
}

fn cause(expected: &Value, seen: &Value) -> Option<(Value, Value)> {
    any(expected, "cause", "", theirs(&seen["cause"]))
}

/// Waits agree within a second, or two per cent where that is more.
fn hint(expected: &Value, seen: &Value) -> Option<(Value, Value)> {
    let got = &seen["retry_after_ms"];
    let near = |wanted: &Value| match (wanted.as_u64(), got.as_u64()) {
        (None, None) => true,
        (Some(wanted), Some(got)) => wanted.abs_diff(got) <= (wanted / 50).max(1_000),
        (Some(_), None) | (None, Some(_)) => false,
    };
    let wanted = &expected["retry_after_ms"];
    let agrees = near(wanted) || expected["retry_after_also"].as_array().is_some_and(|a| a.iter().any(near));
    (!agrees).then(|| (wanted.clone(), got.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(expect: &Value) -> Value {
        let body = json!({ "error": { "message": "slow down", "type": "x", "code": "rate_limit_exceeded" } });
        json!({
            "id": "a", "api": "openai-chat", "transport": "http", "status": 429,
            "headers": { "Retry-After": "20" }, "body": body.to_string(), "expect": expect
        })
    }

    fn misses(expect: &Value) -> Vec<&'static str> {
        let reports = measure(&line(expect).to_string()).unwrap();
        reports.iter().filter(|r| r.count("all").0 < r.count("all").1).map(|r| r.measure).collect()
    }

    #[test]
    fn what_may_also_be_said_agrees_and_what_may_not_does_not() {
        let scope = classify(&line(&json!({}))).unwrap()["scope"].clone();
        let right = json!({ "class": "rate_limit", "scope": scope, "retry_after_ms": 20_900 });
        assert!(misses(&right).is_empty());
        let also = json!({
            "class": "overloaded", "also": ["rate_limit"], "scope": "region", "scope_also": [scope],
            "retry_after_ms": null, "retry_after_also": [20_000]
        });
        assert!(misses(&also).is_empty());
        let wrong = json!({
            "class": "overloaded", "scope": "region", "retry_after_ms": 21_001, "stage": "after_output", "cause": "x"
        });
        assert_eq!(misses(&wrong), ["class", "scope", "hint", "stage", "cause"]);
    }
}
