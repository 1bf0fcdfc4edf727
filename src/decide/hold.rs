//! Holds: nobody is sent where a provider asked to be left alone, until the time it named.

use crate::policy::{Class, Millis};

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

/// How long a class holds its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldRule {
    /// Hints above this are cut to it.
    pub cap: Millis,
    /// Where there is no hint; absent: no hold then.
    pub default: Option<Millis>,
}

/// The hold a class leads to: the language's defaults of `hold`.
pub fn rule(class: Class) -> Option<HoldRule> {
    match class {
        Class::RateLimit => Some(HoldRule { cap: Millis(300_000), default: Some(Millis(1_000)) }),
        Class::Overloaded | Class::ServerError => Some(HoldRule { cap: Millis(300_000), default: None }),
        Class::QuotaExhausted => Some(HoldRule { cap: Millis(21_600_000), default: Some(Millis(300_000)) }),
        Class::Connect
        | Class::TimeoutHeaders
        | Class::TimeoutFirstToken
        | Class::TimeoutIdle
        | Class::Auth
        | Class::Permission
        | Class::NotFound
        | Class::InvalidRequest
        | Class::ContextOverflow
        | Class::PayloadTooLarge
        | Class::Policy
        | Class::SchemaInvalid
        | Class::EmptyResponse
        | Class::MalformedResponse
        | Class::Truncated
        | Class::StreamEarly
        | Class::PartialStream
        | Class::Unknown => None,
    }
}
