//! Names, strings, lists, words of a fixed choice, and references to what lies outside the policy.
//!
//! In: items. Out: values, or nothing after a diagnostic has said why. Never looks a name up.

use super::{describe, key, left_over, missing, wrong};
use crate::diag::{Code, Diagnostic, closest};
use crate::policy::Text;
use crate::policy::contract::Pattern;
use crate::source::{Span, Spanned};
use crate::syntax::tree::{Item, ItemKind, Statement};

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
        left_over(rest, out);
    }
    Some(values)
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

/// `"literal"`, `env NAME [else "x"]` or `file "PATH" [else "x"]`: all of `items`. `end` is where something was due if
/// there is nothing.
pub fn text(items: &[Item], end: Span, out: &mut Vec<Diagnostic>) -> Option<Text> {
    reference(items, end, true, out)
}

/// The same for a credential: a reference without a default, never a literal.
pub fn secret(items: &[Item], end: Span, out: &mut Vec<Diagnostic>) -> Option<Text> {
    reference(items, end, false, out)
}

fn reference(items: &[Item], end: Span, open: bool, out: &mut Vec<Diagnostic>) -> Option<Text> {
    let due = if open { "a string, `env NAME` or `file \"PATH\"`" } else { "`env NAME` or `file \"PATH\"`" };
    let Some((first, rest)) = items.split_first() else {
        out.push(missing(due, end));
        return None;
    };
    match &first.kind {
        ItemKind::Str(text) if elsewhere(text).is_some_and(|name| !open || name != text) => {
            out.push(named_alone(first, elsewhere(text).unwrap_or(text), items));
            None
        }
        ItemKind::Str(text) if open => {
            left_over(rest, out);
            Some(Text::Literal(text.clone()))
        }
        ItemKind::Str(_) => {
            out.push(key::literal(first.span));
            None
        }
        ItemKind::Word(word) if word == "env" || word == "file" => {
            let is_env = word == "env";
            let Some((source, rest)) = rest.split_first() else {
                out.push(missing(if is_env { "the variable's name" } else { "the path in quotes" }, first.span));
                return None;
            };
            let source = if is_env { variable(source, out) } else { string(source, out) };
            let default = otherwise(rest, open, out)?;
            let source = source?;
            Some(if is_env { Text::Env { name: source, default } } else { Text::File { path: source, default } })
        }
        ItemKind::Word(word) | ItemKind::Number(word) => {
            out.push(elsewhere(word).map_or_else(|| wrong(first, due), |name| named_alone(first, name, items)));
            None
        }
        ItemKind::List(_) | ItemKind::Group(_) | ItemKind::Arrow | ItemKind::Comma | ItemKind::Operator(_) => {
            out.push(wrong(first, due));
            None
        }
    }
}

/// The variable that a text names as other languages do: `NAME_OF_IT` alone, `$NAME`, `${NAME}`, `env.NAME`,
/// `process.env.NAME`, `"env NAME"`.
fn elsewhere(text: &str) -> Option<&str> {
    let braced = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let marked = braced.or_else(|| text.rsplit_once(['.', '$', ' ']).map(|(_, name)| name));
    let spelled = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    let by_mark = ["$", "env.", "process.env.", "env "].iter().any(|mark| text.starts_with(mark));
    // A text that has no such mark is one by its looks, which one word alone is not enough for.
    marked.filter(|_| by_mark).filter(spelled).or_else(|| Some(text).filter(|text| text.contains('_')).filter(spelled))
}

/// `${NAME}`, which reads as a value `$` and a block.
pub fn of_a_shell(statement: &Statement) -> Option<Diagnostic> {
    let (block, last) = (statement.block.as_ref()?, statement.items.last()?);
    let [Statement { items, .. }] = block.statements.as_slice() else { return None };
    let ([Item { kind: ItemKind::Word(name), .. }], true) = (items.as_slice(), last.span.end == block.span.start)
    else {
        return None;
    };
    let is_dollar = matches!(&last.kind, ItemKind::Word(text) | ItemKind::Number(text) if text == "$");
    is_dollar.then(|| before_a_variable(last.span.to(block.span), name))
}

/// What is said of a variable's name without `env` before it.
fn named_alone(first: &Item, name: &str, items: &[Item]) -> Diagnostic {
    before_a_variable(items.last().map_or(first.span, |last| first.span.to(last.span)), name)
}

fn before_a_variable(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(Code::WrongValue, span, "`env` is due before the name of a variable")
        .here(format!("`env {name}` is meant"))
        .fix(format!("write `env {name}`"), span, format!("env {name}"), false)
}

/// The name of an environment variable, which is a word of any case.
fn variable(item: &Item, out: &mut Vec<Diagnostic>) -> Option<String> {
    let (ItemKind::Word(text) | ItemKind::Str(text)) = &item.kind else {
        let help = "write the name after a space: `env OPENAI_API_KEY`";
        out.push(wrong(item, "the name of an environment variable").help(help));
        return None;
    };
    let fits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !fits {
        out.push(wrong(item, "the name of an environment variable").help("letters, digits and `_`: `OPENAI_API_KEY`"));
    }
    fits.then(|| text.clone())
}

/// `else "default"`, if anything follows.
fn otherwise(items: &[Item], open: bool, out: &mut Vec<Diagnostic>) -> Option<Option<String>> {
    let Some((first, rest)) = items.split_first() else { return Some(None) };
    if !first.is("else") {
        left_over(items, out);
        return None;
    }
    if !open {
        out.push(
            Diagnostic::new(Code::WrongValue, first.span, "a secret has no default")
                .here("not for secrets")
                .help("leave out the `else`: where the key is missing, the provider is not called"),
        );
        return None;
    }
    let Some((value, rest)) = rest.split_first() else {
        out.push(missing("the default in quotes", first.span));
        return None;
    };
    left_over(rest, out);
    string(value, out).map(Some)
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
