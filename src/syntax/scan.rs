//! The first look at a text: where lines begin, where brackets and semicolons stand, which strings are never closed.
//!
//! In: text. Out: marks in order, and the ends that unclosed strings are given. It knows strings and comments only so
//! far that a bracket inside them is none. Linear; never fails; reports nothing itself.

/// A kind of bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// `{ }`
    Brace,
    /// `[ ]`
    Square,
    /// `( )`
    Round,
}

impl Bracket {
    /// The opening character.
    pub(super) fn opener(self) -> char {
        match self {
            Bracket::Brace => '{',
            Bracket::Square => '[',
            Bracket::Round => '(',
        }
    }

    /// The closing character.
    pub(super) fn closer(self) -> char {
        match self {
            Bracket::Brace => '}',
            Bracket::Square => ']',
            Bracket::Round => ')',
        }
    }
}

/// Something that matters to the nesting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Its byte offset.
    pub(super) at: usize,
    /// The end of the content before it, comments and white space left out.
    pub(super) before: usize,
    /// What it is.
    pub(super) kind: MarkKind,
}

/// What a mark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// The first content of a line.
    Line {
        /// Its indentation in columns; a tab counts as two.
        indent: usize,
        /// Whether it is a closing bracket.
        closes: bool,
        /// Whether the content before ends with a comma or an opening bracket, so that a list goes on here.
        carried: bool,
    },
    /// An opening bracket.
    Open(Bracket),
    /// A closing bracket.
    Close(Bracket),
    /// `;`
    Semicolon,
    /// The end of the text.
    End,
}

/// A string that its line does not close.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unclosed {
    /// Its opening quote.
    pub(super) at: usize,
    /// Where it is taken to end: before closing brackets and semicolons that end its line.
    pub(super) end: usize,
    /// A backslash that would escape the quote put at `end`.
    pub(super) backslash: Option<usize>,
}

/// What the first look finds.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// In the order of the text; the last is [`MarkKind::End`].
    pub(super) marks: Vec<Mark>,
    /// In the order of the text.
    pub(super) strings: Vec<Unclosed>,
}

/// Looks through a text.
pub(super) fn scan(text: &str) -> Scan {
    let mut out = Scan::default();
    let (mut at, mut before, mut indent) = (0, 0, 0);
    let (mut fresh, mut carried) = (true, false);
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let mut end = at + c.len_utf8();
        let kind = match c {
            '\n' => {
                (fresh, indent, at) = (true, 0, end);
                continue;
            }
            ' ' | '\t' | '\r' | '\u{FEFF}' => {
                indent += if c == '\t' { 2 } else { 1 };
                at = end;
                continue;
            }
            '#' => {
                let rest = text.get(at..).unwrap_or("");
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            '"' => {
                end = string(text, at, &mut out.strings);
                None
            }
            '{' => Some(MarkKind::Open(Bracket::Brace)),
            '[' => Some(MarkKind::Open(Bracket::Square)),
            '(' => Some(MarkKind::Open(Bracket::Round)),
            '}' => Some(MarkKind::Close(Bracket::Brace)),
            ']' => Some(MarkKind::Close(Bracket::Square)),
            ')' => Some(MarkKind::Close(Bracket::Round)),
            ';' => Some(MarkKind::Semicolon),
            _ => None,
        };
        if fresh {
            fresh = false;
            let closes = matches!(kind, Some(MarkKind::Close(_)));
            out.marks.push(Mark { at, before, kind: MarkKind::Line { indent, closes, carried } });
        }
        if let Some(kind) = kind {
            out.marks.push(Mark { at, before, kind });
        }
        carried = matches!(c, ',' | '[' | '(' | '{');
        (at, before) = (end, end);
    }
    out.marks.push(Mark { at: text.len(), before, kind: MarkKind::End });
    out
}

/// Where a text whose brackets match may be cut in pieces of about `size` bytes, each to be read by itself: where a line
/// begins at the top level, and the line before ends with a block.
pub(super) fn cuts(text: &str, marks: &[Mark], size: usize) -> Vec<usize> {
    let (mut cuts, mut depth, mut last) = (Vec::new(), 0_usize, 0);
    for mark in marks {
        match mark.kind {
            MarkKind::Open(_) => depth += 1,
            MarkKind::Close(_) => depth = depth.saturating_sub(1),
            MarkKind::Line { .. } if depth == 0 && mark.at >= last + size => {
                let ended = text.get(..mark.before).is_some_and(|above| above.ends_with('}'));
                let line = text.get(mark.before..mark.at).and_then(|between| between.find('\n'));
                let cut = line.filter(|_| ended).map(|line| mark.before + line + 1);
                // Only at the beginning of a file is a mark of the byte order one.
                let cut = cut.filter(|cut| !text.get(*cut..).is_some_and(|rest| rest.starts_with('\u{FEFF}')));
                if let Some(cut) = cut {
                    cuts.push(cut);
                    last = cut;
                }
            }
            MarkKind::Line { .. } | MarkKind::Semicolon | MarkKind::End => {}
        }
    }
    cuts
}

/// The end of the string that begins at `at`; notes it when its line does not close it.
fn string(text: &str, at: usize, unclosed: &mut Vec<Unclosed>) -> usize {
    let body = at + 1;
    let rest = text.get(body..).unwrap_or("");
    let mut escaped = false;
    let mut length = rest.len();
    for (i, b) in rest.bytes().enumerate() {
        match b {
            b'"' if !escaped => return body + i + 1,
            b'\n' => {
                length = i;
                break;
            }
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    // A comment at the line's end was hardly meant to be quoted.
    let length = rest.get(..length).and_then(|line| line.find(" #")).unwrap_or(length);
    let kept = rest.get(..length).unwrap_or("").trim_end_matches([' ', '\t', '\r', ';', '}', ']', ')']);
    let slashes = kept.bytes().rev().take_while(|b| *b == b'\\').count();
    let end = body + kept.len();
    unclosed.push(Unclosed { at, end, backslash: (slashes % 2 == 1).then(|| end - 1) });
    end
}
