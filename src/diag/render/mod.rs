//! Renderers of diagnostics: siblings over one value.
//!
//! In: diagnostics and the sources they point into. Out: text for people, one line each, or data. They never sort,
//! suppress or judge.

mod concise;
mod github;
mod gitlab;
mod human;
pub mod json;
mod jsonl;
mod junit;
mod sarif;

pub use concise::concise;
pub use github::github;
pub use gitlab::gitlab;
pub use human::{human, masked};
pub use json::json;
pub use jsonl::jsonl;
pub use junit::junit;
pub use sarif::sarif;

use super::{Diagnostic, Level};
use crate::source::{Sources, Span};

/// What a run over sets came to, for renderers that print one document of it all.
#[derive(Debug)]
pub struct Run<'a> {
    /// The sets that could be read.
    pub sets: Vec<Set<'a>>,
    /// Why the job, or a part of it, could not be done, a sentence each.
    pub failures: Vec<String>,
    /// The mildest level that fails the run.
    pub fail_on: Level,
}

/// What was found in one set.
#[derive(Debug)]
pub struct Set<'a> {
    /// The path as given.
    pub path: String,
    /// Its texts.
    pub sources: &'a Sources,
    /// In the order of their places.
    pub diagnostics: &'a [Diagnostic],
    /// What the set is, if it can be served.
    pub policy: Option<json::Policy>,
}

impl Run<'_> {
    /// Each diagnostic with the sources that it points into.
    fn findings(&self) -> impl Iterator<Item = (&Sources, &Diagnostic)> {
        self.sets.iter().flat_map(|set| set.diagnostics.iter().map(|diagnostic| (set.sources, diagnostic)))
    }
}

/// A place as numbers, all counted from 1; the end is one past the last character.
struct Region<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

fn region(span: Span, sources: &Sources) -> Region<'_> {
    let (file, start) = sources.locate(span);
    let end = sources.get(span.file).map_or(start, |source| source.place(span.end));
    Region { file, line: start.line, column: start.column, end_line: end.line, end_column: end.column }
}

/// Message and next step in one line.
fn sentence(diagnostic: &Diagnostic) -> String {
    let text = match diagnostic.help.as_str() {
        "" => diagnostic.message.clone(),
        help => format!("{}; {help}", diagnostic.message),
    };
    text.replace(['\n', '\r'], " ")
}

/// How many there are of each level, in words: `2 errors, 1 warning`; empty if there are none.
pub fn count(diagnostics: &[Diagnostic]) -> String {
    let number = |level: Level| diagnostics.iter().filter(|d| d.level() == level).count();
    let words = [(Level::Error, "errors"), (Level::Warning, "warnings"), (Level::Advice, "pieces of advice")];
    let said = words.into_iter().filter_map(|(level, plural)| match number(level) {
        0 => None,
        1 if level == Level::Advice => Some("1 piece of advice".to_owned()),
        1 => Some(format!("1 {}", level.word())),
        n => Some(format!("{n} {plural}")),
    });
    said.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
