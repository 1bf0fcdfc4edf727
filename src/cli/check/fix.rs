//! `--fix`, `--unsafe-fixes` and `--diff`: the changes that diagnostics propose, made.
//!
//! In: sets. Out: the same sets with changed texts, written to their files unless only a diff is wanted. A safe change is
//! believed only after a look: the text must say the same, or the graph's hash must be equal. Changes that overlap are
//! made one after the other, each on the text that the one before left.

use crate::cli::{Io, fmt};
use crate::diag::Fix;
use crate::ready::{Prepared, prepare};
use crate::source::{Source, Sources};
use crate::syntax;
use std::path::Path;

/// How often what a change leaves is looked at again.
const ROUNDS: usize = 10;

/// Makes the changes; returns whether there were any.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn fix(
    sets: &mut [(String, Sources)],
    also_unsafe: bool,
    only_show: bool,
    io: &mut Io,
) -> Result<bool, String> {
    let mut any = false;
    for (_, sources) in sets.iter_mut() {
        let fixed = mended(sources, also_unsafe);
        for (before, after) in sources.iter().zip(fixed.iter()).filter(|(a, b)| a.text != b.text) {
            any = true;
            if only_show {
                io.print(&fmt::diff(&before.name, &before.text, &after.text));
            } else {
                let written = fmt::replace(Path::new(&before.name), &after.text);
                written.map_err(|error| format!("cannot write {}: {error}", before.name))?;
                io.say(&format!("fixed {}", before.name));
            }
        }
        *sources = fixed;
    }
    Ok(any)
}

fn mended(sources: &Sources, also_unsafe: bool) -> Sources {
    let mut now = sources.clone();
    for _ in 0..ROUNDS {
        let prepared = prepare(now.clone());
        let fixes = prepared.diagnostics.iter().filter_map(|d| d.fix.as_ref());
        let Some(next) = fixes.filter(|fix| fix.safe || also_unsafe).find_map(|_| round(&prepared, also_unsafe)) else {
            break;
        };
        now = next;
    }
    now
}

/// The set after all changes of one round that do not touch each other; nothing if none of them can be made.
fn round(prepared: &Prepared, also_unsafe: bool) -> Option<Sources> {
    let mut fixes: Vec<&Fix> = prepared.diagnostics.iter().filter_map(|d| d.fix.as_ref()).collect();
    fixes.retain(|fix| fix.safe || also_unsafe);
    fixes.sort_by_key(|fix| (fix.span, !fix.safe));
    fixes.dedup();
    let mut now = (*prepared.sources).clone();
    let mut changed = false;
    // From the end, so that what is left keeps its place.
    let mut free: Option<crate::source::Span> = None;
    for fix in fixes.iter().rev() {
        let touches = free.is_some_and(|next| next.file == fix.span.file && fix.span.end >= next.start);
        let after = if touches { None } else { apply(&now, fix) };
        let Some(after) = after else { continue };
        if fix.safe && !keeps(&now, &after) {
            continue;
        }
        (now, changed, free) = (after, true, Some(fix.span));
    }
    changed.then_some(now)
}

fn apply(sources: &Sources, fix: &Fix) -> Option<Sources> {
    let at = sources.get(fix.span.file)?;
    let (head, tail) = (at.text.get(..fix.span.start as usize)?, at.text.get(fix.span.end as usize..)?);
    let text = format!("{head}{}{tail}", fix.text);
    Some(sources.with_text(at.id, text))
}

/// Whether two texts of a set are one policy: they read the same, or both are served as the same graph.
fn keeps(before: &Sources, after: &Sources) -> bool {
    let tree = |source: &Source| syntax::parse(source).0;
    let reads = before.iter().zip(after.iter()).all(|(a, b)| syntax::says_the_same(&tree(a), &tree(b)));
    let hash = |sources: &Sources| prepare(sources.clone()).ready.map(|ready| ready.hash().to_owned());
    reads || hash(before).is_some_and(|before| hash(after) == Some(before))
}
