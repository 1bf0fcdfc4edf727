//! Breakers: what traffic has to show before nobody is sent to a target any more, and how it comes back.
//!
//! One set of rules per provider, or the set's defaults. Plain values under the language's names; each default stands
//! here once, with its reason. What an answer is to blame for is decided by `BreakerScope`; nothing here keeps state.

use super::class::{Class, Scope, words};
use super::units::{Millis, Multiple, Percent};

words! {
    /// What a breaker guards, from coarse to fine.
    BreakerScope {
        Account "account" "all that uses one account";
        Region "region" "one location of a provider";
        Model "model" "one model of an account";
        Target "target" "one target";
        Capability "capability" "one capability of a target";
    }
}

words! {
    /// What a request asks of a target that may fail by itself. The first that a request uses is the one it is about.
    Capability {
        Tools "tools" "tool calls";
        StructuredOutput "structured-output" "answers of a given form";
        Image "image" "pictures in";
        Audio "audio" "sound in";
        Text "text" "plain text";
    }
}

impl BreakerScope {
    /// The scope column of the class table, for answers that do not show how wide a failure is. Absent: neutral. The
    /// limit behind `rate-limit` is account+model+region, which no breaker is keyed by; the next finer is the target.
    pub fn of_class(class: Class) -> Option<BreakerScope> {
        match class {
            Class::QuotaExhausted | Class::Auth => Some(BreakerScope::Account),
            Class::Connect => Some(BreakerScope::Region),
            Class::Permission | Class::NotFound => Some(BreakerScope::Model),
            Class::TimeoutHeaders
            | Class::TimeoutFirstToken
            | Class::TimeoutIdle
            | Class::RateLimit
            | Class::Overloaded
            | Class::ServerError
            | Class::EmptyResponse
            | Class::MalformedResponse
            | Class::Truncated
            | Class::StreamEarly
            | Class::PartialStream => Some(BreakerScope::Target),
            Class::SchemaInvalid => Some(BreakerScope::Capability),
            Class::InvalidRequest
            | Class::ContextOverflow
            | Class::PayloadTooLarge
            | Class::Policy
            | Class::Unknown => None,
        }
    }

    /// The scope for what an answer shows by itself. No breaker is as wide as a provider; the next finer is the account.
    pub fn of_answer(scope: Scope) -> Option<BreakerScope> {
        match scope {
            Scope::Request => None,
            Scope::Provider | Scope::Account => Some(BreakerScope::Account),
            Scope::Region => Some(BreakerScope::Region),
            Scope::Model => Some(BreakerScope::Model),
            Scope::Deployment => Some(BreakerScope::Target),
        }
    }

    /// The next scope that covers less of the same. A model spans regions and a region spans models, so neither is
    /// finer than the other; below both is the target. A capability that is not kept apart is the target's.
    fn finer(self) -> BreakerScope {
        match self {
            BreakerScope::Account => BreakerScope::Model,
            BreakerScope::Region | BreakerScope::Model | BreakerScope::Target | BreakerScope::Capability => {
                BreakerScope::Target
            }
        }
    }
}

/// The scopes that breakers are kept for. `target` is always among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scopes(u8);

impl Scopes {
    /// All five.
    pub const ALL: Scopes = Scopes(0b1_1111);

    /// Those listed, and `target`.
    pub fn of(listed: &[BreakerScope]) -> Scopes {
        Scopes(listed.iter().fold(Self::bit(BreakerScope::Target), |set, scope| set | Self::bit(*scope)))
    }

    fn bit(scope: BreakerScope) -> u8 {
        1 << (scope as u8)
    }

    /// Whether breakers are kept for it.
    pub fn contains(self, scope: BreakerScope) -> bool {
        self.0 & Self::bit(scope) != 0
    }

    /// From coarse to fine.
    pub fn iter(self) -> impl Iterator<Item = BreakerScope> {
        BreakerScope::ALL.iter().copied().filter(move |s| self.contains(*s))
    }

    /// The scope that takes the blame: the one meant, or the next finer one that is kept.
    pub fn blamed(self, meant: BreakerScope) -> BreakerScope {
        let mut scope = meant;
        while !self.contains(scope) {
            scope = scope.finer();
        }
        scope
    }
}

/// What a window reaches back over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    /// `over 60s`: the buckets that make up this time, the running one included.
    Time {
        /// The whole time, a multiple of the number of buckets.
        span: Millis,
        /// How many buckets.
        buckets: u32,
    },
    /// `over 100 calls`: the latest calls that ended.
    Calls(u32),
}

impl Over {
    /// Buckets of a time: coarse enough to cost nothing, fine enough that a tenth of the window leaves at once.
    pub const BUCKETS: u32 = 10;
}

/// `trip when slow >= 80% above 10s`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlowTrip {
    /// At least so many of the calls.
    pub share: Percent,
    /// Slower than this, strictly.
    pub above: SlowAbove,
}

/// What a call is slower than.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlowAbove {
    /// A duration.
    Fixed(Millis),
    /// A multiple of the baseline's p95; nothing is slow while there is no baseline.
    Baseline(Multiple),
}

impl SlowAbove {
    /// Whether a latency is slow.
    pub fn is_slow(self, latency: Millis, baseline: Option<Millis>) -> bool {
        match self {
            SlowAbove::Fixed(limit) => latency > limit,
            SlowAbove::Baseline(times) => baseline.is_some_and(|base| times.exceeded(latency, base)),
        }
    }
}

