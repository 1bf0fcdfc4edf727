//! `expect …`: what must have come of the last request.
//!
//! In: the items after `expect`. Out: one expectation, names resolved.

use super::super::context::Context;
use super::super::cursor::Cursor;
use super::super::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::class::Verb;
use crate::policy::test::{PathItem, Told};
use crate::policy::{Class, Expectation, ProviderId, Refusal, Subject};
use crate::source::Span;
use crate::syntax::settings::{Block, Early};
use crate::syntax::tree::{Item, ItemKind};

/// The words that an expectation may begin with.
pub(super) const WORDS: [&str; 10] =
    ["served", "refused", "attempts", "elapsed", "cost", "path", "never", "skipped", "output", "ended"];

/// The words of reasons for which a target is passed over; `contract` stands for all of a contract's reasons.
pub const REASONS: [&str; 10] =
    ["contract", "spend", "disabled", "down", "breaker-open", "hold", "trial-busy", "busy", "ramp", "degraded"];

/// Reads the rest of an `expect` line.
pub fn lower(ctx: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Option<Expectation> {
    let first = cursor.due("what is expected", &mut ctx.diagnostics)?;
    let expectation = match first.word() {
        Some("served") => {
            cursor.due_word("by", &mut ctx.diagnostics)?;
            let target = cursor.due("the name of a target", &mut ctx.diagnostics)?;
            Expectation::ServedBy(ctx.target(target)?)
        }
        Some("refused") => refused(cursor, &mut ctx.diagnostics)?,
        Some("attempts" | "elapsed" | "cost") => return measure(first, cursor, &mut ctx.diagnostics),
        Some("path") => {
            let list = cursor.due("a list of classes and actions", &mut ctx.diagnostics)?;
            Expectation::Path(path(ctx, list)?)
        }
        Some("never") => {
            let name = cursor.due("the name of a target or provider", &mut ctx.diagnostics)?;
            Expectation::Never(subject(ctx, name)?)
        }
        Some("skipped") => {
            let target = cursor.due("the name of a target", &mut ctx.diagnostics)?;
            let target = ctx.target(target);
            cursor.due_word("as", &mut ctx.diagnostics)?;
            let reason = reason(cursor.due("a reason", &mut ctx.diagnostics)?, &mut ctx.diagnostics)?;
            Expectation::Skipped { target: target?, reason }
        }
        Some("output") => {
            let text = cursor.due("the text in quotes", &mut ctx.diagnostics)?;
            Expectation::Output(value::string(text, &mut ctx.diagnostics)?)
        }
        Some("ended") => {
            cursor.due_word("with", &mut ctx.diagnostics)?;
            cursor.due_word("error", &mut ctx.diagnostics)?;
            Expectation::EndedWithError
        }
        Some(word) => {
            let mut diagnostic = value::unknown_word(word, first.span, "an expectation", WORDS.into_iter());
            diagnostic.code = Code::UnknownExpectation;
            ctx.report(diagnostic);
            return None;
        }
        None => {
            ctx.report(value::wrong(first, "an expectation"));
            return None;
        }
    };
    cursor.finish(&mut ctx.diagnostics).then_some(expectation)
}

/// `attempts == 2`, `elapsed < 1s`, `cost < $0.01`
fn measure(what: &Item, cursor: &Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<Expectation> {
    let (comparison, item) = value::comparison(cursor.rest(), cursor.after(), out)?;
    Some(match what.word()? {
        "attempts" => Expectation::Attempts(comparison, u64::from(value::integer(item, 0, u32::MAX, out)?)),
        "elapsed" => Expectation::Elapsed(comparison, value::duration(item, out)?),
        _ => Expectation::Cost(comparison, value::money(item, out)?),
    })
}

/// `CLASS-OR-REFUSAL [as STATUS]`
fn refused(cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<Expectation> {
    let item = cursor.due("a failure class or a refusal", out)?;
    let Some(word) = item.word() else {
        out.push(value::wrong(item, "a failure class or a refusal"));
        return None;
    };
    let class = Class::from_word(word).map(Told::Class);
    let Some(why) = class.or_else(|| Refusal::from_word(word).map(Told::Refusal)) else {
        let known = Class::ALL.iter().map(|c| c.word()).chain(Refusal::ALL.iter().map(|r| r.word()));
        out.push(value::unknown_word(word, item.span, "a failure class or a refusal", known));
        return None;
    };
    let status = match cursor.take_word("as") {
        true => u16::try_from(value::integer(cursor.due("a status", out)?, 400, 599, out)?).ok(),
        false => None,
    };
    Some(Expectation::Refused { why, status })
}

/// What a path may say beside classes and actions, and what it means.
pub const PATH_WORDS: [(&str, &str, PathItem); 3] = [
    ("ok", "an answer", PathItem::Ok),
    ("lost", "a call that was closed because of its rival", PathItem::Lost),
    ("hedge", "the next call doubles a late one", PathItem::Hedge),
];

/// `[overloaded, retry, ok]`. Verbs without effect yet are refused at their word and left out.
fn path(ctx: &mut Context<'_>, list: &Item) -> Option<Vec<PathItem>> {
    let mut early: Vec<(Span, Early)> = Vec::new();
    let mut broken = false;
    let read = value::list(list, "a list of classes and actions", &mut ctx.diagnostics, |item, out| {
        let word = item.word().unwrap_or_default();
        let class = Class::from_word(word).map(PathItem::Class);
        let other = PATH_WORDS.iter().find(|(known, ..)| *known == word).map(|(.., item)| *item);
        if let Some(found) = class.or(other) {
            return Some(found);
        }
        match Verb::from_word(word) {
            Some(Verb::Repair) => {
                early.push((item.span, Early::Repair));
                None
            }
            Some(Verb::Continue) => {
                early.push((item.span, Early::Continue));
                None
            }
            Some(verb @ (Verb::Retry | Verb::Wait | Verb::NextKey | Verb::Failover | Verb::Fallback | Verb::Stop)) => {
                Some(PathItem::Action(verb))
            }
            None => {
                broken = true;
                let known = Class::ALL.iter().map(|c| c.word()).chain(Verb::ALL.iter().map(|v| v.word()));
                let known = known.chain(PATH_WORDS.iter().map(|(word, ..)| *word));
                out.push(match item.word() {
                    Some(word) => value::unknown_word(word, item.span, "a failure class, an action or `ok`", known),
                    None => value::wrong(item, "a failure class, an action or `ok`"),
                });
                None
            }
        }
    })?;
    for (span, part) in early {
        ctx.early(span, part);
    }
    (!broken).then(|| read.into_iter().map(|one| one.value).collect())
}

/// A target or a provider; a name that is both says neither.
fn subject(ctx: &mut Context<'_>, item: &Item) -> Option<Subject> {
    let word = item.word().unwrap_or_default();
    let position = |block| ctx.names.position(block, word);
    match (position(Block::Target), position(Block::Provider)) {
        (Some(_), Some(provider)) => {
            let mut diagnostic =
                Diagnostic::new(Code::AmbiguousName, item.span, format!("`{word}` is both a target and a provider"))
                    .here("which one?")
                    .help("rename one of them");
            if let Some(decl) = ctx.names.decl(Block::Provider, provider) {
                diagnostic = diagnostic.label(decl.name_span, "the provider");
            }
            ctx.report(diagnostic);
            None
        }
        (None, Some(provider)) => Some(Subject::Provider(ProviderId(u16::try_from(provider).ok()?))),
        (_, None) => ctx.target(item).map(Subject::Target),
    }
}

/// A word of the standings, or a contract's reason in quotes: `"capability:tools"`.
fn reason(item: &Item, out: &mut Vec<Diagnostic>) -> Option<String> {
    match &item.kind {
        ItemKind::Word(word) if REASONS.contains(&word.as_str()) => Some(word.clone()),
        ItemKind::Word(word) => {
            out.push(value::unknown_word(word, item.span, "a reason for passing a target over", REASONS.into_iter()));
            None
        }
        ItemKind::Str(text) => Some(text.clone()),
        ItemKind::Number(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => {
            out.push(value::wrong(item, "a reason for passing a target over"));
            None
        }
    }
}
