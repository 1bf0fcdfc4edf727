//! From trees to a checked policy: names, units, types, contracts, lints.
//!
//! In: all trees of a set. Out: a [`Checked`] policy, if nothing is an error, and everything that is wrong, found in
//! one run. A broken piece is unknown, and whoever meets it stays silent. Never reads files, clock or environment.

mod allow;
pub mod context;
pub mod cursor;
mod draft;
pub mod fields;
pub mod guard;
pub mod lint;
mod listing;
pub mod lower;
pub mod names;
pub mod read;
pub mod resolution;
mod secrets;
pub mod value;

pub use draft::Draft;
pub use listing::{ListedBlock, ListedOrigin, ListedSetting, Listing};
pub use resolution::{Origin, Resolved};

use crate::diag::{Diagnostic, Level, has_errors, in_order};
use crate::policy::Policy;
use crate::source::{Sources, Span};
use crate::syntax::{self, Tree};
use context::Context;
use std::collections::BTreeSet;
use std::ops::Deref;

/// A value that was checked and has no errors. Only [`check`] makes one, so whoever takes one need not check again.
#[derive(Clone, Debug)]
pub struct Checked<T>(T);

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Checks a set: the policy, unless something is an error, and all that is wrong, in the order of files and lines.
pub fn check(trees: &[Tree]) -> (Option<Checked<Policy>>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let names = names::collect(trees, &mut found);
    let mut cx = Context::new(&names);
    cx.diagnostics = found;
    look(&mut cx)
}

/// Parses and checks a set: [`syntax::parse`] of each file, then [`check`], with one finding for one mistake.
pub fn check_sources(sources: &Sources) -> (Option<Checked<Policy>>, Vec<Diagnostic>) {
    let (trees, shape) = parse(sources);
    check_parsed(&trees, shape)
}

/// [`check_sources`] of a set whose files were parsed already: `shape` is what parsing said of them.
pub fn check_parsed(trees: &[Tree], shape: Vec<Diagnostic>) -> (Option<Checked<Policy>>, Vec<Diagnostic>) {
    let (policy, found) = check(trees);
    join(policy, shape, found)
}

fn parse(sources: &Sources) -> (Vec<Tree>, Vec<Diagnostic>) {
    let mut shape = Vec::new();
    let trees = sources.iter().map(|source| {
        let (tree, found) = syntax::parse(source);
        shape.extend(found);
        tree
    });
    (trees.collect(), shape)
}

/// What stands where the shape of the text is wrong already is an echo of that, and no second mistake.
fn join(
    policy: Option<Checked<Policy>>,
    shape: Vec<Diagnostic>,
    found: Vec<Diagnostic>,
) -> (Option<Checked<Policy>>, Vec<Diagnostic>) {
    let policy = policy.filter(|_| !has_errors(&shape));
    let places: BTreeSet<Span> = shape.iter().filter(|d| d.level() == Level::Error).map(|d| d.span).collect();
    let mut all = shape;
    all.extend(found.into_iter().filter(|d| !places.contains(&d.span)));
    (policy, in_order(all))
}

/// [`check`], with what each setting came to and why, as far as that is known.
pub fn list(trees: &[Tree]) -> (Option<Checked<Policy>>, Listing, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let names = names::collect(trees, &mut found);
    let mut cx = Context::new(&names);
    cx.diagnostics = found;
    cx.lists = true;
    let (policy, diagnostics) = look(&mut cx);
    (policy, Listing::new(&names, &cx.resolved), diagnostics)
}

fn look(cx: &mut Context<'_>) -> (Option<Checked<Policy>>, Vec<Diagnostic>) {
    let trees = cx.names.trees;
    secrets::scan(trees, &mut cx.diagnostics);
    let draft = draft::lower(cx);
    lint::all(cx, &draft);
    let diagnostics = in_order(allow::apply(trees, std::mem::take(&mut cx.diagnostics)));
    let policy = if has_errors(&diagnostics) { None } else { draft.finish().map(Checked) };
    (policy, diagnostics)
}

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
