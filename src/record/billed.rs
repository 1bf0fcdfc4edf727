//! How sure a record's cost is: whether calls that were not served may have been billed all the same.
//!
//! In: a run's steps and what the answer stated. Out: one word. A call that was refused before it was processed costs
//! nothing; one that was given up, or broke off, may cost something that nobody tells.

use crate::decide::{Outcome, Step};
use crate::policy::class::words;
use crate::policy::{Money, Stage};

words! {
    /// How sure a record's cost is.
    Certainty {
        Exact "exact" "nothing can have been billed beside it; where there is no cost, nothing at all";
        AtLeast "at-least" "other calls, or what did not come, may have been billed too";
        Unknown "unknown" "something may have been billed, and nothing says how much";
    }
}

/// How sure the cost of a run is. `cost` is what is known of it.
pub(super) fn certainty(trail: &[Step], outcome: Outcome, cost: Option<Money>) -> Certainty {
    let beside = trail.iter().filter(|step| step.target.is_some()).any(may_be_billed);
    match (outcome, cost, beside) {
        (Outcome::Served, None, _) => Certainty::Unknown,
        (_, _, false) => Certainty::Exact,
        (_, Some(_), true) => Certainty::AtLeast,
        (_, None, true) => Certainty::Unknown,
    }
}

/// Whether a call that was not served may have been billed. Only one that was served has no stage at its end.
fn may_be_billed(step: &Step) -> bool {
    step.result.is_none_or(|result| match result.stage {
        None | Some(Stage::NotSent | Stage::Rejected) => false,
        Some(Stage::Sent | Stage::Headers | Stage::Output) => true,
    })
}
