//! Settings of one budget of which one makes another idle.

use super::setting;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Budget;
use crate::source::Span;
use crate::syntax::settings::Block;

/// Looks at each budget by itself.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for budget in draft.budgets.iter().flatten() {
        let place = |word: &str| setting(cx, Block::Budget, &budget.name, word).unwrap_or(budget.span);
        out.extend(backoff(budget, place));
        out.extend(idle(budget, place));
        out.extend(per_target(budget, place));
    }
}

fn backoff(budget: &Budget, place: impl Fn(&str) -> Span) -> Option<Diagnostic> {
    (budget.backoff.base >= budget.deadline).then(|| {
        Diagnostic::new(Code::BackoffAboveDeadline, place("backoff"), "no retry of this budget ever fits")
            .here(format!("the first pause is {}", budget.backoff.base))
            .label(place("deadline"), format!("there are {} in all", budget.deadline))
            .help("begin with a shorter pause")
    })
}

fn idle(budget: &Budget, place: impl Fn(&str) -> Span) -> Option<Diagnostic> {
    let total = budget.total.filter(|total| budget.idle >= *total)?;
    Some(
        Diagnostic::new(Code::IdleAboveTotal, place("idle"), "a silence is never cut by this")
            .here(format!("{} of silence", budget.idle))
            .label(place("total"), format!("a stream is over after {total}"))
            .help("make `idle` shorter than `total`"),
    )
}

fn per_target(budget: &Budget, place: impl Fn(&str) -> Span) -> Option<Diagnostic> {
    (budget.per_target > budget.attempts && budget.per_target != Budget::PER_TARGET).then(|| {
        Diagnostic::new(Code::PerTargetAboveAttempts, place("per-target"), "one target never gets so many calls")
            .here(format!("{} calls", budget.per_target))
            .label(place("attempts"), format!("there are {} in all", budget.attempts))
            .help(format!("write `per-target {}` or less", budget.attempts))
    })
}
