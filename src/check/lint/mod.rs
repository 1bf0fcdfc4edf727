//! Lints: what a set that can be read still does wrong. One file each, named after its code.
//!
//! In: the names of the set and the draft. Out: diagnostics. What is unknown, a lint does not speak of: each of them
//! stays silent about blocks that could not be lowered. Never changes the draft.

mod action_never_possible;
mod answer_above_spend;
mod attempts_above_chain;
mod attempts_below_chain;
mod attempts_below_pool;
mod budget_at_odds;
mod cached_above_input;
mod chain_switched_off;
mod clauses;
mod cleartext_http;
mod contract_unmet;
mod dearer_standby;
mod emulated_and_real;
mod emulated_provider;
mod fallback_to_itself;
mod hang_takes_all;
mod hedge_never;
mod key_missing;
mod mixed_quantization;
mod one_outage_away;
mod output_above_context;
mod output_unknown;
mod probe_refused;
mod region_nowhere;
mod retries_above_target;
mod settled_guard;
mod slow_above_unseen;
mod spend_to_itself;
mod stage_too_short;
mod two_accounts_one_credential;
mod two_breakers;
mod unknown_price;
mod unproven_fallback;
mod unreachable_target;
mod unused_block;
mod wait_above_deadline;

use super::context::{Context, Decl};
use super::draft::Draft;
use crate::diag::Diagnostic;
use crate::policy::{Action, Budget, Chain, Matrix, Model, Provider, Route, RowAction, Target, Tier};
use crate::source::Span;
use crate::syntax::settings::Block;

/// What a lint is: it reads, and adds what it finds.
type Lint = fn(&Context<'_>, &Draft, &mut Vec<Diagnostic>);

const LINTS: [Lint; 35] = [
    action_never_possible::lint,
    answer_above_spend::lint,
    attempts_above_chain::lint,
    attempts_below_chain::lint,
    attempts_below_pool::lint,
    budget_at_odds::lint,
    cached_above_input::lint,
    chain_switched_off::lint,
    cleartext_http::lint,
    contract_unmet::lint,
    dearer_standby::lint,
    emulated_and_real::lint,
    emulated_provider::lint,
    fallback_to_itself::lint,
    hang_takes_all::lint,
    hedge_never::lint,
    key_missing::lint,
    mixed_quantization::lint,
    one_outage_away::lint,
    output_above_context::lint,
    output_unknown::lint,
    probe_refused::lint,
    region_nowhere::lint,
    retries_above_target::lint,
    settled_guard::lint,
    slow_above_unseen::lint,
    spend_to_itself::lint,
    stage_too_short::lint,
    two_accounts_one_credential::lint,
    two_breakers::lint,
    unknown_price::lint,
    unproven_fallback::lint,
    unreachable_target::lint,
    unused_block::lint,
    wait_above_deadline::lint,
];

/// Runs all lints.
pub fn all(cx: &mut Context<'_>, draft: &Draft) {
    let mut found = Vec::new();
    for lint in LINTS {
        lint(cx, draft, &mut found);
    }
    cx.diagnostics.append(&mut found);
}

/// A block of the draft by its id's index, unless it is unknown.
fn known<T>(list: &[Option<T>], index: usize) -> Option<&T> {
    list.get(index)?.as_ref()
}

/// The routes that are known, each with its tier.
fn routes(draft: &Draft) -> impl Iterator<Item = (&Route, &Tier)> {
    draft.routes.iter().flatten().filter_map(|route| Some((route, known(&draft.tiers, route.tier.index())?)))
}

/// All targets that may answer a route, by whatever tier; nothing if one of them is unknown.
fn in_reach<'a>(draft: &'a Draft, route: &Route) -> Option<Vec<Link<'a>>> {
    let matrix = known(&draft.matrices, route.matrix.index())?;
    let budget = known(&draft.budgets, route.budget.index())?;
    let mut all = Vec::new();
    for tier in route.tiers(Some(matrix), Some(budget)) {
        for chain in &known(&draft.tiers, tier.index())?.chains {
            all.extend(links(draft, chain)?);
        }
    }
    Some(all)
}

/// The written actions of each route's matrix, with the route's budget; nothing where a route is unknown, which may allow
/// more than the others.
fn written_actions(draft: &Draft) -> Option<Vec<(&RowAction, &Budget)>> {
    let mut all = Vec::new();
    for route in &draft.routes {
        let route = route.as_ref()?;
        let matrix = known(&draft.matrices, route.matrix.index())?;
        let budget = known(&draft.budgets, route.budget.index())?;
        let actions = matrix.rows.iter().flat_map(|row| &row.actions).filter(|action| action.written);
        all.extend(actions.map(|action| (action, budget)));
    }
    Some(all)
}

/// A target of a chain with what it is made of.
struct Link<'a> {
    target: &'a Target,
    model: &'a Model,
    provider: &'a Provider,
    /// Where the chain names it.
    span: Span,
}

/// The targets of a chain; nothing if one of them is unknown.
fn links<'a>(draft: &'a Draft, chain: &Chain) -> Option<Vec<Link<'a>>> {
    let link = |rank: &crate::policy::Rank| {
        let target = known(&draft.targets, rank.target.index())?;
        let model = known(&draft.models, target.model.index())?;
        let provider = known(&draft.providers, target.provider.index())?;
        Some(Link { target, model, provider, span: rank.span })
    };
    chain.ranks.iter().map(link).collect()
}

/// The same less what is switched off in git, which is meant to be out of reach.
fn enabled<'a>(draft: &'a Draft, chain: &Chain) -> Option<Vec<Link<'a>>> {
    links(draft, chain).map(|links| links.into_iter().filter(|link| link.target.enabled).collect())
}

/// Whether a matrix walks key pools.
fn walks_keys(matrix: &Matrix) -> bool {
    matrix.rows.iter().flat_map(|row| &row.actions).any(|action| action.action == Action::NextKey)
}

/// Where a setting of a block stands, or the block's name where it is not written.
fn setting(cx: &Context<'_>, block: Block, name: &str, word: &str) -> Option<Span> {
    let decl = declared(cx, block, name)?;
    let statement = decl.statements().iter().find(|statement| statement.keyword() == Some(word));
    Some(statement.map_or(decl.name_span, |statement| statement.span))
}

/// Where a budget's cap for a unit, `/request` or `/day`, stands, or the budget's name where it is inherited.
fn spending(cx: &Context<'_>, budget: &Budget, unit: &str) -> Span {
    let lines = declared(cx, Block::Budget, &budget.name).map(Decl::statements).unwrap_or_default();
    let of_unit = |statement: &&crate::syntax::tree::Statement| {
        statement.keyword() == Some("spend") && cx.names.slice(statement.span).contains(unit)
    };
    lines.iter().find(of_unit).map_or(budget.span, |statement| statement.span)
}

/// A setting's statement in the block itself, and not in one that it extends.
fn written(cx: &Context<'_>, block: Block, name: &str, word: &str) -> Option<Span> {
    let decl = declared(cx, block, name)?;
    decl.statements().iter().find(|statement| statement.keyword() == Some(word)).map(|statement| statement.span)
}

fn declared<'c>(cx: &'c Context<'_>, block: Block, name: &str) -> Option<&'c Decl<'c>> {
    cx.names.decl(block, cx.names.position(block, name)?)
}

/// Names in backticks, joined.
fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
