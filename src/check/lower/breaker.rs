//! `breaker`: when a scope trips, how long it stays open and how it is tried again.
//!
//! In: a `breaker` block. Out: its rules. A part of a line that is left out is that of the line's default; a `trip` line
//! replaces all inherited and default ones, a `hold` line those of its classes.

use super::hold;
use super::trigger::{self, of_baseline, parts};
use crate::check::context::{Context, Decl};
use crate::check::cursor::Cursor;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::breaker::{BreakerRules, BreakerScope, HalfOpen, OpenTime, Over, Scopes, SlowAbove, SlowTrip};
use crate::policy::{Millis, Multiple, Percent};
use crate::source::Span;
use crate::syntax::settings::Block;
use crate::syntax::tree::{ItemKind, Operator, Statement};

/// Most calls that a window may look back over, and that a minimum may ask for.
const MOST_CALLS: u32 = 10_000;

/// Lowers a `breaker` block, what it extends included.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<BreakerRules> {
    let fields = cx.fields(decl);
    let built_in = BreakerRules::default();
    let scopes = fields.or(cx, "scopes", built_in.scopes, scopes);
    let trips = trips(cx, &fields.all("trip"), &built_in);
    let open = fields.or(cx, "open", built_in.open, open);
    let half_open = fields.or(cx, "half-open", built_in.half_open, half_open);
    let stable = fields.optional(cx, "stable", |cx, s| cx.duration(s));
    let hint_cap = fields.or(cx, "hint-cap", built_in.hint_cap, |cx, s| cx.duration(s));
    let timeout_evidence = fields.or(cx, "timeout-evidence", built_in.timeout_evidence, |cx, s| {
        let item = cx.single(s)?;
        value::percent(item, &mut cx.diagnostics)
    });
    let holds = hold::lower(cx, decl, &fields);
    let trips = trips?;
    Some(BreakerRules {
        scopes: scopes?,
        over: trips.over,
        min: trips.min,
        errors: trips.errors,
        slow: trips.slow,
        consecutive: trips.consecutive,
        open: open?,
        half_open: half_open?,
        stable: stable?,
        hint_cap: hint_cap?,
        timeout_evidence: timeout_evidence?,
        holds: holds?,
    })
}

fn scopes<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Scopes> {
    let item = cx.single(statement)?;
    let words = cx.choices(Block::Breaker, "scopes", item)?;
    let listed: Vec<_> = words.iter().filter_map(|word| BreakerScope::from_word(word)).collect();
    if !listed.contains(&BreakerScope::Target) {
        cx.report(
            Diagnostic::new(Code::ScopeMissing, item.span, "`target` is not among the scopes")
                .here("leaves nothing that a target alone is to blame for")
                .help("add `target`: every other scope falls back to it"),
        );
        return None;
    }
    Some(Scopes::of(&listed))
}

/// What the `trip` lines come to.
#[derive(Debug)]
struct Trips {
    over: Over,
    min: u32,
    errors: Option<Percent>,
    slow: Option<SlowTrip>,
    consecutive: Option<u32>,
}

/// What one line says of the window that all shares have in common.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    over: Option<(Over, Span)>,
    min: Option<(u32, Span)>,
}

/// Which of its kinds a line is.
#[derive(Clone, Copy, Debug)]
enum Trip {
    Errors(Percent),
    Slow(SlowTrip),
    Consecutive(u32),
}

fn trips<'a>(cx: &mut Context<'a>, statements: &[&'a Statement], built_in: &BreakerRules) -> Option<Trips> {
    if statements.is_empty() {
        let BreakerRules { over, min, errors, slow, consecutive, .. } = *built_in;
        return Some(Trips { over, min, errors, slow, consecutive });
    }
    let mut trips = Trips { over: built_in.over, min: built_in.min, errors: None, slow: None, consecutive: None };
    let mut window = Counted::default();
    let mut shares: Vec<(Percent, &str, Span)> = Vec::new();
    let mut whole = true;
    for statement in statements {
        let Some((trip, counted)) = trip(cx, statement) else {
            whole = false;
            continue;
        };
        let before = match trip {
            Trip::Errors(share) => {
                shares.push((share, "failure", statement.span));
                trips.errors.replace(share).is_some()
            }
            Trip::Slow(slow) => {
                shares.push((slow.share, "slow call", statement.span));
                trips.slow.replace(slow).is_some()
            }
            Trip::Consecutive(run) => {
                if run == 1 {
                    cx.report(one_trips(statement.span, "failure", "a run of one is no run"));
                }
                trips.consecutive.replace(run).is_some()
            }
        };
        if before {
            cx.report(
                Diagnostic::new(Code::DuplicateSetting, statement.span, "a second line for the same measure")
                    .help("keep one of them"),
            );
            whole = false;
        }
        whole &= same_window(cx, &mut window.over, counted.over) && same_window(cx, &mut window.min, counted.min);
    }
    if let Some((over, _)) = window.over {
        trips.over = over;
    }
    if let Some((min, _)) = window.min {
        trips.min = min;
    }
    whole &= shares.is_empty() || is_collected(cx, &trips, &window);
    for (share, what, span) in shares {
        if whole && share.is_reached(1, u64::from(trips.min)) {
            let why = format!("one of {} calls is {share} or more of them", trips.min);
            cx.report(one_trips(span, what, &why));
        }
    }
    whole.then_some(trips)
}

