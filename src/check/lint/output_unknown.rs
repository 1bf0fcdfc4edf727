//! A target whose longest answer is not known, where that has to be known before a call.

use super::{declared, enabled, known, routes};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::check::fields::strangers;
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::settings::Block;
use std::collections::BTreeMap;

/// Looks at every target in reach of a route; each is named once.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut told = BTreeMap::new();
    for (route, tier) in routes(draft) {
        let budget = known(&draft.budgets, route.budget.index());
        let cap = budget.filter(|b| b.spend_per_request.is_some() || b.spend_per_day.is_some());
        for link in tier.chains.iter().filter_map(|chain| enabled(draft, chain)).flatten() {
            let why: Option<(Span, &str)> = match (cap, link.provider.api) {
                _ if link.model.capabilities.max_output.is_some() || !is_read(cx, &link.model.name) => None,
                (Some(budget), _) => Some((budget.span, "and this budget caps what a request costs at worst")),
                (None, api) if api.dialect().needs_max_output() => {
                    Some((link.provider.span, "and this API asks for a limit with each request"))
                }
                (None, _) => None,
            };
            let Some((place, why)) = why else { continue };
            told.entry(&link.target.name).or_insert_with(|| {
                let message =
                    format!("a request that names no limit of its output never goes to target `{}`", link.target.name);
                Diagnostic::new(Code::OutputUnknown, link.span, message)
                    .here("passed over")
                    .label(link.model.span, "how much this model gives is not said")
                    .label(place, why)
                    .help("write `max-output N` at the model, the most tokens that it gives in one answer")
            });
        }
    }
    out.extend(told.into_values());
}

/// Whether all that a model says was understood: what was not may be what is missing.
fn is_read(cx: &Context<'_>, model: &str) -> bool {
    declared(cx, Block::Model, model).is_some_and(|decl| strangers(decl) == 0)
}
