//! What `trip when`, `slow when` and `rollback when` have in common, and the parts that follow a value after commas.
//!
//! In: a statement. Out: its measure and a cursor behind the comparison; then one part after the other, each at most
//! once. A missing comma, a wrong comparison and a part that does not belong are reported here.

use crate::check::context::Context;
use crate::check::cursor::Cursor;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Multiple, Percent};
use crate::source::Span;
use crate::syntax::tree::{Item, ItemKind, Operator, Statement};

/// `when MEASURE >=`: which of the measures, and what comes after the comparison, which must be this one.
pub fn head<'a>(
    cx: &mut Context<'a>,
    statement: &'a Statement,
    measures: &[&'static str],
    comparison: Operator,
) -> Option<(&'static str, Cursor<'a>)> {
    let items = cx.value_items(statement)?;
    let mut cursor = Cursor::new(items, statement.span);
    let before = cx.diagnostics.len();
    let named = cursor.due_word("when", &mut cx.diagnostics).and_then(|()| {
        let item = cursor.due(&choice_of(measures), &mut cx.diagnostics)?;
        let measure = measures.iter().find(|measure| item.is(measure));
        if measure.is_none() {
            cx.report(other_word(item, "a measure", measures));
        }
        measure
    });
    let Some(measure) = named else {
        let unguessed = |found: &&mut Diagnostic| !found.help.starts_with("did you mean");
        if let Some(found) = cx.diagnostics.get_mut(before).filter(unguessed) {
            // Another word for `when` may be replaced; in any other form more is wrong than one word.
            let measured = cursor.peek().is_some_and(|next| measures.iter().any(|measure| next.is(measure)));
            found.fix = found.fix.take().filter(|_| measured);
            found.help = form(statement.keyword().unwrap_or("trip"), measures);
        }
        return None;
    };
    let sign = comparison.text();
    let due = format!("`{sign}`");
    let operator = cursor.due(&due, &mut cx.diagnostics)?;
    if operator.kind != ItemKind::Operator(comparison) {
        let diagnostic = value::wrong(operator, &due).help(format!("a trigger on `{measure}` compares by `{sign}`"));
        cx.report(match &operator.kind {
            ItemKind::Operator(_) => diagnostic.fix(format!("write `{sign}`"), operator.span, sign, false),
            ItemKind::Word(_)
            | ItemKind::Str(_)
            | ItemKind::Number(_)
            | ItemKind::List(_)
            | ItemKind::Group(_)
            | ItemKind::Arrow
            | ItemKind::Comma => diagnostic,
        });
        return None;
    }
    Some((measure, cursor))
}

/// How a trigger is written, for authors who wrote another form.
fn form(word: &str, measures: &[&str]) -> String {
    let example = |measure: &&str| match *measure {
        "consecutive" => Some(format!("`{word} when consecutive >= 5` for failures in a row")),
        "errors" => Some(format!("`{word} when errors >= 20%, min 20` for a share of the calls")),
        "latency" => Some(format!("`{word} when latency > 2.5x baseline`")),
        _ => None,
    };
    let examples: Vec<String> = measures.iter().rev().filter_map(example).collect();
    format!("write {}", examples.join(", or "))
}

