//! From trees to a checked policy: names, units, types, contracts, lints.
//!
//! In: all trees of a set. Out: a [`Checked`] policy, if nothing is an error, and everything that is wrong, found in
//! one run. A broken piece is unknown, and whoever meets it stays silent. Never reads files, clock or environment.

mod alike;
mod allow;
pub mod context;
pub mod cursor;
mod draft;
mod echo;
pub mod edition;
mod elsewhere;
pub mod fields;
pub mod guard;
pub mod lint;
mod listing;
pub mod lower;
mod misnamed;
pub mod names;
mod partial;
pub mod read;
pub mod resolution;
pub mod secrets;
mod stranger;
mod touched;
mod unknown;
pub mod value;

pub use draft::Draft;
pub use listing::{ListedBlock, ListedOrigin, ListedSetting, Listing};
pub use resolution::{Origin, Resolved};
pub use touched::Touched;

use crate::diag::{Code, Diagnostic, has_errors, in_order};
use crate::policy::Policy;
use crate::source::Sources;
use crate::syntax::{self, Tree};
use context::Context;
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
    let mut shape = Vec::new();
    let trees: Vec<_> = sources.iter().map(syntax::parse).collect();
    let trees: Vec<Tree> = trees
        .into_iter()
        .map(|(tree, found)| {
            shape.extend(found);
            tree
        })
        .collect();
    check_parsed(&trees, shape, sources.is_partial())
}

/// [`check_sources`] of a set whose files were parsed already: `shape` is what parsing said of them. Of a `partial` set,
/// a file could not be read.
pub fn check_parsed(
    trees: &[Tree],
    shape: Vec<Diagnostic>,
    partial: bool,
) -> (Option<Checked<Policy>>, Vec<Diagnostic>) {
    let (policy, found) = check(trees);
    let partial = partial || shape.iter().any(|d| matches!(d.code, Code::TextTooLarge | Code::OtherLanguage));
    let policy = policy.filter(|_| !partial && !has_errors(&shape));
    let found = if partial { partial::certain(trees, found) } else { found };
    let mut all = echo::of_shape(trees, &shape, found);
    all.extend(shape);
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
    cx.settle_names();
    lint::all(cx, &draft);
    let found = echo::of_errors(trees, std::mem::take(&mut cx.diagnostics));
    let diagnostics = in_order(echo::of_errors(trees, allow::apply(trees, found)));
    let policy = if has_errors(&diagnostics) { None } else { draft.finish().map(Checked) };
    (policy, diagnostics)
}

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
