//! Tests: the lines of a `test` block, names resolved.
//!
//! In: a `test` block. Out: a `Test`, or nothing after the lines that cannot be read were named. A test that expects
//! nothing is an error. Never runs a test.

use super::super::context::{Context, Decl};
use super::super::cursor::Cursor;
use super::super::value;
use super::outcome::{self, Outcome};
use super::{expect, send};
use crate::diag::{Code, Diagnostic, closest};
use crate::policy::{DicePurpose, TargetState, Test, TestLine, TestStep};
use crate::source::Span;
use crate::syntax::tree::{Item, Statement};

/// Lowers a `test` block.
pub fn lower<'a>(ctx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<Test> {
    let statements = decl.statements();
    let lines: Vec<Option<TestLine>> = statements.iter().map(|statement| line(ctx, statement)).collect();
    let first =
        |word: &str| statements.iter().position(|s| s.items.iter().any(|item| item.is(word) && at_front(s, item)));
    let (send, expects) = (first("send"), first("expect"));
    // What a line of no known kind was meant to do is not known.
    let strange = statements.iter().any(is_strange);
    match (send, expects) {
        (None, _) | (_, None) if strange => return None,
        (_, None) => {
            ctx.report(
                Diagnostic::new(Code::TestWithoutExpect, decl.name_span, "this test expects nothing")
                    .here("cannot fail")
                    .help("add what must come of it: `expect served by TARGET`"),
            );
            return None;
        }
        (send, Some(expect)) if send.is_none_or(|send| expect < send) => {
            let span = statements.get(expect).map_or(decl.name_span, |s| s.span);
            ctx.report(
                Diagnostic::new(Code::ExpectBeforeSend, span, "nothing was sent yet that this could speak of")
                    .here("no `send` above")
                    .help("expectations speak of the last `send` above them: write one before this line"),
            );
            return None;
        }
        (_, Some(_)) => {}
    }
    let lines = lines.into_iter().collect::<Option<Vec<_>>>()?;
    Some(Test { name: decl.name.clone(), span: decl.statement.span, lines })
}

/// Whether a line begins like none that there is.
fn is_strange(statement: &Statement) -> bool {
    let verb = statement.items.get(1);
    let known = matches!(statement.keyword(), Some("send" | "expect" | "given" | "at"));
    !known && !verb.is_some_and(|verb| verb.is("answers") || verb.is("is"))
}

/// Whether an item is a statement's first word, or the first after `at D`.
fn at_front(statement: &Statement, item: &Item) -> bool {
    let timed = statement.keyword() == Some("at");
    statement.items.get(if timed { 2 } else { 0 }).is_some_and(|front| std::ptr::eq(front, item))
}

fn line(ctx: &mut Context<'_>, statement: &Statement) -> Option<TestLine> {
    let mut cursor = Cursor::new(&statement.items, statement.span);
    let at = match cursor.take_word("at") {
        true => {
            let out = &mut ctx.diagnostics;
            Some(value::duration(cursor.due("a duration", out)?, out)?)
        }
        false => None,
    };
    let first = cursor.due("`send`, or a target and what it does", &mut ctx.diagnostics)?;
    if let (Some(block), false) = (&statement.block, first.is("send")) {
        ctx.report(
            Diagnostic::new(Code::UnexpectedBlock, block.span, "only `send` takes a block in a test")
                .help("remove the braces"),
        );
        return None;
    }
    if let (Some(_), true) = (at, first.is("expect") || first.is("given")) {
        ctx.report(
            Diagnostic::new(Code::UnknownTestLine, statement.span, format!("{} has no time", value::describe(first)))
                .here("`at` does nothing here")
                .help("write `at` before a `send` or before what a target does"),
        );
        return None;
    }
    let step = match first.word() {
        Some("send") => send::lower(ctx, &mut cursor, statement)?,
        Some("expect") => TestStep::Expect(expect::lower(ctx, &mut cursor)?),
        Some("given") => given(ctx, &mut cursor)?,
        Some(_) | None => about_target(ctx, first, &mut cursor)?,
    };
    Some(TestLine { at, span: statement.span, step })
}

