//! The latest latencies, in the order they came and in the order of their size: a percentile costs one look.

use crate::policy::Millis;
use crate::policy::probe::BaselineRules;
use std::collections::VecDeque;

/// The latest so many latencies. Its room is made once.
#[derive(Clone, Debug)]
pub(in crate::decide) struct Ranked {
    size: usize,
    latest: VecDeque<Millis>,
    sorted: Vec<Millis>,
}

impl Ranked {
    pub(in crate::decide) fn new(size: u32) -> Ranked {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        Ranked { size, latest: VecDeque::with_capacity(size), sorted: Vec::with_capacity(size) }
    }

    pub(in crate::decide) fn len(&self) -> usize {
        self.latest.len()
    }

    pub(in crate::decide) fn push(&mut self, latency: Millis) {
        if self.latest.len() >= self.size
            && let Some(oldest) = self.latest.pop_front()
            && let Ok(at) = self.sorted.binary_search(&oldest)
        {
            self.sorted.remove(at);
        }
        if self.latest.len() < self.size {
            self.latest.push_back(latency);
            let at = self.sorted.partition_point(|l| *l < latency);
            self.sorted.insert(at, latency);
        }
    }

    /// Nearest rank: the value at place `(95 * n + 99) / 100`, counted from 1.
    pub(in crate::decide) fn p95(&self) -> Option<Millis> {
        self.sorted.get(rank95(self.sorted.len())?).copied()
    }

    /// Becomes the same as another of its size.
    pub(super) fn copy(&mut self, other: &Ranked) {
        self.latest.clear();
        self.latest.extend(&other.latest);
        self.sorted.clear();
        self.sorted.extend(&other.sorted);
    }
}

/// The place of the p95 among so many values in ascending order, counted from 0.
pub(super) fn rank95(count: usize) -> Option<usize> {
    (BaselineRules::PERCENTILE * count).div_ceil(100).checked_sub(1)
}
