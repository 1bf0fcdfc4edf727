//! Retry buckets: what repetition at one target may add to its load.
//!
//! In: first arrivals and calls that want to be repeated. Out: whether that can be paid for. First arrivals and time pay
//! in, repeats and hedges pay out, moving elsewhere is free. Thousandths of a token in whole numbers; lazy, and the same
//! however often one looks. No clock and no lock.

use crate::policy::{Millis, RetryRatio};

const TOKEN: u64 = RetryRatio::TOKEN;

/// What a call that is not a first arrival is, to the target it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// The same target again: `retry`, `wait`, `next-key`, `repair`, `continue`.
    Repeat,
    /// A duplicate of a call that is still under way elsewhere.
    Hedge,
    /// From another target: `failover`, `fallback`.
    Moved,
    /// Again, where the one before never reached the target.
    Transparent,
}

impl Extra {
    fn cost(self) -> u64 {
        match self {
            Extra::Repeat | Extra::Hedge => TOKEN,
            Extra::Moved | Extra::Transparent => 0,
        }
    }
}

/// The bucket of one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    rules: RetryRatio,
    balance: u64,
    /// What time has paid in of the next thousandth, as a part of `rules.at_least.per`.
    begun: u64,
    at: Millis,
}

impl Bucket {
    /// A bucket that is full when the clock begins.
    pub fn new(rules: RetryRatio) -> Bucket {
        Bucket::holding(rules, rules.burst)
    }

    /// A bucket that holds so many tokens when the clock begins.
    pub fn holding(rules: RetryRatio, tokens: u32) -> Bucket {
        Bucket { rules, balance: u64::from(tokens.min(rules.burst)) * TOKEN, begun: 0, at: Millis::ZERO }
    }

    /// Its rules.
    pub fn rules(&self) -> &RetryRatio {
        &self.rules
    }

    fn capacity(&self) -> u64 {
        u64::from(self.rules.burst) * TOKEN
    }

    fn pay_in(&mut self, thousandths: u64) {
        self.balance = self.balance.saturating_add(thousandths).min(self.capacity());
    }

    fn advance(&mut self, now: Millis) {
        let rate = self.rules.at_least;
        let per = u128::from(rate.per.0.max(1));
        let passed = u128::from(now.less(self.at).0);
        let earned = passed * u128::from(rate.count) * u128::from(TOKEN) + u128::from(self.begun);
        self.pay_in(u64::try_from(earned / per).unwrap_or(u64::MAX));
        // What a full bucket earns is lost, the beginning of a thousandth too.
        let full = self.balance == self.capacity();
        self.begun = if full { 0 } else { u64::try_from(earned % per).unwrap_or(0) };
        self.at = self.at.max(now);
    }

    /// Thousandths of a token that it holds.
    pub fn balance(&mut self, now: Millis) -> u64 {
        self.advance(now);
        self.balance
    }

    /// A request reaches the target for the first time.
    pub fn arrive(&mut self, now: Millis) {
        self.advance(now);
        // A basis point of a token is a tenth of a thousandth: shares finer than 0.1% pay in nothing for the rest.
        self.pay_in(u64::from(self.rules.ratio.0 / 10));
    }

    /// Whether a call could be paid for. Takes nothing.
    pub fn covers(&mut self, now: Millis, call: Extra) -> bool {
        self.balance(now) >= call.cost()
    }

    /// Pays for a call; says whether it could. What cannot be paid for takes nothing.
    pub fn take(&mut self, now: Millis, call: Extra) -> bool {
        let covered = self.covers(now, call);
        if covered {
            self.balance = self.balance.saturating_sub(call.cost());
        }
        covered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Percent, Rate};
    use proptest::prelude::*;

    fn rules(ratio: u32, count: u32, per: u64, burst: u32) -> RetryRatio {
        RetryRatio { ratio: Percent(ratio), at_least: Rate { count, per: Millis(per) }, burst }
    }

    #[test]
    fn five_arrivals_pay_for_one_repeat_and_moving_is_free() {
        let mut bucket = Bucket::holding(rules(2_000, 0, 1_000, 10), 0);
        for _ in 0..4 {
            bucket.arrive(Millis(0));
        }
        assert!(!bucket.take(Millis(0), Extra::Repeat));
        bucket.arrive(Millis(0));
        assert!(bucket.take(Millis(0), Extra::Hedge));
        assert!(bucket.take(Millis(0), Extra::Moved) && bucket.take(Millis(0), Extra::Transparent));
        assert_eq!(bucket.balance(Millis(0)), 0);
    }

    #[test]
    fn asking_takes_nothing() {
        let mut bucket = Bucket::holding(rules(2_000, 0, 1_000, 1), 1);
        assert!(bucket.covers(Millis(0), Extra::Repeat) && bucket.covers(Millis(0), Extra::Repeat));
        assert!(bucket.take(Millis(0), Extra::Repeat) && !bucket.covers(Millis(0), Extra::Repeat));
    }

    #[test]
    fn a_rate_that_is_no_whole_thousandth_a_millisecond_is_exact_all_the_same() {
        let mut bucket = Bucket::holding(rules(0, 7, 60_000, 20), 0);
        (0..=60_000).for_each(|t| _ = bucket.balance(Millis(t)));
        assert_eq!(bucket.balance(Millis(60_000)), 7_000);
    }

    proptest! {
        #[test]
        fn calls_stay_within_arrivals_and_ratio_and_burst_and_trickle(
            ratio in 0u32..5_000, count in 0u32..5, burst in 0u32..30,
            steps in prop::collection::vec((0u64..500, any::<bool>()), 1..300),
        ) {
            let mut bucket = Bucket::new(rules(ratio, count, 1_000, burst));
            let (mut now, mut arrivals, mut calls) = (0u64, 0u64, 0u64);
            for (pause, first) in steps {
                now += pause;
                if first {
                    bucket.arrive(Millis(now));
                    arrivals += 1;
                    calls += 1;
                } else if bucket.take(Millis(now), Extra::Repeat) {
                    calls += 1;
                }
                let most = arrivals * (10_000 + u64::from(ratio)) * 100
                    + u64::from(burst) * 1_000_000 + now * u64::from(count) * 1_000;
                prop_assert!(calls * 1_000_000 <= most, "{calls} calls after {arrivals} arrivals at {now}");
            }
        }

        #[test]
        fn looking_more_often_changes_nothing(
            count in 0u32..9, per in 1u64..100_000, burst in 0u32..5,
            steps in prop::collection::vec((0u64..5_000, 0u8..3), 1..60),
        ) {
            let (mut seldom, mut often) = (Bucket::new(rules(1_234, count, per, burst)), Bucket::new(rules(1_234, count, per, burst)));
            let mut now = 0;
            for (pause, step) in steps {
                (now..now + pause).step_by(13).for_each(|t| _ = often.balance(Millis(t)));
                now += pause;
                for bucket in [&mut seldom, &mut often] {
                    match step {
                        0 => bucket.arrive(Millis(now)),
                        _ => _ = bucket.take(Millis(now), Extra::Repeat),
                    }
                }
                prop_assert_eq!(seldom, often);
            }
        }
    }
}
