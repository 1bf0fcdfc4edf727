//! What is wrong with the shape of a statement, and what is kept of it.
//!
//! In: pieces as the grammar found them. Out: items that make sense where they stand, and a diagnostic for each piece
//! that does not. No keyword has a meaning here: whether a word or value is the right one is not asked.

use super::odd::{self, Around};
use super::tree::{Item, ItemKind, TokenKind};
use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// What stands between two commas of a list.
#[derive(Debug, Default)]
pub(super) struct Element {
    /// Its items.
    pub(super) items: Vec<Item>,
    /// The comma after it; the last element has none.
    pub(super) comma: Option<Span>,
}

/// Whether an item joins what stands on both its sides, and how it is written.
fn joint(item: &Item) -> Option<&'static str> {
    match &item.kind {
        ItemKind::Comma => Some(","),
        ItemKind::Arrow => Some("->"),
        ItemKind::Operator(operator) => Some(operator.text()),
        ItemKind::Word(_) | ItemKind::Str(_) | ItemKind::Number(_) | ItemKind::List(_) | ItemKind::Group(_) => None,
    }
}

fn missing(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::MissingItem, span, message)
}

/// Says where commas, arrows and comparisons join nothing, and drops those that only repeat another.
pub(super) fn joints(items: Vec<Item>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Item> {
    let mut kept: Vec<Item> = Vec::with_capacity(items.len());
    for item in items {
        let Some(text) = joint(&item) else {
            kept.push(item);
            continue;
        };
        let Some(last) = kept.last() else {
            diagnostics.push(
                missing(item.span, format!("nothing stands before this `{text}`"))
                    .help(format!("write what belongs before it, or remove the `{text}`")),
            );
            continue;
        };
        let Some(before) = joint(last) else {
            kept.push(item);
            continue;
        };
        diagnostics.push(
            missing(item.span, format!("nothing stands between `{before}` and `{text}`"))
                .label(last.span, format!("after this `{before}`"))
                .help("write what belongs between them, or remove one of them"),
        );
        // Of a comma and something else, the something else is what was meant.
        if last.kind == ItemKind::Comma {
            kept.pop();
            kept.push(item);
        }
    }
    if let Some((last, text)) = kept.last().and_then(|last| Some((last, joint(last)?))) {
        diagnostics.push(
            missing(last.span, format!("nothing stands after this `{text}`"))
                .help(format!("write what belongs after it, or remove the `{text}`")),
        );
        if last.kind == ItemKind::Comma {
            kept.pop();
        }
    }
    kept
}

/// The elements of a list: empty ones are reported and left out; a comma after the last is fine.
pub(super) fn elements(elements: Vec<Element>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Vec<Item>> {
    let mut kept = Vec::with_capacity(elements.len());
    for element in elements {
        let before = diagnostics.len();
        let empty = element.items.is_empty();
        let items = joints(element.items, diagnostics);
        match element.comma {
            Some(comma) if empty => diagnostics.push(
                missing(comma, "nothing stands before this `,`".to_owned())
                    .help("write what belongs before it, or remove the `,`")
                    .fix("remove `,`", comma, "", true),
            ),
            Some(_) | None => {}
        }
        if !items.is_empty() || (diagnostics.len() > before && !empty) {
            kept.push(items);
        }
    }
    kept.retain(|items| !items.is_empty());
    kept
}

/// A block without a head, and the statement above that may be meant.
pub(super) fn headless(open: Span, above: Option<Span>) -> Diagnostic {
    let found = Diagnostic::new(Code::HeadlessBlock, open, "this `{` opens a block without a name");
    match above {
        Some(above) => found
            .label(above, "taken to be the head of the block")
            .help("write the `{` on the line of its head: a statement ends with its line"),
        None => found.help("write what the block is before its `{`, on the same line"),
    }
}

/// A semicolon that ends nothing, given what stands before it.
pub(super) fn semicolon(before: Option<TokenKind>, span: Span) -> Option<Diagnostic> {
    let ends_something = match before {
        None | Some(TokenKind::Open | TokenKind::Semicolon | TokenKind::LineEnd) => false,
        Some(
            TokenKind::Word
            | TokenKind::Str
            | TokenKind::Number
            | TokenKind::Close
            | TokenKind::OpenList
            | TokenKind::CloseList
            | TokenKind::Comma
            | TokenKind::Arrow
            | TokenKind::Operator
            | TokenKind::Comment,
        ) => true,
    };
    (!ends_something).then(|| {
        Diagnostic::new(Code::EmptyStatement, span, "this `;` ends nothing")
            .help("remove it: `;` only stands between statements on one line")
            .fix("remove `;`", span, "", true)
    })
}

/// Semicolons in a row that end nothing.
pub(super) fn semicolons(span: Span) -> Diagnostic {
    Diagnostic::new(Code::EmptyStatement, span, "these `;` end nothing")
        .help("remove them: `;` only stands between statements on one line")
        .fix("remove them", span, "", true)
}

/// A word as it is kept, and a diagnostic if it is neither name nor pattern.
pub(super) fn word(text: &str, span: Span, around: Around, diagnostics: &mut Vec<Diagnostic>) -> Option<ItemKind> {
    if is_word(text) {
        return Some(ItemKind::Word(text.to_owned()));
    }
    if let Some((found, meant)) = odd::foreign(text, span, around) {
        diagnostics.push(found);
        return meant;
    }
    let found = Diagnostic::new(Code::StrayText, span, format!("`{text}` is not a name"));
    if let Some(name) = text.strip_suffix(':').filter(|name| is_word(name)) {
        let colon = Span { start: span.end.saturating_sub(1), ..span };
        diagnostics.push(
            found
                .here("a name does not end with `:`")
                .help(format!("write `{name}` without the colon: a space separates a setting from its value"))
                .fix("remove `:`", colon, "", true),
        );
        return Some(ItemKind::Word(name.to_owned()));
    }
    let found = found.here("names have letters, digits and `_`, in parts joined by single `-` or `.`");
    diagnostics.push(match (around, as_name(text)) {
        // No block is called by a text in quotes.
        (Around::Name, Some(name)) => found.fix(format!("write `{name}`"), span, name, false),
        (Around::Name, None) => found.help("a name begins with a letter, and has no other characters in it"),
        (Around::Guard | Around::Expectation | Around::Trigger(_) | Around::Other, _) => found
            .help(format!("write it in double quotes if it is a text: `\"{text}\"`"))
            .fix("put it in quotes", span, format!("\"{text}\""), false),
    });
    Some(ItemKind::Word(text.to_owned()))
}

/// The name that is nearest to a text: `mid-llama` for `mid/llama`.
fn as_name(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let parts =
        lower.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).filter(|part| !part.is_empty());
    let name = parts.collect::<Vec<_>>().join("-");
    (is_word(&name) && name.starts_with(|c: char| c.is_ascii_lowercase())).then_some(name)
}

/// Whether a text is a name, a pattern, or a name of the environment.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '*')
        && text
            .split(['-', '.'])
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'*'))
}

