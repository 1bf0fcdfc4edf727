//! Choosing a target: two passes over how candidates stand, and a rationed third.
//!
//! Pass 1 takes the first candidate without a reason against it. Pass 2 goes over the same order and lets `ramp` and
//! `degraded` pass: slow is better than nothing. Pass 3, where the tier allows it, takes one that is down or open, one
//! call at a time, and never one that is disabled, held, or was opened by a statement of the provider.

use super::standing::{Admission, Breaker, Health, Ramp, Reason, Standing};
use crate::policy::Millis;

/// Which pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pass {
    /// Every reason counts.
    Strict,
    /// `ramp` and `degraded` do not count.
    Relaxed,
    /// What is down or open may be asked.
    LastResort,
}

impl Pass {
    /// The passes of a tier, in order.
    pub fn all(last_resort: bool) -> &'static [Pass] {
        if last_resort { &[Pass::Strict, Pass::Relaxed, Pass::LastResort] } else { &[Pass::Strict, Pass::Relaxed] }
    }

    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            Pass::Strict => 1,
            Pass::Relaxed => 2,
            Pass::LastResort => 3,
        }
    }
}

/// Last-resort calls that one target may have in flight.
pub const LAST_RESORT_INFLIGHT: u32 = 1;

/// The first reason against a target, in the fixed order.
pub fn reason(standing: &Standing, now: Millis) -> Option<Reason> {
    if standing.disabled {
        return Some(Reason::Disabled);
    }
    if standing.health == Health::Down {
        return Some(Reason::Down);
    }
    if matches!(standing.breaker, Breaker::Open { .. }) {
        return Some(Reason::BreakerOpen);
    }
    if now < standing.hold_until {
        return Some(Reason::Hold);
    }
    if standing.breaker == (Breaker::HalfOpen { slot: false }) {
        return Some(Reason::TrialBusy);
    }
    if standing.busy {
        return Some(Reason::Busy);
    }
    if standing.ramp == Ramp::Barred {
        return Some(Reason::Ramp);
    }
    if standing.health == Health::Degraded && !standing.tolerated {
        return Some(Reason::Degraded);
    }
    None
}

/// Whether a target is admitted in pass 1 or 2, and as what.
pub fn admits(standing: &Standing, now: Millis, pass: Pass) -> Option<Admission> {
    let barred = match (reason(standing, now), pass) {
        (None, _) | (Some(Reason::Ramp | Reason::Degraded), Pass::Relaxed) => false,
        (Some(_), _) => true,
    };
    match standing.breaker {
        _ if barred => None,
        Breaker::HalfOpen { .. } => Some(Admission::Trial),
        Breaker::Closed | Breaker::Open { .. } => Some(Admission::Normal),
    }
}

/// How soon a target is asked as a last resort: lower is sooner; `None` is never.
fn last_resort_rank(standing: &Standing, now: Millis, max_inflight: u32) -> Option<(u8, Millis)> {
    if now < standing.hold_until || standing.last_resort_inflight >= max_inflight {
        return None;
    }
    match reason(standing, now) {
        Some(Reason::TrialBusy) => Some((0, Millis::ZERO)),
        Some(Reason::BreakerOpen) => match standing.breaker {
            Breaker::Open { until, hard: false } => Some((1, until)),
            Breaker::Open { hard: true, .. } | Breaker::Closed | Breaker::HalfOpen { .. } => None,
        },
        Some(Reason::Down) => match standing.breaker {
            Breaker::Open { hard: true, .. } => None,
            Breaker::Open { hard: false, .. } | Breaker::Closed | Breaker::HalfOpen { .. } => Some((2, Millis::ZERO)),
        },
        Some(Reason::Disabled | Reason::Hold | Reason::Busy | Reason::Ramp | Reason::Degraded) | None => None,
    }
}

/// The candidate that a pass takes, as an index into the order given, and how it is admitted.
pub fn pick<'a>(
    pass: Pass,
    candidates: impl Iterator<Item = (usize, &'a Standing)>,
    now: Millis,
    max_inflight: u32,
) -> Option<(usize, Admission)> {
    match pass {
        Pass::Strict | Pass::Relaxed => {
            let mut candidates = candidates;
            candidates.find_map(|(i, s)| admits(s, now, pass).map(|a| (i, a)))
        }
        Pass::LastResort => candidates
            .filter_map(|(i, s)| last_resort_rank(s, now, max_inflight).map(|rank| (rank, i)))
            .min()
            .map(|(_, i)| (i, Admission::LastResort)),
    }
}

/// How soon the first of some candidates may be asked again; none where that is known of nobody. A target that is both
/// open and held is back when neither lasts any more.
pub fn back_in<'a>(candidates: impl Iterator<Item = &'a Standing>, now: Millis) -> Option<Millis> {
    candidates
        .filter_map(|s| match reason(s, now)? {
            Reason::BreakerOpen => match s.breaker {
                Breaker::Open { until, .. } => Some(until.max(s.hold_until).less(now)),
                Breaker::Closed | Breaker::HalfOpen { .. } => None,
            },
            Reason::Hold => Some(s.hold_until.less(now)),
            Reason::Disabled | Reason::Down | Reason::TrialBusy | Reason::Busy | Reason::Ramp | Reason::Degraded => {
                None
            }
        })
        .min()
}

/// The shortest time until a breaker or a hold that bars a candidate ends; none where no such time is known.
pub fn return_in<'a>(candidates: impl Iterator<Item = &'a Standing>, now: Millis) -> Option<Millis> {
    candidates
        .filter_map(|s| match reason(s, now)? {
            Reason::BreakerOpen => match s.breaker {
                Breaker::Open { until, .. } => Some(until.less(now)),
                Breaker::Closed | Breaker::HalfOpen { .. } => None,
            },
            Reason::Hold => Some(s.hold_until.less(now)),
            Reason::Disabled | Reason::Down | Reason::TrialBusy | Reason::Busy | Reason::Ramp | Reason::Degraded => {
                None
            }
        })
        .min()
}
