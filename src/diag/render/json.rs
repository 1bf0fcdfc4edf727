//! The document of `check --format json`, as data: always one, whatever was found and whatever failed.
//!
//! In: a run over sets. Out: a value whose JSON is fixed by `schemas/check.schema.json`. Lines and columns count from 1,
//! columns in Unicode characters.

use super::Run;
use crate::diag::{Diagnostic, Level};
use crate::source::{Sources, Span};
use schemars::JsonSchema;
use serde::Serialize;

/// What came of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document {
    /// The version of this form: 1.
    pub version: u32,
    /// The set, if one was asked for and it can be served; where several were asked for, see `sets`.
    pub policy: Option<Policy>,
    /// Of all sets, in the order given, and in each in the order of their places.
    pub diagnostics: Vec<Finding>,
    /// How many diagnostics there are.
    pub summary: Summary,
    /// One for each set that could be read, in the order given.
    pub sets: Vec<Report>,
    /// Why the job, or a part of it, could not be done: paths that cannot be read, wrong flags.
    pub failures: Vec<String>,
}

/// What came of one policy set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The path as given.
    pub path: String,
    /// The set, if it can be served.
    pub policy: Option<Policy>,
    /// How many diagnostics there are in it.
    pub summary: Summary,
}

/// A set that can be served.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Policy {
    /// 64 hexadecimal digits: the same for all texts that decide alike.
    pub hash: String,
    /// The names of its routes.
    pub routes: Vec<String>,
}

/// A piece of a file. The end is one past the last character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Label {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What it has to do with the diagnostic.
    pub message: String,
}

/// A change of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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

/// The document of a run.
pub fn document(run: &Run<'_>) -> Document {
    let sets: Vec<Report> = run.sets.iter().map(|set| report(set)).collect();
    let diagnostics: Vec<Finding> = run.findings().map(|(sources, diagnostic)| finding(diagnostic, sources)).collect();
    let summary = Summary::of(run.findings().map(|(_, diagnostic)| diagnostic));
    let policy = match &sets[..] {
        [only] => only.policy.clone(),
        _ => None,
    };
    Document { version: 1, policy, diagnostics, summary, sets, failures: run.failures.clone() }
}

fn report(set: &super::Set<'_>) -> Report {
    Report {
        path: set.path.clone(),
        policy: set.policy.as_ref().map(|policy| Policy { hash: policy.hash.clone(), routes: policy.routes.clone() }),
        summary: Summary::of(set.diagnostics),
    }
}

impl Summary {
    fn of<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Summary {
        diagnostics.into_iter().fold(Summary::default(), |mut sum, diagnostic| {
            match diagnostic.level() {
                Level::Error => sum.errors += 1,
                Level::Warning => sum.warnings += 1,
                Level::Advice => sum.advice += 1,
            }
            sum
        })
    }
}

/// The document as text, one line of it and a line feed.
///
/// # Errors
/// When it cannot be written as JSON, which no text of a policy brings about.
pub fn json(run: &Run<'_>) -> Result<String, serde_json::Error> {
    serde_json::to_string(&document(run)).map(|text| text + "\n")
}

/// One diagnostic as data.
pub fn finding(diagnostic: &Diagnostic, sources: &Sources) -> Finding {
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
