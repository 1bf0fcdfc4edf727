//! What is said of a value, a name of the author's own, or a word of the grammar: what it measures, and what its setting
//! means.
//!
//! In: a token of a statement. Out: Markdown, from the value as it is written and from what the statement's setting is
//! said to mean. Never reads a value by other rules than that of its unit.

use super::Hover;
use crate::lsp::roles::{Role, Word};
use crate::lsp::set::Set;
use crate::source::{FileId, Span};
use crate::syntax::tree::TokenKind;

/// What is said of a token that has no meaning of its own.
pub(super) fn hover(set: &mut Set, file: FileId, offset: usize) -> Option<Hover> {
    let (_, tree) = set.file(file)?;
    let holds = |span: Span| span.start as usize <= offset && offset <= span.end as usize;
    let is_value = |kind: TokenKind| matches!(kind, TokenKind::Number | TokenKind::Str | TokenKind::Word);
    let at = tree.tokens.iter().position(|token| is_value(token.kind) && holds(token.span))?;
    let (span, kind) = tree.tokens.get(at).map(|token| (token.span, token.kind))?;
    let text = tree.source.slice(span).to_owned();
    // The setting, action or fact that the value follows on its line.
    let line = tree.source.lines(span);
    let leads = |word: &&Word| {
        word.span.start >= line.start
            && word.span.end <= span.start
            && matches!(word.role, Role::Setting(_) | Role::Verb | Role::Fact)
    };
    // A statement ends at `;` and at a brace.
    let same = |word: &Word| {
        !tree.source.slice(Span::new(file, word.span.end as usize, span.start as usize)).contains([';', '{', '}'])
    };
    let lead = set.words_of(file).iter().rev().find(leads).copied().filter(same);
    let measured = measured(&text).filter(|_| kind == TokenKind::Number);
    let head = match &measured {
        Some(measured) => format!("**{text}**: {measured}"),
        None => format!("**{text}**"),
    };
    let about = lead.and_then(|word| super::of(set, file, word));
    match (about, measured) {
        (None, None) => None,
        (None, Some(_)) => Some(Hover { span, text: head }),
        (Some(about), _) => Some(Hover { span, text: format!("{head}\n\n{about}") }),
    }
}

/// What a number comes to, where that is more than what is written.
fn measured(text: &str) -> Option<String> {
    if let Some(price) = text.strip_suffix("/M") {
        return Some(format!("{price} for a million tokens"));
    }
    let unit = text.find(|c: char| c.is_ascii_alphabetic() || c == '%' || c == '/')?;
    let (number, unit) = text.split_at_checked(unit)?;
    let scaled = |by: u64| {
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits: String = part.chars().chain(std::iter::repeat('0')).take(9).collect();
        let billionths = u128::from(whole.parse::<u64>().ok()?) * 1_000_000_000 + digits.parse::<u128>().ok()?;
        u64::try_from(billionths * u128::from(by) / 1_000_000_000).ok()
    };
    match unit {
        "k" => scaled(1_000).map(grouped),
        "M" => scaled(1_000_000).map(grouped),
        "ms" => scaled(1).map(|ms| format!("{} milliseconds", grouped(ms))),
        "s" => scaled(1_000).map(|ms| format!("{} ms", grouped(ms))),
        "m" => scaled(60_000).map(|ms| format!("{} s", grouped(ms / 1_000))),
        "h" => scaled(3_600_000).map(|ms| format!("{} s", grouped(ms / 1_000))),
        "d" => scaled(86_400_000).map(|ms| format!("{} h", grouped(ms / 3_600_000))),
        "KiB" => scaled(1 << 10).map(|bytes| format!("{} bytes", grouped(bytes))),
        "MiB" => scaled(1 << 20).map(|bytes| format!("{} bytes", grouped(bytes))),
        "x" => Some(format!("{number} times")),
        "%" => Some(format!("{number} in a hundred")),
        _ => None,
    }
}

/// A number with its digits in threes.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}
