//! Where reloading stands, for `/readyz`, `/metrics` and the log.
//!
//! In: diagnostics and the sources they point into. Out: plain values with places for people, which need neither. Never
//! decides whether a policy serves.

use crate::diag::{Diagnostic, Level};
use crate::source::{Place, Sources};
use std::fmt;
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

/// One reason why a policy was rejected. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Finding {
    /// The registry's code, or what kept a policy without errors from serving: `unreadable`, `not-applied`, `internal`.
    pub code: String,
    /// The code's name.
    pub name: String,
    /// Always `error`: nothing less rejects a policy.
    pub level: String,
    /// What is wrong.
    pub message: String,
    /// The file.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// Its first column.
    pub column: u32,
    /// Its last line.
    pub end_line: u32,
    /// One past its last column.
    pub end_column: u32,
    /// The next step.
    pub help: String,
}

impl Finding {
    /// A diagnostic with its place looked up.
    pub fn of(diagnostic: &Diagnostic, sources: &Sources) -> Finding {
        let (file, start) = sources.locate(diagnostic.span);
        let end = sources.get(diagnostic.span.file).map_or(start, |f| f.place(diagnostic.span.end));
        let entry = diagnostic.entry();
        Finding {
            code: entry.id.into(),
            name: entry.name.into(),
            level: Level::Error.word().into(),
            message: diagnostic.message.clone(),
            file: file.into(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            help: diagnostic.help.clone(),
        }
    }

    /// Something that has no better place than the whole set.
    pub fn plain(code: &str, message: String, root: &Path) -> Finding {
        let Place { line, column } = Place { line: 1, column: 1 };
        Finding {
            code: code.into(),
            name: code.into(),
            level: Level::Error.word().into(),
            message,
            file: root.display().to_string(),
            line,
            column,
            end_line: line,
            end_column: column,
            help: String::new(),
        }
    }
}

impl fmt::Display for Finding {
    /// One line: place, code, message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {} {}", self.file, self.line, self.column, self.code, self.message)
    }
}