/// `given dice N% [for PURPOSE]` or `given spent $X for ROUTE`
fn given(ctx: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Option<TestStep> {
    let out = &mut ctx.diagnostics;
    if cursor.take_word("spent") {
        let amount = value::money(cursor.due("an amount of money", out)?, out)?;
        cursor.due_word("for", out)?;
        let route = cursor.due("the name of a route", out)?;
        let route = ctx.route(route);
        return cursor.finish(&mut ctx.diagnostics).then_some(TestStep::Spent { amount, route: route? });
    }
    cursor.due_word("dice", out)?;
    let share = value::percent(cursor.due("a percentage", out)?, out)?;
    let purpose = match cursor.take_word("for") {
        true => {
            let item = cursor.due("what the dice are for", out)?;
            let purpose = value::choice(item, "a purpose of dice", DicePurpose::ALL, DicePurpose::word, out)?;
            Some(purpose)
        }
        false => None,
    };
    cursor.finish(&mut ctx.diagnostics).then_some(TestStep::Dice { share, purpose })
}

/// `TARGET answers …` or `TARGET is …`
fn about_target(ctx: &mut Context<'_>, first: &Item, cursor: &mut Cursor<'_>) -> Option<TestStep> {
    let verb = cursor.take();
    match verb.and_then(Item::word) {
        Some("answers") => {
            let target = ctx.target(first);
            let Outcome { answer, after, times } = outcome::lower(cursor, &mut ctx.diagnostics)?;
            Some(TestStep::Answers { target: target?, answer, after, times })
        }
        Some("is") => {
            let target = ctx.target(first);
            let state = state(cursor, &mut ctx.diagnostics)?;
            Some(TestStep::Is { target: target?, state })
        }
        Some(_) | None => {
            ctx.report(unknown(ctx, first, verb));
            None
        }
    }
}

fn unknown(ctx: &Context<'_>, first: &Item, verb: Option<&Item>) -> Diagnostic {
    let span = verb.map_or(first.span, |verb| first.span.to(verb.span));
    let text = ctx.names.slice(span);
    let diagnostic = Diagnostic::new(Code::UnknownTestLine, span, format!("`{text}` begins no line of a test"))
        .here("not known here");
    let near = first.word().and_then(|word| closest(word, ["send", "expect", "given", "at"]));
    if let Some((meant, at)) = foreign(first, verb) {
        if meant == HANGS {
            return diagnostic.help(format!("write `{meant}`"));
        }
        return diagnostic.fix(format!("write `{meant}`"), at, meant, false);
    }
    match (first.word(), near) {
        (Some("from" | "every"), _) => diagnostic.help("`from` and `every` stand in a target's `script`"),
        (_, Some(near)) => {
            diagnostic.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), first.span, near, false)
        }
        (_, None) => diagnostic.help("write `TARGET answers …`, `TARGET is …`, `given dice …`, `send …` or `expect …`"),
    }
}

const HANGS: &str = "answers hangs";

/// What other languages' words at the beginning of a line stand for, and what they stand instead of.
fn foreign(first: &Item, verb: Option<&Item>) -> Option<(&'static str, Span)> {
    match first.word() {
        Some("request" | "call" | "ask" | "post" | "when") => return Some(("send", first.span)),
        Some("assert" | "should" | "then" | "check") => return Some(("expect", first.span)),
        Some(_) | None => {}
    }
    let verb = verb?;
    let meant = match verb.word()? {
        "returns" | "responds" | "replies" | "gives" | "answer" | "return" => "answers",
        "fails" | "errors" => "answers server-error",
        "times" | "hangs" => HANGS,
        _ => return None,
    };
    Some((meant, verb.span))
}

/// The words of target states, with what follows them.
const STATES: [&str; 7] = ["down", "degraded", "open", "half-open", "held", "disabled", "ramping"];

fn state(cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<TargetState> {
    let item = cursor.due("a state", out)?;
    let state = match item.word() {
        Some("down") => TargetState::Down,
        Some("degraded") => TargetState::Degraded,
        Some("open") => TargetState::Open,
        Some("half-open") => TargetState::HalfOpen,
        Some("disabled") => TargetState::Disabled,
        Some("held") => {
            cursor.due_word("for", out)?;
            TargetState::Held(value::duration(cursor.due("a duration", out)?, out)?)
        }
        Some("ramping") => {
            cursor.due_word("at", out)?;
            TargetState::Ramping(value::percent(cursor.due("a percentage", out)?, out)?)
        }
        Some(word) => {
            out.push(value::unknown_word(word, item.span, "a state of a target", STATES.into_iter()));
            return None;
        }
        None => {
            out.push(value::wrong(item, "a state of a target"));
            return None;
        }
    };
    cursor.finish(out).then_some(state)
}

#[cfg(test)]
mod tests;
