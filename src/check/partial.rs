//! What can be said of a set while one of its files could not be read.
//!
//! In: all that was found in the files that could. Out: what holds whatever the others say. What a missing block would
//! undo is left out: names that it may declare, defaults that it may set, and all that is said of the set as a whole.

use super::echo::WHOLE_SET;
use crate::diag::{Code, Diagnostic};
use crate::syntax::Tree;
use crate::syntax::settings::Block;

/// Codes that another file may undo, beside those about the whole set.
const OPEN: [Code; 3] = [Code::UnknownName, Code::TwoBreakers, Code::AllowWithoutEffect];

/// Drops what the files that could not be read may undo.
pub(super) fn certain(trees: &[Tree], found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_open = |d: &Diagnostic| {
        OPEN.contains(&d.code) || WHOLE_SET.contains(&d.code) || d.code == Code::MissingSetting && in_a_route(trees, d)
    };
    found.into_iter().filter(|d| !is_open(d)).collect()
}

/// A route's matrix and budget may stand in a `defaults` block elsewhere.
fn in_a_route(trees: &[Tree], diagnostic: &Diagnostic) -> bool {
    let span = diagnostic.span;
    let tree = trees.iter().find(|tree| tree.source.id == span.file);
    let around =
        tree.and_then(|tree| tree.statements.iter().find(|s| s.span.start <= span.start && span.end <= s.span.end));
    around.is_some_and(|statement| statement.keyword() == Some(Block::Route.word()))
}
