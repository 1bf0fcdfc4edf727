//! A budget that ends before the keys of a pool do: `next-key` never comes to the last ones.

use super::{enabled, known, quoted, routes};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Action;
use std::collections::BTreeSet;

/// Looks at the pools in reach of each route whose matrix walks them.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for (route, tier) in routes(draft) {
        let Some(budget) = known(&draft.budgets, route.budget.index()) else { continue };
        let Some(matrix) = known(&draft.matrices, route.matrix.index()) else { continue };
        let mut actions = matrix.rows.iter().flat_map(|row| &row.actions);
        let Some(walks) = actions.find(|step| step.action == Action::NextKey) else { continue };
        let links = tier.chains.iter().filter_map(|chain| enabled(draft, chain)).flatten();
        let attempts = usize::try_from(budget.attempts).unwrap_or(usize::MAX);
        let pools = links.map(|link| link.provider).filter(|provider| provider.keys.len() > attempts);
        let pools: BTreeSet<_> = pools.map(|provider| (provider.keys.len(), provider.name.as_str())).collect();
        let Some((keys, _)) = pools.last() else { continue };
        let plural = if attempts == 1 { "" } else { "s" };
        let names = quoted(pools.iter().map(|(_, name)| *name));
        out.push(
            Diagnostic::new(
                Code::AttemptsBelowPool,
                route.span,
                format!("route `{}` has {attempts} attempt{plural} for a pool of {keys} keys", route.name),
            )
            .here(format!("the last keys of {names} are never tried"))
            .label(budget.span, "its budget")
            .label(walks.span, "walks the pool")
            .help(format!("write `attempts {keys}` or more, or rely on fewer keys")),
        );
    }
}
