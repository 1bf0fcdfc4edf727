//! `model`, and the capability words that contracts share with it.

use crate::check::context::{Context, Decl};
use crate::check::fields::Fields;
use crate::check::value;
use crate::policy::{Capabilities, Modalities, Modality, Model, Prices, StructuredOutput, Tools};
use crate::syntax::settings::Block;

/// Lowers a `model` block.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<Model> {
    let fields = cx.fields(decl);
    let abilities = abilities(cx, Block::Model, &fields);
    let context = fields.optional(cx, "context", |cx, s| cx.tokens(s));
    let max_output = fields.optional(cx, "max-output", |cx, s| cx.tokens(s));
    let prices = fields.or(cx, "price", Prices::default(), |cx, s| cx.prices(s));
    let retention = fields.optional(cx, "retention", |cx, s| cx.duration(s));
    let quality = fields.optional(cx, "quality", |cx, s| {
        let item = cx.single(s)?;
        value::percent(item, &mut cx.diagnostics)
    });
    let abilities = abilities?;
    Some(Model {
        name: decl.name.clone(),
        span: decl.name_span,
        docs: decl.statement.docs.clone(),
        capabilities: Capabilities {
            modalities: abilities.modalities,
            streaming: abilities.streaming,
            tools: abilities.tools,
            structured_output: abilities.structured_output,
            context: context?,
            max_output: max_output?,
            prefill: abilities.prefill,
            reasoning: abilities.reasoning,
            prices: prices?,
            retention: retention?,
            quality: quality?,
        },
    })
}

/// The capability words that are written alike in models and contracts.
pub(super) struct Abilities {
    pub(super) modalities: Option<Modalities>,
    pub(super) streaming: Option<bool>,
    pub(super) tools: Option<Tools>,
    pub(super) structured_output: Option<StructuredOutput>,
    pub(super) prefill: Option<bool>,
    pub(super) reasoning: Option<bool>,
}

/// Reads the shared capability words of a model or contract.
pub(super) fn abilities<'a>(cx: &mut Context<'a>, block: Block, fields: &Fields<'a>) -> Option<Abilities> {
    let modalities = fields.optional(cx, "modalities", |cx, s| {
        let item = cx.single(s)?;
        let words = cx.choices(block, "modalities", item)?;
        Some(words.into_iter().filter_map(Modality::from_word).fold(Modalities::default(), Modalities::with))
    });
    let streaming = fields.optional(cx, "streaming", |cx, s| cx.flag(s));
    let tools = fields.optional(cx, "tools", |cx, s| Tools::from_word(cx.one_of(block, "tools", s)?));
    let structured_output = fields.optional(cx, "structured-output", |cx, s| {
        StructuredOutput::from_word(cx.one_of(block, "structured-output", s)?)
    });
    let prefill = fields.optional(cx, "prefill", |cx, s| cx.flag(s));
    let reasoning = fields.optional(cx, "reasoning", |cx, s| cx.flag(s));
    Some(Abilities {
        modalities: modalities?,
        streaming: streaming?,
        tools: tools?,
        structured_output: structured_output?,
        prefill: prefill?,
        reasoning: reasoning?,
    })
}
