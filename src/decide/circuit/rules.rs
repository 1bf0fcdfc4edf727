//! What one breaker goes by: a provider's rules with everything filled in that depends on its neighbours.

use super::Cause;
use crate::decide::draw;
use crate::decide::window::Totals;
use crate::policy::breaker::{BreakerRules, HalfOpen, OpenTime, Over};
use crate::policy::{Millis, Percent};

/// The rules of one breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitRules {
    /// What its window reaches back over.
    pub over: Over,
    /// Least calls before a share says anything.
    pub min: u32,
    /// Trips at this share of failures.
    pub errors: Option<Percent>,
    /// Trips at this share of slow calls.
    pub slow: Option<Percent>,
    /// Trips at so many failures in a row.
    pub consecutive: Option<u32>,
    /// How long it stays open; its jitter is drawn by `jitter`.
    pub open: OpenTime,
    /// What is added to open times.
    pub jitter: Jitter,
    /// Closed for so long, the next trip starts over.
    pub stable: Millis,
    /// Most that a hint lengthens an open time.
    pub hint_cap: Millis,
    /// Most trials in flight.
    pub at_once: u32,
    /// Successes that close it.
    pub successes: u32,
    /// How long a trial may go without a sign of life.
    pub lease: Millis,
}

impl CircuitRules {
    /// A provider's rules for the breaker of one key. `ramp` is the whole length of the ramp behind it, `attempt` the
    /// longest time that an attempt is granted, `instance` what tells this gateway from others.
    pub fn of(rules: &BreakerRules, ramp: Millis, attempt: Millis, instance: &str, key: &str) -> CircuitRules {
        CircuitRules {
            over: rules.over,
            min: rules.min,
            errors: rules.errors,
            slow: rules.slow.map(|slow| slow.share),
            consecutive: rules.consecutive,
            open: rules.open,
            jitter: Jitter { share: rules.open.jitter, seed: draw::seed(&["open", instance, key]) },
            stable: rules.stable.unwrap_or(ramp),
            hint_cap: rules.hint_cap,
            at_once: rules.half_open.at_once,
            successes: rules.half_open.successes,
            lease: rules.half_open.lease.unwrap_or_else(|| attempt.plus(HalfOpen::GRACE)),
        }
    }

    /// Why these totals and this run of failures open it, if they do.
    pub(super) fn judge(&self, totals: Totals, run: u32) -> Option<Cause> {
        if self.consecutive.is_some_and(|most| run >= most) {
            return Some(Cause::Consecutive);
        }
        if totals.samples < u64::from(self.min) {
            return None;
        }
        let reaches = |part: u64, share: Option<Percent>| share.is_some_and(|s| s.is_reached(part, totals.samples));
        if reaches(totals.failures, self.errors) {
            return Some(Cause::Errors);
        }
        reaches(totals.slow, self.slow).then_some(Cause::Slow)
    }
}

/// What is added to an open time: the same for the same key and generation, different from instance to instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// At most this share of the open time.
    pub share: Percent,
    /// Of the key, at this instance.
    pub seed: u64,
}

impl Jitter {
    /// None at all.
    pub const NONE: Jitter = Jitter { share: Percent(0), seed: 0 };

    pub(super) fn drawn(&self, lasts: Millis, generation: u64) -> Millis {
        Millis(draw::below(self.seed, generation, self.share.of(lasts).0))
    }
}
