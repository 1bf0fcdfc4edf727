//! Conditions that are settled before any request: they never hold, or always do.

use super::{known, routes, setting};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::check::guard::{Verdict, verdict};
use crate::diag::{Code, Diagnostic};
use crate::policy::{Action, Beyond, Budget, FallbackTo, Guard, Rank, Route, TierId};
use crate::source::Span;
use crate::syntax::settings::Block;

/// Looks at the conditions of rows, of ranks and of routes, and at ranks together with the routes that lead to them.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for (at, matrix) in draft.matrices.iter().enumerate() {
        let budgets = routes(draft).filter(|(route, _)| route.matrix.index() == at);
        let budgets = budgets.map(|(route, _)| known(&draft.budgets, route.budget.index()));
        // A budget that is unknown may allow any number of calls.
        let widest = budgets.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max_by_key(|b| b.attempts));
        for row in matrix.iter().flat_map(|matrix| &matrix.rows) {
            out.extend(row.guard.as_ref().and_then(|guard| settled(guard, row.span, widest)));
        }
    }
    for route in draft.routes.iter().flatten() {
        let place = setting(cx, Block::Route, &route.name, "match").unwrap_or(route.span);
        out.extend(route.matches.as_ref().and_then(|guard| settled(guard, place, None)));
    }
    for (id, tier) in (0u16..).map(TierId).zip(&draft.tiers) {
        for rank in tier.iter().flat_map(|tier| &tier.chains).flat_map(|chain| &chain.ranks) {
            let Some(guard) = &rank.guard else { continue };
            match settled(guard, rank.span, None) {
                Some(found) => out.push(found),
                None => out.extend(never_led_to(cx, draft, id, rank, guard)),
            }
        }
    }
}

/// What is said of a condition that does not depend on anything.
fn settled(guard: &Guard, place: Span, budget: Option<&Budget>) -> Option<Diagnostic> {
    let attempts = budget.map_or(u64::from(u32::MAX), |budget| u64::from(budget.attempts));
    let (message, here, help) = match verdict(&[guard], attempts)? {
        Verdict::Depends => return None,
        Verdict::Never => {
            ("this condition never holds", "never", "look at its `and`, `or` and limits, or take the line away")
        }
        Verdict::Always => ("this condition always holds", "always", "leave `when` and the condition out"),
    };
    let found = Diagnostic::new(Code::SettledGuard, place, message).here(here).help(help);
    // Where it would depend with more calls, the budget is the other half.
    match budget.filter(|_| verdict(&[guard], u64::from(u32::MAX)) == Some(Verdict::Depends)) {
        Some(budget) => Some(found.label(budget.span, format!("no request makes more than {attempts} calls"))),
        None => Some(found),
    }
}

/// What is said of a rank whose condition contradicts that of each route that uses its tier.
fn never_led_to(cx: &Context<'_>, draft: &Draft, tier: TierId, rank: &Rank, guard: &Guard) -> Option<Diagnostic> {
    let all: Option<Vec<&Route>> = draft.routes.iter().map(Option::as_ref).collect();
    let users: Vec<&Route> = all?.into_iter().filter(|route| route.tier == tier).collect();
    let contradicts = |route: &&Route| {
        let together = route.matches.as_ref().map(|of_route| verdict(&[of_route, guard], u64::MAX));
        together == Some(Some(Verdict::Never))
    };
    if users.is_empty() || !users.iter().all(contradicts) || is_led_to_otherwise(draft, tier) {
        return None;
    }
    let target = known(&draft.targets, rank.target.index())?;
    let message = format!("target `{}` can never be reached here", target.name);
    let found = Diagnostic::new(Code::UnreachableTarget, rank.span, message)
        .here("its condition")
        .help("change one of the conditions, or remove the target from the chain");
    Some(users.iter().fold(found, |found, route| {
        let place = setting(cx, Block::Route, &route.name, "match").unwrap_or(route.span);
        found.label(place, format!("no request of route `{}` fulfils it", route.name))
    }))
}

/// Whether requests of other routes may come to a tier: by a fallback, or beyond a day's money.
fn is_led_to_otherwise(draft: &Draft, tier: TierId) -> bool {
    let actions = draft.matrices.iter().flatten().flat_map(|matrix| &matrix.rows).flat_map(|row| &row.actions);
    let mut actions = actions.map(|action| &action.action);
    let mut beyond = draft.budgets.iter().flatten().filter_map(|budget| budget.spend_per_day);
    actions.any(|action| *action == Action::Fallback(FallbackTo::Tier(tier)))
        || beyond.any(|day| day.then == Beyond::Use(tier))
}
