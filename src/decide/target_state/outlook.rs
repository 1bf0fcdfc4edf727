//! What a target's ledgers say of what is around it: whether what is known is old, and whether it fails or does well as far
//! as its region is concerned. In: its breakers and the time. Changes nothing but what was due.

use super::TargetState;
use crate::decide::circuit::Circuit;
use crate::decide::standing::{Breaker, Health};
use crate::decide::vitals::Vitals;
use crate::policy::Millis;
use crate::policy::breaker::BreakerScope;

/// How long a success speaks for a region, in milliseconds. As long as the longest open time of a breaker that is not told otherwise: a
/// region that nobody asked for longer than that says nothing of another's failures.
pub const LATELY: Millis = Millis(300_000);

impl TargetState {
    /// Whether nothing was learned of its health for so long that it may be otherwise.
    pub fn is_stale(&self, now: Millis) -> bool {
        self.vitals.as_ref().and_then(Vitals::stale_at).is_some_and(|at| at <= now)
    }

    /// Whether it fails, as far as that can be its region's affair: it is down, or its own or its region's breaker is not
    /// closed.
    pub(in crate::decide) fn fails(&mut self, circuits: &mut [Circuit], now: Millis) -> bool {
        self.advance(circuits, now);
        let local = |scope: BreakerScope| matches!(scope, BreakerScope::Region | BreakerScope::Target);
        let levels = self.levels.iter().filter(|(scope, _)| local(*scope));
        let mut states = levels.filter_map(|(_, id)| circuits.get_mut(id.index()).map(|c| c.state(now)));
        self.recovery.health() == Health::Down || states.any(|state| state != Breaker::Closed)
    }

    /// Whether it was seen to do well lately, and nothing says otherwise now.
    pub(in crate::decide) fn does_well(&mut self, circuits: &mut [Circuit], now: Millis) -> bool {
        self.advance(circuits, now);
        let lately = self.well_at.is_some_and(|at| now < at.plus(LATELY));
        let mut states = self.levels.iter().filter_map(|(_, id)| circuits.get_mut(id.index()).map(|c| c.state(now)));
        lately && self.recovery.health() != Health::Down && states.all(|state| state == Breaker::Closed)
    }
}
