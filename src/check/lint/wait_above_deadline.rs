//! A `wait` that no route which uses the matrix has time for.

use super::{known, written, written_actions};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Action, Budget, Exhausted, Millis};
use crate::source::Span;
use crate::syntax::settings::Block;
use std::collections::BTreeMap;

/// Judges each written `wait` against the longest deadline of the routes that use its matrix, and that of a route which is
/// exhausted against its own.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut longest: BTreeMap<Span, (Millis, &Budget)> = BTreeMap::new();
    let Some(actions) = written_actions(draft) else { return };
    for (action, budget) in actions {
        let Action::Wait { up_to } = action.action else { continue };
        let entry = longest.entry(action.span).or_insert((up_to, budget));
        if budget.deadline > entry.1.deadline {
            entry.1 = budget;
        }
    }
    for route in draft.routes.iter().flatten() {
        let Some(budget) = known(&draft.budgets, route.budget.index()) else { continue };
        if let Exhausted::Wait { up_to } = route.exhausted
            && let Some(span) = written(cx, Block::Route, &route.name, "exhausted")
        {
            longest.insert(span, (up_to, budget));
        }
    }
    for (span, (up_to, budget)) in longest.into_iter().filter(|(_, (up_to, budget))| *up_to >= budget.deadline) {
        out.push(
            Diagnostic::new(Code::WaitAboveDeadline, span, format!("there is never time to wait for {up_to}"))
                .here(format!("a wait that ends before the deadline of {} is all that is taken", budget.deadline))
                .label(budget.span, "the budget with the most time")
                .help("wait for less, or give the route more time"),
        );
    }
}
