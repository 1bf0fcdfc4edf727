//! A cap on what requests cost, and a target whose price is not known: it could never be called.

use super::{enabled, known, routes};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Beyond, Tier};
use std::collections::BTreeMap;

/// Looks at every target in reach of a route with a cap, those used beyond it included; targets of one
/// model are one finding.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut named = Vec::new();
    let mut told: BTreeMap<_, Diagnostic> = BTreeMap::new();
    for (route, tier) in routes(draft) {
        let Some(budget) = known(&draft.budgets, route.budget.index()) else { continue };
        let what = match (budget.spend_per_request, budget.spend_per_day) {
            (Some(_), _) => "this budget caps what a request costs",
            (None, Some(_)) => "this budget caps what a day costs",
            (None, None) => continue,
        };
        let beyond: Option<&Tier> = match budget.spend_per_day.map(|day| day.then) {
            Some(Beyond::Use(other)) => known(&draft.tiers, other.index()),
            Some(Beyond::Stop) | None => None,
        };
        let chains = [tier].into_iter().chain(beyond).flat_map(|tier| &tier.chains);
        for link in chains.filter_map(|chain| enabled(draft, chain)).flatten() {
            let (own, model) = (link.target.prices, link.model.capabilities.prices);
            let unknown = match (own.input.or(model.input), own.output.or(model.output)) {
                (Some(_), Some(_)) => continue,
                (None, Some(_)) => "input",
                (Some(_), None) => "output",
                (None, None) => "input and output",
            };
            if named.contains(&&link.target.name) {
                continue;
            }
            named.push(&link.target.name);
            let of_model = (&link.model.name, unknown);
            if let Some(found) = told.get_mut(&of_model) {
                *found = found.clone().label(link.target.span, "nor here");
                continue;
            }
            told.insert(
                of_model,
                Diagnostic::new(
                    Code::UnknownPrice,
                    link.target.span,
                    format!("the price of {unknown} at target `{}` is not known", link.target.name),
                )
                .here("no call here can be held against a cap")
                .label(budget.span, what)
                .label(link.model.span, "its model")
                .help("write `price $X/M in, $Y/M out` at the model or the target; what costs nothing is `$0/M`"),
            );
        }
    }
    out.extend(told.into_values());
}
