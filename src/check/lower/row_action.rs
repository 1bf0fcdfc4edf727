//! The actions of a matrix row.
//!
//! In: the items after `->`. Out: the actions up to the first `stop`, which is added where the author left it out. An
//! action whose effect does not exist yet is refused at its word and left out. Never knows which classes they are for.

use super::super::context::Context;
use super::super::cursor::Cursor;
use super::super::{elsewhere, value};
use crate::diag::{Code, Diagnostic};
use crate::policy::class::Verb;
use crate::policy::{Action, FallbackTo, RowAction};
use crate::source::Span;
use crate::syntax::settings::{Block, Early};
use crate::syntax::tree::{Item, ItemKind};

/// What is due after a verb that is repeated.
const DUE: &str = "`once` or `N times`";

/// Reads `ACTION[, ACTION…]`; `row` is the whole row.
pub fn actions(ctx: &mut Context<'_>, items: &[Item], arrow: Span, row: Span) -> Option<Vec<RowAction>> {
    let mut sound = true;
    let mut read: Vec<RowAction> = Vec::new();
    let parts = items.split(|item| item.kind == ItemKind::Comma);
    let mut after = arrow;
    for part in parts {
        let mut cursor = Cursor::new(part, after);
        let action = action(ctx, &mut cursor);
        let Some(action) = action.filter(|_| cursor.finish(&mut ctx.diagnostics)) else {
            sound = false;
            continue;
        };
        after = cursor.after();
        let Some(first) = part.first() else { continue };
        let span = first.span.to(after);
        match action {
            Some(action) => {
                sound &= !dead(&read, action, span, &mut ctx.diagnostics);
                read.push(RowAction { action, span, written: true });
            }
            None => continue,
        }
    }
    if !sound {
        return None;
    }
    if !read.iter().any(|a| a.action.verb() == Verb::Stop) {
        let end = Span { start: row.end, ..row };
        read.push(RowAction { action: Action::Stop { status: None }, span: end, written: false });
    }
    Some(read)
}

/// Reports an action that can never be taken because of those before it.
fn dead(before: &[RowAction], action: Action, span: Span, out: &mut Vec<Diagnostic>) -> bool {
    let stop = before.iter().find(|a| a.action.verb() == Verb::Stop);
    let same = before.iter().find(|a| a.action == action);
    let (cause, why) = match (stop, same) {
        (Some(stop), _) => (stop.span, "always possible: nothing after it is asked"),
        (None, Some(same)) => (same.span, "where this was not possible, it is not possible the second time"),
        (None, None) => return false,
    };
    out.push(
        Diagnostic::new(Code::ActionNeverTaken, span, format!("this `{}` is never taken", action.verb()))
            .here("never taken")
            .label(cause, why)
            .help("remove it, or move it to the front"),
    );
    true
}

