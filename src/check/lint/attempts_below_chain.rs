//! A budget with fewer attempts than the chain has targets: the last of them are not reached by failing.

use super::{enabled, known, quoted, routes};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic, Label};
use crate::source::Span;
use std::collections::BTreeMap;

/// How many further routes a finding shows.
const MOST_PLACES: usize = 3;

/// Looks at the longest chain of each route. Routes that share a budget have one cause, so it is told once.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut told: BTreeMap<Span, (usize, Diagnostic)> = BTreeMap::new();
    for (route, tier) in routes(draft) {
        let Some(budget) = known(&draft.budgets, route.budget.index()) else { continue };
        let chains = tier.chains.iter().filter_map(|chain| Some((chain, enabled(draft, chain)?)));
        let Some((chain, links)) = chains.max_by_key(|(_, links)| links.len()) else { continue };
        let reached = usize::try_from(budget.attempts).unwrap_or(usize::MAX);
        let left = links.get(reached..).unwrap_or_default();
        if left.is_empty() {
            continue;
        }
        let most = told.get(&budget.span).map_or(0, |(most, _)| *most).max(links.len());
        let help = format!("write `attempts {most}`, or shorten the chain");
        if let Some((longest, found)) = told.get_mut(&budget.span) {
            *longest = most;
            found.help = help;
            if found.labels.len() < MOST_PLACES + 2 {
                let count = links.len();
                found
                    .labels
                    .push(Label { span: route.span, message: format!("this route has a chain of {count} too") });
            }
            continue;
        }
        let names = quoted(left.iter().map(|link| link.target.name.as_str()));
        told.insert(
            budget.span,
            (
                most,
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
                .help(help),
            ),
        );
    }
    out.extend(told.into_values().map(|(_, found)| found));
}
