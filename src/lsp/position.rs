//! Places as editors count them: lines and characters from 0, characters in code units of an agreed encoding.
//!
//! In: a text. Out: byte offsets for positions and positions for byte offsets. A position past the end of its line is
//! the line's end, one past the last line the text's; one inside a character is the character's start. Never fails.

use std::borrow::Cow;

/// What the characters of a position count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units: what holds unless something else is agreed on.
    #[default]
    Utf16,
    /// Unicode characters.
    Utf32,
}

impl Encoding {
    fn width(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

/// A line and a character, both from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character, in the agreed encoding's units.
    pub character: u32,
}

/// Where the lines of a text begin. Lines end with LF, CR LF, or a CR alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// The lines of a text.
    pub fn new(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        Lines { starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The byte offset of a position in the text that the lines are of.
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let line = usize::try_from(position.line).unwrap_or(usize::MAX);
        let Some(start) = self.starts.get(line).copied() else { return text.len() };
        let end = self.starts.get(line.saturating_add(1)).copied().unwrap_or(text.len());
        let whole = text.get(start..end).unwrap_or("");
        let content = whole.trim_end_matches(['\n', '\r']);
        let mut left = usize::try_from(position.character).unwrap_or(usize::MAX);
        for (at, c) in content.char_indices() {
            let width = encoding.width(c);
            if left < width {
                return start + at;
            }
            left -= width;
        }
        start + content.len()
    }

    /// The position of a byte offset; an offset past the end is the end.
    pub fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let before =
            text.get(start..).unwrap_or("").char_indices().take_while(|(at, c)| start + at + c.len_utf8() <= offset);
        let character = before.map(|(_, c)| encoding.width(c)).sum::<usize>();
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position { line: clip(line), character: clip(character) }
    }

    /// The byte offset at which the line of an offset begins.
    pub fn line_start(&self, offset: usize) -> usize {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        self.starts.get(line).copied().unwrap_or(0)
    }
}

/// A change of a text as an editor sends it: a stretch and what replaces it, or the whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// From and to; the whole text where there is none.
    pub range: Option<(Position, Position)>,
    /// The new text.
    pub text: String,
}

/// The text after some changes, each of which counts from what the one before it left. `lines` are the text's, if they
/// are known.
pub fn apply(text: &str, lines: Option<&Lines>, changes: &[Change], encoding: Encoding) -> String {
    let mut text = text.to_owned();
    for (at, change) in changes.iter().enumerate() {
        let Some((from, to)) = change.range else {
            text.clone_from(&change.text);
            continue;
        };
        let own = lines.filter(|_| at == 0).map_or_else(|| Cow::Owned(Lines::new(&text)), Cow::Borrowed);
        let (from, to) = (own.offset(&text, from, encoding), own.offset(&text, to, encoding));
        text.replace_range(from.min(to)..to.max(from), &change.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &str, encoding: Encoding, line: u32, character: u32, offset: usize) {
        let lines = Lines::new(text);
        let position = Position { line, character };
        assert_eq!(lines.offset(text, position, encoding), offset, "{text:?} {position:?} {encoding:?}");
        assert_eq!(lines.position(text, offset, encoding), position, "{text:?} {offset} {encoding:?}");
    }

    #[test]
    fn each_encoding_counts_its_own_units() {
        let text = "aé𝒳b\nc";
        for (encoding, at_b) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4), (Encoding::Utf32, 3)] {
            both(text, encoding, 0, 1, 1);
            both(text, encoding, 0, at_b, 7);
            both(text, encoding, 1, 1, text.len());
        }
    }

    #[test]
    fn every_kind_of_line_end_is_one() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("ab{end}{end}cd");
            both(&text, Encoding::Utf16, 0, 2, 2);
            both(&text, Encoding::Utf16, 1, 0, 2 + end.len());
            both(&text, Encoding::Utf16, 2, 1, 3 + 2 * end.len());
        }
    }

    #[test]
    fn what_lies_outside_is_brought_in() {
        let text = "a😀b\r\nc";
        let lines = Lines::new(text);
        let offset = |line, character| lines.offset(text, Position { line, character }, Encoding::Utf16);
        assert_eq!(offset(0, 2), 1, "inside of a surrogate pair is before it");
        assert_eq!(offset(0, 99), 6, "past a line's end is before its CR LF");
        assert_eq!(offset(9, 0), text.len());
        assert_eq!(lines.position(text, 99, Encoding::Utf16), Position { line: 1, character: 1 });
        assert_eq!(
            lines.position(text, 3, Encoding::Utf16),
            Position { line: 0, character: 1 },
            "inside of a character"
        );
    }

    #[test]
    fn changes_follow_on_each_other() {
        let at = |line, character| Position { line, character };
        let changes = [
            Change { range: Some((at(0, 3), at(0, 4))), text: "c\r\nd".into() },
            Change { range: Some((at(1, 0), at(1, 1))), text: String::new() },
        ];
        assert_eq!(apply("a😀b", None, &changes, Encoding::Utf16), "a😀c\r\n");
        let whole = [Change { range: None, text: "x".into() }];
        assert_eq!(apply("a😀b", None, &whole, Encoding::Utf16), "x");
        let backwards = [Change { range: Some((at(0, 1), at(0, 0))), text: "z".into() }];
        assert_eq!(apply("ab", None, &backwards, Encoding::Utf8), "zb");
    }
}
