//! Whether a failed attempt may be followed by another: never after output reached the client, never where an unknown
//! outcome may have had side effects. Not a setting.

use crate::policy::class::{Verb, words};
use crate::policy::{Effects, Stage};

/// What is known about repeating one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    /// What the request may have set off.
    pub effects: Effects,
    /// Repeats allowed after attempts that may have been processed, for a pure request.
    pub limit: u32,
    /// Repeats of that kind so far.
    pub used: u32,
}

words! {
    /// Why a repeat is allowed.
    Allowed {
        NotSent "not-sent" "no byte left";
        Rejected "rejected" "the target said that it did not process it";
        IdempotentTarget "idempotent-target" "the target de-duplicates by the key it was sent";
        Pure "pure" "repeating a pure request costs money and nothing else";
    }
}

words! {
    /// Why a repeat is not allowed.
    Barred {
        Committed "committed" "output has reached the client";
        EffectfulUnknown "effectful-unknown" "side effects may have happened";
        AmbiguousLimit "ambiguous-limit" "it may have been processed too often already";
    }
}

/// What is known of the attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempted {
    /// How far it had come.
    pub stage: Stage,
    /// Whether output reached the client.
    pub committed: bool,
    /// Whether an idempotency key was sent, and the target is declared to honour it.
    pub key_honoured: bool,
}

impl Replay {
    /// Whether an action that calls may follow. Changes nothing; [`Replay::take`] counts.
    ///
    /// # Errors
    /// Why it may not.
    pub fn allows(&self, attempted: Attempted, verb: Verb) -> Result<Allowed, Barred> {
        if attempted.committed {
            return Err(Barred::Committed);
        }
        match attempted.stage {
            Stage::NotSent => return Ok(Allowed::NotSent),
            Stage::Rejected => return Ok(Allowed::Rejected),
            Stage::Sent | Stage::Headers | Stage::Output => {}
        }
        match self.effects {
            Effects::Unknown if verb == Verb::Retry && attempted.key_honoured => Ok(Allowed::IdempotentTarget),
            Effects::Unknown => Err(Barred::EffectfulUnknown),
            Effects::None if self.used < self.limit => Ok(Allowed::Pure),
            Effects::None => Err(Barred::AmbiguousLimit),
        }
    }

    /// Counts a repeat that was allowed.
    pub fn take(&mut self, allowed: Allowed) {
        match allowed {
            Allowed::Pure => self.used = self.used.saturating_add(1),
            Allowed::NotSent | Allowed::Rejected | Allowed::IdempotentTarget => {}
        }
    }
}
