//! `route`.

use super::defaults::{Preset, Presets};
use super::row_action;
use crate::check::context::{Context, Decl, not_yet_part};
use crate::check::cursor::Cursor;
use crate::check::fields::{self, Fields};
use crate::check::guard::{self, Reads};
use crate::check::resolution::Origin;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Effects, Exhausted, Guard, Percent, Route};
use crate::syntax::settings::{Block, Early};
use crate::syntax::tree::{ItemKind, Statement};

/// Lowers a `route` block.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>, presets: &Presets) -> Option<Route> {
    let fields = cx.fields(decl);
    let version = fields.optional(cx, "version", |cx, s| cx.integer(s, 0, u32::MAX));
    let serves = fields.or(cx, "serves", vec![decl.name.clone()], serves);
    cx.settle(decl, "serves", format!("[{}]", decl.name), Origin::Default);
    let matches = fields.optional(cx, "match", matching);
    let before = fields.optional(cx, "before", |cx, s| {
        let item = cx.single(s)?;
        cx.route(item)
    });
    let contract = fields.optional(cx, "contract", |cx, s| {
        let item = cx.single(s)?;
        cx.contract(item)
    });
    let tier = fields.required(cx, "tier", |cx, s| {
        let item = cx.single(s)?;
        cx.tier(item)
    });
    let matrix = with_preset(cx, decl, &fields, "matrix", presets.matrix, |cx, s| {
        let item = cx.single(s)?;
        cx.matrix(item)
    });
    let budget = with_preset(cx, decl, &fields, "budget", presets.budget, |cx, s| {
        let item = cx.single(s)?;
        cx.budget(item)
    });
    let side_effects = fields.or(cx, "side-effects", Effects::None, |cx, s| {
        Effects::from_word(cx.one_of(Block::Route, "side-effects", s)?)
    });
    // These have one value that is in effect, so that reading them is all there is to do.
    let fixed = ["stream", "idempotency", "capture"]
        .map(|word| fields.optional(cx, word, |cx, s| cx.one_of(Block::Route, word, s)));
    let failover = fields.or(cx, "failover", Percent::ALL, switch);
    let fallback = fields.or(cx, "fallback", Percent::ALL, switch);
    let exhausted = fields.or(cx, "exhausted", Exhausted::DEFAULT, exhausted);
    if fixed.iter().any(Option::is_none) {
        return None;
    }
    Some(Route {
        name: decl.name.clone(),
        span: decl.name_span,
        docs: decl.statement.docs.clone(),
        version: version?.map(u64::from),
        serves: serves?,
        matches: matches?,
        before: before?,
        contract: contract?,
        tier: tier?,
        matrix: matrix?,
        budget: budget?,
        side_effects: side_effects?,
        failover: failover?,
        fallback: fallback?,
        exhausted: exhausted?,
    })
}

fn serves<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Vec<String>> {
    let item = cx.single(statement)?;
    let names = value::labels(item, &mut cx.diagnostics)?;
    if names.is_empty() {
        cx.report(
            Diagnostic::new(Code::MissingValue, item.span, "this route serves no model at all")
                .help("name what clients write as `model`, or leave `serves` out for the route's own name"),
        );
        return None;
    }
    let mut served: Vec<String> = Vec::new();
    for name in names {
        if served.contains(&name.value) {
            cx.report(
                Diagnostic::new(Code::DuplicateSetting, name.span, format!("`{}` stands twice", name.value))
                    .help("keep one of them"),
            );
        } else {
            served.push(name.value);
        }
    }
    Some(served)
}

/// `match when GUARD`
fn matching<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Guard> {
    let (when, rest) = cx.value_items(statement)?.split_first()?;
    if !when.is("when") {
        cx.report(value::wrong(when, "`when`").help("write `match when`, then a condition on the request"));
        return None;
    }
    guard::lower(rest, when.span, Reads::Request, &mut cx.diagnostics)
}

/// A setting of the route, else of the defaults; neither is an error.
fn with_preset<'a, T>(
    cx: &mut Context<'a>,
    decl: &'a Decl<'a>,
    fields: &Fields<'a>,
    word: &str,
    preset: Preset<T>,
    read: impl FnOnce(&mut Context<'a>, &'a Statement) -> Option<T>,
) -> Option<T> {
    if let Some(statement) = fields.one(word) {
        return read(cx, statement);
    }
    match preset {
        Preset::Known(id, span) => {
            let text = cx.names.slice(span).split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
            cx.settle(decl, word, text, Origin::Defaults(span));
            Some(id)
        }
        Preset::Broken => None,
        Preset::Absent => {
            // The whole block may be broken off; then nothing is called missing.
            decl.statement.block.as_ref()?;
            if cx.names.is_lost(Block::Defaults) || fields::strangers(decl) > 0 || fields::is_said(decl, word) {
                return None;
            }
            cx.report(
                Diagnostic::new(Code::MissingSetting, decl.name_span, format!("this route has no `{word}`"))
                    .here(format!("`{word}` is missing here and in `defaults`"))
                    .help(format!("add `{word} NAME` to the route, or to a `defaults` block for all routes")),
            );
            None
        }
    }
}

/// `yes` or `no`; a share of sessions has no effect yet.
fn switch<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Percent> {
    let item = cx.single(statement)?;
    if matches!(item.kind, ItemKind::Number(_)) {
        return value::percent(item, &mut cx.diagnostics);
    }
    let all = value::truth(item, &mut cx.diagnostics)?;
    Some(if all { Percent::ALL } else { Percent::NONE })
}

/// `stop as STATUS` or `wait up to D`; serving from a cache has no effect yet.
fn exhausted<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Exhausted> {
    let mut cursor = Cursor::new(cx.value_items(statement)?, statement.span);
    let first = cursor.due("`stop as STATUS` or `wait up to D`", &mut cx.diagnostics)?;
    let out = &mut cx.diagnostics;
    let exhausted = match first.word() {
        Some("stop") => {
            row_action::whole(first, &mut cursor, "stop", "as", "503", out)?;
            cursor.due_word("as", out)?;
            Exhausted::Stop { status: row_action::told(cursor.due("a status", out)?, out)? }
        }
        Some("wait") => {
            row_action::whole(first, &mut cursor, "wait", "up to", "2s", out)?;
            cursor.due_word("up", out)?;
            cursor.due_word("to", out)?;
            Exhausted::Wait { up_to: value::time(cursor.due("a duration", out)?, out)? }
        }
        Some("serve-cached") => {
            let help = "write `stop as STATUS` or `wait up to D` for now";
            out.push(not_yet_part(first.span, Early::ServeCached).help(help));
            return None;
        }
        Some(_) | None => {
            out.push(value::wrong(first, "`stop` or `wait`").help("write `stop as STATUS` or `wait up to D`"));
            return None;
        }
    };
    cursor.finish(out).then_some(exhausted)
}
