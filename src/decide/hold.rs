//! Holds: nobody is sent where a provider asked to be left alone, until the time it named.

use crate::policy::Millis;

/// When the hold on one key ends; zero: it was never held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// The instant.
    pub until: Millis,
}

impl Hold {
    /// Takes a hint into account: the hold only ever moves forward, and by `cap` at most.
    pub fn extend(&mut self, now: Millis, hint: Millis, cap: Millis) {
        if hint > Millis::ZERO {
            self.until = self.until.max(now.plus(hint.min(cap)));
        }
    }

    /// Whether it holds now.
    pub fn holds(&self, now: Millis) -> bool {
        now < self.until
    }
}
