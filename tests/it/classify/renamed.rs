//! No answer hangs on a name: with every id, host, model, project and account replaced, each stays what it was.
//!
//! Replaced are, in bodies and events: what stands where a model, an id or a user is named; hosts; and every token that
//! looks like a name with a number, such as `gpt-4o-mini` or `req_0a11`. Codes, which have no digits beside a dash or a
//! slash, stay. The cases are our own, and those of a corpus if `SWITCHBACK_CORPUS` names one.

use super::super::corpus::provider_errors::classify;
use serde_json::{Value, json};

/// Members in which names stand, as they are written in a body.
const NAMED: &[&str] = &["model", "id", "request_id", "user_id", "model_slug", "created_at", "consumer", "item_id"];

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':')
}

/// A name as long as it has to be to be another.
fn other(name: &str, salt: u32) -> String {
    let sum = name.bytes().fold(salt, |sum, b| sum.wrapping_mul(31).wrapping_add(u32::from(b)));
    let letters: String = (0..5).map(|n| char::from(b'a' + u8::try_from(sum >> (n * 5) & 15).unwrap())).collect();
    format!("q{letters}-7{}", sum % 10)
}

fn is_host(token: &str) -> bool {
    let host = token.split('/').next().unwrap_or_default();
    let last = host.rsplit('.').next().unwrap_or_default();
    host.contains('.') && ["com", "net", "org", "io", "ai", "cn", "dev", "x"].contains(&last)
}

fn is_name(token: &str) -> bool {
    let token = token.trim_matches(['.', ':', '/']);
    let digit = token.bytes().any(|b| b.is_ascii_digit());
    let letter = token.bytes().any(|b| b.is_ascii_alphabetic());
    let joined = token.contains(['-', '/', '_']);
    // A date is not a name.
    let date = token.len() >= 10 && token.as_bytes()[..4].iter().all(u8::is_ascii_digit) && token.as_bytes()[4] == b'-';
    let code = token.contains("error.") || token.contains("exception.");
    digit && letter && joined && !date && !code && !token.contains("InputTokens")
}

fn replaced(text: &str, salt: u32) -> String {
    let mut out = String::new();
    for piece in text.split_inclusive(|c: char| !is_name_char(c)) {
        let token = piece.trim_end_matches(|c: char| !is_name_char(c));
        let rest = &piece[token.len()..];
        if let Some(address) = token.split_once("://").map(|(_, a)| a).filter(|a| !a.is_empty()) {
            out.push_str(&token[..token.len() - address.len()]);
            out.push_str(&other(address, salt));
        } else if is_host(token) {
            let path = token.find('/').map_or("", |at| &token[at..]);
            out.push_str(&format!("{}.test{path}", other(token, salt)));
        } else if is_name(token) && token.contains('/') {
            // `models/gemini-2.5-pro`: what kind of thing it is stays.
            let (kind, name) = token.rsplit_once('/').unwrap();
            out.push_str(&format!("{kind}/{}", other(name, salt)));
        } else if is_name(token) {
            out.push_str(&other(token, salt));
        } else {
            out.push_str(token);
        }
        out.push_str(rest);
    }
    for name in NAMED {
        out = members_replaced(&out, &format!("\"{name}\""), salt);
    }
    out
}

/// Replaces the strings that stand as members of a name.
fn members_replaced(text: &str, name: &str, salt: u32) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = rest.split_at(at + name.len());
        out.push_str(before);
        let gap = after.len() - after.trim_start_matches([':', ' ']).len();
        out.push_str(&after[..gap]);
        rest = &after[gap..];
        if gap > 0
            && let Some(value) = rest.strip_prefix('"')
            && let Some(end) = value.find('"').filter(|end| *end > 0)
        {
            out.push_str(&format!("\"{}\"", other(&value[..end], salt)));
            rest = &value[end + 1..];
        }
    }
    out + rest
}

fn renamed(line: &Value, salt: u32) -> Value {
    let mut line = line.clone();
    if let Some(body) = line["body"].as_str() {
        line["body"] = json!(replaced(body, salt));
    }
    for event in line["events"].as_array_mut().into_iter().flatten() {
        *event = json!(replaced(event.as_str().unwrap_or_default(), salt));
    }
    line
}

#[test]
fn names_change_no_answer() {
    let mut text = super::CASES.to_string();
    if let Some(folder) = std::env::var_os("SWITCHBACK_CORPUS") {
        let path = std::path::Path::new(&folder).join("provider-errors.jsonl");
        text.push_str(&std::fs::read_to_string(path).unwrap_or_default());
    }
    let mut touched = 0;
    for line in text.lines().filter(|l| !l.is_empty()) {
        let line: Value = serde_json::from_str(line).unwrap();
        let before = classify(&line).unwrap();
        for salt in [7, 9_001] {
            let renamed = renamed(&line, salt);
            touched += u32::from(renamed != line);
            assert_eq!(before, classify(&renamed).unwrap(), "{} became {renamed}", line["id"]);
        }
    }
    assert!(touched > 100, "{touched}");
}

#[test]
fn names_are_found_and_codes_are_left() {
    let text = r#"{"model":"deepseek-chat","code":"rate_limit_exceeded","message":"see https://api.openai.com/x for gpt-4o-mini, retry at 2026-01-05T10:00:00Z in 4.5s"}"#;
    let found = replaced(text, 1);
    for gone in ["deepseek", "openai", "gpt-4o"] {
        assert!(!found.contains(gone), "{found}");
    }
    for kept in ["rate_limit_exceeded", "2026-01-05T10:00:00Z in 4.5s", "\"model\":\"q"] {
        assert!(found.contains(kept), "{found}");
    }
}
