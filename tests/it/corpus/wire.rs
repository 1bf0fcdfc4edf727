//! `wire/index.json`: exchanges as they were recorded, and what a caller should end up with.
//!
//! Each answer in a dialect that targets may speak goes through the reader that live answers go through, at once and byte
//! by byte; what a client would have been sent is put together and compared. Other dialects are counted as not read.

use super::report::{Case, Report};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::path::Path;
use switchback::classify::{Classified, NoHeaders};
use switchback::policy::{Class, Dialect};
use switchback::wire::chat::answer::{Answered, Asked};
use switchback::wire::chat::{PieceKind, StreamEnded};
use switchback::wire::messages::Answering;
use switchback::wire::translate::{self, StreamReader};

/// What a client ended up with.
#[derive(Default)]
struct Got {
    text: String,
    /// By their numbers: id, name, arguments.
    calls: Vec<[String; 3]>,
    finish: Option<String>,
    verdict: Option<Result<Answered, Classified>>,
    /// Byte by byte it was the same.
    steady: bool,
}

/// Measures every answer of the index.
pub fn measure(folder: &Path, text: &str) -> Result<Vec<Report>, String> {
    let index: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let mut reports: Vec<Report> = ["text", "tools", "finish", "usage", "whole", "pieces"]
        .into_iter()
        .map(|measure| Report { measure, cases: Vec::new() })
        .collect();
    for exchange in index["exchanges"].as_array().ok_or("no exchanges")? {
        let kind = exchange["kind"].as_str().unwrap_or_default();
        let (Some(dialect), Some(file)) = (dialect(kind), exchange["response"].as_str()) else { continue };
        let path = folder.join("wire").join(file);
        let body = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let decoded = &exchange["decoded"];
        let choices = decoded["choices"].as_array().map_or(1, Vec::len) as u64;
        let got = read(dialect, kind.ends_with(".stream"), choices, &body);
        for report in &mut reports {
            let Some((want, got)) = compared(report.measure, dialect, decoded, &got) else { continue };
            let miss = (want != got).then(|| (want.to_string(), got.to_string()));
            let id = exchange["id"].as_str().unwrap_or_default().to_owned();
            report.cases.push(Case { id, area: kind.to_owned(), miss });
        }
    }
    Ok(reports)
}

fn dialect(kind: &str) -> Option<Dialect> {
    match kind {
        "openai.chat" | "openai.chat.stream" | "compat.chat" | "compat.chat.stream" | "azure.chat"
        | "azure.chat.stream" => Some(Dialect::Chat),
        "anthropic.messages" | "anthropic.messages.stream" => Some(Dialect::Messages),
        _ => None,
    }
}

fn read(dialect: Dialect, stream: bool, choices: u64, body: &[u8]) -> Got {
    let asked = Asked { stream, choices, ..Asked::default() };
    if !stream {
        let body = Bytes::copy_from_slice(body);
        let judged = translate::judge(dialect, &NoHeaders, body, &asked, Answering::default, 0);
        let mut got = Got { steady: true, ..Got::default() };
        got.verdict = Some(judged.map(|(body, answered)| {
            take(&mut got, &serde_json::from_slice(&body).unwrap_or_default(), "message");
            answered
        }));
        return got;
    }
    let whole = read_stream(dialect, asked, &[body]);
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    let single = read_stream(dialect, asked, &bytes);
    let same = (&whole.text, &whole.calls, &whole.finish, &whole.verdict)
        == (&single.text, &single.calls, &single.finish, &single.verdict);
    Got { steady: same, ..whole }
}

fn read_stream(dialect: Dialect, asked: Asked, pieces: &[&[u8]]) -> Got {
    let mut reader = StreamReader::new(dialect, asked, Answering::default);
    let mut got = Got::default();
    for piece in pieces {
        reader.push(Bytes::copy_from_slice(piece));
        while let Some(piece) = reader.next_piece() {
            if matches!(piece.kind, PieceKind::Output | PieceKind::Finish | PieceKind::Quiet) {
                let text = String::from_utf8_lossy(&piece.raw).into_owned();
                let data = text.lines().filter_map(|line| line.strip_prefix("data:")).collect::<String>();
                take(&mut got, &serde_json::from_str(data.trim()).unwrap_or_default(), "delta");
            }
        }
    }
    got.verdict = Some(reader.end(StreamEnded::Clean));
    got
}

