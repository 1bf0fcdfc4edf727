//! The guard pass: makes brackets and strings whole before the grammar sees the text, and says what was wrong.
//!
//! In: a source. Out: a mended text in which each bracket and string is closed and nests at most [`MAX_DEPTH`] deep,
//! and diagnostics with the opener and the place where the trouble shows. Linear. Never drops text that could be read.

use super::brackets;
use super::conflict::{self, Conflicts};
use super::foreign;
use super::repair::{Edit, Repaired};
use super::scan::{cuts, scan};
use crate::diag::{Code, Diagnostic};
use crate::source::{Source, Span};

/// How deep brackets may nest.
pub(super) const MAX_DEPTH: usize = 64;

/// Largest text that is parsed, in bytes: as much as is read from disk.
pub(super) const MAX_BYTES: usize = crate::source::MAX_BYTES;

/// About how large the pieces are in which a text is read, in bytes.
const PIECE: usize = 32 * 1024;

/// Mends a text.
pub(super) fn guard(source: &Source) -> (Repaired<'_>, Vec<Diagnostic>) {
    let text: &str = &source.text;
    if text.len() > MAX_BYTES {
        let found = Diagnostic::new(
            Code::TextTooLarge,
            Span::new(source.id, 0, 0),
            format!("this file is larger than {} MiB, the most that is read", MAX_BYTES >> 20),
        )
        .help("split it: all `.sbk` files of a directory are one policy set");
        return (Repaired::new("", Vec::new()), vec![found]);
    }
    if let Some(language) = foreign::language(text) {
        let found = Diagnostic::new(
            Code::OtherLanguage,
            Span::new(source.id, 0, 0),
            format!("this file looks like {language}, and not like a policy"),
        )
        .help("write blocks and settings, such as `tier NAME { … }`; `switchback init` writes a first policy");
        return (Repaired::new("", Vec::new()), vec![found]);
    }
    let Conflicts { mut diagnostics, mut edits } = conflict::find(text, source.id);
    let ends = lone_returns(text);
    if let Some(first) = ends.first() {
        diagnostics.push(
            Diagnostic::new(
                Code::LineEnds,
                Span::new(source.id, *first, *first + 1),
                "a line ends with a carriage return alone here",
            )
            .help("save the file with line feeds (LF, \"Unix\") at the ends of its lines"),
        );
        edits.extend(ends.iter().map(|at| Edit::Put(*at, '\n')));
    }
    // Byte for byte as long as the author's text.
    let settled = Repaired::new(text, edits.clone());
    let scan = scan(&settled.text);
    for string in &scan.strings {
        edits.push(Edit::Insert(string.end, '"'));
        edits.extend(string.backslash.map(|at| Edit::Blank(at, at + 1)));
        let end = Span::new(source.id, string.end, string.end);
        diagnostics.push(
            Diagnostic::new(
                Code::UnclosedString,
                Span::new(source.id, string.at, string.end),
                "this string is never closed",
            )
            .here("opened here")
            .label(end, "the line ends without its `\"`")
            .help("close it with `\"`; a string ends on its line, and `\\n` stands for a line feed in it")
            .fix("add `\"`", end, "\"", false),
        );
    }
    let nesting = brackets::mend(&settled.text, &scan.marks, source.id);
    diagnostics.extend(nesting.diagnostics);
    edits.extend(nesting.edits);
    // Of a text that was mended the marks are not the mended text's.
    let cuts = if edits.is_empty() { cuts(text, &scan.marks, PIECE) } else { Vec::new() };
    (Repaired::new(text, edits).cut(cuts), diagnostics)
}

/// Carriage returns without a line feed behind them. Several before a line feed end one line.
fn lone_returns(text: &str) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('\r')).map(|at| from + at) {
        let rest = text.get(at..).unwrap_or("");
        let end = at + rest.len() - rest.trim_start_matches('\r').len();
        if !text.get(end..).is_some_and(|behind| behind.starts_with('\n')) {
            lone.extend(at..end);
        }
        from = end;
    }
    lone
}
