//! Which route takes a request: routes with a `match` are asked before the one without.

use super::facts::Facts;
use super::guard::{View, holds};
use crate::graph::Graph;
use crate::policy::{RouteId, TargetId};

/// The route that serves a request, or nothing where no route serves its `model`.
pub fn route_for(graph: &Graph, facts: &Facts) -> Option<RouteId> {
    let serving = |with_match: bool| {
        (0u16..).zip(&graph.policy().routes).filter(move |(_, route)| {
            route.matches.is_some() == with_match
                && route.serves.contains(&facts.model)
                && holds(route.matches.as_ref(), View { facts, failed: None })
        })
    };
    // Of several matches the one that no other match goes before; `check` allows several only where `before` says so.
    let matched = serving(true)
        .find(|(id, _)| !serving(true).any(|(_, other)| other.before == Some(RouteId(*id))))
        .or_else(|| serving(true).next());
    matched.or_else(|| serving(false).next()).map(|(id, _)| RouteId(id))
}

/// The target of this name, if the request could be sent there without a pin: it stands in the chain for the request's
/// region, and its guard holds.
pub fn pinnable(graph: &Graph, route: RouteId, facts: &Facts, name: &str) -> Option<TargetId> {
    let target = graph.target_named(name)?;
    let tier = graph.tier(graph.route(route)?.tier)?;
    let chain = tier.chains.get(tier.chain_for(facts.region.as_deref())?)?;
    let rank = chain.ranks.iter().find(|r| r.target == target)?;
    holds(rank.guard.as_ref(), View { facts, failed: None }).then_some(target)
}
