//! A cap that one whole answer of a target is above: a request that names no limit of its output never goes there.

use super::{enabled, known, routes, spending};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use std::collections::BTreeMap;

/// Looks at every target in reach of a route with a cap. A target is named once for a cap, however many budgets have it.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut told: BTreeMap<_, Diagnostic> = BTreeMap::new();
    for (route, tier) in routes(draft) {
        let Some(budget) = known(&draft.budgets, route.budget.index()) else { continue };
        // Of two caps the one that ends it first.
        let request = budget.spend_per_request.map(|cap| (cap, "/request"));
        let day = budget.spend_per_day.map(|day| (day.cap, "/day"));
        let Some((cap, unit)) = request.into_iter().chain(day).min() else { continue };
        for link in tier.chains.iter().filter_map(|chain| enabled(draft, chain)).flatten() {
            let model = &link.model.capabilities;
            let price = link.target.prices.output.or(model.prices.output);
            let (Some(price), Some(tokens)) = (price, model.max_output) else { continue };
            let cost = price.of(tokens);
            if cost <= cap {
                continue;
            }
            let place = spending(cx, budget, unit);
            if let Some(found) = told.get_mut(&(&link.target.name, cap, unit)) {
                if found.labels.iter().all(|label| label.span != place) {
                    *found = found.clone().label(place, "and here");
                }
                continue;
            }
            told.insert(
                (&link.target.name, cap, unit),
                Diagnostic::new(
                    Code::AnswerAboveSpend,
                    link.span,
                    format!("one whole answer of target `{}` costs {cost}, above the cap of {cap}", link.target.name),
                )
                .here("passed over for a request that names no limit of its output")
                .label(place, "the cap")
                .label(link.model.span, format!("up to {tokens} tokens of output, at {price}"))
                .help(format!("write `spend {cost}{unit}` or more, or let clients send `max_tokens`")),
            );
        }
    }
    out.extend(told.into_values());
}
