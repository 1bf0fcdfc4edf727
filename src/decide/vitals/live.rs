//! Live latencies of the last while, for a percentile that is asked for now and then.

use super::ranked::rank95;
use crate::policy::Millis;
use crate::policy::probe::SlowLive;

/// Most calls that are remembered.
const MOST: usize = SlowLive::KEPT as usize;

/// The latest live latencies. Its room is made once; where more calls end in the time looked at, the latest speak.
#[derive(Clone, Debug)]
pub(super) struct Live {
    rule: SlowLive,
    next: usize,
    calls: Vec<(Millis, Millis)>,
    /// Room to sort in.
    young: Vec<Millis>,
}

impl Live {
    pub(super) fn new(rule: SlowLive) -> Live {
        Live { rule, next: 0, calls: Vec::with_capacity(MOST), young: Vec::with_capacity(MOST) }
    }

    pub(super) fn push(&mut self, now: Millis, latency: Millis) {
        match self.calls.get_mut(self.next) {
            Some(oldest) => *oldest = (now, latency),
            None => self.calls.push((now, latency)),
        }
        self.next = (self.next + 1) % MOST;
    }

    /// Whether enough calls ended in the time looked at, and their p95 is above the limit.
    pub(super) fn is_slow(&mut self, now: Millis) -> bool {
        self.young.clear();
        let young = |at: Millis| now < at.plus(self.rule.over);
        self.young.extend(self.calls.iter().filter(|(at, _)| young(*at)).map(|(_, latency)| *latency));
        if self.young.len() < usize::try_from(self.rule.min).unwrap_or(usize::MAX) {
            return false;
        }
        let Some(rank) = rank95(self.young.len()) else { return false };
        *self.young.select_nth_unstable(rank).1 > self.rule.above
    }
}