/// How long a breaker stays open: `open 30s, doubling to 5m, jitter 10%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpenTime {
    /// The first time.
    pub base: Millis,
    /// From one time to the next while it does not stay well: `doubling` is 2x, a constant time is 1x.
    pub growing: Multiple,
    /// Longest time, hints and jitter aside.
    pub cap: Millis,
    /// Drawn up to this share and added, so that instances do not come back in the same instant.
    pub jitter: Percent,
}

/// `half-open 1 at once, 2 successes`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfOpen {
    /// Most trials in flight.
    pub at_once: u32,
    /// Successes needed.
    pub successes: u32,
    /// How long a trial may go without a sign of life; absent: the longest `attempt-timeout`, and [`HalfOpen::GRACE`].
    pub lease: Option<Millis>,
}

impl HalfOpen {
    /// Added to the attempt's own limit for the default of `lease`: the attempt's timer is to speak first.
    pub const GRACE: Millis = Millis(1_000);
    /// Most trials in flight that any policy may ask for: more is traffic.
    pub const MOST: u32 = 1_000;
}

/// How long a class holds its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HoldRule {
    /// Hints above this are cut to it.
    pub cap: Millis,
    /// Where there is no hint; absent: no hold then.
    pub default: Option<Millis>,
}

/// What the lines `hold CLASS up to D, default D` say, class by class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HoldRules([Option<HoldRule>; Class::ALL.len()]);

impl HoldRules {
    /// The rule of a class; absent: it holds nothing.
    pub fn of(&self, class: Class) -> Option<HoldRule> {
        self.0.get(class as usize).copied().flatten()
    }

    /// With another rule for a class.
    #[must_use]
    pub fn with(mut self, class: Class, rule: Option<HoldRule>) -> HoldRules {
        if let Some(place) = self.0.get_mut(class as usize) {
            *place = rule;
        }
        self
    }
}

impl Default for HoldRules {
    /// A rate limit is over in seconds, so a second is tried where nothing is said; an allowance comes back by the hour
    /// or the day, so five minutes; what is merely overloaded is left to the breaker unless it asks for time. Caps keep
    /// a hint in the wrong unit from shutting a target for days.
    fn default() -> HoldRules {
        let rule = |cap, default| Some(HoldRule { cap: Millis(cap), default });
        HoldRules([None; Class::ALL.len()])
            .with(Class::RateLimit, rule(300_000, Some(Millis(1_000))))
            .with(Class::Overloaded, rule(300_000, None))
            .with(Class::ServerError, rule(300_000, None))
            .with(Class::QuotaExhausted, rule(21_600_000, Some(Millis(300_000))))
    }
}

/// All settings of a `breaker` block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BreakerRules {
    /// What breakers are kept for.
    pub scopes: Scopes,
    /// The one window of all shares.
    pub over: Over,
    /// Least calls in the window before a share says anything.
    pub min: u32,
    /// `trip when errors >= …`; absent: never for that.
    pub errors: Option<Percent>,
    /// `trip when slow >= …`; absent: never for that.
    pub slow: Option<SlowTrip>,
    /// `trip when consecutive >= …`; absent: never for that.
    pub consecutive: Option<u32>,
    /// How long it stays open.
    pub open: OpenTime,
    /// How it is tried.
    pub half_open: HalfOpen,
    /// Closed for so long, the next trip starts at `open` again; absent: the ramp's whole length.
    pub stable: Option<Millis>,
    /// Most that a hint lengthens an open time.
    pub hint_cap: Millis,
    /// Least part of its own limit that an attempt was granted for a timeout to count.
    pub timeout_evidence: Percent,
    /// Holds, class by class.
    pub holds: HoldRules,
}

impl Default for BreakerRules {
    /// The language's defaults. Half of twenty calls in half a minute is beyond any provider's ordinary day, and five in
    /// a row catches a dead target at low traffic. One trial at a time, two successes: linkerd and gobreaker try one,
    /// and one lucky answer is no recovery. Thirty seconds doubling to five minutes: Envoy's ejection times. Half of its
    /// limit granted: a caller in a hurry is not to indict a provider.
    fn default() -> BreakerRules {
        BreakerRules {
            scopes: Scopes::ALL,
            over: Over::Time { span: Millis(30_000), buckets: Over::BUCKETS },
            min: 20,
            errors: Some(Percent(5_000)),
            slow: None,
            consecutive: Some(5),
            open: OpenTime {
                base: Millis(30_000),
                growing: Multiple(2_000),
                cap: Millis(300_000),
                jitter: Percent(1_000),
            },
            half_open: HalfOpen { at_once: 1, successes: 2, lease: None },
            stable: None,
            hint_cap: Millis(300_000),
            timeout_evidence: Percent(5_000),
            holds: HoldRules::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_left_out_blames_the_next_finer_one() {
        use BreakerScope::{Account, Capability, Model, Region, Target};
        assert_eq!(Scopes::ALL.blamed(Region), Region);
        assert_eq!(Scopes::of(&[Model]).blamed(Account), Model);
        assert_eq!(Scopes::of(&[Account, Model]).blamed(Region), Target, "a model is not finer than a region");
        assert_eq!(Scopes::of(&[Account]).blamed(Capability), Target);
        assert_eq!(Scopes::of(&[]).iter().collect::<Vec<_>>(), [Target]);
    }

    #[test]
    fn a_class_without_a_scope_is_one_that_is_neutral() {
        use crate::policy::class::Blame;
        for class in Class::ALL {
            assert_eq!(BreakerScope::of_class(*class).is_none(), class.blame() == Blame::Neutral, "{class}");
        }
    }
}
