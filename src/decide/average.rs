//! The moving average of a target's latencies: what ranks targets from minute to minute.
//!
//! In: the latencies of calls that were served. Out: an average in which a new value weighs 30%, for streams and for whole
//! answers apart. Ranks only; no state is ever decided by it. Thousandths of a millisecond inside, so that small steps
//! are not lost.

use super::baselines::Kind;
use super::vitals::Latency;
use crate::policy::Millis;

/// What a new value weighs, in percent.
pub const NEW: u128 = 30;
/// Thousandths.
const FINE: u64 = 1_000;

/// The averages of one target, in thousandths of a millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Averages {
    streams: Option<u64>,
    wholes: Option<u64>,
}

impl Averages {
    /// A call was served after this time. The first one is the average.
    pub fn note(&mut self, latency: Latency) {
        let average = match latency {
            Latency::FirstOutput(_) => &mut self.streams,
            Latency::Whole(_) => &mut self.wholes,
        };
        let new = latency.time().0.saturating_mul(FINE);
        let moved = average.map(|old| (u128::from(old) * (100 - NEW) + u128::from(new) * NEW) / 100);
        *average = Some(moved.map_or(new, |moved| u64::try_from(moved).unwrap_or(u64::MAX)));
    }

    /// The average; nothing before the first call, and nothing of probes.
    pub fn of(&self, kind: Kind) -> Option<Millis> {
        let fine = match kind {
            Kind::Stream => self.streams,
            Kind::Whole => self.wholes,
            Kind::Probe => None,
        };
        fine.map(|fine| Millis(fine / FINE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_value_weighs_thirty_percent() {
        let mut all = Averages::default();
        assert_eq!(all.of(Kind::Stream), None);
        let mut after = |ms| {
            all.note(Latency::FirstOutput(Millis(ms)));
            all.of(Kind::Stream).map(|m| m.0)
        };
        assert_eq!([after(1_000), after(2_000), after(2_000)], [Some(1_000), Some(1_300), Some(1_510)]);
    }

    #[test]
    fn streams_and_whole_answers_are_kept_apart() {
        let mut all = Averages::default();
        all.note(Latency::Whole(Millis(9_000)));
        assert_eq!(Kind::ALL.iter().map(|k| all.of(*k)).collect::<Vec<_>>(), [None, Some(Millis(9_000)), None]);
    }

    #[test]
    fn a_step_of_a_millisecond_is_not_lost() {
        let mut all = Averages::default();
        all.note(Latency::Whole(Millis(10)));
        (0..40).for_each(|_| all.note(Latency::Whole(Millis(11))));
        assert_eq!(all.of(Kind::Whole), Some(Millis(10)));
        (0..40).for_each(|_| all.note(Latency::Whole(Millis(12))));
        assert_eq!(all.of(Kind::Whole), Some(Millis(11)));
    }
}