fn one_trips(span: Span, what: &str, why: &str) -> Diagnostic {
    Diagnostic::new(Code::OneFailureTrips, span, format!("a single {what} is enough to open this breaker"))
        .here(why)
        .help("ask for more, so that one bad call is not an outage")
}

/// Takes what a line says of the window; whether no other line says something else.
fn same_window<T: Copy + PartialEq>(
    cx: &mut Context<'_>,
    known: &mut Option<(T, Span)>,
    said: Option<(T, Span)>,
) -> bool {
    match (*known, said) {
        (Some((one, first)), Some((other, span))) if one != other => {
            cx.report(
                Diagnostic::new(Code::TwoWindows, span, "this breaker would need two windows")
                    .here("another window")
                    .label(first, "the first one")
                    .help("say the same in both lines, or leave it out of one: a breaker has one window"),
            );
            false
        }
        (Some(_), _) => true,
        (None, said) => {
            *known = said;
            true
        }
    }
}

/// Whether the window can ever hold as many calls as the minimum asks for.
fn is_collected(cx: &mut Context<'_>, trips: &Trips, window: &Counted) -> bool {
    let Over::Calls(calls) = trips.over else { return true };
    if trips.min <= calls {
        return true;
    }
    let place = window.min.map(|(_, span)| span).or(window.over.map(|(_, span)| span));
    if let Some(span) = place {
        let message = format!("a window of {calls} calls never holds {}", trips.min);
        let by_default = if window.min.is_none() { "; without `min` it is 20" } else { "" };
        cx.report(
            Diagnostic::new(Code::NeverCollected, span, message)
                .here(format!("at most {calls} can be counted{by_default}"))
                .help(format!("write `min {calls}` or less, or a longer window")),
        );
    }
    false
}

/// `when errors >= P [over W][, min N]`, `when slow >= P above D [over W][, min N]`, `when consecutive >= N`
fn trip<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<(Trip, Counted)> {
    let (measure, mut cursor) = trigger::head(cx, statement, &["errors", "slow", "consecutive"], Operator::AtLeast)?;
    let mut counted = Counted::default();
    let trip = match measure {
        "errors" => Trip::Errors(trigger::share(cx, &mut cursor)?),
        "slow" => {
            let share = trigger::share(cx, &mut cursor)?;
            cursor.due_word("above", &mut cx.diagnostics)?;
            let above = match of_baseline(cx, &mut cursor)? {
                Some(times) => SlowAbove::Baseline(times),
                None => {
                    let item = cursor.due("a duration or a multiple of the baseline", &mut cx.diagnostics)?;
                    SlowAbove::Fixed(value::time(item, &mut cx.diagnostics)?)
                }
            };
            Trip::Slow(SlowTrip { share, above })
        }
        _ => {
            let run = trigger::number(cx, &mut cursor, MOST_CALLS)?;
            return cursor.finish(&mut cx.diagnostics).then_some((Trip::Consecutive(run), counted));
        }
    };
    if cursor.take_word("over") {
        let start = cursor.after();
        let over = over(cx, &mut cursor)?;
        counted.over = Some((over, start.to(cursor.after())));
    }
    parts(cx, cursor, &["min"], |cx, _, cursor| {
        let start = cursor.after();
        let min = trigger::number(cx, cursor, MOST_CALLS)?;
        counted.min = Some((min, start.to(cursor.after())));
        Some(())
    })?;
    Some((trip, counted))
}

