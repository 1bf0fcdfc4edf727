//! Several breakers on one call: an account's, a region's, a model's, a target's, a capability's.
//!
//! In: the breakers of a path from coarse to fine, and the ends of calls. Out: one permit for all of them, or which one
//! denied. A success counts everywhere on the path, a failure at exactly one place of it; whoever granted before another
//! denied gets its permit back. The breakers themselves belong to the caller.

use super::circuit::{Circuit, Denied, Ending, Permit};
use crate::policy::Millis;
use crate::policy::class::Blame;
use smallvec::SmallVec;

/// A breaker's place in its owner's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CircuitId(pub u32);

impl CircuitId {
    /// As an index.
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// The breakers of one call, from coarse to fine.
pub type Path = SmallVec<[CircuitId; 5]>;

/// What all breakers of a path granted. Hand it back when the call is over, however it ends.
#[derive(Debug)]
#[must_use = "a permit that is not handed back fails its trials when their leases end"]
pub struct PathPermit(SmallVec<[(CircuitId, Permit); 5]>);

impl PathPermit {
    /// Whether some breaker takes the call for a trial.
    pub fn is_trial(&self) -> bool {
        self.0.iter().any(|(_, permit)| permit.is_trial())
    }

    /// Whether each of these breakers took the call for one like any other and has not changed since.
    pub fn is_traffic(&self, circuits: &mut [Circuit], now: Millis, which: impl Fn(CircuitId) -> bool) -> bool {
        self.0.iter().filter(|(id, _)| which(*id)).all(|(id, permit)| {
            !permit.is_trial() && circuits.get_mut(id.index()).is_some_and(|c| c.knows(now, permit))
        })
    }
}

/// Who did not let a call in, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The breaker.
    pub by: CircuitId,
    /// Why.
    pub why: Denied,
}

/// Asks each breaker of the path, from coarse to fine.
///
/// # Errors
/// [`Blocked`] by the first that denies. Those before it have their permits back.
pub fn admit(circuits: &mut [Circuit], path: &[CircuitId], now: Millis) -> Result<PathPermit, Blocked> {
    let mut granted = PathPermit(SmallVec::new());
    for id in path {
        match circuits.get_mut(id.index()).map(|circuit| circuit.admit(now)) {
            Some(Ok(permit)) => granted.0.push((*id, permit)),
            Some(Err(why)) => {
                settle(circuits, now, granted, Ending::NEUTRAL, None);
                return Err(Blocked { by: *id, why });
            }
            None => {}
        }
    }
    Ok(granted)
}

/// Lets a call in whatever the breakers say. It counts where they are closed.
pub fn admit_past(circuits: &mut [Circuit], path: &[CircuitId], now: Millis) -> PathPermit {
    let permits = path.iter().filter_map(|id| circuits.get_mut(id.index()).map(|c| (*id, c.admit_past(now))));
    PathPermit(permits.collect())
}

/// A call shows a sign of life: the leases of its trials begin again.
pub fn renew(circuits: &mut [Circuit], now: Millis, granted: &PathPermit) {
    for (id, permit) in &granted.0 {
        if let Some(circuit) = circuits.get_mut(id.index()) {
            circuit.renew(now, permit);
        }
    }
}

/// Takes a call's permits back. `at` is the breaker that an ending concerns which is no success, and the one that
/// slowness concerns. Says whether the ending counted anywhere.
pub fn settle(
    circuits: &mut [Circuit],
    now: Millis,
    granted: PathPermit,
    ending: Ending,
    at: Option<CircuitId>,
) -> bool {
    let mut counted = false;
    for (id, permit) in granted.0 {
        let Some(circuit) = circuits.get_mut(id.index()) else { continue };
        let ending = match ending.blame {
            _ if at == Some(id) => ending,
            Blame::Success => Ending { slow: false, hint: None, ..ending },
            Blame::Failure | Blame::Hard | Blame::Throttled | Blame::Neutral => Ending::NEUTRAL,
        };
        counted |= circuit.settle(now, permit, ending);
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::circuit::CircuitRules;
    use crate::decide::standing::Breaker;
    use crate::policy::breaker::{BreakerRules, OpenTime};
    use crate::policy::{Multiple, Percent};

    const BAD: Ending = Ending { blame: Blame::Hard, slow: false, hint: None };
    const GOOD: Ending = Ending { blame: Blame::Success, slow: true, hint: None };

    fn path() -> (Vec<Circuit>, Path) {
        let open = OpenTime { base: Millis(100), growing: Multiple(1_000), cap: Millis(100), jitter: Percent(0) };
        let rules = BreakerRules { open, ..BreakerRules::default() };
        let circuit = || Circuit::new(CircuitRules::of(&rules, Millis::ZERO, Millis(8_000), "", ""));
        (vec![circuit(), circuit(), circuit()], (0..3).map(CircuitId).collect())
    }

    #[test]
    fn who_granted_before_another_denied_gets_its_trial_back() {
        let (mut circuits, path) = path();
        let first = admit(&mut circuits, &path, Millis(0)).unwrap();
        settle(&mut circuits, Millis(0), first, BAD, Some(CircuitId(0)));
        let (coarse, fine) = (&path[..1], &path[2..]);
        let later = admit(&mut circuits, fine, Millis(50)).unwrap();
        settle(&mut circuits, Millis(50), later, BAD, Some(CircuitId(2)));
        let blocked = admit(&mut circuits, &path, Millis(100)).unwrap_err();
        assert_eq!(blocked, Blocked { by: CircuitId(2), why: Denied::Open });
        assert_eq!(circuits[0].state(Millis(100)), Breaker::HalfOpen { slot: true });
        let trial = admit(&mut circuits, coarse, Millis(100)).unwrap();
        assert!(trial.is_trial());
        settle(&mut circuits, Millis(100), trial, Ending::NEUTRAL, None);
    }

    #[test]
    fn a_success_counts_everywhere_and_its_slowness_at_one_place() {
        let (mut circuits, path) = path();
        let call = admit(&mut circuits, &path, Millis(0)).unwrap();
        assert!(settle(&mut circuits, Millis(0), call, GOOD, Some(CircuitId(1))));
        let slow: Vec<(u64, u64)> =
            circuits.iter_mut().map(|c| c.totals(Millis(0))).map(|t| (t.samples, t.slow)).collect();
        assert_eq!(slow, [(1, 0), (1, 1), (1, 0)]);
    }
}