/// Takes what an object of chat brings for its first choice.
fn take(got: &mut Got, object: &Value, part: &str) {
    let choices = object["choices"].as_array().into_iter().flatten();
    for choice in choices.filter(|c| c["index"].as_u64().unwrap_or(0) == 0) {
        let part = &choice[part];
        match &part["content"] {
            Value::String(text) => got.text.push_str(text),
            // One vendor sends lists; reasoning among them is none of the text.
            Value::Array(parts) => parts.iter().filter_map(|p| p["text"].as_str()).for_each(|t| got.text.push_str(t)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
        for call in part["tool_calls"].as_array().into_iter().flatten() {
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let at = call["index"].as_u64().map_or(got.calls.len(), |at| usize::try_from(at).unwrap_or(0));
            got.calls.resize(got.calls.len().max(at + 1), Default::default());
            let [id, name, arguments] = &mut got.calls[at];
            for (known, told) in [(id, word(&call["id"])), (name, word(&call["function"]["name"]))] {
                if known.is_empty() {
                    *known = told;
                }
            }
            arguments.push_str(&word(&call["function"]["arguments"]));
        }
        if got.finish.is_none() {
            got.finish = choice["finish_reason"].as_str().filter(|f| !f.is_empty()).map(str::to_owned);
        }
    }
}

/// What is wanted and what came; nothing where the index says nothing of it.
fn compared(measure: &str, dialect: Dialect, decoded: &Value, got: &Got) -> Option<(Value, Value)> {
    let verdict = got.verdict.as_ref()?;
    let failed = !decoded["error"].is_null() || decoded["finish"].is_null() || decoded["finish"] == "refusal";
    match measure {
        "text" => Some((json!(decoded["text"].as_str().unwrap_or_default()), json!(got.text))),
        "tools" => {
            let wanted = decoded["tool_calls"].as_array()?;
            let call = |[id, name, arguments]: &[String; 3]| {
                json!([id, name, serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments))])
            };
            let want = wanted.iter().map(|w| json!([w["id"], w["name"], w["arguments"]])).collect();
            Some((want, got.calls.iter().map(call).collect()))
        }
        "finish" if !failed => {
            let word = decoded["finish"].as_str()?;
            let want = match (dialect, word) {
                (Dialect::Messages, "end_turn" | "stop_sequence") => "stop",
                (Dialect::Messages, "tool_use") => "tool_calls",
                (Dialect::Messages, "max_tokens") => "length",
                (Dialect::Messages | Dialect::Chat, word) => word,
            };
            Some((json!(want), json!(got.finish)))
        }
        "usage" if !failed => {
            let usage = verdict.as_ref().ok().and_then(|answered| answered.usage);
            let got = usage.map_or(Value::Null, |u| json!([u.input, u.output, u.cached]));
            Some((decoded["usage"].as_object().map_or(Value::Null, |usage| counts(dialect, usage)), got))
        }
        "whole" => {
            let refusal = decoded["finish"] == "refusal";
            let got = match verdict {
                Ok(_) => "whole",
                Err(failure) if failure.class == Class::Policy => "policy",
                Err(_) => "failed",
            };
            Some((
                json!(if refusal {
                    "policy"
                } else if failed {
                    "failed"
                } else {
                    "whole"
                }),
                json!(got),
            ))
        }
        "pieces" => Some((json!(true), json!(got.steady))),
        _ => None,
    }
}

/// Input with what was cached, output with reasoning, and what was read from a cache.
fn counts(dialect: Dialect, usage: &Map<String, Value>) -> Value {
    let number = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    match dialect {
        Dialect::Messages => {
            let cached = number("cache_read_input_tokens");
            let input = number("input_tokens") + cached + number("cache_creation_input_tokens");
            json!([input, number("output_tokens"), cached])
        }
        Dialect::Chat => {
            let input = number("prompt_tokens");
            let output = number("completion_tokens").max(number("total_tokens").saturating_sub(input));
            let details = usage.get("prompt_tokens_details").and_then(|d| d["cached_tokens"].as_u64());
            json!([input, output, details.unwrap_or(0).min(input)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_a_miss() {
        let folder = std::env::temp_dir().join(format!("switchback-wire-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("wire")).unwrap();
        let body = json!({"id": "m", "type": "message", "model": "c", "content": [{"type": "text", "text": "Hi"}],
            "stop_reason": "end_turn", "usage": {"input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 1}});
        std::fs::write(folder.join("wire/a.json"), body.to_string()).unwrap();
        let misses = |decoded: Value| {
            let exchange = json!({"id": "a", "kind": "anthropic.messages", "response": "a.json", "decoded": decoded});
            let reports = measure(&folder, &json!({"exchanges": [exchange]}).to_string()).unwrap();
            let misses = |r: &&Report| r.cases.iter().any(|c| c.miss.is_some());
            reports.iter().filter(misses).map(|r| r.measure).collect::<Vec<_>>()
        };
        let usage = json!({"input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 1});
        let right = json!({"text": "Hi", "finish": "end_turn", "usage": usage});
        let wrong = json!({"text": "Ho", "tool_calls": [{"id": "t"}], "finish": "max_tokens", "usage": {}});
        assert!(misses(right).is_empty());
        assert_eq!(misses(wrong), ["text", "tools", "finish", "usage"]);
        assert_eq!(misses(json!({"text": "Hi", "error": {"message": "x"}})), ["whole"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
