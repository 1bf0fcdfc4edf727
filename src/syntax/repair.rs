//! Edits that make a text's brackets and strings whole, and the way back to the author's offsets.
//!
//! In: a text and edits. Out: the mended text, which alone goes to the grammar, and for each of its offsets the one in
//! the author's text. It decides nothing.

use std::borrow::Cow;

/// A change of text. Blanks keep line feeds, so that lines stay lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Puts a character before the offset.
    Insert(usize, char),
    /// Puts a character in the place of one of the same length.
    Put(usize, char),
    /// Overwrites with spaces.
    Blank(usize, usize),
}

impl Edit {
    fn at(self) -> usize {
        match self {
            Edit::Insert(at, _) | Edit::Put(at, _) | Edit::Blank(at, _) => at,
        }
    }
}

/// A mended text.
#[derive(Debug)]
pub(super) struct Repaired<'a> {
    /// The text.
    pub(super) text: Cow<'a, str>,
    /// Offsets in the mended text of the characters, one byte each, that the author did not write.
    added: Vec<usize>,
    /// Where the mended text may be cut.
    cuts: Vec<usize>,
}

impl<'a> Repaired<'a> {
    /// Applies edits. Those at one offset are applied in the order given; inserts come before what stands there.
    pub(super) fn new(text: &'a str, mut edits: Vec<Edit>) -> Repaired<'a> {
        if edits.is_empty() {
            return Repaired { text: Cow::Borrowed(text), added: Vec::new(), cuts: Vec::new() };
        }
        edits.sort_by_key(|edit| (edit.at(), !matches!(edit, Edit::Insert(..))));
        let mut out = String::with_capacity(text.len() + edits.len());
        let mut added = Vec::new();
        let mut done = 0;
        for edit in edits {
            // Nothing can be put into what an earlier edit has blanked.
            if edit.at() < done {
                continue;
            }
            out.push_str(text.get(done..edit.at()).unwrap_or(""));
            done = edit.at();
            match edit {
                Edit::Insert(_, c) => {
                    added.push(out.len());
                    out.push(c);
                }
                Edit::Put(at, c) => {
                    out.push(c);
                    done = at + c.len_utf8();
                }
                Edit::Blank(at, end) => {
                    for c in text.get(at..end).unwrap_or("").chars() {
                        out.extend(std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8()));
                    }
                    done = end.max(at);
                }
            }
        }
        out.push_str(text.get(done..).unwrap_or(""));
        Repaired { text: Cow::Owned(out), added, cuts: Vec::new() }
    }

    /// The same in pieces.
    pub(super) fn cut(self, cuts: Vec<usize>) -> Repaired<'a> {
        Repaired { cuts, ..self }
    }

    /// The pieces of the mended text, each with its offset.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (usize, &str)> {
        let starts = std::iter::once(0).chain(self.cuts.iter().copied());
        let ends = self.cuts.iter().copied().chain([self.text.len()]);
        starts.zip(ends).filter_map(|(start, end)| Some((start, self.text.get(start..end)?)))
    }

    /// The author's offset for an offset in the mended text.
    pub(super) fn origin(&self, offset: usize) -> usize {
        offset - self.added.partition_point(|added| *added < offset)
    }
}
