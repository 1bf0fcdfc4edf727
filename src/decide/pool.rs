//! Key pools: a provider's credentials, each with a breaker and a hold of its own.
//!
//! In: how calls with a key ended. Out: which key to use next, and when the first comes back where all of them rest. What
//! an answer says of a credential or its balance is said of that key alone: the target, and whatever else shares the
//! provider, go on with the others. No clock, no lock; the keys themselves are never seen here, only their places.

use super::circuit::{Circuit, CircuitRules, Ending, Permit};
use super::hold::Hold;
use super::standing::Breaker;
use crate::policy::class::Blame;
use crate::policy::{Class, Millis, Scope};

/// One key of a pool.
#[derive(Clone, Debug)]
struct Key {
    circuit: Circuit,
    hold: Hold,
}

impl Key {
    /// Until when it rests; nothing where it may be used now.
    fn rests_until(&mut self, now: Millis) -> Option<Millis> {
        let open = match self.circuit.state(now) {
            Breaker::Open { until, .. } => Some(until),
            Breaker::HalfOpen { slot: true } | Breaker::Closed => None,
            // Its trial is under way: it is known before long.
            Breaker::HalfOpen { slot: false } => Some(now.plus(Millis(1_000))),
        };
        let held = Some(self.hold.until).filter(|_| self.hold.holds(now));
        open.max(held)
    }
}

/// The keys of one provider, in the order written.
#[derive(Clone, Debug)]
pub struct Pool {
    keys: Vec<Key>,
}

/// What a call with a key was let in by.
#[derive(Debug)]
#[must_use = "a permit that is not handed back fails its trial"]
pub struct KeyPermit {
    key: u16,
    permit: Permit,
}

impl Pool {
    /// A pool of this many keys that nothing has happened to.
    pub fn new(keys: u16, rules: impl Fn(u16) -> CircuitRules) -> Pool {
        Pool { keys: (0..keys).map(|key| Key { circuit: Circuit::new(rules(key)), hold: Hold::default() }).collect() }
    }

    /// The same keys for another policy: calls under way stay with the old one.
    pub fn carried(&self) -> Pool {
        let keys = self.keys.iter();
        let carried = |key: &Key| Key { circuit: key.circuit.carried(*key.circuit.rules()), hold: key.hold };
        Pool { keys: keys.map(carried).collect() }
    }

    /// How many keys it has.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The first key that does not rest and is not among those used.
    pub fn next(&mut self, now: Millis, used: &[u16]) -> Option<u16> {
        let free =
            |(place, key): (u16, &mut Key)| (!used.contains(&place) && key.rests_until(now).is_none()).then_some(place);
        (0u16..).zip(&mut self.keys).find_map(free)
    }

    /// When the first key comes back; nothing while one may be used.
    pub fn rests_until(&mut self, now: Millis) -> Option<Millis> {
        let mut earliest: Option<Millis> = None;
        for key in &mut self.keys {
            let until = key.rests_until(now)?;
            earliest = Some(earliest.map_or(until, |e| e.min(until)));
        }
        earliest
    }

    /// Lets a call in with a key; nothing where its breaker does not.
    pub fn admit(&mut self, key: u16, now: Millis) -> Option<KeyPermit> {
        let permit = self.keys.get_mut(usize::from(key))?.circuit.admit(now).ok()?;
        Some(KeyPermit { key, permit })
    }

    /// Takes a permit back. Says whether the end was the key's affair, and so nobody else's.
    pub fn settle(
        &mut self,
        now: Millis,
        permit: KeyPermit,
        blame: Blame,
        (class, scope): (Option<Class>, Option<Scope>),
        (hint, hold_until): (Option<Millis>, Option<Millis>),
    ) -> bool {
        let Some(key) = self.keys.get_mut(usize::from(permit.key)) else { return false };
        let ours = blame != Blame::Success && is_of_the_key(class, scope);
        let blame = if ours || blame == Blame::Success { blame } else { Blame::Neutral };
        if let Some(until) = hold_until.filter(|_| ours) {
            key.hold.until = key.hold.until.max(until);
        }
        let _ = key.circuit.settle(now, permit.permit, Ending { blame, slow: false, hint });
        ours
    }

