//! `target`.

use super::health::{self, Health};
use super::provider::header_name;
use super::trigger::parts;
use crate::check::context::{Context, Decl};
use crate::check::cursor::Cursor;
use crate::check::lower::{correction, script};
use crate::check::read::end_of;
use crate::check::resolution::Origin;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::probe::Seed;
use crate::policy::{Millis, Prices, Target};
use crate::syntax::settings::{Block, Early};
use crate::syntax::tree::{ItemKind, Statement};

/// Lowers a `target` block.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>, known: &Health) -> Option<Target> {
    let fields = cx.fields(decl);
    let model = fields.required(cx, "model", |cx, s| {
        let item = cx.single(s)?;
        cx.model(item)
    });
    let provider = fields.required(cx, "provider", |cx, s| {
        let item = cx.single(s)?;
        cx.provider(item)
    });
    let upstream = fields.optional(cx, "upstream", |cx, s| cx.label(s));
    let region = fields.optional(cx, "region", |cx, s| cx.label(s));
    let retention = fields.optional(cx, "retention", |cx, s| cx.duration(s));
    let prices = fields.or(cx, "price", Prices::default(), |cx, s| cx.prices(s));
    let quantization = fields.optional(cx, "quantization", |cx, s| cx.label(s));
    let enabled = fields.or(cx, "enabled", true, |cx, s| cx.flag(s));
    let idempotency_key = fields.optional(cx, "idempotency-key", |cx, s| {
        let name = cx.string(s)?;
        header_name(cx, name, end_of(s))
    });
    let script = fields.optional(cx, "script", |cx, s| script::lower(cx, decl, s));

    let max_concurrent = fields.optional(cx, "max-concurrent", |cx, s| cx.integer(s, 1, u32::MAX));
    let corrections = correction::all(cx, &fields.all("failure"));
    let seed = seed(cx, &fields.all("baseline"));
    health::refer_or_none(cx, &fields, Block::Probe);
    health::refer_or_none(cx, &fields, Block::Ramp);
    let homes = health::homes(cx.names, decl);
    let inherited = homes.get(1..).unwrap_or_default();
    health::settle(cx, decl, Block::Probe, inherited, "none");
    health::settle(cx, decl, Block::Ramp, inherited, "none");
    let probe = health::rules(&known.probes, health::chosen(cx.names, Block::Probe, &homes));
    let ramp = health::rules(&known.ramps, health::chosen(cx.names, Block::Ramp, &homes));

    let model_name = model.and_then(|id| cx.names.decl(Block::Model, id.index()));
    let model_name = model_name.map(|model| model.name.clone());
    if let Some(name) = &model_name {
        cx.settle(decl, "upstream", format!("\"{name}\""), Origin::Default);
    }
    Some(Target {
        name: decl.name.clone(),
        span: decl.name_span,
        docs: decl.statement.docs.clone(),
        model: model?,
        provider: provider?,
        upstream: upstream?.or(model_name)?,
        region: region?,
        prices: prices?,
        retention: retention?,
        quantization: quantization?,
        enabled: enabled?,
        idempotency_key: idempotency_key?,
        script: script?,
        max_concurrent: max_concurrent?,
        corrections: corrections?,
        seed: seed?,
        probe,
        ramp: ramp.unwrap_or_default(),
    })
}

/// The one baseline that every region of the gateway starts from; one for a single region has no effect yet.
fn seed<'a>(cx: &mut Context<'a>, statements: &[&'a Statement]) -> Option<Option<Seed>> {
    let mut known: Option<(Seed, crate::source::Span)> = None;
    let mut whole = true;
    for statement in statements {
        let Some(seed) = baseline(cx, statement) else {
            whole = false;
            continue;
        };
        if let Some((_, first)) = known {
            cx.report(
                Diagnostic::new(Code::DuplicateSetting, statement.span, "a second baseline for every region")
                    .label(first, "the first one")
                    .help("keep one of them"),
            );
            whole = false;
        }
        known = known.or(Some((seed, statement.span)));
    }
    whole.then_some(known.map(|(seed, _)| seed))
}

/// `p50 D, p95 D`
fn baseline<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Seed> {
    let items = cx.value_items(statement)?;
    if let Some(from) = items.iter().find(|item| item.is("from")) {
        cx.early(from.span, Early::BaselineFrom);
        return None;
    }
    let mut cursor = Cursor::new(items, statement.span);
    cursor.due_word("p50", &mut cx.diagnostics)?;
    let first = cursor.due("the median", &mut cx.diagnostics)?;
    let p50 = value::time(first, &mut cx.diagnostics)?;
    if !cursor.peek().is_some_and(|item| item.kind == ItemKind::Comma) {
        cx.report(value::missing("`, p95 D`", cursor.after()).help("write `baseline p50 300ms, p95 900ms`"));
        return None;
    }
    let mut p95 = Millis::ZERO;
    parts(cx, cursor, &["p95"], |cx, _, cursor| {
        let item = cursor.due("the 95th of a hundred", &mut cx.diagnostics)?;
        p95 = value::time(item, &mut cx.diagnostics)?;
        if p95 < p50 {
            cx.report(
                Diagnostic::new(Code::OutOfRange, item.span, format!("a p95 of {p95} is below the p50 of {p50}"))
                    .here("the median is never above it")
                    .help("write the shorter time as `p50`"),
            );
            return None;
        }
        Some(())
    })?;
    Some(Seed { p50, p95 })
}
