//! Whether a guard holds. A comparison with an absent fact is false, `!=` included.

use super::facts::Facts;
use crate::policy::guard::FailureFacts;
use crate::policy::{Comparison, Fact, Guard, Literal, Millis, Money};

/// What a guard may read at a point of a run: the request, and in matrix rows what went wrong.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The request.
    pub facts: &'a Facts,
    /// The failure, in matrix rows.
    pub failed: Option<Failed<'a>>,
}

/// The facts that exist only after a failure.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    /// What went wrong.
    pub failure: &'a FailureFacts<'a>,
    /// Calls so far.
    pub attempt: u32,
    /// Calls at the present target so far.
    pub on_target: u32,
    /// Time before the deadline.
    pub left: Millis,
    /// Worst cost so far.
    pub spent: Money,
}

/// Whether the guard holds; no guard at all always does.
pub fn holds(guard: Option<&Guard>, view: View<'_>) -> bool {
    guard.is_none_or(|g| test(g, view))
}

fn test(guard: &Guard, view: View<'_>) -> bool {
    match guard {
        Guard::All(parts) => parts.iter().all(|p| test(p, view)),
        Guard::Any(parts) => parts.iter().any(|p| test(p, view)),
        Guard::Not(part) => !test(part, view),
        Guard::Compare(fact, comparison, literal) => compare(fact, *comparison, literal, view),
        Guard::In(fact, literal) => is_in(fact, literal, view),
    }
}

/// A fact that is a number: counts as they are, times in milliseconds, money in billionths of a dollar.
fn number(fact: &Fact, view: View<'_>) -> Option<u64> {
    let failed = view.failed;
    match fact {
        Fact::Tokens => Some(view.facts.tokens),
        Fact::MaxOutput => view.facts.max_output,
        Fact::RetryAfter => failed.and_then(|f| f.failure.retry_after).map(|m| m.0),
        Fact::Status => failed.and_then(|f| f.failure.status).map(u64::from),
        Fact::AttemptNumber => failed.map(|f| u64::from(f.attempt)),
        Fact::AttemptOnTarget => failed.map(|f| u64::from(f.on_target)),
        Fact::TimeLeft => failed.map(|f| f.left.0),
        Fact::Spent => failed.map(|f| f.spent.0),
        Fact::Model
        | Fact::Stream
        | Fact::Tools
        | Fact::Modalities
        | Fact::Client
        | Fact::Region
        | Fact::Session
        | Fact::Header(_)
        | Fact::Metadata(_)
        | Fact::Code
        | Fact::Stage => None,
    }
}

fn text<'a>(fact: &Fact, view: View<'a>) -> Option<&'a str> {
    if *fact == Fact::Code { view.failed.and_then(|f| f.failure.code) } else { view.facts.text(fact) }
}

fn flag(fact: &Fact, view: View<'_>) -> Option<bool> {
    match fact {
        Fact::Stream => Some(view.facts.stream),
        Fact::Tools => Some(view.facts.tools),
        Fact::Model
        | Fact::Tokens
        | Fact::MaxOutput
        | Fact::Modalities
        | Fact::Client
        | Fact::Region
        | Fact::Session
        | Fact::Header(_)
        | Fact::Metadata(_)
        | Fact::RetryAfter
        | Fact::Status
        | Fact::Code
        | Fact::Stage
        | Fact::AttemptNumber
        | Fact::AttemptOnTarget
        | Fact::TimeLeft
        | Fact::Spent => None,
    }
}

fn compare(fact: &Fact, comparison: Comparison, literal: &Literal, view: View<'_>) -> bool {
    match literal {
        Literal::Flag(right) => flag(fact, view).is_some_and(|left| comparison.holds(&left, right)),
        Literal::Count(right) | Literal::Time(Millis(right)) | Literal::Money(Money(right)) => {
            number(fact, view).is_some_and(|left| comparison.holds(&left, right))
        }
        Literal::Text(right) => text(fact, view).is_some_and(|left| comparison.holds(left, right.as_str())),
        Literal::Stage(right) => view.failed.is_some_and(|f| comparison.holds(&f.failure.stage, right)),
        Literal::Texts(_) | Literal::Counts(_) | Literal::Stages(_) | Literal::Modalities(_) => false,
    }
}

fn is_in(fact: &Fact, literal: &Literal, view: View<'_>) -> bool {
    match literal {
        Literal::Texts(patterns) => text(fact, view).is_some_and(|t| patterns.iter().any(|p| p.matches(t))),
        Literal::Counts(counts) => number(fact, view).is_some_and(|n| counts.contains(&n)),
        Literal::Stages(stages) => view.failed.is_some_and(|f| stages.contains(&f.failure.stage)),
        Literal::Modalities(among) => {
            *fact == Fact::Modalities && view.facts.modalities.iter().all(|m| among.contains(m))
        }
        Literal::Flag(_)
        | Literal::Count(_)
        | Literal::Time(_)
        | Literal::Money(_)
        | Literal::Text(_)
        | Literal::Stage(_) => false,
    }
}
