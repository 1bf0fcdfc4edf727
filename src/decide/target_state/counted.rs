//! What the end of a call counts for a ramp: the target's own, and that of one capability.
//!
//! In: ended calls of the present generation. Out: a breaker that is rolled back where a ramp's rule says so. A breaker's
//! own rules come first: what they opened is no ramp any more.

use super::TargetState;
use crate::decide::circuit::Circuit;
use crate::decide::standing::{Breaker, Health};
use crate::policy::Millis;
use crate::policy::breaker::Capability;
use crate::policy::class::Blame;

impl TargetState {
    pub(super) fn count(
        &mut self,
        circuits: &mut [Circuit],
        now: Millis,
        capability: Capability,
        blame: Blame,
        hint: Option<Millis>,
    ) {
        let Some(failed) = failed(blame) else { return };
        // A breaker's own rules come first: what they opened is no ramp any more.
        let mut levels = self.levels.iter().filter_map(|(_, id)| circuits.get_mut(id.index()).map(|c| c.state(now)));
        if self.recovery.health() == Health::Down || !levels.all(|state| state == Breaker::Closed) {
            return;
        }
        let Some(place) = self.place(circuits, now) else { return };
        if self.lane.count(place, &self.spec.ramp, failed) {
            let target = self.target_circuit().or(self.capability(capability));
            if let Some(circuit) = target.and_then(|id| circuits.get_mut(id.index())) {
                circuit.roll_back(now, hint);
            }
        }
    }

    pub(super) fn count_capability(
        &mut self,
        circuits: &mut [Circuit],
        now: Millis,
        capability: Capability,
        blame: Blame,
        hint: Option<Millis>,
    ) {
        let Some(failed) = failed(blame) else { return };
        if self.breaker(circuits, now, capability) != Breaker::Closed || self.recovery.health() == Health::Down {
            return;
        }
        let Some(place) = self.capability_place(circuits, now, capability) else { return };
        let Some(lane) = self.lanes.get_mut(capability as usize) else { return };
        if lane.count(place, &self.spec.ramp, failed)
            && let Some(circuit) = self.capability(capability).and_then(|id| circuits.get_mut(id.index()))
        {
            circuit.roll_back(now, hint);
        }
    }
}

/// Whether a ramp takes a call for a failure; absent: it does not count it.
fn failed(blame: Blame) -> Option<bool> {
    match blame {
        Blame::Success => Some(false),
        Blame::Failure | Blame::Throttled => Some(true),
        Blame::Hard | Blame::Neutral => None,
    }
}
