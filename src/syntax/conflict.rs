//! Conflicts that a merge left in a text.
//!
//! In: a text. Out: one diagnostic for each conflict, and edits that leave the first of its versions standing, so that
//! the rest of the file is read as it would be after the merge. A line is a marker if it begins with seven signs of one
//! kind, and then ends or goes on with a space: nothing of the language does. Never decides which version is right.

use super::repair::Edit;
use crate::diag::{Code, Diagnostic};
use crate::source::{FileId, Span};

/// How many signs a marker has.
const SIGNS: usize = 7;

/// A marker line, without its line feed.
#[derive(Clone, Copy)]
struct Marker {
    sign: u8,
    start: usize,
    end: usize,
}

/// What the merge left.
pub(super) struct Conflicts {
    /// One for each conflict, or for a marker that belongs to none.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What blanks the markers and the later versions.
    pub(super) edits: Vec<Edit>,
}

/// Looks for conflicts. A text without any costs one pass over its line ends.
pub(super) fn find(text: &str, file: FileId) -> Conflicts {
    let mut found = Conflicts { diagnostics: Vec::new(), edits: Vec::new() };
    let mut open: Vec<Marker> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end_matches(['\n', '\r']).len();
        let marker = sign(line).map(|sign| Marker { sign, start, end });
        start += line.len();
        let Some(marker) = marker else { continue };
        if marker.sign == b'<' {
            found.close(&open, file);
            open.clear();
        }
        open.push(marker);
        if marker.sign == b'>' {
            found.close(&open, file);
            open.clear();
        }
    }
    found.close(&open, file);
    found
}

/// The sign of a marker line.
fn sign(line: &str) -> Option<u8> {
    let bytes = line.as_bytes();
    let first = *bytes.first().filter(|first| b"<|=>".contains(first))?;
    let signs = bytes.iter().take_while(|byte| **byte == first).count();
    let ends = bytes.get(signs).is_none_or(|next| matches!(next, b' ' | b'\n' | b'\r'));
    (signs == SIGNS && ends).then_some(first)
}

impl Conflicts {
    /// Notes the markers of one conflict, whole or not.
    fn close(&mut self, markers: &[Marker], file: FileId) {
        let (Some(first), Some(last)) = (markers.first(), markers.last()) else { return };
        let span = |marker: &Marker| Span::new(file, marker.start, marker.end);
        let is_whole = first.sign == b'<' && last.sign == b'>' && markers.iter().any(|marker| marker.sign == b'=');
        let mut diagnostic = if is_whole {
            Diagnostic::new(Code::MergeConflict, span(first), "a merge left two versions of these lines")
                .here("one version begins here")
                .help("write what is right of both and remove the lines of the markers, then `git add` the file")
        } else {
            Diagnostic::new(Code::MergeConflict, span(first), "a merge left a line of its own here")
                .help("remove the line, and look whether both versions of what is around it are still there")
        };
        for marker in markers.iter().skip(1) {
            let says = match marker.sign {
                b'=' => "the other version begins here",
                b'|' => "what both began with",
                b'>' => "it ends here",
                _ => continue,
            };
            diagnostic = diagnostic.label(span(marker), says);
        }
        self.diagnostics.push(diagnostic);
        match markers.iter().find(|marker| marker.sign != b'<').filter(|_| is_whole) {
            Some(second) => {
                self.edits.push(Edit::Blank(first.start, first.end));
                self.edits.push(Edit::Blank(second.start, last.end));
            }
            None => self.edits.extend(markers.iter().map(|marker| Edit::Blank(marker.start, marker.end))),
        }
    }
}
