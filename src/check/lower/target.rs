//! `target`.

use super::provider::header_name;
use crate::check::context::{Context, Decl};
use crate::check::lower::script;
use crate::check::read::end_of;
use crate::check::resolution::Origin;
use crate::policy::{Prices, Target};
use crate::syntax::settings::Block;

/// Lowers a `target` block.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<Target> {
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
    let enabled = fields.or(cx, "enabled", true, |cx, s| cx.flag(s));
    let idempotency_key = fields.optional(cx, "idempotency-key", |cx, s| {
        let name = cx.string(s)?;
        header_name(cx, name, end_of(s))
    });
    let script = fields.optional(cx, "script", |cx, s| script::lower(cx, decl, s));

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
        enabled: enabled?,
        idempotency_key: idempotency_key?,
        script: script?,
    })
}
