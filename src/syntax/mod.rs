//! From text to a loose, lossless tree, and back to well-laid-out text.
//!
//! In: a source. Out: a [`Tree`] and what is wrong with its shape. It knows brackets, words and values, and not one
//! keyword: what a word means is asked by `check`. It cannot fail: each text has a tree.

mod brackets;
mod format;
mod guard;
mod pest;
mod repair;
mod same;
mod scan;
pub mod settings;
mod shape;
mod splice;
pub mod tree;

pub use format::format;
pub use same::says_the_same;
pub use splice::reparse;
pub use tree::Tree;

use crate::diag::Diagnostic;
use crate::source::Source;

/// Reads a text. The tree holds all that could be read; the diagnostics, in the order of the text, say what could not.
pub fn parse(source: &Source) -> (Tree, Vec<Diagnostic>) {
    let (repaired, mut diagnostics) = guard::guard(source);
    let (tree, found) = pest::read(source, &repaired);
    diagnostics.extend(found);
    (tree, crate::diag::in_order(diagnostics))
}

#[cfg(test)]
mod tests;
