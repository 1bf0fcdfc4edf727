//! A cap on what a request costs, and a target whose price is not known: it could never be called.

use super::{enabled, known, routes};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};

/// Looks at every target in reach of a route with a cap; each target is named once.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut named = Vec::new();
    for (route, tier) in routes(draft) {
        let Some(budget) = known(&draft.budgets, route.budget.index()).filter(|b| b.spend_per_request.is_some()) else {
            continue;
        };
        for link in tier.chains.iter().filter_map(|chain| enabled(draft, chain)).flatten() {
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
            out.push(
                Diagnostic::new(
                    Code::UnknownPrice,
                    link.target.span,
                    format!("the price of {unknown} at target `{}` is not known", link.target.name),
                )
                .here("no call here can be held against a cap")
                .label(budget.span, "this budget caps what a request costs")
                .label(link.model.span, "its model")
                .help("write `price $X/M in, $Y/M out` at the model or the target"),
            );
        }
    }
}