/// `60s` or `100 calls`
fn over(cx: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Option<Over> {
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let next = cursor.peek();
    if next.is_some_and(|item| matches!(&item.kind, ItemKind::Number(text) if is_plain(text)))
        && cursor.rest().get(1).is_some_and(|unit| unit.is("calls") || unit.is("call"))
    {
        return trigger::counted(cx, cursor, ("call", "calls"), MOST_CALLS).map(Over::Calls);
    }
    let item = cursor.due("a time or a number of calls", &mut cx.diagnostics)?;
    let span = value::time(item, &mut cx.diagnostics)?;
    if !span.0.is_multiple_of(u64::from(Over::BUCKETS)) {
        let tenths = span.0.div_ceil(u64::from(Over::BUCKETS)) * u64::from(Over::BUCKETS);
        cx.report(
            Diagnostic::new(Code::WindowNotInTenths, item.span, format!("{span} is not ten times a whole millisecond"))
                .here("cannot be cut into ten")
                .help(format!("a window of time is counted in ten parts: write `{}`", Millis(tenths))),
        );
        return None;
    }
    Some(Over::Time { span, buckets: Over::BUCKETS })
}

/// `30s[, doubling to 5m | , growing 1.5x to 5m][, jitter 10%]`; neither of them is always the same time.
fn open<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<OpenTime> {
    let mut cursor = Cursor::new(cx.value_items(statement)?, statement.span);
    let first = cursor.due("a duration", &mut cx.diagnostics)?;
    let base = value::time(first, &mut cx.diagnostics)?;
    let mut growth: Option<(Multiple, Millis, Span)> = None;
    let mut jitter = BreakerRules::default().open.jitter;
    parts(cx, cursor, &["doubling", "growing", "jitter"], |cx, word, cursor| {
        let start = cursor.after();
        if word == "jitter" {
            let item = cursor.due("a percentage", &mut cx.diagnostics)?;
            jitter = value::percent(item, &mut cx.diagnostics)?;
            return Some(());
        }
        let factor = match word {
            "growing" => {
                let item = cursor.due("a multiple", &mut cx.diagnostics)?;
                value::multiple(item, 1_000, &mut cx.diagnostics)?
            }
            _ => Multiple(2_000),
        };
        cursor.due_word("to", &mut cx.diagnostics)?;
        let item = cursor.due("the longest time", &mut cx.diagnostics)?;
        let cap = value::time(item, &mut cx.diagnostics)?;
        if let Some((_, _, before)) = growth {
            cx.report(
                Diagnostic::new(Code::DuplicateSetting, start, "it grows twice")
                    .label(before, "it grows here already")
                    .help("keep one of `doubling` and `growing`"),
            );
            return None;
        }
        growth = Some((factor, cap, item.span));
        Some(())
    })?;
    let (growing, cap, cap_span) = growth.unwrap_or((Multiple(1_000), base, first.span));
    if cap < base {
        cx.report(
            Diagnostic::new(Code::OpenUpsideDown, first.span.to(cap_span), "the first open time is the longest")
                .here(format!("{base} is longer than {cap}"))
                .help(format!("write the shorter one first: `open {cap}, doubling to {base}`")),
        );
        return None;
    }
    Some(OpenTime { base, growing, cap, jitter })
}

/// `1 at once, 2 successes[, lease D]`
fn half_open<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<HalfOpen> {
    let mut cursor = Cursor::new(cx.value_items(statement)?, statement.span);
    let at_once = trigger::number(cx, &mut cursor, HalfOpen::MOST)?;
    cursor.due_word("at", &mut cx.diagnostics)?;
    cursor.due_word("once", &mut cx.diagnostics)?;
    let comma = cursor.due("a comma and how many successes close it", &mut cx.diagnostics)?;
    if comma.kind != ItemKind::Comma {
        cx.report(value::wrong(comma, "a comma").help("write `half-open 1 at once, 2 successes`"));
        return None;
    }
    let successes = trigger::counted(cx, &mut cursor, ("success", "successes"), HalfOpen::MOST)?;
    let mut lease = None;
    parts(cx, cursor, &["lease"], |cx, _, cursor| {
        let item = cursor.due("a duration", &mut cx.diagnostics)?;
        lease = Some(value::time(item, &mut cx.diagnostics)?);
        Some(())
    })?;
    Some(HalfOpen { at_once, successes, lease })
}

#[cfg(test)]
mod tests;
