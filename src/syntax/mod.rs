//! From text to a loose, lossless tree, and back to well-laid-out text.
//!
//! In: a source. Out: a [`Tree`] and what is wrong with its shape. It knows brackets, words and values, and not one
//! keyword: what a word means is asked by `check`. It cannot fail: each text has a tree.

mod brackets;
mod conflict;
mod foreign;
mod format;
mod guard;
mod hidden;
mod odd;
mod pest;
mod repair;
mod same;
mod scan;
pub mod settings;
mod shape;
mod splice;
pub mod tree;

pub use format::format;
pub use hidden::is_hidden;
pub use same::says_the_same;
pub use splice::reparse;
pub use tree::Tree;

use crate::diag::{Code, Diagnostic};
use crate::source::Source;
use std::collections::BTreeSet;

/// How many findings tell of the shape of one line.
const MOST_ON_A_LINE: usize = 2;

/// Reads a text. The tree holds all that could be read; the diagnostics, in the order of the text, say what could not.
pub fn parse(source: &Source) -> (Tree, Vec<Diagnostic>) {
    let (repaired, mended) = guard::guard(source);
    let (tree, found) = pest::read(source, &repaired);
    (tree, untangle(source, mended, found))
}

/// Brackets of one line that do not fit are one tangle: what the grammar then misses on that line was never more than a
/// guess. Of whatever kind, two findings tell of the shape of a line.
fn untangle(source: &Source, mended: Vec<Diagnostic>, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let line = |d: &Diagnostic| source.place(d.span.start).line;
    let tangled: BTreeSet<u32> = mended.iter().filter(|d| d.code.mends_brackets()).map(line).collect();
    let found = found.into_iter().filter(|d| !tangled.contains(&line(d)));
    let mut kept: Vec<Diagnostic> = Vec::new();
    for diagnostic in crate::diag::in_order(mended.into_iter().chain(found).collect()) {
        let mut before = kept.iter().rev().take_while(|other| line(other) == line(&diagnostic));
        if before.clone().count() < MOST_ON_A_LINE && !before.any(|other| swallows(source, other)) {
            join(&mut kept, diagnostic);
        }
    }
    kept
}

/// Adds a finding, unless the one before says the same of the same place: then only what else that one points at.
fn join(kept: &mut Vec<Diagnostic>, diagnostic: Diagnostic) {
    match kept.last_mut() {
        Some(last)
            if (last.code, last.span, &last.message) == (diagnostic.code, diagnostic.span, &diagnostic.message) =>
        {
            last.labels.extend(diagnostic.labels);
        }
        Some(_) | None => kept.push(diagnostic),
    }
}

/// Whether a finding is about text that takes the rest of its line with it.
pub fn swallows(source: &Source, found: &Diagnostic) -> bool {
    found.code == Code::StrayText && shape::runs_on(source.slice(found.span))
}

#[cfg(test)]
mod tests;
