//! `probe`: how often a target is asked, what, and what its answers make of its health.
//!
//! In: a `probe` block. Out: its rules. A part of a line that is left out is that of the line's default; a `slow` line
//! replaces all inherited and default ones.

use super::trigger::{self, of_baseline, parts};
use crate::check::context::{Context, Decl};
use crate::check::cursor::Cursor;
use crate::check::fields::Fields;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::probe::{
    BadAnswer, BaselineRules, HealthRules, ProbeKind, ProbeRules, SlowBeside, SlowLive, SlowWhen,
};
use crate::policy::{Millis, Money, Percent};
use crate::source::Span;
use crate::syntax::settings::Block;
use crate::syntax::tree::{Item, ItemKind, Operator, Statement};

/// Most of anything that changes a state: beyond, it never would.
const MOST: u32 = 1_000;
/// Most tokens that a probe may ask for.
const MOST_TOKENS: u32 = 1_000_000;
/// The name by which a target switches a probe or ramp off.
pub const NONE: &str = "none";

/// Lowers a `probe` block, what it extends included.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<ProbeRules> {
    let fields = cx.fields(decl);
    name(cx, decl);
    let built_in = ProbeRules::default();
    let health = HealthRules::default();
    let every = fields.or(cx, "every", (built_in.every, built_in.jitter), every);
    let timeout = fields.optional(cx, "timeout", |cx, s| cx.time(s));
    let kind =
        fields.or(cx, "kind", built_in.kind, |cx, s| ProbeKind::from_word(cx.one_of(Block::Probe, "kind", s)?));
    let prompt = fields.or(cx, "prompt", built_in.prompt, |cx, s| cx.string(s));
    let max_tokens = fields.or(cx, "max-tokens", built_in.max_tokens, |cx, s| cx.integer(s, 1, MOST_TOKENS));
    let answer_contains = fields.optional(cx, "answer", answer);
    let bad_answer = fields.or(cx, "bad-answer", built_in.bad_answer, |cx, s| {
        BadAnswer::from_word(cx.one_of(Block::Probe, "bad-answer", s)?)
    });
    let slow = slow(cx, &fields.all("slow"), &health.slow);
    let mut after = |word: &str, default: u32, unit: (&str, &str)| {
        fields.or(cx, word, default, |cx, s| {
            let mut cursor = Cursor::new(cx.value_items(s)?, s.span);
            cursor.due_word("after", &mut cx.diagnostics)?;
            let count = trigger::counted(cx, &mut cursor, unit, MOST)?;
            cursor.finish(&mut cx.diagnostics).then_some(count)
        })
    };
    let down_after = after("down", health.down_after, ("failure", "failures"));
    let up_after = after("up", health.up_after, ("pass", "passes"));
    let degraded_after = after("degraded", health.degraded_after, ("slow", "slow"));
    let recovered_after = after("recovered", health.recovered_after, ("ok", "ok"));
    let baseline = fields.or(cx, "baseline", health.baseline, baseline);
    let traffic = fields.or(cx, "traffic", built_in.traffic, |cx, s| cx.flag(s));
    let spend_per_day = fields.optional(cx, "spend", spend);
    let ((every, jitter), timeout) = (every?, timeout?);
    let rules = ProbeRules {
        every,
        jitter,
        timeout,
        kind: kind?,
        prompt: prompt?,
        max_tokens: max_tokens?,
        answer_contains: answer_contains?,
        bad_answer: bad_answer?,
        health: HealthRules {
            down_after: down_after?,
            up_after: up_after?,
            degraded_after: degraded_after?,
            recovered_after: recovered_after?,
            slow: slow?,
            baseline: baseline?,
        },
        traffic: traffic?,
        spend_per_day: spend_per_day?,
    };
    cx.settle(decl, "timeout", rules.longest().to_string(), crate::check::Origin::Default);
    fits(cx, decl, &fields, &rules);
    judges(cx, &fields, &rules);
    Some(rules)
}