/// `, WORD …` again and again to the end of the statement: `read` takes what follows each word.
pub fn parts<'a>(
    cx: &mut Context<'a>,
    mut cursor: Cursor<'a>,
    words: &[&'static str],
    mut read: impl FnMut(&mut Context<'a>, &'static str, &mut Cursor<'a>) -> Option<()>,
) -> Option<()> {
    let mut seen: Vec<(&str, Span)> = Vec::new();
    while let Some(comma) = cursor.peek() {
        if comma.kind != ItemKind::Comma {
            if !words.iter().any(|word| comma.is(word)) {
                cx.nothing_more(cursor.rest());
                return None;
            }
            let before = Span { start: cursor.after().end, ..cursor.after() };
            cx.report(value::wrong(comma, "a comma").fix("write a comma", before, ",", true));
            return None;
        }
        cursor.take();
        let item = cursor.due(&choice_of(words), &mut cx.diagnostics)?;
        let Some(word) = words.iter().find(|word| item.is(word)) else {
            cx.report(other_word(item, "a part of this setting", words));
            return None;
        };
        if let Some((_, first)) = seen.iter().find(|(other, _)| other == word) {
            cx.report(
                Diagnostic::new(Code::DuplicateSetting, item.span, format!("`{word}` is said twice"))
                    .label(*first, "said here first")
                    .help("keep one of them"),
            );
            return None;
        }
        seen.push((word, item.span));
        read(cx, word, &mut cursor)?;
    }
    Some(())
}

/// A share above nothing: one that is always reached says nothing.
pub fn share(cx: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Option<Percent> {
    let item = cursor.due("a percentage", &mut cx.diagnostics)?;
    let share = value::percent(item, &mut cx.diagnostics)?;
    if share == Percent::NONE {
        cx.report(
            Diagnostic::new(Code::OutOfRange, item.span, "a share of 0% is always reached")
                .help("write a share above nothing, such as `20%`"),
        );
        return None;
    }
    Some(share)
}

/// A plain number from 1 on.
pub fn number(cx: &mut Context<'_>, cursor: &mut Cursor<'_>, most: u32) -> Option<u32> {
    let item = cursor.due("a plain number", &mut cx.diagnostics)?;
    value::integer(item, 1, most, &mut cx.diagnostics)
}

/// `2 successes`: a number from 1 on and the word for what it counts, which agrees with it. The word is given for one
/// and for more.
pub fn counted(cx: &mut Context<'_>, cursor: &mut Cursor<'_>, unit: (&str, &str), most: u32) -> Option<u32> {
    let (one, more) = unit;
    let item = cursor.due(&format!("a number of {more}"), &mut cx.diagnostics)?;
    let count = value::integer(item, 1, most, &mut cx.diagnostics)?;
    let due = if count == 1 { one } else { more };
    let Some(word) = cursor.peek().filter(|next| next.kind != ItemKind::Comma) else {
        let meant = format!("{count} {due}");
        cx.report(
            Diagnostic::new(Code::UnitWord, item.span, format!("`{count}` does not say what it counts"))
                .here("a bare number")
                .help(format!("write `{meant}`"))
                .fix(format!("write `{meant}`"), item.span, meant, false),
        );
        return None;
    };
    cursor.take();
    if word.is(due) {
        return Some(count);
    }
    if word.is(one) || word.is(more) {
        cx.report(
            Diagnostic::new(Code::UnitWord, word.span, "unit words agree with their number")
                .here(format!("`{count} {due}` is meant"))
                .help(format!("write `{count} {due}`"))
                .fix(format!("write `{due}`"), word.span, due, true),
        );
    } else {
        cx.report(value::wrong(word, &format!("`{due}`")).fix(format!("write `{due}`"), word.span, due, false));
    }
    None
}

/// `2.5x baseline`, if a multiple is next: the outer nothing is one that is broken.
pub fn of_baseline(cx: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Option<Option<Multiple>> {
    let is_multiple = |item: &Item| matches!(&item.kind, ItemKind::Number(text) if text.ends_with('x'));
    let Some(item) = cursor.peek().filter(|item| is_multiple(item)) else { return Some(None) };
    cursor.take();
    let multiple = value::multiple(item, 1_000, &mut cx.diagnostics);
    cursor.due_word("baseline", &mut cx.diagnostics)?;
    multiple.map(Some)
}

/// Words in backticks, for what is due.
pub fn choice_of(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
}

/// What is said of an item that is none of some words.
pub fn other_word(item: &Item, what: &str, words: &[&'static str]) -> Diagnostic {
    match &item.kind {
        ItemKind::Word(text) => value::unknown_word(text, item.span, what, words.iter().copied()),
        ItemKind::Str(_)
        | ItemKind::Number(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => {
            let due = choice_of(words);
            value::wrong(item, &due).help(format!("write {due}"))
        }
    }
}
