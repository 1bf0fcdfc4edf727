//! The trials of a half-open breaker: never more in flight than allowed, never more than successes still needed, and
//! each with an end. The slots are made once; a trial is its slot's number.

use crate::policy::Millis;
use crate::policy::breaker::HalfOpen;

/// The slot of a trial in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trial(usize);

#[derive(Clone, Debug)]
pub(super) struct Trials {
    /// When the lease of each trial in flight ends.
    ends: Box<[Option<Millis>]>,
    needed: u32,
    inflight: u32,
    successes: u32,
}

impl Trials {
    pub(super) fn new(at_once: u32, successes: u32) -> Trials {
        let needed = successes.max(1);
        let slots = at_once.clamp(1, HalfOpen::MOST).min(needed);
        let ends = vec![None; usize::try_from(slots).unwrap_or(1)].into_boxed_slice();
        Trials { ends, needed, inflight: 0, successes: 0 }
    }

    /// A new period: no trial is in flight and none has succeeded.
    pub(super) fn begin(&mut self) {
        self.ends.fill(None);
        self.inflight = 0;
        self.successes = 0;
    }

    pub(super) fn is_free(&self) -> bool {
        self.inflight.saturating_add(self.successes) < self.needed && self.ends.iter().any(Option::is_none)
    }

    pub(super) fn take(&mut self, end: Millis) -> Option<Trial> {
        if !self.is_free() {
            return None;
        }
        let (slot, free) = self.ends.iter_mut().enumerate().find(|(_, end)| end.is_none())?;
        *free = Some(end);
        self.inflight += 1;
        Some(Trial(slot))
    }

    pub(super) fn renew(&mut self, trial: Trial, end: Millis) {
        if let Some(place) = self.ends.get_mut(trial.0).filter(|end| end.is_some()) {
            *place = Some(end);
        }
    }

    pub(super) fn give_back(&mut self, trial: Trial) {
        if self.ends.get_mut(trial.0).and_then(Option::take).is_some() {
            self.inflight = self.inflight.saturating_sub(1);
        }
    }

    /// Counts a success; says whether that is all of them.
    pub(super) fn succeeded(&mut self) -> bool {
        self.successes = self.successes.saturating_add(1);
        self.successes >= self.needed
    }

    /// When the first lease ends.
    pub(super) fn first_end(&self) -> Option<Millis> {
        self.ends.iter().flatten().min().copied()
    }
}