    /// The call shows a sign of life.
    pub fn renew(&mut self, now: Millis, permit: &KeyPermit) {
        if let Some(key) = self.keys.get_mut(usize::from(permit.key)) {
            key.circuit.renew(now, &permit.permit);
        }
    }
}

/// Whether a failure is about the credential that was sent: what the answer shows, or else what the class table says.
fn is_of_the_key(class: Option<Class>, scope: Option<Scope>) -> bool {
    match (scope, class) {
        (Some(Scope::Account), _) => true,
        (Some(Scope::Request | Scope::Model | Scope::Deployment | Scope::Region | Scope::Provider), _) => false,
        (None, Some(Class::Auth | Class::Permission | Class::QuotaExhausted)) => true,
        (None, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::BreakerRules;

    fn pool(keys: u16) -> Pool {
        let rules = BreakerRules::default();
        Pool::new(keys, |key| CircuitRules::of(&rules, Millis::ZERO, Millis(1_000), "i", &format!("key={key}")))
    }

    fn ends(pool: &mut Pool, now: u64, key: u16, class: Class, hold: Option<u64>) -> bool {
        let permit = pool.admit(key, Millis(now)).unwrap();
        let hold = hold.map(Millis);
        pool.settle(Millis(now), permit, class.blame(), (Some(class), None), (None, hold))
    }

    #[test]
    fn a_dead_key_rests_and_the_next_one_is_used() {
        let mut pool = pool(3);
        assert_eq!(pool.next(Millis(0), &[]), Some(0));
        assert!(ends(&mut pool, 0, 0, Class::Auth, None));
        assert_eq!(pool.next(Millis(1), &[]), Some(1));
        assert_eq!(pool.next(Millis(1), &[1]), Some(2));
        assert_eq!(pool.rests_until(Millis(1)), None, "two keys are left");
        assert!(ends(&mut pool, 10, 1, Class::Permission, None));
        assert!(ends(&mut pool, 20, 2, Class::QuotaExhausted, Some(600_000)));
        assert_eq!(pool.next(Millis(30), &[]), None);
        let back = pool.rests_until(Millis(30)).unwrap();
        assert!(back >= Millis(30_000) && back < Millis(40_000), "the first to come back: {back}");
        assert!(pool.next(back, &[]).is_some(), "it is tried again");
    }

    #[test]
    fn what_is_not_about_the_credential_is_not_the_keys() {
        let mut pool = pool(2);
        for class in [Class::ServerError, Class::RateLimit, Class::Connect, Class::NotFound, Class::InvalidRequest] {
            for n in 0..10 {
                assert!(!ends(&mut pool, n, 0, class, None), "{class}");
            }
        }
        assert_eq!(pool.next(Millis(100), &[]), Some(0));
    }

    #[test]
    fn an_answer_that_shows_how_wide_it_is_is_believed() {
        let mut pool = pool(2);
        let permit = pool.admit(0, Millis(0)).unwrap();
        let wide = (Some(Class::Permission), Some(Scope::Model));
        assert!(
            !pool.settle(Millis(0), permit, Blame::Hard, wide, (None, None)),
            "a model that this account may not use"
        );
        let permit = pool.admit(0, Millis(0)).unwrap();
        let wide = (Some(Class::RateLimit), Some(Scope::Account));
        assert!(pool.settle(Millis(0), permit, Blame::Throttled, wide, (None, Some(Millis(500)))));
        assert_eq!(pool.next(Millis(1), &[]), Some(1));
        assert_eq!(pool.next(Millis(500), &[]), Some(0));
    }
}
