//! Pace: how long a target's latest calls took, for the instant at which another call to it is late.
//!
//! In: latencies of calls that were served. Out: their p95, once there are enough. Streams and whole answers are apart. A
//! call that lost to its hedge is not in it: how long it would have taken nobody knows. Room is made once, and only where
//! some budget hedges.

use super::vitals::{Latency, Ranked};
use crate::policy::{Budget, Millis};

/// Latest latencies of one target.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    streams: Ranked,
    wholes: Ranked,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace { streams: Ranked::new(Budget::HEDGE_KEPT), wholes: Ranked::new(Budget::HEDGE_KEPT) }
    }

    /// A call was served.
    pub(super) fn push(&mut self, latency: Latency) {
        match latency {
            Latency::FirstOutput(time) => self.streams.push(time),
            Latency::Whole(time) => self.wholes.push(time),
        }
    }

    /// The p95; nothing where too few calls are known.
    pub(super) fn p95(&self, stream: bool) -> Option<Millis> {
        let kind = if stream { &self.streams } else { &self.wholes };
        let enough = kind.len() >= usize::try_from(Budget::HEDGE_MIN).unwrap_or(usize::MAX);
        enough.then(|| kind.p95()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_late_before_twenty_calls_and_kinds_are_apart() {
        let mut pace = Pace::new();
        (1..20).for_each(|n| pace.push(Latency::FirstOutput(Millis(n * 10))));
        assert_eq!(pace.p95(true), None);
        pace.push(Latency::FirstOutput(Millis(200)));
        assert_eq!((pace.p95(true), pace.p95(false)), (Some(Millis(190)), None));
        (0..20).for_each(|_| pace.push(Latency::Whole(Millis(9_000))));
        assert_eq!((pace.p95(true), pace.p95(false)), (Some(Millis(190)), Some(Millis(9_000))));
    }

    #[test]
    fn the_latest_hundred_speak() {
        let mut pace = Pace::new();
        (0..100).for_each(|_| pace.push(Latency::FirstOutput(Millis(5_000))));
        (0..100).for_each(|_| pace.push(Latency::FirstOutput(Millis(300))));
        assert_eq!(pace.p95(true), Some(Millis(300)));
    }
}
