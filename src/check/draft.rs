//! A set as far as it could be lowered.
//!
//! In: the shared context. Out: one list per kind of block, in the order of ids, with holes where a block is broken.
//! Lints read it; only a draft without holes becomes a policy.

use super::context::{Context, Decl, Names};
use super::lower::health::Health;
use super::lower::{
    breaker, budget, contract, defaults, matrix, model, overlap, probe, provider, ramp, route, target, test, tier,
};
use super::resolution;
use crate::policy::{Budget, Contract, Defaults, Matrix, Model, Policy, Provider, Route, Target, Test, Tier};
use crate::syntax::settings::{BLOCKS, Block};
use crate::syntax::tree::{Item, Statement};

/// A set as far as it could be lowered: what is broken is `None`, and the ids of the others hold all the same.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Sorted by name.
    pub providers: Vec<Option<Provider>>,
    /// Sorted by name.
    pub models: Vec<Option<Model>>,
    /// Sorted by name.
    pub targets: Vec<Option<Target>>,
    /// Sorted by name.
    pub contracts: Vec<Option<Contract>>,
    /// Sorted by name.
    pub tiers: Vec<Option<Tier>>,
    /// Sorted by name.
    pub matrices: Vec<Option<Matrix>>,
    /// Sorted by name.
    pub budgets: Vec<Option<Budget>>,
    /// Sorted by name.
    pub routes: Vec<Option<Route>>,
    /// Breakers, probes and ramps, each sorted by name.
    pub health: Health,
    /// The set's `defaults` block, or the built-in ones.
    pub defaults: Defaults,
    /// In the order of files and lines.
    pub tests: Vec<Option<Test>>,
}

/// Lowers every block of the set.
pub fn lower(cx: &mut Context<'_>) -> Draft {
    let names = cx.names;
    mention_early_blocks(cx, names);
    let presets = names.list(Block::Defaults).first().map(|decl| defaults::lower(cx, decl)).unwrap_or_default();
    let health = Health {
        breakers: each(cx, names, Block::Breaker, breaker::lower),
        probes: each(cx, names, Block::Probe, probe::lower),
        ramps: each(cx, names, Block::Ramp, ramp::lower),
    };
    let providers = each(cx, names, Block::Provider, |cx, decl| provider::lower(cx, decl, &health));
    let models = each(cx, names, Block::Model, model::lower);
    let targets = each(cx, names, Block::Target, |cx, decl| target::lower(cx, decl, &health));
    let contracts = each(cx, names, Block::Contract, contract::lower);
    let tiers = each(cx, names, Block::Tier, tier::lower);
    let matrices = each(cx, names, Block::Matrix, |cx, decl| {
        let matrix = matrix::lower(cx, decl);
        if let Some(matrix) = &matrix {
            resolution::rows(cx, decl, matrix);
        }
        matrix
    });
    let budgets = each(cx, names, Block::Budget, budget::lower);
    let routes = each(cx, names, Block::Route, |cx, decl| route::lower(cx, decl, &presets));
    let tests = each(cx, names, Block::Test, test::lower);
    overlap::check(cx, &routes);
    // Second blocks of a name are looked at for what is wrong inside, and lead nowhere.
    for decl in &names.spare {
        spare(cx, decl, &presets, &health);
    }
    Draft {
        providers,
        models,
        targets,
        contracts,
        tiers,
        matrices,
        budgets,
        routes,
        health,
        defaults: presets.defaults,
        tests,
    }
}

fn each<'a, T>(
    cx: &mut Context<'a>,
    names: &'a Names<'a>,
    block: Block,
    mut lower: impl FnMut(&mut Context<'a>, &'a Decl<'a>) -> Option<T>,
) -> Vec<Option<T>> {
    names.list(block).iter().map(|decl| lower(cx, decl)).collect()
}

fn spare<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>, presets: &defaults::Presets, health: &Health) {
    match decl.block {
        Block::Provider => drop(provider::lower(cx, decl, health)),
        Block::Model => drop(model::lower(cx, decl)),
        Block::Target => drop(target::lower(cx, decl, health)),
        Block::Contract => drop(contract::lower(cx, decl)),
        Block::Tier => drop(tier::lower(cx, decl)),
        Block::Matrix => drop(matrix::lower(cx, decl)),
        Block::Budget => drop(budget::lower(cx, decl)),
        Block::Route => drop(route::lower(cx, decl, presets)),
        Block::Defaults => drop(defaults::lower(cx, decl)),
        Block::Test => drop(test::lower(cx, decl)),
        Block::Breaker => drop(breaker::lower(cx, decl)),
        Block::Probe => drop(probe::lower(cx, decl)),
        Block::Ramp => drop(ramp::lower(cx, decl)),
        Block::Evaluation | Block::Objective | Block::Alert | Block::Client | Block::Load => {}
    }
}

/// Blocks without effect yet are not read; what they name counts as used.
fn mention_early_blocks(cx: &mut Context<'_>, names: &Names<'_>) {
    let is_early = |statement: &&Statement| {
        let word = statement.items.first().and_then(Item::word);
        BLOCKS.iter().any(|row| Some(row.word) == word && row.block.is_later())
    };
    for statement in names.trees.iter().flat_map(|tree| &tree.statements).filter(is_early) {
        cx.mention_statement(statement);
    }
}

impl Draft {
    /// The policy, if nothing is broken.
    pub(super) fn finish(self) -> Option<Policy> {
        fn whole<T>(list: Vec<Option<T>>) -> Option<Vec<T>> {
            list.into_iter().collect()
        }
        // Their rules are in the providers and targets already.
        self.health.is_whole().then_some(())?;
        Some(Policy {
            providers: whole(self.providers)?,
            models: whole(self.models)?,
            targets: whole(self.targets)?,
            contracts: whole(self.contracts)?,
            tiers: whole(self.tiers)?,
            matrices: whole(self.matrices)?,
            budgets: whole(self.budgets)?,
            routes: whole(self.routes)?,
            defaults: self.defaults,
            tests: whole(self.tests)?,
        })
    }
}
