//! A cap a day after which a route goes on with the tier that the cap is for.

use super::{known, routes, spending};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Beyond;

/// Looks at each route with its budget. There is no longer way round: beyond the cap nothing leads to another one.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for (route, tier) in routes(draft) {
        let Some(budget) = known(&draft.budgets, route.budget.index()) else { continue };
        if budget.spend_per_day.is_none_or(|day| day.then != Beyond::Use(route.tier)) {
            continue;
        }
        let message = format!("when the day is spent, `{}` goes on as before", route.name);
        out.push(
            Diagnostic::new(Code::SpendToItself, spending(cx, budget, "/day"), message)
                .here(format!("`{}` is the route's own tier: nothing is capped", tier.name))
                .label(route.span, "this route")
                .help("name another tier, or write `then stop`"),
        );
    }
}
