//! `budget`.

use super::spend;
use crate::check::context::{Context, Decl, not_yet_part};
use crate::check::fields::Fields;
use crate::check::resolution::Origin;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Backoff, Budget, Hedge, Jitter, Millis};
use crate::source::Span;
use crate::syntax::settings::Early;
use crate::syntax::tree::{ItemKind, Statement};

/// Most calls that a request may be given: more than any chain is long.
const MOST_ATTEMPTS: u32 = 100;

/// Lowers a `budget` block, what it extends included.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<Budget> {
    let fields = cx.fields(decl);
    let deadline = fields.required(cx, "deadline", |cx, s| cx.time(s));
    let attempts = fields.required(cx, "attempts", |cx, s| cx.integer(s, 1, MOST_ATTEMPTS));
    let per_target = fields.or(cx, "per-target", Budget::PER_TARGET, |cx, s| cx.integer(s, 1, MOST_ATTEMPTS));
    let attempt_timeout = fields.optional(cx, "attempt-timeout", attempt_timeout);
    let headers = fields.optional(cx, "headers", |cx, s| cx.time(s));
    let first_token = fields.optional(cx, "first-token", |cx, s| cx.time(s));
    let idle = fields.or(cx, "idle", Budget::IDLE, |cx, s| cx.time(s));
    let total = fields.optional(cx, "total", |cx, s| cx.time(s));
    let min_attempt = fields.or(cx, "min-attempt", Budget::MIN_ATTEMPT, |cx, s| cx.duration(s));
    let reserve = fields.optional(cx, "reserve", |cx, s| cx.duration(s));
    let backoff = fields.or(cx, "backoff", Budget::BACKOFF, backoff);
    let rounds = fields.or(cx, "rounds", 1, |cx, s| cx.integer(s, 1, MOST_ATTEMPTS));
    let spend = spend::lower(cx, decl, &fields);
    let replays = fields.or(cx, "replays", Budget::REPLAYS, |cx, s| cx.integer(s, 0, MOST_ATTEMPTS));
    let hedge = fields.or(cx, "hedge", None, hedge);
    let (deadline, attempt_timeout, spend) = (deadline?, attempt_timeout?, spend?);
    let default_reserve = Budget::default_reserve(deadline, attempt_timeout);
    cx.settle(decl, "reserve", default_reserve.to_string(), Origin::Default);
    let limit = attempt_timeout.map_or_else(|| "what the deadline leaves".to_owned(), |limit| limit.to_string());
    cx.settle(decl, "headers", limit.clone(), Origin::Default);
    cx.settle(decl, "first-token", limit, Origin::Default);
    let budget = Budget {
        name: decl.name.clone(),
        span: decl.name_span,
        docs: decl.statement.docs.clone(),
        deadline,
        attempts: attempts?,
        per_target: per_target?,
        attempt_timeout,
        headers: headers?,
        first_token: first_token?,
        idle: idle?,
        total: total?,
        rounds: rounds?,
        spend_per_request: spend.per_request,
        spend_per_day: spend.per_day,
        min_attempt: min_attempt?,
        reserve: reserve?.unwrap_or(default_reserve),
        backoff: backoff?,
        replays: replays?,
        hedge: hedge?,
    };
    fits(cx, decl, &fields, &budget).then_some(budget)
}

/// A duration; a multiple of the baseline has no effect yet.
fn attempt_timeout<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Millis> {
    let items = cx.value_items(statement)?;
    let (first, rest) = items.split_first()?;
    let multiple = matches!(&first.kind, ItemKind::Number(text) if text.ends_with('x'));
    if let (true, Some(baseline)) = (multiple, rest.first().filter(|item| item.is("baseline"))) {
        let span = first.span.to(baseline.span);
        cx.report(
            not_yet_part(span, Early::TimesBaseline).help("write a duration for now, such as `attempt-timeout 8s`"),
        );
        return None;
    }
    cx.time(statement)
}

/// `off`, or `after p95[, at least D]`
fn hedge<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Option<Hedge>> {
    let items = cx.value_items(statement)?;
    let mut cursor = crate::check::cursor::Cursor::new(items, statement.span);
    if cursor.take_word("off") {
        return cursor.finish(&mut cx.diagnostics).then_some(None);
    }
    cursor.due_word("after", &mut cx.diagnostics)?;
    cursor.due_word("p95", &mut cx.diagnostics)?;
    let mut at_least = Some(Budget::HEDGE_AT_LEAST);
    if !cursor.is_done() {
        if matches!(cursor.peek().map(|item| &item.kind), Some(ItemKind::Comma)) {
            cursor.take();
        }
        cursor.due_word("at", &mut cx.diagnostics)?;
        cursor.due_word("least", &mut cx.diagnostics)?;
        at_least = value::duration(cursor.due("a duration", &mut cx.diagnostics)?, &mut cx.diagnostics);
    }
    let whole = cursor.finish(&mut cx.diagnostics);
    at_least.filter(|_| whole).map(|at_least| Some(Hedge { at_least }))
}

