//! Words as rules compare them, and what stands inside a text.
//!
//! In: codes and messages. Out: their normal form, whether they fit a pattern, an error that a message carries inside,
//! codes and statuses that it spells out. Each function reads its text a bounded number of times.

use std::borrow::Cow;

/// Longest word in the normal form, in bytes.
const WORD_BYTES: usize = 96;

/// The normal form of a code or type: letters and digits, in lower case; of a qualified name, as AWS writes them, its
/// last part.
pub(crate) fn normal(word: &str) -> String {
    let word = word.rsplit_once('#').map_or(word, |(_, last)| last);
    let word = word.split_once(":http").map_or(word, |(first, _)| first);
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(WORD_BYTES).collect()
}

/// Whether a word fits a pattern. A `*` at either end stands for anything.
pub(super) fn glob(pattern: &str, word: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(begun)) => word.contains(begun.trim_start_matches('*')),
        (Some(end), None) => word.ends_with(end),
        (None, Some(begin)) => word.starts_with(begin),
        (None, None) => word == pattern,
    }
}

/// Whether a text holds a phrase. A `*` in it stands for anything on the same line, within [`GAP`] bytes; a phrase that
/// ends in a digit ends a number.
pub(crate) fn holds(text: &str, phrase: &str) -> bool {
    let mut parts = phrase.split('*');
    let Some(first) = parts.next() else { return false };
    if !phrase.contains('*') {
        return whole(text, first);
    }
    // A few places where it may begin are tried, so that the time stays linear.
    text.match_indices(first).take(4).any(|(at, _)| {
        let mut rest = text.get(at + first.len()..).unwrap_or_default();
        parts.clone().all(|part| {
            let near = ends(rest, (GAP + part.len(), 0)).0;
            let near = near.split_once('\n').map_or(near, |(line, _)| line);
            let Some(to) = near.find(part) else { return false };
            rest = rest.get(to + part.len()..).unwrap_or_default();
            true
        })
    })
}

fn whole(text: &str, phrase: &str) -> bool {
    if !phrase.ends_with(|c: char| c.is_ascii_digit()) {
        return text.contains(phrase);
    }
    text.match_indices(phrase).any(|(at, _)| {
        let after = text.get(at + phrase.len()..).unwrap_or_default();
        !after.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Which triples of bytes a text holds, so that most phrases need no search: a few bits for each, never a miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Grams(Vec<u64>);

/// Words of 64 bits in the table; a power of two.
const GRAM_WORDS: usize = 512;

impl Grams {
    /// The triples of a text.
    pub(super) fn of(text: &str) -> Grams {
        let mut table = vec![0u64; GRAM_WORDS];
        for triple in text.as_bytes().windows(3) {
            let (word, bit) = place(triple);
            if let Some(word) = table.get_mut(word) {
                *word |= bit;
            }
        }
        Grams(table)
    }

    /// Whether the text may hold a phrase: all triples of its parts are there.
    pub(super) fn may_hold(&self, phrase: &str) -> bool {
        phrase.split('*').all(|part| {
            part.as_bytes().windows(3).all(|triple| {
                let (word, bit) = place(triple);
                self.0.get(word).is_some_and(|w| w & bit != 0)
            })
        })
    }
}

fn place(triple: &[u8]) -> (usize, u64) {
    let number = triple.iter().fold(0u32, |n, b| n << 8 | u32::from(*b));
    let mixed = number.wrapping_mul(0x9E37_79B1) >> 17;
    (mixed as usize / 64 % GRAM_WORDS, 1 << (mixed % 64))
}

/// The beginning and the end of a text, of at most so many bytes each; all of a short text is its beginning.
pub(super) fn ends(text: &str, (head, tail): (usize, usize)) -> (&str, &str) {
    if text.len() <= head.saturating_add(tail) {
        return (text, "");
    }
    let before = |at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let from = before(text.len().saturating_sub(tail));
    (text.get(..before(head)).unwrap_or_default(), text.get(from..).unwrap_or_default())
}

/// Most braces in a message at which an object may begin.
const BRACES: usize = 16;

/// Longest gap that a `*` in a phrase stands for, in bytes.
const GAP: usize = 160;

/// A message, as what is said around an object or list in it, and that object or list.
pub(super) fn embedded(message: &str) -> (&str, Option<&str>) {
    let at = match message.as_bytes().first() {
        Some(b'{' | b'[' | b'"') => Some(0),
        Some(_) | None => message
            .match_indices('{')
            .take(BRACES)
            .map(|(at, _)| at)
            .find(|at| message.get(at + 1..).is_some_and(|rest| rest.trim_start().starts_with(['"', '}']))),
    };
    match at.and_then(|at| Some((message.get(..at)?, message.get(at..)?))) {
        Some((plain, inner)) => (plain, Some(inner)),
        None => (message, None),
    }
}

/// Names in a text that can only be codes: `snake_case`, and `CamelCase` that ends in `Error` or `Exception`.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
    names
        .filter(|name| name.len() > 6)
        .flat_map(|name| [Some(name), name.trim_end_matches('.').rsplit_once('.').map(|(_, part)| part)])
        .flatten()
        .filter(|name| {
            let camel = name.starts_with(|c: char| c.is_ascii_uppercase())
                && (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Failed"));
            camel || (name.contains('_') && !name.contains('.'))
        })
        .take(32)
}

/// Nouns after which a quoted name is one that the caller chose: it may say anything, and says nothing about the error.
const NAMED: &[&str] = &["function", "tool", "schema", "property", "field", "argument", "named", "name", "user"];

/// Longest quoted name that is taken for one, in bytes.
const NAME_BYTES: usize = 96;

/// A text without the names in quotes that a caller chose: `function 'rate_limit'` is no limit.
pub(super) fn without_names(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find(['\'', '"', '`'])) {
        let inside = at + offset + 1;
        at = inside;
        let (before, rest) = (text.get(..inside - 1).unwrap_or_default(), text.get(inside..).unwrap_or_default());
        let quote = text.get(inside - 1..inside).unwrap_or_default();
        // The word before it is looked at first: a text may be nothing but quotes.
        let length = if is_named(before) { ends(rest, (NAME_BYTES, 0)).0.find(quote) } else { None };
        if let Some(length) = length {
            out.push_str(text.get(kept..inside).unwrap_or_default());
            kept = inside + length;
            at = kept + 1;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

fn is_named(before: &str) -> bool {
    let Some(before) = before.strip_suffix([' ', '=']) else { return false };
    let noun = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    NAMED.iter().any(|named| noun.eq_ignore_ascii_case(named))
}

/// Marks after which a text names the status that it stands for.
const STATUS_MARKS: &[&str] =
    &["error code: ", "status code: ", "status code ", "status: ", "status ", "http ", "code: "];

/// The status that a text in lower case says it stands for.
pub(super) fn status(text: &str) -> Option<u16> {
    STATUS_MARKS.iter().find_map(|mark| {
        let at = text.find(mark)? + mark.len();
        let rest = text.get(at..)?;
        let digits = rest.get(..3)?;
        let number: u16 = digits.parse().ok()?;
        let ended = !rest.get(3..).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_alphanumeric()));
        (ended && (400..600).contains(&number)).then_some(number)
    })
}
