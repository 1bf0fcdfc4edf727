//! The report of `check --format json`, as data.
//!
//! In: diagnostics, sources, and what the set is if it can be served. Out: a value whose JSON is fixed by
//! `schemas/check.schema.json`. Lines and columns count from 1, columns in Unicode characters.

use crate::diag::{Diagnostic, Level};
use crate::source::{Sources, Span};
use schemars::JsonSchema;
use serde::Serialize;

/// Everything that was found in one policy set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The version of this form: 1.
    pub version: u32,
    /// The set, if it can be served.
    pub policy: Option<Policy>,
    /// In the order of their places.
    pub diagnostics: Vec<Finding>,
    /// How many there are.
    pub summary: Summary,
}

/// A set that can be served.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Policy {
    /// 64 hexadecimal digits: the same for all texts that decide alike.
    pub hash: String,
    /// The names of its routes.
    pub routes: Vec<String>,
}

/// A piece of a file. The end is one past the last character.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// First line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
}

/// One diagnostic.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// Such as `SB0101`.
    pub code: &'static str,
    /// Such as `unclosed-bracket`.
    pub name: &'static str,
    /// How bad it is.
    pub level: Severity,
    /// What is wrong.
    pub message: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// Places that explain it; the first may be the place itself.
    pub labels: Vec<Label>,
    /// The next step.
    pub help: Option<String>,
    /// A change of text that would do.
    pub fix: Option<Fix>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The set cannot be served.
    Error,
    /// It can be served, and somebody should look.
    Warning,
    /// It could be better.
    Advice,
}

/// A place with a reason.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Label {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What it has to do with the diagnostic.
    pub message: String,
}

/// A change of text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fix {
    /// What it does.
    pub title: String,
    /// What is replaced; an empty place inserts.
    #[serde(flatten)]
    pub place: Place,
    /// The new text.
    pub text: String,
    /// Whether the policy's hash cannot change by it.
    pub safe: bool,
}

/// How many diagnostics there are of each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Advice.
    pub advice: usize,
}

/// The report on a set.
pub fn report(diagnostics: &[Diagnostic], sources: &Sources, policy: Option<Policy>) -> Report {
    let count = |level: Level| diagnostics.iter().filter(|d| d.level() == level).count();
    Report {
        version: 1,
        policy,
        diagnostics: diagnostics.iter().map(|d| finding(d, sources)).collect(),
        summary: Summary { errors: count(Level::Error), warnings: count(Level::Warning), advice: count(Level::Advice) },
    }
}

fn finding(diagnostic: &Diagnostic, sources: &Sources) -> Finding {
    let entry = diagnostic.entry();
    let here = (!diagnostic.here.is_empty()).then_some((diagnostic.span, &diagnostic.here));
    let labels = here.into_iter().chain(diagnostic.labels.iter().map(|label| (label.span, &label.message)));
    Finding {
        code: entry.id,
        name: entry.name,
        level: match entry.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Advice => Severity::Advice,
        },
        message: diagnostic.message.clone(),
        place: place(diagnostic.span, sources),
        labels: labels.map(|(span, message)| Label { place: place(span, sources), message: message.clone() }).collect(),
        help: Some(diagnostic.help.clone()).filter(|help| !help.is_empty()),
        fix: diagnostic.fix.as_ref().map(|fix| Fix {
            title: fix.title.clone(),
            place: place(fix.span, sources),
            text: fix.text.clone(),
            safe: fix.safe,
        }),
    }
}

fn place(span: Span, sources: &Sources) -> Place {
    let (file, start) = sources.locate(span);
    let end = sources.get(span.file).map_or(start, |source| source.place(span.end));
    Place { file: file.to_owned(), line: start.line, column: start.column, end_line: end.line, end_column: end.column }
}
