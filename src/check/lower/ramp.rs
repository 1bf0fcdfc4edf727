//! `ramp`: the stages by which a recovered target gets its sessions back, and what takes them away again.
//!
//! In: a `ramp` block: its settings, and lines that begin with a share. Out: its rules; the last stage, `100%`, is the
//! end and no stage any more. Own stages replace all inherited ones.

use super::probe;
use super::trigger::{self, parts};
use crate::check::context::{Context, Decl};
use crate::check::cursor::Cursor;
use crate::check::fields;
use crate::check::resolution::{Origin, Resolved};
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::ramp::{RampRules, RampStage, Rollback};
use crate::policy::{Millis, Percent};
use crate::source::Span;
use crate::syntax::tree::{Operator, Statement};

/// Most calls that a rollback may wait for.
const MOST_CALLS: u32 = 10_000;

/// Lowers a `ramp` block, what it extends included.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<RampRules> {
    let fields = cx.fields(decl);
    probe::name(cx, decl);
    let (home, lines) = stage_lines(fields.decls())?;
    note(cx, decl, home, &lines);
    let stages = stages(cx, decl, &lines);
    let rollback = rollback(cx, &fields.all("rollback"));
    Some(RampRules { stages: stages?, rollback: rollback? })
}

/// The stages of the nearest block that has any, and that block; the block itself where none has.
pub fn stage_lines<'n, 'a>(decls: &[&'n Decl<'a>]) -> Option<(&'n Decl<'a>, Vec<&'a Statement>)> {
    let of = |decl: &&'n Decl<'a>| {
        let lines: Vec<_> = decl.statements().iter().filter(|s| s.begins_with_number()).collect();
        (*decl, lines)
    };
    let own = decls.first().map(of)?;
    Some(decls.iter().map(of).find(|(_, lines)| !lines.is_empty()).unwrap_or(own))
}

fn stages<'a>(cx: &mut Context<'a>, decl: &Decl<'a>, lines: &[&'a Statement]) -> Option<Vec<RampStage>> {
    let mut stages = Vec::new();
    let mut whole = true;
    let mut last: Option<(Percent, Span)> = None;
    for line in lines {
        let Some((share, lasts, span)) = stage(cx, line) else {
            whole = false;
            continue;
        };
        if let Some((before, place)) = last.filter(|(before, _)| *before >= share) {
            cx.report(
                Diagnostic::new(Code::RampNotRising, span, format!("{share} after {before} is no rise"))
                    .here("not more than the stage above")
                    .label(place, "the stage above")
                    .help("order the stages from the smallest share to `100%`"),
            );
            whole = false;
        }
        last = Some((share, span));
        if let Some(lasts) = lasts {
            stages.push(RampStage { share, lasts });
        }
    }
    let is_full = last.is_some_and(|(share, _)| share == Percent::ALL);
    if let (true, false, Some(block)) = (whole, is_full, &decl.statement.block) {
        // A line that is none of a ramp's may be the stage that is missing.
        if fields::strangers(decl) > decl.statements().iter().filter(|s| s.begins_with_number()).count() {
            return None;
        }
        let found = match last {
            Some((share, span)) => {
                let below = block.statements.iter().find(|s| s.span.start > span.start);
                let end = Span { start: block.span.end.saturating_sub(1), ..block.span };
                // A block that is never closed has no `}`.
                let end = if cx.names.slice(end) == "}" { end } else { span };
                let end = below.and_then(|s| s.items.first()).map_or(end, |item| item.span);
                Diagnostic::new(Code::RampNotFull, end, format!("this ramp ends at {share}"))
                    .label(span, "the last stage")
            }
            None => Diagnostic::new(Code::RampNotFull, decl.name_span, "this ramp has no stages"),
        };
        cx.report(found.here("`100%` is missing before this").help("end it with `100%` on a line of its own"));
        return None;
    }
    whole.then_some(stages)
}

