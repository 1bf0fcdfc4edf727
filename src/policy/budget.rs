//! Budgets: time, calls and backoff of one request.

use super::ids::TierId;
use super::units::{Millis, Money, Percent};
use crate::source::Span;

/// What one request may take. Defaults and `extends` are resolved.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its documentation.
    pub docs: Option<String>,
    /// From receipt to the first output of a stream, or to the end of any other answer.
    pub deadline: Millis,
    /// All upstream calls of the request.
    pub attempts: u32,
    /// Calls at one target in the request.
    pub per_target: u32,
    /// Longest time of one attempt; on a stream it ends at first output. Absent: what the deadline leaves.
    pub attempt_timeout: Option<Millis>,
    /// To the response headers; absent: the attempt's own limit.
    pub headers: Option<Millis>,
    /// To the first output of a stream; absent: the attempt's own limit.
    pub first_token: Option<Millis>,
    /// Longest silence between output.
    pub idle: Millis,
    /// Whole length of a stream.
    pub total: Option<Millis>,
    /// How often used targets may be chosen anew when no unused one is left, the first round included.
    pub rounds: u32,
    /// Most that all attempts of a request may cost at worst; absent: no cap.
    pub spend_per_request: Option<Money>,
    /// Most that all calls of a route may cost on one day, and what then; absent: no cap.
    pub spend_per_day: Option<DaySpend>,
    /// Less than this left is not worth a call.
    pub min_attempt: Millis,
    /// Kept for the next candidate.
    pub reserve: Millis,
    /// Pauses before retries at the same target.
    pub backoff: Backoff,
    /// How often a pure request may be repeated after an attempt that may have been processed.
    pub replays: u32,
    /// When a call that is late is duplicated; absent: never.
    pub hedge: Option<Hedge>,
}

/// `hedge after p95, at least D`: one duplicate of a late call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hedge {
    /// No call is late before this, however fast its target usually is.
    pub at_least: Millis,
}

/// `spend $X/day`: each route that uses the budget has this much for each UTC calendar day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaySpend {
    /// The cap.
    pub cap: Money,
    /// What happens when it is spent.
    pub then: Beyond,
}

/// What happens to requests that the day's money does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// `then stop`: they are refused.
    Stop,
    /// `then use TIER`: they get that tier's chain, which the cap does not bound.
    Use(TierId),
}

/// Pauses before retries: base, doubling, up to a cap, with jitter. Source of the arithmetic: AWS's study of backoff
/// and jitter; `decorrelated` as there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Backoff {
    /// First pause.
    pub base: Millis,
    /// Longest pause.
    pub cap: Millis,
    /// How the pause is drawn.
    pub jitter: Jitter,
}

super::class::words! {
    /// How a backoff is drawn.
    Jitter {
        None "none" "always the whole pause";
        Full "full" "anything from nothing to the pause";
        Equal "equal" "half the pause, and anything up to the other half";
        Decorrelated "decorrelated" "anything from the base to three times the pause before";
    }
}

impl Budget {
    /// Default of `per-target`.
    pub const PER_TARGET: u32 = 2;
    /// Default of `idle`.
    pub const IDLE: Millis = Millis(15_000);
    /// Default of `min-attempt`.
    pub const MIN_ATTEMPT: Millis = Millis(500);
    /// Default of `replays`.
    pub const REPLAYS: u32 = 2;
    /// Default of the `at least` of `hedge`.
    pub const HEDGE_AT_LEAST: Millis = Millis(500);
    /// Latest calls of a target that its p95 for hedging is taken from.
    pub const HEDGE_KEPT: u32 = 100;
    /// Fewer calls than this say nothing about what is late.
    pub const HEDGE_MIN: u32 = 20;
    /// Default of `backoff`.
    pub const BACKOFF: Backoff = Backoff { base: Millis(250), cap: Millis(4_000), jitter: Jitter::Full };
    /// Shortest backoff, whatever the draw: two calls in the same instant are one call twice.
    pub const BACKOFF_FLOOR: Millis = Millis(20);
    /// From one pause to the next, in percent: they double. Less is a crowd that comes back together, more leaves a target
    /// that is well again alone.
    pub const BACKOFF_FACTOR_PCT: u64 = 200;
    /// What is added at most to a wait that others were told as well, so that they do not all come back together, as a
    /// share of it.
    pub const WAIT_SPREAD: Percent = Percent(1_000);
    /// The most that is added to any wait: a second spreads enough.
    pub const WAIT_SPREAD_MOST: Millis = Millis(1_000);
    /// Default of `reserve`, as a share of the deadline: the first of two targets gets a little more than half.
    pub const RESERVE: Percent = Percent(4_000);
    /// Least base of the backoff after `rate-limit`.
    pub const THROTTLED_BASE: Millis = Millis(1_000);

    /// Default of `reserve`: 40% of the deadline, or the attempt's limit where that is less.
    pub fn default_reserve(deadline: Millis, attempt_timeout: Option<Millis>) -> Millis {
        let share = Budget::RESERVE.of(deadline);
        attempt_timeout.map_or(share, |t| t.min(share))
    }
}
