//! One breaker: closed, open, or tried with a few calls.
//!
//! In: calls that ask and calls that end, each with the time. Out: permits, and the state. Every change of state begins a
//! new generation; a permit of an older one changes nothing any more, since calls outlast open times. Whatever fell due
//! since the last look takes effect at the instant it was due. Fixed memory, whole numbers, no clock and no lock.

mod rules;
mod trials;

pub use rules::{CircuitRules, Jitter};

use super::standing::Breaker;
use super::window::{Sample, Totals, Window};
use crate::policy::Millis;
use crate::policy::class::{Blame, words};
use trials::{Trial, Trials};

words! {
    /// Why a breaker opened.
    Cause {
        Hard "hard" "the provider said that it is of no use for now";
        Consecutive "consecutive" "failures in a row";
        Errors "errors" "the share of failures";
        Slow "slow" "the share of slow calls";
        Trial "trial" "a trial failed";
        Lease "lease" "a trial never ended";
        Rollback "rollback" "failures while its traffic came back";
    }
}

/// A call that was let in. Hand it back when the call is over, however it ends.
#[derive(Debug)]
#[must_use = "a permit that is not handed back fails its trial when the lease ends"]
pub struct Permit {
    generation: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Normal,
    Trial(Trial),
    /// Let in past the breaker: says nothing to it.
    Outside,
}

impl Permit {
    /// Whether the call is a trial.
    pub fn is_trial(&self) -> bool {
        matches!(self.kind, Kind::Trial(_))
    }
}

/// How a call ended, for one breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// What it says.
    pub blame: Blame,
    /// Whether it was slow.
    pub slow: bool,
    /// The wait that the answer asked for.
    pub hint: Option<Millis>,
}

impl Ending {
    /// An ending that says nothing.
    pub const NEUTRAL: Ending = Ending { blame: Blame::Neutral, slow: false, hint: None };
}

/// Why a call is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// It is open.
    Open,
    /// It is being tried, and no trial is free.
    TrialBusy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    Open { until: Millis, hard: bool },
    HalfOpen,
}

/// One breaker.
#[derive(Clone, Debug)]
pub struct Circuit {
    rules: CircuitRules,
    state: State,
    generation: u64,
    window: Window,
    /// Failures since the last success.
    run: u32,
    trials: Trials,
    /// The open time of the latest trip, without hint and jitter.
    reach: Millis,
    closed_at: Option<Millis>,
    cause: Option<Cause>,
    trips: u64,
    /// The latest time seen: callers may read the clock before they queue for the lock.
    latest: Millis,
}

impl Circuit {
    /// A closed breaker that has seen nothing.
    pub fn new(rules: CircuitRules) -> Circuit {
        Circuit {
            window: Window::new(rules.over),
            trials: Trials::new(rules.at_once, rules.successes),
            reach: rules.open.base.min(rules.open.cap),
            rules,
            state: State::Closed,
            generation: 0,
            run: 0,
            closed_at: None,
            cause: None,
            trips: 0,
            latest: Millis::ZERO,
        }
    }

    /// Its rules.
    pub fn rules(&self) -> &CircuitRules {
        &self.rules
    }

    /// Brings the state up to now: what was due takes effect when it was due. Returns the time that holds.
    fn advance(&mut self, now: Millis) -> Millis {
        let now = now.max(self.latest);
        loop {
            match self.state {
                State::Open { until, .. } if until <= now => {
                    self.trials.begin();
                    self.change(State::HalfOpen);
                }
                State::HalfOpen => match self.trials.first_end().filter(|end| *end <= now) {
                    Some(end) => self.trip(end, Cause::Lease, None),
                    None => break,
                },
                State::Open { .. } | State::Closed => break,
            }
        }
        self.latest = now;
        now
    }

    fn change(&mut self, state: State) {
        self.state = state;
        self.generation += 1;
    }

    fn trip(&mut self, at: Millis, cause: Cause, hint: Option<Millis>) {
        let open = self.rules.open;
        let grows = match self.state {
            State::Closed => self.closed_at.is_some_and(|since| at.less(since) < self.rules.stable),
            State::HalfOpen => true,
            State::Open { .. } => return,
        };
        self.reach = if grows { open.growing.of(self.reach).min(open.cap) } else { open.base.min(open.cap) };
        let asked = hint.map_or(Millis::ZERO, |h| h.min(self.rules.hint_cap));
        let lasts = self.reach.max(asked);
        let until = at.plus(lasts).plus(self.rules.jitter.drawn(lasts, self.generation));
        self.cause = Some(cause);
        self.trips += 1;
        self.change(State::Open { until, hard: cause == Cause::Hard });
    }

    fn close(&mut self, at: Millis) {
        self.window.clear();
        self.run = 0;
        self.closed_at = Some(at);
        self.change(State::Closed);
    }