/// `BASE to CAP[, jitter KIND]`
fn backoff<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Backoff> {
    let items = cx.value_items(statement)?;
    let mut cursor = crate::check::cursor::Cursor::new(items, statement.span);
    let first = cursor.due("the first pause", &mut cx.diagnostics)?;
    let base = value::duration(first, &mut cx.diagnostics);
    if base.is_none() && cursor.is_done() {
        return None;
    }
    cursor.due_word("to", &mut cx.diagnostics)?;
    let last = cursor.due("the longest pause", &mut cx.diagnostics)?;
    let cap = value::duration(last, &mut cx.diagnostics);
    let mut jitter = Some(Budget::BACKOFF.jitter);
    if !cursor.is_done() {
        if matches!(cursor.peek().map(|item| &item.kind), Some(ItemKind::Comma)) {
            cursor.take();
        }
        cursor.due_word("jitter", &mut cx.diagnostics)?;
        let kind = cursor.due("a kind of jitter", &mut cx.diagnostics)?;
        jitter = value::choice(kind, "a jitter", Jitter::ALL, Jitter::word, &mut cx.diagnostics);
    }
    cursor.finish(&mut cx.diagnostics);
    let (base, cap) = (base?, cap?);
    if base > cap {
        cx.report(
            Diagnostic::new(Code::BackoffUpsideDown, first.span.to(last.span), "the first pause is the longest")
                .here(format!("{base} is longer than {cap}"))
                .help(format!("write the shorter one first: `backoff {cap} to {base}`")),
        );
        return None;
    }
    Some(Backoff { base, cap, jitter: jitter? })
}

/// Whether the times of a budget can all be kept; a limit that never comes to bear is a warning.
fn fits(cx: &mut Context<'_>, decl: &Decl<'_>, fields: &Fields<'_>, budget: &Budget) -> bool {
    // What is inherited is right where it stands; that it does not fit here is this block's doing.
    let own = |span: &Span| {
        let block = decl.statement.span;
        span.file == block.file && block.start <= span.start && span.end <= block.end
    };
    let place = |word: &str| fields.one(word).map(|s| s.span).filter(own).unwrap_or(decl.name_span);
    let deadline = place("deadline");
    if budget.reserve >= budget.deadline {
        let message = format!("a reserve of {} leaves nothing of {}", budget.reserve, budget.deadline);
        cx.report(
            Diagnostic::new(Code::ReserveAboveDeadline, place("reserve"), message)
                .label(deadline, "the whole time is this")
                .help("keep less for the next candidate, or give the request more time"),
        );
        return false;
    }
    let shortest = [("deadline", Some(budget.deadline)), ("attempt-timeout", budget.attempt_timeout)];
    for (word, limit) in shortest {
        if let Some(limit) = limit.filter(|limit| *limit < budget.min_attempt) {
            let default = if fields.one("min-attempt").is_some() { "" } else { ", the default" };
            cx.report(
                Diagnostic::new(
                    Code::NoCallFits,
                    place(word),
                    format!("a call that may take {limit} is never worth making"),
                )
                .here(format!("shorter than `min-attempt`, {}{default}", budget.min_attempt))
                .label(place("min-attempt"), "less time than this is not worth a call")
                .help(format!("give calls more time, or write a `min-attempt` of {limit} or less")),
            );
            return false;
        }
    }
    let limits: [(&str, Option<Millis>); 3] =
        [("attempt-timeout", budget.attempt_timeout), ("headers", budget.headers), ("first-token", budget.first_token)];
    // A reserve that was written is meant to be left over; the default one gives way to a single candidate.
    let whole: (Millis, Span, &str) = match fields.one("reserve") {
        Some(_) if budget.attempts > 1 => {
            (budget.deadline.less(budget.reserve), place("reserve"), "`deadline` less `reserve`")
        }
        Some(_) | None => (budget.deadline, deadline, "`deadline`"),
    };
    let attempt = budget.attempt_timeout.map(|limit| (limit, place("attempt-timeout"), "`attempt-timeout`"));
    for (word, limit) in limits {
        let (most, span, by) = match (word, attempt) {
            ("attempt-timeout", _) | (_, None) => whole,
            (_, Some(attempt)) if attempt.0 < whole.0 => attempt,
            (_, Some(_)) => whole,
        };
        if limit.is_some_and(|limit| limit > most) {
            cx.report(
                Diagnostic::new(
                    Code::LimitAboveDeadline,
                    place(word),
                    format!("`{word}` is longer than the time there is"),
                )
                .here(format!("longer than the {most} of {by}"))
                .label(span, "this ends it first")
                .help(format!("make `{word}` shorter than {by}, or leave it out")),
            );
        }
    }
    true
}
