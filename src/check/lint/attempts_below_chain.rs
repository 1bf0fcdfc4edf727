//! A budget with fewer attempts than the chain has targets, or a key pool that is walked has keys: the last of them are
//! not reached by failing.

use super::{Link, enabled, known, quoted, routes, walks_keys};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Budget, Matrix, Route};

/// Looks at the longest chain of each route.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for (route, tier) in routes(draft) {
        let Some(budget) = known(&draft.budgets, route.budget.index()) else { continue };
        let chains = tier.chains.iter().filter_map(|chain| Some((chain, enabled(draft, chain)?)));
        let Some((chain, links)) = chains.max_by_key(|(_, links)| links.len()) else { continue };
        let reached = usize::try_from(budget.attempts).unwrap_or(usize::MAX);
        let left = links.get(reached..).unwrap_or_default();
        if left.is_empty() {
            out.extend(
                known(&draft.matrices, route.matrix.index()).and_then(|matrix| pool(route, budget, matrix, &links)),
            );
            continue;
        }
        let names = quoted(left.iter().map(|link| link.target.name.as_str()));
        out.push(
            Diagnostic::new(
                Code::AttemptsBelowChain,
                route.span,
                format!(
                    "route `{}` has {} attempt{} for a chain of {} targets",
                    route.name,
                    budget.attempts,
                    if budget.attempts == 1 { "" } else { "s" },
                    links.len()
                ),
            )
            .here(format!("when all fail, {names} is not asked"))
            .label(budget.span, "its budget")
            .label(chain.span, "its chain")
            .help(format!("write `attempts {}`, or shorten the chain", links.len())),
        );
    }
}

/// A pool of the chain that has more keys than the route has attempts.
fn pool(route: &Route, budget: &Budget, matrix: &Matrix, links: &[Link<'_>]) -> Option<Diagnostic> {
    let keys = |link: &&Link<'_>| link.provider.keys.len();
    let provider = links.iter().max_by_key(keys).filter(|_| walks_keys(matrix))?.provider;
    let (attempts, keys) = (budget.attempts, provider.keys.len());
    if keys < 2 || usize::try_from(attempts).is_ok_and(|attempts| attempts >= keys) {
        return None;
    }
    let (route_name, s) = (&route.name, if attempts == 1 { "" } else { "s" });
    let message = format!("route `{route_name}` has {attempts} attempt{s} for a pool of {keys} keys");
    Some(
        Diagnostic::new(Code::AttemptsBelowChain, route.span, message)
            .here("when the first keys are refused, the last are not used")
            .label(budget.span, "its budget")
            .label(provider.span, "its pool")
            .help(format!("write `attempts {keys}`, or shorten the pool")),
    )
}