/// `N% for D`, or `100%`, which needs no time.
fn stage<'a>(cx: &mut Context<'a>, line: &'a Statement) -> Option<(Percent, Option<Millis>, Span)> {
    let (first, rest) = line.items.split_first()?;
    if let Some(block) = &line.block {
        cx.report(
            Diagnostic::new(Code::UnexpectedBlock, block.span, "a stage takes no block")
                .help("take the braces and what is in them away"),
        );
    }
    let share = value::percent(first, &mut cx.diagnostics)?;
    if share == Percent::NONE {
        cx.report(
            Diagnostic::new(Code::OutOfRange, first.span, "a stage of 0% lets nobody in")
                .help("leave it out: how long nobody is let in is the breaker's `open`"),
        );
        return None;
    }
    if share == Percent::ALL {
        cx.nothing_more(rest);
        return Some((share, None, first.span));
    }
    let mut cursor = Cursor::new(rest, first.span);
    cursor.due_word("for", &mut cx.diagnostics)?;
    let item = cursor.due("a duration", &mut cx.diagnostics)?;
    let lasts = value::time(item, &mut cx.diagnostics)?;
    cursor.finish(&mut cx.diagnostics).then_some((share, Some(lasts), first.span))
}

fn rollback<'a>(cx: &mut Context<'a>, statements: &[&'a Statement]) -> Option<Rollback> {
    let built_in = Rollback::default();
    if statements.is_empty() {
        return Some(built_in);
    }
    let mut all = Rollback { errors: None, consecutive: None };
    let mut whole = true;
    for statement in statements {
        let before = match rollback_line(cx, statement) {
            Some(Rollback { errors: Some(errors), .. }) => all.errors.replace(errors).is_some(),
            Some(Rollback { consecutive: Some(run), .. }) => all.consecutive.replace(run).is_some(),
            Some(Rollback { errors: None, consecutive: None }) | None => {
                whole = false;
                continue;
            }
        };
        if before {
            cx.report(
                Diagnostic::new(Code::DuplicateSetting, statement.span, "a second line for the same measure")
                    .help("keep one of them"),
            );
            whole = false;
        }
    }
    whole.then_some(all)
}

/// `when errors >= P[, min N]` or `when consecutive >= N`
fn rollback_line<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Rollback> {
    let (measure, mut cursor) = trigger::head(cx, statement, &["errors", "consecutive"], Operator::AtLeast)?;
    if measure == "consecutive" {
        let run = trigger::number(cx, &mut cursor, MOST_CALLS)?;
        let line = Rollback { errors: None, consecutive: Some(run) };
        return cursor.finish(&mut cx.diagnostics).then_some(line);
    }
    let share = trigger::share(cx, &mut cursor)?;
    let mut min = Rollback::default().errors.map_or(1, |(_, min)| min);
    parts(cx, cursor, &["min"], |cx, _, cursor| {
        min = trigger::number(cx, cursor, MOST_CALLS)?;
        Some(())
    })?;
    Some(Rollback { errors: Some((share, min)), consecutive: None })
}

/// Notes the stages for the listing.
fn note<'a>(cx: &mut Context<'a>, decl: &Decl<'a>, home: &Decl<'a>, lines: &[&'a Statement]) {
    if !cx.is_listed(decl) {
        return;
    }
    for line in lines {
        let Some((first, rest)) = line.items.split_first() else { continue };
        let value = rest.iter().map(|item| cx.names.slice(item.span)).collect::<Vec<_>>().join(" ");
        let origin = match home.name == decl.name {
            true => Origin::Written(line.span),
            false => Origin::Inherited { from: home.name.clone(), span: line.span },
        };
        cx.resolved.push(Resolved {
            block: decl.block,
            name: decl.name.clone(),
            word: cx.names.slice(first.span).to_owned(),
            value,
            origin,
        });
    }
}

#[cfg(test)]
mod tests;
