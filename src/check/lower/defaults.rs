//! `defaults`: what holds where a route does not say otherwise.

use super::health;
use super::provider::header_name;
use crate::check::context::{Context, Decl};
use crate::check::fields::Fields;
use crate::policy::{BudgetId, Defaults, MatrixId};
use crate::source::Span;
use crate::syntax::settings::Block;
use crate::syntax::tree::Statement;

/// What a default block says of a kind of block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset<T> {
    /// Nothing.
    #[default]
    Absent,
    /// Something that was reported; routes that rely on it stay silent.
    Broken,
    /// This block, said there.
    Known(T, Span),
}

impl<T> Preset<T> {
    /// Takes what is absent for something that was reported.
    fn doubt(&mut self) {
        if matches!(self, Preset::Absent) {
            *self = Preset::Broken;
        }
    }
}

/// A lowered `defaults` block, with what routes take from it.
#[derive(Clone, Debug, Default)]
pub struct Presets {
    /// Header names.
    pub defaults: Defaults,
    /// For routes without a matrix.
    pub matrix: Preset<MatrixId>,
    /// For routes without a budget.
    pub budget: Preset<BudgetId>,
}

/// Lowers a `defaults` block. A broken header name leaves the built-in one, since the set is refused anyway.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>) -> Presets {
    let before = cx.findings();
    let fields = cx.fields(decl);
    let matrix = preset(cx, &fields, "matrix", |cx, s| {
        let item = cx.single(s)?;
        cx.matrix(item)
    });
    let budget = preset(cx, &fields, "budget", |cx, s| {
        let item = cx.single(s)?;
        cx.budget(item)
    });
    for block in [Block::Breaker, Block::Probe, Block::Ramp] {
        health::refer(cx, &fields, block);
    }
    let built_in = Defaults::default();
    let session_header = fields.optional(cx, "session-header", header).flatten().unwrap_or(built_in.session_header);
    let region_header = fields.optional(cx, "region-header", header).flatten().unwrap_or(built_in.region_header);
    let mut presets = Presets { defaults: Defaults { session_header, region_header }, matrix, budget };
    // What could not be read may be what seems to be missing.
    if cx.findings() > before || decl.statement.block.is_none() {
        presets.matrix.doubt();
        presets.budget.doubt();
    }
    presets
}

fn preset<'a, T>(
    cx: &mut Context<'a>,
    fields: &Fields<'a>,
    word: &str,
    read: impl FnOnce(&mut Context<'a>, &'a Statement) -> Option<T>,
) -> Preset<T> {
    let Some(statement) = fields.one(word) else { return Preset::Absent };
    read(cx, statement).map_or(Preset::Broken, |id| Preset::Known(id, statement.span))
}

fn header<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<String> {
    let name = cx.label(statement)?;
    let span = statement.items.get(1).map_or(statement.span, |item| item.span);
    header_name(cx, name, span)
}
