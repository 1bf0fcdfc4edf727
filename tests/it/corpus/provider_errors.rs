//! `provider-errors.jsonl`: failures as they stand on the wire, and what they are.
//!
//! Each line is shown to what the gateway would show it to: a status without success to the classifier, a success to the
//! reader of its dialect, a fault to the table of faults. What the gateway cannot read yet agrees with nothing.

use super::behaviours::spelled;
use super::report::{Case, Report};
use bytes::Bytes;
use serde_json::{Value, json};
use switchback::classify::{Classified, Fault, fault, http};
use switchback::policy::{Class, Stage};
use switchback::wire::chat::{Asked, StreamEnded, StreamReader, judge};

/// Our wall clock, for answers that carry no date: 2026-01-01.
const WALL_MS: u64 = 1_767_225_600_000;

/// Measures every line of the file.
pub fn measure(text: &str) -> Result<Vec<Report>, String> {
    let lines: Vec<Value> = text
        .lines()
        .filter(|l| !l.is_empty())
        .map(|l| serde_json::from_str(l).map_err(|e| e.to_string()))
        .collect::<Result<_, _>>()?;
    let seen: Vec<Result<Classified, &str>> = lines.iter().map(read).collect();
    let report = |measure, miss: fn(&Value, &Classified) -> Option<(Value, Value)>| Report {
        measure,
        cases: lines.iter().zip(&seen).filter_map(|(line, seen)| case(line, seen, measure, miss)).collect(),
    };
    Ok(vec![report("class", class), report("scope", scope), report("wait", wait), report("stage", stage)])
}

fn case(
    line: &Value,
    seen: &Result<Classified, &'static str>,
    measure: &str,
    miss: fn(&Value, &Classified) -> Option<(Value, Value)>,
) -> Option<Case> {
    let expected = &line["expect"];
    if measure == "stage" && expected.get("stage").is_none() {
        return None;
    }
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_string();
    let miss = match seen {
        Ok(seen) => miss(expected, seen).map(|(e, g)| (e.to_string(), g.to_string())),
        Err(instead) => Some((expected["class"].to_string(), instead.to_string())),
    };
    Some(Case { id: text("id"), area: text("api"), miss })
}

const UNREADABLE: &str = "no reader for it";
const SERVED: &str = "an answer without fault";

/// What the gateway makes of a line, or what there is instead of a failure.
fn read(line: &Value) -> Result<Classified, &'static str> {
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    let headers: Vec<(&str, &str)> = line["headers"]
        .as_object()
        .map(|h| h.iter().filter_map(|(n, v)| Some((n.as_str(), v.as_str()?))).collect())
        .unwrap_or_default();
    let chat = text("api") == "openai-chat";
    let status = line["status"].as_u64().and_then(|s| u16::try_from(s).ok());
    match (text("transport"), status) {
        ("connect", None) => Ok(fault(match text("fault") {
            "dns" => Fault::Dns,
            "refused" => Fault::Refused,
            "tls" => Fault::Tls,
            "connect_timeout" => Fault::ConnectTimeout,
            "reset_before_headers" => Fault::ResetBeforeHeaders { sent: true },
            _ => return Err(UNREADABLE),
        })),
        ("http", Some(200..300)) if chat => {
            judge(&headers, text("body").as_bytes(), &Asked::default(), WALL_MS).err().ok_or(SERVED)
        }
        ("sse", Some(200..300)) if chat => stream(line),
        ("http" | "sse", Some(status)) if !(200..300).contains(&status) => {
            Ok(http::answer(status, &headers, text("body").as_bytes(), WALL_MS))
        }
        _ => Err(UNREADABLE),
    }
}

/// A stall is a timer's end, which a run judges and no reader.
fn stream(line: &Value) -> Result<Classified, &'static str> {
    let how = match line["end"].as_str() {
        Some("eof") => StreamEnded::Clean,
        Some("reset") => StreamEnded::Reset,
        _ => return Err(UNREADABLE),
    };
    let mut reader = StreamReader::new(Asked { stream: true, max_output: None, choices: 1 });
    for event in line["events"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        reader.push(Bytes::copy_from_slice(event.as_bytes())).for_each(drop);
    }
    reader.end(how).err().ok_or(SERVED)
}

fn any(expected: &Value, name: &str, also: &str, got: &Value) -> Option<(Value, Value)> {
    let agrees = expected[name] == *got || expected[also].as_array().is_some_and(|a| a.contains(got));
    (!agrees).then(|| (expected[name].clone(), got.clone()))
}

fn class(expected: &Value, seen: &Classified) -> Option<(Value, Value)> {
    let word = match seen.class {
        Class::StreamEarly => "stream_error_before_output".to_string(),
        Class::TimeoutFirstToken => "timeout_idle".to_string(),
        class => spelled(class.word()),
    };
    any(expected, "class", "also", &json!(word))
}

fn scope(expected: &Value, seen: &Classified) -> Option<(Value, Value)> {
    any(expected, "scope", "scope_also", &json!(seen.scope.map(|s| spelled(s.word()))))
}

fn stage(expected: &Value, seen: &Classified) -> Option<(Value, Value)> {
    let stage = if seen.stage == Stage::Output { "after_output" } else { "before_output" };
    any(expected, "stage", "", &json!(stage))
}

/// Waits agree within a second, or two per cent where that is more.
fn wait(expected: &Value, seen: &Classified) -> Option<(Value, Value)> {
    let near = |wanted: &Value| match (wanted.as_u64(), seen.hint) {
        (None, None) => true,
        (Some(wanted), Some(got)) => wanted.abs_diff(got.0) <= (wanted / 50).max(1_000),
        (Some(_), None) | (None, Some(_)) => false,
    };
    let wanted = &expected["retry_after_ms"];
    let agrees = near(wanted) || expected["retry_after_also"].as_array().is_some_and(|a| a.iter().any(near));
    (!agrees).then(|| (wanted.clone(), json!(seen.hint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(expect: &Value) -> String {
        let body = json!({ "error": { "message": "slow down", "type": "x", "code": "rate_limit_exceeded" } });
        json!({
            "id": "a", "api": "openai-chat", "transport": "http", "status": 429,
            "headers": { "Retry-After": "20" }, "body": body.to_string(), "expect": expect
        })
        .to_string()
    }

    fn misses(expect: &Value) -> Vec<&'static str> {
        let reports = measure(&line(expect)).unwrap();
        reports.iter().filter(|r| r.count("all").0 < r.count("all").1).map(|r| r.measure).collect()
    }

    #[test]
    fn what_may_also_be_said_agrees_and_what_may_not_does_not() {
        let scope = read(&serde_json::from_str(&line(&json!({}))).unwrap()).unwrap().scope.map(|s| s.word());
        let right = json!({ "class": "rate_limit", "scope": scope, "retry_after_ms": 20_900 });
        assert!(misses(&right).is_empty());
        let also = json!({
            "class": "overloaded", "also": ["rate_limit"], "scope": "region", "scope_also": [scope],
            "retry_after_ms": null, "retry_after_also": [20_000]
        });
        assert!(misses(&also).is_empty());
        let wrong =
            json!({ "class": "overloaded", "scope": "region", "retry_after_ms": 21_001, "stage": "after_output" });
        assert_eq!(misses(&wrong), ["class", "scope", "wait", "stage"]);
    }
}
