//! Formatting as an editor asks for it.
//!
//! In: a file of a set. Out: one change that covers no more than what differs, or nothing where the file is laid out
//! already or cannot be read as a whole. Line ends stay what they are.

use super::fixes::Edit;
use super::set::Set;
use crate::source::{FileId, Source, Span};
use crate::syntax;

/// The change that lays a file out.
pub fn format(set: &Set, file: FileId) -> Option<Edit> {
    let (_, tree) = set.file(file).filter(|_| set.is_whole(file))?;
    let old: &str = &tree.source.text;
    let new = syntax::format(tree);
    let (again, shape) = syntax::parse(&Source::new(file, "", new.as_str()));
    if !shape.is_empty() || !syntax::says_the_same(tree, &again) {
        return None;
    }
    if new == old {
        return None;
    }
    let (start, end) = differing(old, &new);
    let text = new.get(start..new.len() - (old.len() - end))?.to_owned();
    Some(Edit { span: Span::new(file, start, end), text })
}

/// The stretch of `old` without what it has in common with `new` at its beginning and end, cut at lines.
fn differing(old: &str, new: &str) -> (usize, usize) {
    let same: usize = old
        .split_inclusive('\n')
        .zip(new.split_inclusive('\n'))
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len())
        .sum();
    let (old_rest, new_rest) = (old.get(same..).unwrap_or(""), new.get(same..).unwrap_or(""));
    let tail: usize = old_rest
        .split_inclusive('\n')
        .rev()
        .zip(new_rest.split_inclusive('\n').rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len())
        .sum();
    (same, old.len() - tail)
}
