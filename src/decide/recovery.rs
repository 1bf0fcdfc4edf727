//! Recovery: from when on a target's traffic comes back, in which stage it is, and what takes it away again.
//!
//! In: what probes say, when breakers closed, and the ends of calls. Out: the stage, and whether to roll back. A ramp is
//! no process: its start is the latest of a few instants and its stage follows from the time since, so nothing has to
//! tick. Who is admitted in a stage is `ramp`'s hash. No clock and no lock.

use super::standing::Health;
use crate::policy::{Millis, Percent, RampRules};

/// Where a target stands on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// All may come.
    Full,
    /// A share may come.
    Ramping(Percent),
    /// A breaker lets a few calls try it.
    Trial,
    /// Nobody may come.
    Blocked,
}

impl Phase {
    /// The share of sessions that the ramp lets in.
    pub fn share(self) -> Percent {
        match self {
            Phase::Full => Percent(10_000),
            Phase::Ramping(share) => share,
            Phase::Trial | Phase::Blocked => Percent(0),
        }
    }
}

/// What of a target's health bears on its ramps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    health: Health,
    /// When it last left `down`: the start of a ramp.
    left_down: Option<Millis>,
    /// When it last became degraded.
    degraded_at: Millis,
}

impl Recovery {
    /// Nothing happened yet: start-up is no recovery.
    pub fn new(health: Health) -> Recovery {
        Recovery { health, left_down: None, degraded_at: Millis::ZERO }
    }

    /// The same where nobody looks, or otherwise than before: what was seen then says nothing now. A ramp goes on.
    #[must_use]
    pub fn unseen(self) -> Recovery {
        Recovery { health: Health::Healthy, ..self }
    }

    /// The health it was last told.
    pub fn health(&self) -> Health {
        self.health
    }

    /// When it last left `down`.
    pub fn left_down(&self) -> Option<Millis> {
        self.left_down
    }

    /// Takes note of the health. `lanes` are its ramps, each with when its breakers let it begin.
    pub fn note<'a>(
        &mut self,
        now: Millis,
        health: Health,
        rules: &RampRules,
        lanes: impl Iterator<Item = (&'a mut Lane, Option<Millis>)>,
    ) {
        let before = std::mem::replace(&mut self.health, health);
        match (before, health) {
            (Health::Degraded, Health::Healthy) => {
                for (lane, since) in lanes {
                    lane.start_over(now, rules, since, self.degraded_at);
                }
            }
            (Health::Down, Health::Healthy) => self.left_down = Some(now),
            (Health::Down, Health::Degraded) => {
                self.left_down = Some(now);
                self.degraded_at = now;
            }
            (Health::Healthy, Health::Degraded) => self.degraded_at = now,
            (Health::Healthy | Health::Degraded | Health::Down, Health::Down)
            | (Health::Healthy, Health::Healthy)
            | (Health::Degraded, Health::Degraded) => {}
        }
    }

    /// Where a ramp stands; none where it is over or never began.
    pub fn place(&self, now: Millis, rules: &RampRules, lane: &Lane, since: Option<Millis>) -> Option<Place> {
        let start = lane.start(since)?;
        let held = self.health == Health::Degraded && runs_at(start, rules, self.degraded_at);
        let (stage, at) = if held { (0, *rules.stages.first()?) } else { rules.stage_at(now.less(start))? };
        Some(Place { start, stage, share: at.share })
    }
}

/// Whether a ramp that began then was not yet over at that time, or had yet to begin.
fn runs_at(start: Millis, rules: &RampRules, at: Millis) -> bool {
    at < start.plus(rules.whole())
}

/// Where a ramp stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// When it began.
    pub start: Millis,
    /// Its stage, from 0.
    pub stage: usize,
    /// The share of sessions that is let in.
    pub share: Percent,
}

/// One ramp: when it had to start over, and how its calls ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    again: Option<Millis>,
    counted: Option<(Millis, usize)>,
    samples: u64,
    failures: u64,
    run: u32,
}

impl Lane {
    fn start(&self, since: Option<Millis>) -> Option<Millis> {
        since.max(self.again)
    }

    /// Healthy again: a ramp that was held starts over.
    fn start_over(&mut self, now: Millis, rules: &RampRules, since: Option<Millis>, degraded_at: Millis) {
        if self.start(since).is_some_and(|start| runs_at(start, rules, degraded_at)) {
            self.again = Some(now);
        }
    }

    /// Counts the end of a call; says whether it takes the traffic away again. Samples are those of one stage, the run
    /// of failures that of the whole ramp.
    pub fn count(&mut self, place: Place, rules: &RampRules, failed: bool) -> bool {
        if self.counted.is_none_or(|(start, _)| start != place.start) {
            self.run = 0;
        }
        if self.counted != Some((place.start, place.stage)) {
            self.counted = Some((place.start, place.stage));
            (self.samples, self.failures) = (0, 0);
        }
        self.samples += 1;
        self.failures += u64::from(failed);
        self.run = if failed { self.run.saturating_add(1) } else { 0 };
        let rollback = &rules.rollback;
        rollback.consecutive.is_some_and(|most| self.run >= most)
            || rollback.errors.is_some_and(|(share, min)| {
                self.samples >= u64::from(min) && share.is_reached(self.failures, self.samples)
            })
    }
}
