//! Text that the language has no use for where it stands: signs of other languages, and characters that look like its own.
//!
//! In: the text, and in what it stands. Out: a diagnostic with what to write instead, and the item that was meant, so that
//! the rest of the statement can be read. What a keyword says is asked for no other reason.

use super::settings::Block;
use super::shape::is_word;
use super::tree::{ItemKind, Operator};
use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// In what a piece of text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// A guard.
    Guard,
    /// What a test expects.
    Expectation,
    /// A trigger, which compares by this.
    Trigger(Operator),
    /// Where a block's own name, or a reference to one, is due.
    Name,
    /// Anything else.
    Other,
}

/// Words that the name of a block follows.
const NAMING: [&str; 6] = ["to", "of", "by", "send", "extends", "before"];

impl Around {
    /// What the tokens of a statement before a place say of it. `depth` is how many blocks are open.
    pub(super) fn of<'t>(first: Option<&str>, rest: impl Iterator<Item = &'t str>, depth: usize) -> Around {
        let Some(first) = first else { return Around::Name };
        let (mut guarded, mut last, mut more) = (first == "when", first, false);
        for token in rest {
            guarded = token == "when" || guarded && token != "->";
            (last, more) = (token, true);
        }
        match first {
            "expect" if !NAMING.contains(&last) => Around::Expectation,
            "slow" if guarded => Around::Trigger(Operator::Greater),
            "trip" | "rollback" if guarded => Around::Trigger(Operator::AtLeast),
            _ if guarded => Around::Guard,
            "test" | "load" => Around::Other,
            _ if depth == 0 || NAMING.contains(&last) || !more && Block::from_word(first).is_some() => Around::Name,
            _ => Around::Other,
        }
    }
}

/// What is said of text that is no word, and what it was meant to be.
pub(super) fn odd(text: &str, span: Span, around: Around) -> (Diagnostic, Option<ItemKind>) {
    let found = Diagnostic::new(Code::StrayText, span, format!("`{text}` has no meaning here"));
    let write =
        |meant: &str, kind: ItemKind| (found.clone().fix(format!("write `{meant}`"), span, meant, false), Some(kind));
    let is_word = |meant: &str| write(meant, ItemKind::Word(meant.to_owned()));
    let help = match (text, around) {
        ("=", Around::Guard | Around::Expectation) => return write("==", ItemKind::Operator(Operator::Equal)),
        ("=", Around::Trigger(operator)) => return write(operator.text(), ItemKind::Operator(operator)),
        ("=", Around::Name | Around::Other) => {
            "leave it out: a space separates a setting from its value; comparisons are `==`, `<=`, `>=`"
        }
        ("=>", _) => "write `->` for what follows, or `>=` for a comparison",
        ("!", Around::Guard) => return is_word("not"),
        ("!", _) => "write `not`, or `!=` for a comparison",
        ("&&" | "&", Around::Guard) => return is_word("and"),
        ("||" | "|", Around::Guard) => return is_word("or"),
        ("&&" | "&" | "||" | "|", Around::Expectation | Around::Trigger(_)) => {
            "one of them a line: write the other as a statement of its own"
        }
        ("&&" | "&" | "||" | "|", Around::Name | Around::Other) => {
            let found = found.help("write a comma between classes, actions and items of a list");
            return (found.fix("write `,`", span, ",", false), Some(ItemKind::Comma));
        }
        ("-", _) => "a list has its items in `[a, b]`; blocks have one statement a line, without a dash",
        (":", _) => "leave it out: a space separates a setting from its value",
        _ if text.starts_with("//") || text.starts_with("/*") => "comments begin with `#`",
        _ if text.starts_with(['\'', '`']) => "texts stand in double quotes: `\"…\"`",
        _ if text.starts_with('-') => "there are no negative numbers; a name begins with a letter",
        _ if text.starts_with('.') => "write a digit before the point: `0.5s`",
        _ if text.starts_with(|c: char| c.is_control() || c.is_whitespace() || !c.is_ascii()) => {
            let shown: Vec<String> = text.chars().take(3).map(|c| format!("U+{:04X}", u32::from(c))).collect();
            let message = format!("an invisible character stands here: {}", shown.join(" "));
            let found = Diagnostic::new(Code::StrayText, span, message);
            return (found.help("write an ordinary space, or nothing").fix("write a space", span, " ", true), None);
        }
        _ if text.starts_with('/') => {
            "names are letters, digits and `_`, joined by `-` or `.`; texts stand in double quotes"
        }
        _ if text.starts_with('+') => "write the number alone, without a sign",
        _ => "remove it, or put it in double quotes if it is a text",
    };
    (found.help(help), None)
}

