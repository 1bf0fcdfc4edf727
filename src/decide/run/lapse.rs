//! A failed attempt, as everything after it sees it: kept while a pause runs, should the target be out of reach at its end.

use super::scene::Candidate;
use crate::decide::replay::Attempted;
use crate::policy::guard::FailureFacts;
use crate::policy::{Class, Millis, Stage};

/// What went wrong, and what is known of the attempt.
#[derive(Clone, Debug)]
pub(super) struct Lapse {
    pub(super) class: Class,
    pub(super) stage: Stage,
    pub(super) status: Option<u16>,
    pub(super) code: Option<String>,
    pub(super) hint: Option<Millis>,
    /// The answer asked not to be retried: that takes `retry` from the row, and `wait` where it named no time.
    pub(super) no_retry: bool,
    /// A `retry` or `wait` was taken for it and found the target out of reach: neither is tried again.
    pub(super) repeated: bool,
    pub(super) candidate: Candidate,
    pub(super) attempted: Attempted,
}

impl Lapse {
    /// As guards read it.
    pub(super) fn facts(&self) -> FailureFacts<'_> {
        FailureFacts {
            class: self.class,
            stage: self.stage,
            status: self.status,
            code: self.code.as_deref(),
            retry_after: self.hint,
        }
    }
}
