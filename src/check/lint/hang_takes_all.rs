//! A first target that hangs, and leaves the second one of the chain no time: what is left is kept for the one after it.

use super::{enabled, known, routes, written};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Action, Budget, Class, Matrix, Millis};
use crate::syntax::settings::Block;
use std::collections::BTreeSet;

/// Looks at the longest chain of each route that moves on after a time-out. Each budget is named once.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut told = BTreeSet::new();
    for (route, tier) in routes(draft) {
        let Some(budget) = known(&draft.budgets, route.budget.index()) else { continue };
        let moves = known(&draft.matrices, route.matrix.index()).is_some_and(moves_on);
        let chains = tier.chains.iter().filter_map(|chain| enabled(draft, chain));
        let Some(links) = chains.max_by_key(Vec::len) else { continue };
        let calls = links.len().min(usize::try_from(budget.attempts).unwrap_or(usize::MAX));
        let [_, second, third, ..] = links.as_slice() else { continue };
        if !moves || calls < 3 || left(budget) >= budget.min_attempt || !told.insert(&budget.name) {
            continue;
        }
        let place = written(cx, Block::Budget, &budget.name, "attempt-timeout").unwrap_or(budget.span);
        let share = budget.deadline.0 / u64::try_from(calls).unwrap_or(1);
        let message = format!(
            "when the first target of tier `{}` hangs, there is no time for target `{}`",
            tier.name, second.target.name
        );
        out.push(
            Diagnostic::new(Code::HangTakesAll, place, message)
                .here(format!("a call may take {} of the {}", longest(budget), budget.deadline))
                .label(second.span, "passed over")
                .label(third.span, format!("the {} that are left are kept for this one", budget.reserve))
                .help(format!("write `attempt-timeout {}` or less, so that {calls} calls have time", rounded(share))),
        );
    }
}

/// Whether any time-out has another target as its answer.
fn moves_on(matrix: &Matrix) -> bool {
    const TIMEOUTS: [Class; 2] = [Class::TimeoutHeaders, Class::TimeoutFirstToken];
    let rows = matrix.rows.iter().filter(|row| TIMEOUTS.iter().any(|class| row.classes.contains(*class)));
    rows.flat_map(|row| &row.actions).any(|action| matches!(action.action, Action::Failover | Action::Fallback(_)))
}

/// How long the first call may say nothing.
fn longest(budget: &Budget) -> Millis {
    let limits = [budget.attempt_timeout, budget.headers, budget.first_token];
    let whole = budget.deadline.less(budget.reserve);
    limits.into_iter().flatten().chain([whole]).min().unwrap_or(whole)
}

/// What the second call is left, after the first and what is kept for the third.
fn left(budget: &Budget) -> Millis {
    budget.deadline.less(longest(budget)).less(budget.reserve)
}

/// A time as a person would choose it: whole seconds, or tenths of one below.
fn rounded(ms: u64) -> Millis {
    let step = if ms >= 1_000 { 1_000 } else { 100 };
    Millis((ms / step * step).max(step))
}