/// A block of this name could never be chosen.
pub fn name(cx: &mut Context<'_>, decl: &Decl<'_>) {
    if decl.name == NONE {
        let kind = decl.block.word();
        cx.report(
            Diagnostic::new(Code::BadName, decl.name_span, format!("no {kind} can be called `{NONE}`"))
                .here(format!("`{kind} {NONE}` in a target means that it has no {kind}"))
                .help("choose another name"),
        );
    }
}

/// `10s[, jitter 10%]`
fn every<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<(Millis, Percent)> {
    let mut cursor = Cursor::new(cx.value_items(statement)?, statement.span);
    let item = cursor.due("a duration", &mut cx.diagnostics)?;
    let every = value::time(item, &mut cx.diagnostics)?;
    let mut jitter = ProbeRules::default().jitter;
    parts(cx, cursor, &["jitter"], |cx, _, cursor| {
        let item = cursor.due("a percentage", &mut cx.diagnostics)?;
        jitter = value::percent(item, &mut cx.diagnostics)?;
        Some(())
    })?;
    Some((every, jitter))
}

/// `contains "TEXT"`
fn answer<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<String> {
    let mut cursor = Cursor::new(cx.value_items(statement)?, statement.span);
    cursor.due_word("contains", &mut cx.diagnostics)?;
    let item = cursor.due("a string", &mut cx.diagnostics)?;
    let text = value::string(item, &mut cx.diagnostics)?;
    if text.is_empty() {
        cx.report(
            Diagnostic::new(Code::OutOfRange, item.span, "every answer contains an empty string")
                .help("write what the answer has to contain, or leave `answer` out"),
        );
        return None;
    }
    cursor.finish(&mut cx.diagnostics).then_some(text)
}

fn slow<'a>(cx: &mut Context<'a>, statements: &[&'a Statement], built_in: &SlowWhen) -> Option<SlowWhen> {
    if statements.is_empty() {
        return Some(*built_in);
    }
    let mut all = SlowWhen { beside: None, above: None, live: None };
    let mut whole = true;
    for statement in statements {
        let before = match slow_line(cx, statement) {
            Some(Slow::Beside(rule)) => all.beside.replace(rule).is_some(),
            Some(Slow::Above(limit)) => all.above.replace(limit).is_some(),
            Some(Slow::Live(rule)) => all.live.replace(rule).is_some(),
            None => {
                whole = false;
                continue;
            }
        };
        if before {
            cx.report(
                Diagnostic::new(Code::DuplicateSetting, statement.span, "a second line of the same form")
                    .help("keep one of them"),
            );
            whole = false;
        }
    }
    whole.then_some(all)
}

/// Which of its forms a line is.
#[derive(Clone, Copy, Debug)]
enum Slow {
    Beside(SlowBeside),
    Above(Millis),
    Live(SlowLive),
}

/// `when latency > 3x baseline[, at least D]`, `when latency > D`, `when p95 > D over D[, min N]`
fn slow_line<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Slow> {
    let (measure, mut cursor) = trigger::head(cx, statement, &["latency", "p95"], Operator::Greater)?;
    if measure == "p95" {
        return live(cx, cursor).map(Slow::Live);
    }
    let Some(multiple) = of_baseline(cx, &mut cursor)? else {
        let item = cursor.due("a duration or a multiple of the baseline", &mut cx.diagnostics)?;
        let limit = value::time(item, &mut cx.diagnostics)?;
        return cursor.finish(&mut cx.diagnostics).then_some(Slow::Above(limit));
    };
    // Without the built-in form there would be no floor; its own is that of the language.
    let mut at_least = HealthRules::default().slow.beside.map_or(Millis::ZERO, |beside| beside.at_least);
    parts(cx, cursor, &["at"], |cx, _, cursor| {
        cursor.due_word("least", &mut cx.diagnostics)?;
        let item = cursor.due("a duration", &mut cx.diagnostics)?;
        at_least = value::duration(item, &mut cx.diagnostics)?;
        Some(())
    })?;
    Some(Slow::Beside(SlowBeside { multiple, at_least }))
}

