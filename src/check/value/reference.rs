//! References to what lies outside the policy: the environment and files.
//!
//! In: items. Out: the reference, or the text that stands for itself, or nothing after a diagnostic has said why. Never
//! looks anything up.

use super::{key, left_over, missing, string, wrong};
use crate::diag::{Code, Diagnostic};
use crate::policy::Text;
use crate::source::Span;
use crate::syntax::tree::{Item, ItemKind, Statement};

/// `"literal"`, `env NAME [else "x"]` or `file "PATH" [else "x"]`: all of `items`. `end` is where something was due if
/// there is nothing.
pub fn text(items: &[Item], end: Span, out: &mut Vec<Diagnostic>) -> Option<Text> {
    reference(items, end, Source::Address, out)
}

/// The same where a text is taken as it is, whatever it looks like.
pub fn verbatim(items: &[Item], end: Span, out: &mut Vec<Diagnostic>) -> Option<Text> {
    reference(items, end, Source::Verbatim, out)
}

/// The same for a credential: a reference without a default, never a literal.
pub fn secret(items: &[Item], end: Span, out: &mut Vec<Diagnostic>) -> Option<Text> {
    reference(items, end, Source::Secret, out)
}

/// What a reference stands for, which decides what a text in its place can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Never a text.
    Secret,
    /// A text, but none that names a variable as other languages do: no address looks so.
    Address,
    /// Any text.
    Verbatim,
}

fn reference(items: &[Item], end: Span, source: Source, out: &mut Vec<Diagnostic>) -> Option<Text> {
    let open = source != Source::Secret;
    let due = if open { "a string, `env NAME` or `file \"PATH\"`" } else { "`env NAME` or `file \"PATH\"`" };
    let Some((first, rest)) = items.split_first() else {
        out.push(missing(due, end));
        return None;
    };
    match &first.kind {
        ItemKind::Str(text)
            if source != Source::Verbatim && elsewhere(text).is_some_and(|name| !open || name != text) =>
        {
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