/// Characters that keyboards and text programs make of signs of the language.
const SIGNS: [(char, &str, ItemKind); 8] = [
    ('\u{2192}', "->", ItemKind::Arrow),
    ('\u{21D2}', "->", ItemKind::Arrow),
    ('\u{27F6}', "->", ItemKind::Arrow),
    ('\u{279C}', "->", ItemKind::Arrow),
    ('\u{2265}', ">=", ItemKind::Operator(Operator::AtLeast)),
    ('\u{2264}', "<=", ItemKind::Operator(Operator::AtMost)),
    ('\u{2260}', "!=", ItemKind::Operator(Operator::NotEqual)),
    ('\u{FF0C}', ",", ItemKind::Comma),
];

/// What is said of text that begins like a word and is none of the language's making, and what it was meant to be; nothing
/// of a word that is only misspelt.
pub(super) fn foreign(text: &str, span: Span, around: Around) -> Option<(Diagnostic, Option<ItemKind>)> {
    let found = |message: String| Diagnostic::new(Code::StrayText, span, message);
    let first = text.chars().next()?;
    if let Some((_, sign, kind)) = SIGNS.iter().find(|(c, ..)| *c == first) {
        let rest = text.strip_prefix(first).unwrap_or("");
        let only = span.start as usize + first.len_utf8();
        let place = Span::new(span.file, span.start as usize, only);
        let gap = if rest.is_empty() { "" } else { " " };
        let found = found(format!("`{first}` has no meaning here")).here(format!("U+{:04X}", u32::from(first)));
        let found = found.fix(format!("write `{sign}`"), place, format!("{sign}{gap}"), false);
        return Some((found, rest.is_empty().then(|| kind.clone())));
    }
    if ['\u{201C}', '\u{201D}', '\u{2018}', '\u{2019}', '\u{AB}', '\u{BB}'].contains(&first) {
        let found = found(format!("`{text}` is not a name")).here("typographic quotes");
        return Some((found.help("write straight double quotes: `\"`"), None));
    }
    if ['€', '£', '¥'].contains(&first) {
        let amount = text.strip_prefix(first).unwrap_or("");
        let amount = if amount.starts_with(|c: char| c.is_ascii_digit()) { amount } else { "0.05" };
        let found = found(format!("`{text}` is no amount")).here("money is written in dollars");
        let found = found.help(format!("write the amount in dollars, such as `${amount}`"));
        return Some((found, Some(ItemKind::Number(format!("${amount}")))));
    }
    // `failover|stop`, `text&image`
    let parts: Vec<&str> = text.split(['|', '&']).filter(|part| !part.is_empty()).collect();
    let [front, _, ..] = parts.as_slice() else { return None };
    if !parts.iter().all(|part| is_word(part)) || around == Around::Name {
        return None;
    }
    let join = match around {
        Around::Guard if text.contains('&') => " and ",
        Around::Guard => " or ",
        Around::Expectation | Around::Trigger(_) | Around::Name | Around::Other => ", ",
    };
    let meant = parts.join(join);
    let found = found(format!("`{text}` is not a name")).fix(format!("write `{meant}`"), span, meant, false);
    Some((found, Some(ItemKind::Word((*front).to_owned()))))
}
