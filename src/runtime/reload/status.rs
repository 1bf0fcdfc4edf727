//! Where reloading stands, for `/readyz`, `/metrics` and the log.
//!
//! In: what came of a look. Out: plain values, with findings in the form of `check --format json`. Never
//! decides whether a policy serves.

use crate::diag::render::json::{Finding, Place, Severity};
use std::path::Path;

/// How the last look at a policy set that was not the one before ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct ReloadStatus {
    /// Whether what is on disk is what serves.
    pub ok: bool,
    /// When it came to be so, in milliseconds of wall time since 1970.
    pub at_ms: u64,
    /// Why what is on disk does not serve; empty where it does.
    pub diagnostics: Vec<Finding>,
}

impl ReloadStatus {
    /// What is on disk serves, since `at_ms`.
    pub fn good(at_ms: u64) -> ReloadStatus {
        ReloadStatus { ok: true, at_ms, diagnostics: Vec::new() }
    }
}

/// Something that keeps a policy without errors from serving, and has no better place than the whole set: `unreadable`,
/// `not-applied`, `internal`.
pub fn plain(code: &'static str, message: String, root: &Path) -> Finding {
    let file = root.display().to_string();
    Finding {
        code,
        name: code,
        level: Severity::Error,
        message,
        place: Place { file, line: 1, column: 1, end_line: 1, end_column: 1 },
        labels: Vec::new(),
        help: None,
        fix: None,
    }
}

/// One line for the log: place, code, message.
pub fn line(finding: &Finding) -> String {
    let Place { file, line, column, .. } = &finding.place;
    format!("{file}:{line}:{column}: {} {}", finding.code, finding.message)
}
