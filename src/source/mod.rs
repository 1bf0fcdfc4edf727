//! Texts with identities, and places in them.
//!
//! In: file names and their contents. Out: `Sources`, the set of files that make one policy set, `Span`s that point
//! into them, and lines and columns for people. Never parses, and reads the disk only in `load`.

mod load;

pub use load::{LoadError, Loaded, MAX_BYTES, load, load_all};

use std::sync::Arc;

/// Which file of a set: an index into [`Sources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A piece of one file, as byte offsets, closed on the left and open on the right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end` in `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { file, start: clip(start), end: clip(end) }
    }

    /// The smallest span that covers both; `other` must be of the same file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A value and the place it was written at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// One policy file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its identity within the set.
    pub id: FileId,
    /// The name shown to people: the path as given, or relative to the set's directory's path as given.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// Byte offset at which each line begins; the first is 0.
    line_starts: Arc<[u32]>,
}

/// A place for people: both count from 1, columns in Unicode characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

impl Source {
    /// A source from its text.
    pub fn new(id: FileId, name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1))
            .map(|n| u32::try_from(n).unwrap_or(u32::MAX))
            .collect::<Vec<_>>();
        Self { id, name: name.into(), text, line_starts: starts.into() }
    }

    /// The line and column of a byte offset; an offset past the end is the end.
    pub fn place(&self, offset: u32) -> Place {
        let line = self.line_starts.partition_point(|start| *start <= offset).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0) as usize;
        let upto = (offset as usize).min(self.text.len());
        let column = self.text.get(start..upto).map_or(0, |s| s.chars().count());
        Place { line: u32::try_from(line).unwrap_or(u32::MAX), column: u32::try_from(column + 1).unwrap_or(u32::MAX) }
    }

    /// The whole lines that a span lies on, without the last one's end.
    pub fn lines(&self, span: Span) -> Span {
        let (start, end) = (span.start as usize, span.end as usize);
        let from = self.text.get(..start).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
        let to = self.text.get(end..).and_then(|tail| tail.find('\n')).map_or(self.text.len(), |at| end + at);
        Span::new(span.file, from, to)
    }

    /// The text of a span, or nothing if it does not lie in this file.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

/// All files of one policy set, sorted by path.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
    partial: bool,
}

impl Sources {
    /// A set made of texts, in the order given.
    pub fn from_texts<N: Into<String>, T: Into<Arc<str>>>(texts: impl IntoIterator<Item = (N, T)>) -> Self {
        let files =
            texts.into_iter().zip(0u32..).map(|((name, text), id)| Source::new(FileId(id), name, text)).collect();
        Self { files, partial: false }
    }

    /// The same, said to be a part of a set of which the rest could not be read: it can be looked at, and never served.
    #[must_use]
    pub fn partial(self) -> Self {
        Self { partial: true, ..self }
    }

    /// Whether a file of the set is missing because it could not be read.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// The same with another text for one file.
    #[must_use]
    pub fn with_text(&self, id: FileId, text: impl Into<Arc<str>>) -> Self {
        let mut changed = self.clone();
        if let Some(file) = changed.files.get_mut(id.0 as usize) {
            *file = Source::new(id, file.name.clone(), text);
        }
        changed
    }

    /// The file of an identity.
    pub fn get(&self, id: FileId) -> Option<&Source> {
        self.files.get(id.0 as usize)
    }

    /// All files.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file at all.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// File name and line of the start of a span, for records and messages.
    pub fn locate(&self, span: Span) -> (&str, Place) {
        self.get(span.file).map_or(("", Place { line: 1, column: 1 }), |f| (f.name.as_str(), f.place(span.start)))
    }
}
