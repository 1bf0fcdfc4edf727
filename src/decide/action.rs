//! Walking a matrix row: the first action that nothing bars is taken. No check waits, and a check that takes something
//! (a token) is asked last but for time.

use crate::policy::Action;
use crate::policy::class::{Verb, words};
use smallvec::SmallVec;

words! {
    /// Why an action cannot be taken, in the order in which it is asked.
    Bar {
        Attempts "attempts" "the request has used all its calls";
        PerTarget "per-target" "this target has been called often enough";
        Replay "replay" "the attempt may have been processed";
        Target "target" "no target is left that admits the request";
        Token "token" "the target's retry bucket is empty";
        Money "money" "the cap on what the request may cost does not leave enough";
        Time "time" "the deadline, or the reserve, does not leave enough";
    }
}

/// Answers the checks for one action.
pub trait Checks {
    /// Whether the check stands against the action.
    fn bars(&mut self, bar: Bar, action: Action) -> bool;
}

/// The calls of a request so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All calls.
    pub attempts: u32,
    /// Retries in a row at the present target.
    pub retries_here: u32,
}

impl Tally {
    /// Whether another call is within the cap.
    pub fn may_attempt(&self, cap: u32) -> bool {
        self.attempts < cap
    }

    /// Whether another retry in a row is within the cap.
    pub fn may_retry(&self, cap: u32) -> bool {
        self.retries_here < cap
    }

    /// Counts a call that an action led to.
    pub fn take(&mut self, verb: Verb) {
        match verb {
            Verb::Stop => return,
            Verb::Retry => self.retries_here = self.retries_here.saturating_add(1),
            Verb::Wait | Verb::NextKey | Verb::Repair | Verb::Continue => {}
            Verb::Failover | Verb::Fallback => self.retries_here = 0,
        }
        self.attempts = self.attempts.saturating_add(1);
    }
}

/// What walking a row came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walked<T> {
    /// The action taken; nothing where the row ran out.
    pub taken: Option<(T, Action)>,
    /// The actions passed over, and why.
    pub barred: SmallVec<[(Action, Bar); 4]>,
}

/// Walks a row up to the first action that nothing bars. `stop` is never barred.
pub fn walk<T>(row: impl Iterator<Item = (T, Action)>, checks: &mut dyn Checks) -> Walked<T> {
    let mut barred = SmallVec::new();
    for (at, action) in row {
        if action.verb() == Verb::Stop {
            return Walked { taken: Some((at, action)), barred };
        }
        match Bar::ALL.iter().copied().find(|bar| checks.bars(*bar, action)) {
            Some(bar) => barred.push((action, bar)),
            None => return Walked { taken: Some((at, action)), barred },
        }
    }
    Walked { taken: None, barred }
}