/// Whether text that the language has no use for goes on to the end of its line, as comments of other languages do, and
/// texts in other quotes.
pub(super) fn runs_on(text: &str) -> bool {
    let quotes = [('\'', '\''), ('`', '`'), ('\u{201C}', '\u{201D}'), ('\u{2018}', '\u{2019}'), ('\u{AB}', '\u{BB}')];
    let open = quotes.iter().find(|(open, _)| text.starts_with(*open));
    text.starts_with("//")
        || text.starts_with("/*")
        || open.is_some_and(|(_, close)| text.chars().count() < 2 || !text.ends_with(*close))
}

/// The text of a quoted string, its escapes undone. A bad escape is kept as written.
pub(super) fn string(quoted: &str, span: Span, diagnostics: &mut Vec<Diagnostic>) -> String {
    let body = quoted.strip_prefix('"').unwrap_or(quoted);
    let body = body.strip_suffix('"').unwrap_or(body);
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let offset = body.len() - escape.len();
        let (value, length) = unescape(escape);
        match value {
            Ok(c) => out.push(c),
            Err(why) => {
                let written = escape.get(..length).unwrap_or(escape);
                let start = span.start as usize + offset;
                let place = Span::new(span.file, start, start + 1 + length);
                diagnostics.push(
                    Diagnostic::new(Code::BadEscape, place, format!("`\\{written}` is no escape"))
                        .here(why)
                        .help("escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{…}`; write `\\\\` for a backslash"),
                );
                out.push('\\');
                out.push_str(written);
            }
        }
        rest = escape.get(length..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

/// The character that an escape stands for, and how many bytes it has after the backslash.
fn unescape(text: &str) -> (Result<char, &'static str>, usize) {
    let Some(first) = text.chars().next() else { return (Err("nothing follows the backslash"), 0) };
    match first {
        '"' | '\\' => (Ok(first), 1),
        'n' => (Ok('\n'), 1),
        't' => (Ok('\t'), 1),
        'u' => {
            let Some((digits, _)) = text.strip_prefix("u{").and_then(|rest| rest.split_once('}')) else {
                return (Err("hexadecimal digits in `{}` are due after `\\u`"), 1);
            };
            let digits_are_hex = (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
            let value = u32::from_str_radix(digits, 16).ok().filter(|_| digits_are_hex).and_then(char::from_u32);
            (value.ok_or("this is no Unicode character"), digits.len() + 3)
        }
        other => (Err("this letter has no meaning after a backslash"), other.len_utf8()),
    }
}