/// One action. The inner nothing is one that was refused as not in effect yet.
fn action(ctx: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Option<Option<Action>> {
    let item = cursor.due("an action", &mut ctx.diagnostics)?;
    let Some(verb) = item.word().and_then(Verb::from_word) else {
        let unknown = unknown(ctx, item, cursor.rest());
        ctx.report(unknown);
        return None;
    };
    let out = &mut ctx.diagnostics;
    let action = match verb {
        Verb::Retry => Action::Retry { times: repetitions(cursor, out)? },
        Verb::Wait => {
            whole(item, cursor, "wait", "up to", "2s", out)?;
            cursor.due_word("up", out)?;
            cursor.due_word("to", out)?;
            Action::Wait { up_to: value::duration(cursor.due("a duration", out)?, out)? }
        }
        Verb::NextKey => Action::NextKey,
        Verb::Failover => {
            if let Some(to) = cursor.peek().filter(|item| item.is("to")) {
                let rest = cursor.rest();
                let span = rest.last().map_or(to.span, |last| to.span.to(last.span));
                out.push(
                    Diagnostic::new(Code::LeftOver, span, "`failover` does not say where to").here("too much").help(
                        "leave it out: the chain says which target is next; `fallback to TIER` takes another chain",
                    ),
                );
                cursor.skip(rest.len());
                return None;
            }
            Action::Failover
        }
        Verb::Fallback => {
            if !cursor.is_done() {
                whole(item, cursor, "fallback", "to", "TIER", out)?;
            }
            Action::Fallback(fallback(ctx, cursor)?)
        }
        Verb::Stop => {
            if !cursor.is_done() {
                whole(item, cursor, "stop", "as", "503", out)?;
            }
            Action::Stop { status: status(cursor, out)? }
        }
        Verb::Repair => return early(ctx, cursor, item.span, Early::Repair),
        Verb::Continue => return early(ctx, cursor, item.span, Early::Continue),
    };
    Some(Some(action))
}

/// An action that is refused as not in effect yet, read all the same.
fn early(ctx: &mut Context<'_>, cursor: &mut Cursor<'_>, span: Span, part: Early) -> Option<Option<Action>> {
    ctx.early(span, part);
    repetitions(cursor, &mut ctx.diagnostics)?;
    Some(None)
}

fn unknown(ctx: &Context<'_>, item: &Item, rest: &[Item]) -> Diagnostic {
    let Some(word) = item.word() else {
        let help = "write actions with commas between them: `retry once, failover`";
        return value::wrong(item, "an action").help(help);
    };
    let found = Diagnostic::new(Code::UnknownAction, item.span, format!("`{word}` is not an action"));
    if let Some(meant) = elsewhere::action(word) {
        let (meant, span) = with_value(meant, item, rest);
        return found.fix(format!("write `{meant}`"), span, meant, false);
    }
    if ctx.names.position(Block::Target, word).is_some() || ctx.names.position(Block::Tier, word).is_some() {
        return found.here("a name").help(
            "which target is next is said by the chain: write `failover`, or `fallback to TIER` for the chain of another tier",
        );
    }
    let known = Verb::ALL.iter().filter(|verb| !verb.is_later()).map(|verb| verb.word());
    let mut diagnostic = value::unknown_word(word, item.span, "an action", known);
    diagnostic.code = Code::UnknownAction;
    diagnostic
}

/// An action that is meant, with the number that was written behind the other word for it, and what that replaces:
/// `wait up to 5s` for `sleep 5s`.
fn with_value(meant: &str, item: &Item, rest: &[Item]) -> (String, Span) {
    let verb = meant.split(' ').next().unwrap_or(meant);
    let whole = rest.last().map_or(item.span, |last| item.span.to(last.span));
    let number = rest.iter().find_map(|item| match &item.kind {
        ItemKind::Number(text) => Some((text, item.span)),
        ItemKind::Word(_)
        | ItemKind::Str(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => None,
    });
    match (Verb::from_word(verb), number) {
        // How often, and where to, are said behind the verb, and looked at there.
        (Some(Verb::Retry | Verb::Fallback), _) if !rest.is_empty() => (verb.to_owned(), item.span),
        (Some(Verb::Wait), Some((number, span))) => (format!("wait up to {number}"), item.span.to(span)),
        (Some(Verb::Stop), Some((number, span))) => (format!("stop as {number}"), item.span.to(span)),
        (_, _) => (meant.to_owned(), whole),
    }
}

/// Reports an action that lacks the words between its verb and a number or name, with the whole of it as it is written:
/// `wait 2s` for `wait up to 2s`. Nothing after a report.
pub fn whole(
    verb: &Item,
    cursor: &mut Cursor<'_>,
    word: &str,
    words: &str,
    sample: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<()> {
    let rest = cursor.rest();
    let written = rest.iter().take_while(|item| words.split(' ').any(|word| item.is(word))).count();
    if written == words.split(' ').count() {
        return Some(());
    }
    // Other words of the kind in their place: `wait for 2s`, `stop with 503`.
    let written = written + rest.iter().skip(written).take_while(|item| value::joins(item)).count();
    let form = |last: &str| format!("{word} {words} {last}");
    let Some(last) = rest.get(written) else {
        out.push(
            value::missing(&format!("`{words} {sample}`"), cursor.after()).help(format!("write `{}`", form(sample))),
        );
        return None;
    };
    let text = match &last.kind {
        ItemKind::Word(text) | ItemKind::Number(text) => text.as_str(),
        ItemKind::Str(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => return Some(()),
    };
    // What is no value of the kind stands in no proposal.
    let measured = sample.starts_with(|c: char| c.is_ascii_digit());
    if measured != matches!(last.kind, ItemKind::Number(_)) {
        let found = value::wrong(last, &format!("`{words} {sample}`")).help(format!("write `{}`", form(sample)));
        out.push(found);
        cursor.skip(rest.len());
        return None;
    }
    let (span, meant) = (verb.span.to(last.span), form(text));
    out.push(
        Diagnostic::new(Code::WrongValue, span, format!("`{words}` is due between `{word}` and `{text}`"))
            .here(format!("`{meant}` is meant"))
            .fix(format!("write `{meant}`"), span, meant, false),
    );
    cursor.skip(rest.len());
    None
}

/// `once` or `N times`, which is due.
fn repetitions(cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<u32> {
    match value::times(cursor.rest(), out) {
        Some((times, read)) => {
            cursor.skip(read);
            times
        }
        None => {
            match cursor.peek() {
                Some(item) => {
                    out.push(value::wrong(item, DUE).help("write `once`, or a number and `times`: `2 times`"))
                }
                None => out.push(value::missing(DUE, cursor.after()).help("write `retry once`, or `retry 2 times`")),
            }
            None
        }
    }
}

/// Nothing, `to larger-context` or `to TIER`.
fn fallback(ctx: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Option<FallbackTo> {
    if !cursor.take_word("to") {
        return Some(FallbackTo::OtherModel);
    }
    if cursor.take_word("larger-context") {
        return Some(FallbackTo::LargerContext);
    }
    let item = cursor.due("`larger-context` or the name of a tier", &mut ctx.diagnostics)?;
    ctx.tier(item).map(FallbackTo::Tier)
}

/// Nothing, or `as STATUS`.
fn status(cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<Option<u16>> {
    if !cursor.take_word("as") {
        return Some(None);
    }
    told(cursor.due("a status", out)?, out).map(Some)
}

/// A status that a client may be told: of an error, and never 429, since the caller was not the one who was too fast.
pub fn told(item: &Item, out: &mut Vec<Diagnostic>) -> Option<u16> {
    let status = value::integer(item, 400, 599, out)?;
    if status == 429 {
        out.push(
            Diagnostic::new(Code::OutOfRange, item.span, "`429` would tell the client that it was too fast")
                .here("not told to a client")
                .help("write `503`: the limit that was met is between the gateway and the provider"),
        );
        return None;
    }
    u16::try_from(status).ok()
}
