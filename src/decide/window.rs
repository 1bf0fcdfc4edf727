//! Windows: how many of the latest calls failed or were slow.
//!
//! In: samples, each taken when a call ended. Out: totals, by time or by count. Fixed rings: nothing is allocated after
//! construction, each sample costs the same, and what is too old leaves when it is due, however late one looks. Totals
//! are whole numbers; judging them is the breaker's business.

use crate::policy::Millis;
use crate::policy::breaker::Over;

/// One call that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// It failed.
    pub failed: bool,
    /// It was slow. A call may be both.
    pub slow: bool,
}

/// What a window holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// All calls.
    pub samples: u64,
    /// Those that failed.
    pub failures: u64,
    /// Those that were slow.
    pub slow: u64,
}

impl Totals {
    fn of(sample: Sample) -> Totals {
        Totals { samples: 1, failures: u64::from(sample.failed), slow: u64::from(sample.slow) }
    }

    fn add(&mut self, other: Totals) {
        self.samples = self.samples.saturating_add(other.samples);
        self.failures = self.failures.saturating_add(other.failures);
        self.slow = self.slow.saturating_add(other.slow);
    }

    fn remove(&mut self, other: Totals) {
        self.samples = self.samples.saturating_sub(other.samples);
        self.failures = self.failures.saturating_sub(other.failures);
        self.slow = self.slow.saturating_sub(other.slow);
    }
}

/// The latest calls, by time or by count.
#[derive(Clone, Debug)]
pub enum Window {
    /// Those of the latest buckets.
    Time(TimeRing),
    /// The latest so many.
    Calls(CallRing),
}

impl Window {
    /// An empty window.
    pub fn new(over: Over) -> Window {
        match over {
            Over::Time { span, buckets } => Window::Time(TimeRing::new(span, buckets)),
            Over::Calls(size) => Window::Calls(CallRing::new(size)),
        }
    }

    /// Takes a sample.
    pub fn add(&mut self, now: Millis, sample: Sample) {
        match self {
            Window::Time(ring) => ring.add(now, sample),
            Window::Calls(ring) => ring.add(sample),
        }
    }

    /// What it holds now.
    pub fn totals(&mut self, now: Millis) -> Totals {
        match self {
            Window::Time(ring) => ring.totals(now),
            Window::Calls(ring) => ring.total,
        }
    }

    /// Empties it.
    pub fn clear(&mut self) {
        match self {
            Window::Time(ring) => ring.clear(),
            Window::Calls(ring) => ring.clear(),
        }
    }
}

/// Buckets at fixed places of the clock. The running one counts, so the window reaches back over its span less up to one
/// bucket.
#[derive(Clone, Debug)]
pub struct TimeRing {
    width: u64,
    /// The number of the newest bucket since the clock began.
    newest: u64,
    /// Where the newest bucket stands.
    place: usize,
    buckets: Box<[Totals]>,
    total: Totals,
}

impl TimeRing {
    fn new(span: Millis, buckets: u32) -> TimeRing {
        let count = buckets.max(1);
        TimeRing {
            width: (span.0 / u64::from(count)).max(1),
            newest: 0,
            place: 0,
            buckets: vec![Totals::default(); usize::try_from(count).unwrap_or(1)].into_boxed_slice(),
            total: Totals::default(),
        }
    }

    /// Drops what is too old. At most one turn of the ring, however long nobody looked.
    fn advance(&mut self, now: Millis) {
        let bucket = now.0 / self.width;
        let passed = usize::try_from(bucket.saturating_sub(self.newest)).unwrap_or(usize::MAX);
        for _ in 0..passed.min(self.buckets.len()) {
            self.place = (self.place + 1) % self.buckets.len();
            if let Some(oldest) = self.buckets.get_mut(self.place) {
                self.total.remove(std::mem::take(oldest));
            }
        }
        self.newest = self.newest.max(bucket);
    }

    fn add(&mut self, now: Millis, sample: Sample) {
        self.advance(now);
        if let Some(bucket) = self.buckets.get_mut(self.place) {
            bucket.add(Totals::of(sample));
            self.total.add(Totals::of(sample));
        }
    }

    fn totals(&mut self, now: Millis) -> Totals {
        self.advance(now);
        self.total
    }

    fn clear(&mut self) {
        self.buckets.fill(Totals::default());
        self.total = Totals::default();
    }
}

/// The latest so many calls.
#[derive(Clone, Debug)]
pub struct CallRing {
    size: usize,
    /// Where the next one is written; the oldest, once the ring is full.
    next: usize,
    samples: Vec<Sample>,
    total: Totals,
}

impl CallRing {
    fn new(size: u32) -> CallRing {
        let size = usize::try_from(size.max(1)).unwrap_or(1);
        CallRing { size, next: 0, samples: Vec::with_capacity(size), total: Totals::default() }
    }

    fn add(&mut self, sample: Sample) {
        match self.samples.get_mut(self.next) {
            Some(oldest) => self.total.remove(Totals::of(std::mem::replace(oldest, sample))),
            None => self.samples.push(sample),
        }
        self.total.add(Totals::of(sample));
        self.next = (self.next + 1) % self.size;
    }

    fn clear(&mut self) {
        self.samples.clear();
        self.next = 0;
        self.total = Totals::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BAD: Sample = Sample { failed: true, slow: false };
    const GOOD: Sample = Sample { failed: false, slow: true };

    fn counts(window: &mut Window, now: u64) -> (u64, u64, u64) {
        let totals = window.totals(Millis(now));
        (totals.samples, totals.failures, totals.slow)
    }

    #[test]
    fn a_bucket_leaves_as_a_whole_on_the_clocks_own_boundary() {
        let mut window = Window::new(Over::Time { span: Millis(10_000), buckets: 10 });
        window.add(Millis(999), BAD);
        window.add(Millis(1_000), GOOD);
        assert_eq!(counts(&mut window, 9_999), (2, 1, 1));
        assert_eq!(counts(&mut window, 10_000), (1, 0, 1));
        assert_eq!(counts(&mut window, 11_000), (0, 0, 0));
    }

    #[test]
    fn the_latest_calls_push_the_oldest_out() {
        let mut window = Window::new(Over::Calls(2));
        window.add(Millis(0), BAD);
        window.add(Millis(1), GOOD);
        window.add(Millis(2), GOOD);
        assert_eq!(counts(&mut window, 2), (2, 0, 2));
        window.clear();
        assert_eq!(counts(&mut window, 2), (0, 0, 0));
    }

    proptest! {
        #[test]
        fn totals_are_those_of_the_samples_that_are_young_enough(
            steps in prop::collection::vec((0u64..3_000, any::<bool>(), any::<bool>(), any::<bool>()), 1..80),
        ) {
            let mut window = Window::new(Over::Time { span: Millis(5_000), buckets: 5 });
            let (mut now, mut all) = (0, Vec::new());
            for (pause, failed, slow, look) in steps {
                now += pause;
                window.add(Millis(now), Sample { failed, slow });
                all.push((now, failed, slow));
                if look {
                    let young = |t: u64| t / 1_000 + 5 > now / 1_000;
                    let count = |of: fn(&(u64, bool, bool)) -> bool| all.iter().filter(|s| young(s.0) && of(s)).count() as u64;
                    prop_assert_eq!(counts(&mut window, now), (count(|_| true), count(|s| s.1), count(|s| s.2)));
                }
            }
        }
    }
}
