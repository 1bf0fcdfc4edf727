//! `target`.

use super::provider::header_name;
use crate::check::context::{Context, Decl};
use crate::check::lower::script;
use crate::check::resolution::Origin;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Api, Prices, Provider, Target};
use crate::source::Span;

/// Lowers a `target` block. `providers` is what the providers came to.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>, providers: &[Option<Provider>]) -> Option<Target> {
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
        header_name(cx, name, s.span)
    });
    let script = fields.optional(cx, "script", |cx, s| script::lower(cx, decl, s));

    let served = provider.and_then(|id| providers.get(id.index())).and_then(Option::as_ref);
    if let (Some(statement), Some(provider)) = (fields.one("script"), served) {
        let span = statement.items.first().map_or(statement.span, |item| item.span);
        if let Some(diagnostic) = idle_script(span, provider) {
            cx.report(diagnostic);
        }
    }
    let model_name = model.and_then(|id| cx.names.decl(crate::syntax::settings::Block::Model, id.index()));
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

/// A script for a provider that the emulator does not play would never be read.
fn idle_script(span: Span, provider: &Provider) -> Option<Diagnostic> {
    match provider.api {
        Api::Emulated => None,
        Api::OpenaiChat => Some(
            Diagnostic::new(Code::IdleScript, span, format!("provider `{}` is not emulated", provider.name))
                .here("nobody would follow this script")
                .label(provider.span, "a real provider")
                .help("leave the script out, or give the provider `api emulated`"),
        ),
    }
}