fn live<'a>(cx: &mut Context<'a>, mut cursor: Cursor<'a>) -> Option<SlowLive> {
    let item = cursor.due("a duration", &mut cx.diagnostics)?;
    let above = value::time(item, &mut cx.diagnostics)?;
    cursor.due_word("over", &mut cx.diagnostics)?;
    let item = cursor.due("a duration", &mut cx.diagnostics)?;
    let over = value::time(item, &mut cx.diagnostics)?;
    let mut min = SlowLive::MIN;
    parts(cx, cursor, &["min"], |cx, _, cursor| {
        min = trigger::number(cx, cursor, u32::from(SlowLive::KEPT))?;
        Some(())
    })?;
    Some(SlowLive { above, over, min })
}

/// `100 probes[, min 20][, renew 30m]`
fn baseline<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<BaselineRules> {
    let mut cursor = Cursor::new(cx.value_items(statement)?, statement.span);
    let size = trigger::counted(cx, &mut cursor, ("probe", "probes"), BaselineRules::MOST)?;
    let place = cursor.after();
    let mut rules = BaselineRules { size, ..HealthRules::default().baseline };
    let mut min_span = None;
    parts(cx, cursor, &["min", "renew"], |cx, word, cursor| {
        if word == "min" {
            rules.min = trigger::number(cx, cursor, BaselineRules::MOST)?;
            min_span = Some(cursor.after());
            return Some(());
        }
        let item = cursor.due("a duration", &mut cx.diagnostics)?;
        rules.renew = Some(value::time(item, &mut cx.diagnostics)?);
        Some(())
    })?;
    if rules.min > rules.size {
        cx.report(
            Diagnostic::new(
                Code::NeverCollected,
                min_span.unwrap_or(place),
                format!("a baseline of {size} probes never holds {}", rules.min),
            )
            .here(format!("at most {size} are kept"))
            .help(format!("write `min {size}` or less, or keep more probes")),
        );
        return None;
    }
    Some(rules)
}

/// `$X/day`
fn spend<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Money> {
    let item = cx.single(statement)?;
    let amount = match &item.kind {
        ItemKind::Number(text) => text.strip_suffix("/day"),
        ItemKind::Word(_)
        | ItemKind::Str(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => None,
    };
    let Some(amount) = amount else {
        cx.report(value::wrong(item, "an amount for a day, such as `$2/day`").help("write an amount such as `$2/day`"));
        return None;
    };
    let amount = Item { kind: ItemKind::Number(amount.to_owned()), span: item.span };
    value::money(&amount, &mut cx.diagnostics)
}

/// A probe that may last longer than its interval never runs as often as it says.
fn fits(cx: &mut Context<'_>, decl: &Decl<'_>, fields: &Fields<'_>, rules: &ProbeRules) {
    let Some(timeout) = rules.timeout.filter(|timeout| *timeout > rules.every) else { return };
    // Two inherited settings that do not fit are the other block's doing.
    let own = |word: &str| fields.own(word).map(|statement| statement.span);
    let place = |word: &str| own(word).unwrap_or(decl.name_span);
    let said: [Option<Span>; 2] = [own("timeout"), own("every")];
    if said.iter().all(Option::is_none) {
        return;
    }
    cx.report(
        Diagnostic::new(Code::ProbeOutlastsInterval, place("timeout"), "this probe may last longer than its interval")
            .here(format!("{timeout} is longer than the {} from one probe to the next", rules.every))
            .label(place("every"), "the interval")
            .help(format!("write `timeout {}` or less, or probe less often", rules.every)),
    );
}

/// A probe that looks at no answer has no use for what answers are judged by. What is inherited may be meant for others.
fn judges(cx: &mut Context<'_>, fields: &Fields<'_>, rules: &ProbeRules) {
    if rules.kind != ProbeKind::Endpoint {
        return;
    }
    // Live latencies are judged as those of answers are.
    let of_latency: &[&str] = if rules.traffic { &[] } else { &["slow", "degraded", "recovered", "baseline"] };
    for word in ["answer", "bad-answer", "up"].iter().chain(of_latency) {
        if let Some(statement) = fields.own(word) {
            cx.report(
                Diagnostic::new(
                    Code::NothingToJudge,
                    statement.span,
                    format!("`{word}` says nothing beside `kind endpoint`"),
                )
                .here("no answer is looked at")
                .help("take it out, or ask for an answer with `kind generate`"),
            );
        }
    }
}

#[cfg(test)]
mod tests;
