//! A budget with fewer attempts than the chain has targets: the last of them are not reached by failing.

use super::{enabled, known, quoted, routes};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};

/// Looks at the longest chain of each route.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for (route, tier) in routes(draft) {
        let Some(budget) = known(&draft.budgets, route.budget.index()) else { continue };
        let chains = tier.chains.iter().filter_map(|chain| Some((chain, enabled(draft, chain)?)));
        let Some((chain, links)) = chains.max_by_key(|(_, links)| links.len()) else { continue };
        let reached = usize::try_from(budget.attempts).unwrap_or(usize::MAX);
        let left = links.get(reached..).unwrap_or_default();
        if left.is_empty() {
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
