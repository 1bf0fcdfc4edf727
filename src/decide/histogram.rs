//! How long many calls took, in a room that does not grow: counts in buckets that widen with the latency.
//!
//! In: latencies. Out: percentiles. Each doubling is cut into sixteen buckets and a bucket is told by its middle, so what
//! comes out is at most a thirty-second (3.2%) off what was put in, and exact below 32ms. Two histograms add up to the
//! one of all their calls. Whole milliseconds; no float, no clock.

use crate::policy::Millis;

/// Buckets of one doubling, as a power of two.
const FINE: u32 = 4;
/// The latency from which on all share the last bucket: more than an hour.
const LONGEST: u64 = (1 << 22) - 1;
/// How many buckets there are.
pub const BUCKETS: usize = 304;

/// Counts of latencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram(Box<[u32]>);

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram(vec![0; BUCKETS].into_boxed_slice())
    }
}

impl Histogram {
    /// Counts a call.
    pub fn note(&mut self, latency: Millis) {
        self.add(bucket(latency), 1);
    }

    /// Adds so many calls to a bucket; nothing where there is no such bucket.
    pub fn add(&mut self, bucket: usize, calls: u32) {
        if let Some(count) = self.0.get_mut(bucket) {
            *count = count.saturating_add(calls);
        }
    }

    /// Adds the calls of another.
    pub fn merge(&mut self, other: &Histogram) {
        for (count, more) in self.0.iter_mut().zip(&other.0) {
            *count = count.saturating_add(*more);
        }
    }

    /// Buckets that hold calls, from fast to slow.
    pub fn counts(&self) -> impl Iterator<Item = (usize, u32)> {
        self.0.iter().copied().enumerate().filter(|(_, count)| *count > 0)
    }
}

/// How many calls several histograms hold together.
pub fn calls<'a>(all: impl Iterator<Item = &'a Histogram>) -> u64 {
    all.flat_map(Histogram::counts).map(|(_, count)| u64::from(count)).sum()
}

/// A percentile of the calls of several histograms, by nearest rank: the value at place `(p * n + 99) / 100` of n,
/// counted from 1. They are not added up first, so this needs no room.
pub fn percentile<'a>(all: impl Iterator<Item = &'a Histogram> + Clone, percent: u8) -> Option<Millis> {
    let calls = calls(all.clone());
    let place = u128::from(calls).saturating_mul(u128::from(percent)).div_ceil(100);
    let place = u64::try_from(place).ok().filter(|place| (1..=calls).contains(place))?;
    let mut seen = 0u64;
    (0..BUCKETS).find_map(|bucket| {
        seen = all.clone().filter_map(|h| h.0.get(bucket)).fold(seen, |sum, count| sum + u64::from(*count));
        (seen >= place).then(|| middle(bucket))
    })
}

/// The bucket of a latency.
fn bucket(latency: Millis) -> usize {
    let value = latency.0.min(LONGEST);
    let doubling = value.checked_ilog2().unwrap_or(0).max(FINE);
    let fine = (value >> (doubling - FINE)) as usize;
    // `fine` runs from 16 to 31 within a doubling, and from 0 to 15 before the first.
    ((doubling - FINE) as usize) * (1 << FINE) + fine
}

/// The middle of a bucket.
fn middle(bucket: usize) -> Millis {
    let per = 1 << FINE;
    let doublings = (bucket / per).saturating_sub(1);
    let low = ((bucket - doublings * per) as u64) << doublings;
    Millis(low + (1u64 << doublings) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(latencies: &[u64]) -> Histogram {
        let mut all = Histogram::default();
        latencies.iter().for_each(|l| all.note(Millis(*l)));
        all
    }

    fn told(latencies: &[u64], percent: u8) -> Option<u64> {
        percentile(std::iter::once(&of(latencies)), percent).map(|m| m.0)
    }

    #[test]
    fn the_last_bucket_is_that_of_the_longest() {
        assert_eq!(bucket(Millis(LONGEST)), BUCKETS - 1);
        assert_eq!(bucket(Millis::MAX), BUCKETS - 1);
        assert_eq!(bucket(Millis::ZERO), 0);
    }

    #[test]
    fn nearest_rank_as_everywhere() {
        assert_eq!(told(&[], 50), None);
        assert_eq!(told(&[7], 99), Some(7));
        assert_eq!([told(&[1, 2, 3, 4], 50), told(&[1, 2, 3, 4], 51)], [Some(2), Some(3)]);
        let hundred: Vec<u64> = (1..=100).map(|n| n / 4).collect();
        assert_eq!(told(&hundred, 95), Some(23));
    }

    proptest! {
        #[test]
        fn what_is_told_is_off_by_a_thirty_second_at_most(latency in 0..=LONGEST) {
            let told = middle(bucket(Millis(latency))).0;
            prop_assert!(told.abs_diff(latency) * 32 <= latency, "{latency} became {told}");
        }

        #[test]
        fn slower_is_never_told_as_faster(one in 0..=LONGEST, other in 0..=LONGEST) {
            let (fast, slow) = (one.min(other), one.max(other));
            prop_assert!(middle(bucket(Millis(fast))) <= middle(bucket(Millis(slow))));
        }

        #[test]
        fn percentiles_are_those_of_the_sorted_calls(
            mut calls in prop::collection::vec(0u64..100_000, 1..200), percent in 1u8..=100,
        ) {
            let told = told(&calls, percent).unwrap();
            calls.sort_unstable();
            let place = (usize::from(percent) * calls.len()).div_ceil(100);
            let exact = calls[place - 1];
            prop_assert!(told.abs_diff(exact) * 32 <= exact, "{exact} became {told}");
        }

        #[test]
        fn two_add_up_to_one_of_all_calls(
            one in prop::collection::vec(0u64..10_000, 0..50), other in prop::collection::vec(0u64..10_000, 0..50),
        ) {
            let (left, right) = (of(&one), of(&other));
            let mut merged = left.clone();
            merged.merge(&right);
            let all = of(&[one, other].concat());
            prop_assert_eq!(&merged, &all);
            let both = [&left, &right];
            for percent in [50, 95, 99] {
                prop_assert_eq!(percentile(both.iter().copied(), percent), percentile(std::iter::once(&all), percent));
            }
        }
    }
}
