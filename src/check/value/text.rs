//! Names, strings, lists, truths, and words of a fixed choice.
//!
//! In: items. Out: values, or nothing after a diagnostic has said why. Never looks a name up.

use super::{describe, left_over, wrong};
use crate::diag::{Code, Diagnostic, closest};
use crate::policy::contract::Pattern;
use crate::source::{Span, Spanned};
use crate::syntax::tree::{Item, ItemKind};

/// A name: a word without `*`.
pub fn name(item: &Item, out: &mut Vec<Diagnostic>) -> Option<String> {
    match &item.kind {
        ItemKind::Word(word) if !word.contains('*') => Some(word.clone()),
        ItemKind::Word(word) => {
            out.push(
                Diagnostic::new(Code::WrongValue, item.span, format!("`{word}` is a pattern where one name is due"))
                    .here("a pattern")
                    .help("write the one name that is meant"),
            );
            None
        }
        ItemKind::Str(text) if is_name(text) => {
            out.push(wrong(item, "a name").help("names are written without quotes").fix(
                format!("write `{text}`"),
                item.span,
                text.clone(),
                false,
            ));
            None
        }
        ItemKind::Str(_)
        | ItemKind::Number(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => {
            out.push(wrong(item, "a name"));
            None
        }
    }
}

/// Whether a text is a name of the language: `[a-z][a-z0-9_]*([.-][a-z0-9_]+)*`.
pub fn is_name(text: &str) -> bool {
    let inner = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.split(['.', '-']).all(inner)
}

/// A string in quotes.
pub fn string(item: &Item, out: &mut Vec<Diagnostic>) -> Option<String> {
    match &item.kind {
        ItemKind::Str(text) => Some(text.clone()),
        ItemKind::Word(word) => {
            let quoted = format!("\"{word}\"");
            out.push(wrong(item, "a string").help("strings stand in double quotes").fix(
                format!("write `{quoted}`"),
                item.span,
                quoted,
                false,
            ));
            None
        }
        ItemKind::Number(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => {
            out.push(wrong(item, "a string").help("strings stand in double quotes"));
            None
        }
    }
}

/// A name, or a string where no name will do: regions, sessions, clients.
pub fn label(item: &Item, out: &mut Vec<Diagnostic>) -> Option<String> {
    match &item.kind {
        ItemKind::Str(text) => Some(text.clone()),
        ItemKind::Word(word) if has_capitals(word) => {
            out.push(capitals(item, word));
            None
        }
        ItemKind::Word(_)
        | ItemKind::Number(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => name(item, out),
    }
}

fn has_capitals(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// A bare word with capital letters, where a name or a text may stand.
fn capitals(item: &Item, word: &str) -> Diagnostic {
    let quoted = format!("\"{word}\"");
    Diagnostic::new(Code::BadName, item.span, format!("names are in lower case: `{word}`"))
        .here("capital letters outside quotes")
        .help(format!("write `{}`, or `{quoted}` if the capital letters belong to it", word.to_ascii_lowercase()))
        .fix(format!("write `{quoted}`"), item.span, quoted, false)
}

/// A name or a pattern.
pub fn pattern(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Pattern> {
    match &item.kind {
        ItemKind::Word(word) if has_capitals(word) => {
            out.push(capitals(item, word));
            None
        }
        ItemKind::Word(word) | ItemKind::Str(word) => Some(Pattern(word.clone())),
        ItemKind::Number(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => {
            out.push(wrong(item, "a name or a pattern"));
            None
        }
    }
}

/// `[a, b]`: each element one item, read by `element`; broken elements are left out after their diagnostics.
pub fn list<T>(
    item: &Item,
    what: &str,
    out: &mut Vec<Diagnostic>,
    mut element: impl FnMut(&Item, &mut Vec<Diagnostic>) -> Option<T>,
) -> Option<Vec<Spanned<T>>> {
    let ItemKind::List(elements) = &item.kind else {
        let mut diagnostic = wrong(item, what).help("lists stand in brackets: `[a, b]`");
        if let ItemKind::Word(word) = &item.kind {
            let text = format!("[{word}]");
            diagnostic = diagnostic.fix(format!("write `{text}`"), item.span, text, false);
        }
        out.push(diagnostic);
        return None;
    };
    let mut values = Vec::with_capacity(elements.len());
    for one in elements {
        let Some((first, rest)) = one.split_first() else { continue };
        if let Some(value) = element(first, out) {
            values.push(Spanned::new(value, first.span));
        }
        one_each(one, rest, out);
    }
    Some(values)
}

/// Reports what follows the one item of an element of a list: as a rule the comma between two of them is missing.
pub fn one_each(element: &[Item], rest: &[Item], out: &mut Vec<Diagnostic>) {
    let ([first, .., last], Some(next)) = (element, rest.first()) else { return };
    let text = |item: &Item| match &item.kind {
        ItemKind::Word(text) | ItemKind::Number(text) => Some(text.clone()),
        ItemKind::Str(_) => Some(String::new()),
        ItemKind::List(_) | ItemKind::Group(_) | ItemKind::Arrow | ItemKind::Comma | ItemKind::Operator(_) => None,
    };
    let Some(texts) = element.iter().map(text).collect::<Option<Vec<_>>>() else {
        left_over(rest, out);
        return;
    };
    let found = Diagnostic::new(Code::LeftOver, next.span.to(last.span), "a comma is missing in this list")
        .here("an item of its own?");
    let between = Span { start: first.span.end, end: next.span.start, ..next.span };
    out.push(if element.len() == 2 || texts.iter().any(String::is_empty) {
        found.help("write a comma between the items of a list").fix("write `,`", between, ", ", false)
    } else {
        let list = texts.join(", ");
        found.fix(format!("write `{list}`"), first.span.to(last.span), list, false)
    });
}

/// `[a, b]` of names.
pub fn names(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Vec<Spanned<String>>> {
    list(item, "a list of names", out, name)
}

/// `[a, "b"]` of names or strings.
pub fn labels(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Vec<Spanned<String>>> {
    list(item, "a list of names", out, label)
}

/// `[eu-*, us-east]`.
pub fn patterns(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Vec<Spanned<Pattern>>> {
    list(item, "a list of names or patterns", out, pattern)
}

/// `["a", "b"]`.
pub fn strings(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Vec<Spanned<String>>> {
    list(item, "a list of strings", out, string)
}

/// One word of a fixed choice; `what` names the choice, as in "a jitter".
pub fn choice<T: Copy>(
    item: &Item,
    what: &str,
    all: &[T],
    word: fn(T) -> &'static str,
    out: &mut Vec<Diagnostic>,
) -> Option<T> {
    let (ItemKind::Word(text) | ItemKind::Str(text)) = &item.kind else {
        out.push(wrong(item, what).help(format!("one of {}", words(all, word))));
        return None;
    };
    let quoted = matches!(item.kind, ItemKind::Str(_));
    let exact = all.iter().copied().find(|one| word(*one) == text);
    if exact.is_some() && !quoted {
        return exact;
    }
    out.push(unknown_word(text, item.span, what, all.iter().map(|one| word(*one))));
    None
}

fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> String {
    all.iter().map(|one| format!("`{}`", word(*one))).collect::<Vec<_>>().join(", ")
}

/// What is said of a word that is none of `known`, with the closest one as a fix.
pub fn unknown_word<'a>(
    text: &str,
    span: Span,
    what: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    if known.clone().any(|word| word == text) {
        return Diagnostic::new(Code::UnknownWord, span, format!("`{text}` stands without quotes here"))
            .here("in quotes it is a text of your own")
            .fix(format!("write `{text}`"), span, text, false);
    }
    let diagnostic = Diagnostic::new(Code::UnknownWord, span, format!("`{text}` is not {what}")).here("not known here");
    // The one word that goes on where this one ends: `openai` for `openai-chat`.
    let mut longer = known.clone().filter(|word| word.strip_prefix(text).is_some_and(|rest| rest.starts_with('-')));
    let longer = longer.next().filter(|_| longer.next().is_none());
    match longer.or_else(|| closest(text, known.clone())) {
        Some(near) => {
            diagnostic.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), span, near, false)
        }
        None => diagnostic.help(format!("one of {}", known.map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", "))),
    }
}

/// `yes` or `no`.
pub fn truth(item: &Item, out: &mut Vec<Diagnostic>) -> Option<bool> {
    let text = match &item.kind {
        ItemKind::Word(word) if word == "yes" => return Some(true),
        ItemKind::Word(word) if word == "no" => return Some(false),
        ItemKind::Word(text) | ItemKind::Str(text) | ItemKind::Number(text) => text.as_str(),
        ItemKind::List(_) | ItemKind::Group(_) | ItemKind::Arrow | ItemKind::Comma | ItemKind::Operator(_) => "",
    };
    let meant = match text.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" | "1" | "enabled" => Some("yes"),
        "no" | "false" | "off" | "0" | "disabled" => Some("no"),
        _ => None,
    };
    let found = describe(item);
    let diagnostic = Diagnostic::new(Code::NotYesOrNo, item.span, format!("`yes` or `no` is due here, not {found}"));
    out.push(match meant {
        Some(word) => diagnostic.here("truth is `yes` or `no`").help(format!("write `{word}`")).fix(
            format!("write `{word}`"),
            item.span,
            word,
            false,
        ),
        None => diagnostic.here("neither").help("write `yes` or `no`"),
    });
    None
}
