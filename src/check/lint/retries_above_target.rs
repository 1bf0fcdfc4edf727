//! Retries that no budget allows: a target is called less often than the row says.

use super::{written, written_actions};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Action, Budget};
use crate::source::Span;
use crate::syntax::settings::Block;
use std::collections::BTreeMap;

/// Judges each written `retry` against the budgets of the routes that use its matrix: the one that allows the most calls
/// at one target.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut widest: BTreeMap<Span, (u32, &Budget)> = BTreeMap::new();
    for (action, budget) in written_actions(draft).unwrap_or_default() {
        let Action::Retry { times } = action.action else { continue };
        let entry = widest.entry(action.span).or_insert((times, budget));
        if calls(budget) > calls(entry.1) {
            entry.1 = budget;
        }
    }
    for (span, (times, budget)) in widest {
        let calls = calls(budget);
        // One call at a target leaves no retry at all, which is told of as an action that is never possible.
        if times < calls || calls < 2 {
            continue;
        }
        let (word, least) = match budget.per_target <= budget.attempts {
            true => ("per-target", budget.per_target),
            false => ("attempts", budget.attempts),
        };
        let place = written(cx, Block::Budget, &budget.name, word).unwrap_or(budget.span);
        let needed = times.saturating_add(1);
        out.push(
            Diagnostic::new(
                Code::RetriesAboveTarget,
                span,
                format!("only {} of these {times} retries can be", least - 1),
            )
            .here("fewer than it says")
            .label(place, format!("`{word} {least}`: so many calls at one target, the first included"))
            .help(format!("write `{word} {needed}` in the budget, or retry less often")),
        );
    }
}

/// The most calls at one target.
fn calls(budget: &Budget) -> u32 {
    budget.per_target.min(budget.attempts)
}
