//! SARIF 2.1.0: one run, a rule for each code that was found, fixes as replacements.
//!
//! Columns count Unicode characters, which the run says. Files are relative URIs, as they were named.

use super::{Run, region};
use crate::diag::{Code, Diagnostic, Entry, Level};
use crate::source::{Sources, Span};
use serde_json::{Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log of a run.
///
/// # Errors
/// When it cannot be written as JSON, which no text of a policy brings about.
pub fn sarif(run: &Run<'_>) -> Result<String, serde_json::Error> {
    let mut codes: Vec<Code> = run.findings().map(|(_, diagnostic)| diagnostic.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let results: Vec<Value> = run.findings().map(|(sources, diagnostic)| result(diagnostic, sources, &codes)).collect();
    let notes: Vec<Value> =
        run.failures.iter().map(|text| json!({ "level": "error", "message": { "text": text } })).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "switchback",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(code.entry())).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": run.failures.is_empty(),
                "toolExecutionNotifications": notes,
            }],
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&log).map(|text| text + "\n")
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Advice => "note",
    }
}

fn rule(entry: &Entry) -> Value {
    // The page's first paragraph says what the code is about.
    let about = entry.page.split("\n\n").nth(1).unwrap_or(entry.name).replace('\n', " ");
    json!({
        "id": entry.id,
        "name": entry.name,
        "shortDescription": { "text": about },
        "help": { "text": entry.page, "markdown": entry.page },
        "defaultConfiguration": { "level": level(entry.level) },
    })
}

fn result(diagnostic: &Diagnostic, sources: &Sources, codes: &[Code]) -> Value {
    let entry = diagnostic.entry();
    let text = match diagnostic.help.as_str() {
        "" => diagnostic.message.clone(),
        help => format!("{}\n{help}", diagnostic.message),
    };
    let mut result = json!({
        "ruleId": entry.id,
        "ruleIndex": codes.binary_search(&diagnostic.code).unwrap_or_default(),
        "level": level(entry.level),
        "message": { "text": text },
        "locations": [location(diagnostic.span, sources, Some(&diagnostic.here))],
    });
    let Some(members) = result.as_object_mut() else { return result };
    if !diagnostic.labels.is_empty() {
        let labels = diagnostic.labels.iter();
        let related: Vec<Value> = labels.map(|l| location(l.span, sources, Some(&l.message))).collect();
        members.insert("relatedLocations".to_owned(), Value::Array(related));
    }
    if let Some(fix) = &diagnostic.fix {
        let replacement = json!({
            "deletedRegion": place(fix.span, sources),
            "insertedContent": { "text": fix.text },
        });
        let change = json!({ "artifactLocation": artifact(fix.span, sources), "replacements": [replacement] });
        let fix = json!({ "description": { "text": fix.title }, "artifactChanges": [change] });
        members.insert("fixes".to_owned(), json!([fix]));
    }
    result
}

fn location(span: Span, sources: &Sources, says: Option<&String>) -> Value {
    let physical = json!({ "artifactLocation": artifact(span, sources), "region": place(span, sources) });
    match says.filter(|text| !text.is_empty()) {
        Some(text) => json!({ "physicalLocation": physical, "message": { "text": text } }),
        None => json!({ "physicalLocation": physical }),
    }
}

fn artifact(span: Span, sources: &Sources) -> Value {
    json!({ "uri": uri(sources.locate(span).0) })
}

fn place(span: Span, sources: &Sources) -> Value {
    let place = region(span, sources);
    json!({
        "startLine": place.line, "startColumn": place.column, "endLine": place.end_line, "endColumn": place.end_column,
    })
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => out.push(char::from(byte)),
            b'\\' => out.push('/'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
