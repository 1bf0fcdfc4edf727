//! Time: what an attempt or a wait may take before the request's deadline, less what is kept for the next candidate.
//!
//! Rules: a wait is taken whole or not at all; an attempt that would get less than the minimum is not begun; a timeout
//! says something about a target only if the target was given a fair part of its own limit.

use crate::policy::class::Blame;
use crate::policy::{Millis, Percent};

/// The time of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBudget {
    /// The instant at which time is up.
    pub deadline: Millis,
    /// Kept for the next candidate while one is left.
    pub reserve: Millis,
    /// Less than this is not worth a call.
    pub min_attempt: Millis,
}

/// Whether something fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It fits, with this much time granted, or until this instant.
    Yes(Millis),
    /// It does not, but another candidate could still get a minimal attempt.
    MoveOn,
    /// There is no time for anything.
    Stop,
}

impl TimeBudget {
    /// What is left before the deadline.
    pub fn remaining(&self, now: Millis) -> Millis {
        self.deadline.less(now)
    }

    /// Whether the deadline has come.
    pub fn expired(&self, now: Millis) -> bool {
        now >= self.deadline
    }

    /// What may be spent now: nothing of the reserve while other candidates are left.
    pub fn available(&self, now: Millis, others_left: bool) -> Millis {
        let kept = if others_left { self.reserve } else { Millis::ZERO };
        self.remaining(now).less(kept)
    }

    /// How long an attempt with this limit of its own is granted.
    pub fn attempt(&self, now: Millis, limit: Millis, others_left: bool) -> Fit {
        let granted = limit.min(self.available(now, others_left));
        if granted >= self.min_attempt { Fit::Yes(granted) } else { self.otherwise(now, others_left) }
    }

    /// Until when a wait lasts that leaves room for a minimal attempt after it.
    pub fn wait(&self, now: Millis, wait: Millis, others_left: bool) -> Fit {
        if wait.plus(self.min_attempt) <= self.available(now, others_left) {
            Fit::Yes(now.plus(wait))
        } else {
            self.otherwise(now, others_left)
        }
    }

    fn otherwise(&self, now: Millis, others_left: bool) -> Fit {
        if others_left && self.remaining(now) >= self.min_attempt { Fit::MoveOn } else { Fit::Stop }
    }
}

/// The granted-time rule: what a timeout says about a target whose own limit was `limit`.
pub fn evidence(granted: Millis, limit: Millis, least: Percent) -> Blame {
    let fair = u128::from(granted.0) * 10_000 >= u128::from(limit.0) * u128::from(least.0);
    if fair { Blame::Failure } else { Blame::Neutral }
}
