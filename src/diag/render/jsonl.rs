//! One JSON object a line: a diagnostic each, as in the `json` document, then a line for each failure of the run itself.

use super::Run;
use super::json::{Finding, finding};
use serde::Serialize;

/// A line.
#[derive(Serialize)]
#[serde(untagged)]
enum Line {
    Finding(Box<Finding>),
    Failure { failure: String },
}

/// The lines of a run; nothing at all where there is nothing to say.
///
/// # Errors
/// When one cannot be written as JSON, which no text of a policy brings about.
pub fn jsonl(run: &Run<'_>) -> Result<String, serde_json::Error> {
    let findings = run.findings().map(|(sources, diagnostic)| Line::Finding(Box::new(finding(diagnostic, sources))));
    let failures = run.failures.iter().map(|failure| Line::Failure { failure: failure.clone() });
    findings.chain(failures).map(|line| serde_json::to_string(&line).map(|text| text + "\n")).collect()
}
