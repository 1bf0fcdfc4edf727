//! Which breaker, probe and ramp a provider and a target have: target, then provider, then `defaults`, then the
//! language's own.
//!
//! In: the lowered blocks and the names of the set. Out: rules, ready to be copied into the policy. A name that does
//! not exist is reported where it stands, by whoever reads that block; here it chooses nothing.

use super::probe::NONE;
use crate::check::context::{Context, Decl, Names};
use crate::check::fields::Fields;
use crate::check::resolution::Origin;
use crate::policy::breaker::BreakerRules;
use crate::policy::probe::ProbeRules;
use crate::policy::ramp::RampRules;
use crate::source::Span;
use crate::syntax::settings::Block;

/// The lowered blocks, by their positions; what is broken is `None`.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// Sorted by name.
    pub breakers: Vec<Option<BreakerRules>>,
    /// Sorted by name.
    pub probes: Vec<Option<ProbeRules>>,
    /// Sorted by name.
    pub ramps: Vec<Option<RampRules>>,
}

impl Health {
    /// Whether none of them is broken.
    pub fn is_whole(&self) -> bool {
        self.breakers.iter().all(Option::is_some)
            && self.probes.iter().all(Option::is_some)
            && self.ramps.iter().all(Option::is_some)
    }
}

/// A block that was chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'n, 'a> {
    /// Its position among the blocks of its kind.
    pub position: usize,
    /// The block that says so.
    pub said_by: &'n Decl<'a>,
    /// Where.
    pub span: Span,
}

/// The choice of the nearest of some blocks that makes one; nothing where none does, or where it is switched off.
pub fn chosen<'n, 'a>(names: &'n Names<'a>, block: Block, homes: &[&'n Decl<'a>]) -> Option<Choice<'n, 'a>> {
    let defaults = names.list(Block::Defaults).first();
    let said = |home: &&'n Decl<'a>| {
        let statement = home.statements().iter().find(|statement| statement.keyword() == Some(block.word()))?;
        Some((*home, statement))
    };
    let (said_by, statement) = homes.iter().copied().chain(defaults).find_map(|home| said(&home))?;
    let item = statement.items.get(1)?;
    let position = names.position(block, item.word()?)?;
    Some(Choice { position, said_by, span: statement.span })
}

/// The blocks in which a target's choices may stand, nearest first.
pub fn homes<'n, 'a>(names: &'n Names<'a>, target: &'n Decl<'a>) -> Vec<&'n Decl<'a>> {
    let provider = target.statements().iter().find(|s| s.keyword() == Some("provider"));
    let provider = provider.and_then(|s| names.position(Block::Provider, s.items.get(1)?.word()?));
    let provider = provider.and_then(|position| names.decl(Block::Provider, position));
    [target].into_iter().chain(provider).collect()
}

/// Reads a setting that names a block, for its reference alone.
pub fn refer<'a>(cx: &mut Context<'a>, fields: &Fields<'a>, block: Block) {
    fields.optional(cx, block.word(), |cx, s| {
        let item = cx.single(s)?;
        cx.reference(block, item)
    });
}

/// The same in a target, which may switch off what it would inherit.
pub fn refer_or_none<'a>(cx: &mut Context<'a>, fields: &Fields<'a>, block: Block) {
    fields.optional(cx, block.word(), |cx, s| {
        let item = cx.single(s)?;
        if item.is(NONE) { Some(0) } else { cx.reference(block, item) }
    });
}

/// Notes what a setting that was left out came to.
pub fn settle<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>, block: Block, homes: &[&'a Decl<'a>], otherwise: &str) {
    let names = cx.names;
    let Some(choice) = chosen(names, block, homes) else {
        cx.settle(decl, block.word(), otherwise, Origin::Default);
        return;
    };
    let Some(found) = names.decl(block, choice.position) else { return };
    let origin = match choice.said_by.block {
        Block::Defaults => Origin::Defaults(choice.span),
        Block::Provider => Origin::Inherited { from: choice.said_by.name.clone(), span: choice.span },
        Block::Model
        | Block::Target
        | Block::Contract
        | Block::Evaluation
        | Block::Tier
        | Block::Matrix
        | Block::Budget
        | Block::Breaker
        | Block::Probe
        | Block::Ramp
        | Block::Route
        | Block::Objective
        | Block::Alert
        | Block::Client
        | Block::Test
        | Block::Load => Origin::Written(choice.span),
    };
    cx.settle(decl, block.word(), found.name.clone(), origin);
}

/// The rules of a choice. Those of a broken block were reported, and the set is refused.
pub fn rules<T: Clone>(list: &[Option<T>], choice: Option<Choice<'_, '_>>) -> Option<T> {
    list.get(choice?.position)?.clone()
}

#[cfg(test)]
mod tests;