    /// How it stands.
    pub fn state(&mut self, now: Millis) -> Breaker {
        self.advance(now);
        match self.state {
            State::Closed => Breaker::Closed,
            State::Open { until, hard } => Breaker::Open { until, hard },
            State::HalfOpen => Breaker::HalfOpen { slot: self.trials.is_free() },
        }
    }

    /// When it last closed; none where it never opened. What is due changes nothing here.
    pub fn closed_at(&self) -> Option<Millis> {
        self.closed_at
    }

    /// What the window holds. Worth nothing but while closed.
    pub fn totals(&mut self, now: Millis) -> Totals {
        let now = self.advance(now);
        self.window.totals(now)
    }

    /// Why it opened last.
    pub fn cause(&self) -> Option<Cause> {
        self.cause
    }

    /// How often it opened.
    pub fn trips(&self) -> u64 {
        self.trips
    }

    /// Lets a call in, or says why not.
    ///
    /// # Errors
    /// [`Denied`] while it is open, and while no trial is free.
    pub fn admit(&mut self, now: Millis) -> Result<Permit, Denied> {
        let now = self.advance(now);
        let kind = match self.state {
            State::Closed => Kind::Normal,
            State::Open { .. } => return Err(Denied::Open),
            State::HalfOpen => {
                let end = now.plus(self.rules.lease);
                Kind::Trial(self.trials.take(end).ok_or(Denied::TrialBusy)?)
            }
        };
        Ok(Permit { generation: self.generation, kind })
    }

    /// Lets a call in whatever the state. It counts as any while closed, and says nothing otherwise.
    pub fn admit_past(&mut self, now: Millis) -> Permit {
        self.advance(now);
        let kind = match self.state {
            State::Closed => Kind::Normal,
            State::Open { .. } | State::HalfOpen => Kind::Outside,
        };
        Permit { generation: self.generation, kind }
    }

    /// Whether what this call says would still count.
    pub fn knows(&mut self, now: Millis, permit: &Permit) -> bool {
        self.advance(now);
        permit.generation == self.generation && permit.kind != Kind::Outside
    }

    /// A trial shows a sign of life: its lease begins again.
    pub fn renew(&mut self, now: Millis, permit: &Permit) {
        let now = self.advance(now);
        if let Kind::Trial(trial) = permit.kind
            && permit.generation == self.generation
        {
            self.trials.renew(trial, now.plus(self.rules.lease));
        }
    }

    /// Takes a permit back. Says whether the ending counted.
    pub fn settle(&mut self, now: Millis, permit: Permit, ending: Ending) -> bool {
        let now = self.advance(now);
        if permit.generation != self.generation {
            return false;
        }
        match permit.kind {
            Kind::Normal => self.sample(now, ending),
            Kind::Trial(trial) => self.tried(now, trial, ending),
            Kind::Outside => false,
        }
    }

    /// Opens it because its traffic did not come back well.
    pub fn roll_back(&mut self, now: Millis, hint: Option<Millis>) {
        let now = self.advance(now);
        match self.state {
            State::Closed => self.trip(now, Cause::Rollback, hint),
            State::Open { .. } | State::HalfOpen => {}
        }
    }

    fn sample(&mut self, now: Millis, ending: Ending) -> bool {
        let failed = match ending.blame {
            Blame::Success => false,
            Blame::Failure => true,
            Blame::Hard => {
                self.trip(now, Cause::Hard, ending.hint);
                return true;
            }
            Blame::Throttled | Blame::Neutral => return false,
        };
        self.run = if failed { self.run.saturating_add(1) } else { 0 };
        self.window.add(now, Sample { failed, slow: ending.slow });
        let totals = self.window.totals(now);
        if let Some(cause) = self.rules.judge(totals, self.run) {
            self.trip(now, cause, ending.hint);
        }
        true
    }

    fn tried(&mut self, now: Millis, trial: Trial, ending: Ending) -> bool {
        self.trials.give_back(trial);
        match ending.blame {
            Blame::Success if !ending.slow => {
                if self.trials.succeeded() {
                    self.close(now);
                }
                true
            }
            Blame::Success | Blame::Failure | Blame::Throttled => {
                self.trip(now, Cause::Trial, ending.hint);
                true
            }
            Blame::Hard => {
                self.trip(now, Cause::Hard, ending.hint);
                true
            }
            Blame::Neutral => false,
        }
    }

    /// The same breaker for owners to come, under rules of the same shape: calls under way under the old ones are
    /// strangers to it, so their trials are free.
    #[must_use]
    pub fn carried(&self, rules: CircuitRules) -> Circuit {
        let mut circuit = Circuit { rules, ..self.clone() };
        circuit.trials.begin();
        circuit.generation += 1;
        circuit
    }
}

#[cfg(test)]
mod tests;
