//! What is counted, for `/metrics`.
//!
//! In: what happened to requests and attempts. Out: counters by label, which `gateway::metrics` prints. Labels are names
//! of the policy and words of the language, never what a client wrote, so there are only so many. Counters outlive
//! reloads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// Counters that differ in `N` labels.
#[derive(Debug)]
pub struct Family<const N: usize> {
    /// In the order of their labels.
    counts: RwLock<Vec<([String; N], AtomicU64)>>,
}

impl<const N: usize> Default for Family<N> {
    fn default() -> Self {
        Self { counts: RwLock::default() }
    }
}

impl<const N: usize> Family<N> {
    /// Adds one.
    pub fn count(&self, labels: [&str; N]) {
        self.add(1, labels);
    }

    /// Adds so many.
    pub fn add(&self, many: u64, labels: [&str; N]) {
        if add(&self.counts.read().unwrap_or_else(PoisonError::into_inner), labels, many).is_ok() {
            return;
        }
        let mut counts = self.counts.write().unwrap_or_else(PoisonError::into_inner);
        // Somebody may have been faster.
        if let Err(place) = add(&counts, labels, many) {
            counts.insert(place, (labels.map(str::to_owned), AtomicU64::new(many)));
        }
    }

    /// Labels and values, in order.
    pub fn values(&self) -> Vec<([String; N], u64)> {
        let counts = self.counts.read().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(labels, n)| (labels.clone(), n.load(Ordering::Relaxed))).collect()
    }
}

/// Adds to what these labels count, or says where it would stand. Each request comes here, so labels are compared as
/// they are and not copied first.
fn add<const N: usize>(counts: &[([String; N], AtomicU64)], labels: [&str; N], many: u64) -> Result<(), usize> {
    let found = counts.binary_search_by(|(known, _)| known.each_ref().map(String::as_str).cmp(&labels));
    found.map(|at| {
        if let Some((_, count)) = counts.get(at) {
            count.fetch_add(many, Ordering::Relaxed);
        }
    })
}

/// All counters.
#[derive(Debug, Default)]
pub struct Meters {
    /// Requests by route and result: an outcome, or the code of a refusal that no route made.
    pub requests: Family<2>,
    /// Attempts by route, target, class (or `ok`) and the action that led to them.
    pub attempts: Family<4>,
    /// Attempts by route and target whose request was refused for what our translation made of it.
    pub ours: Family<2>,
    /// The gateway's own refusals by route and refusal.
    pub refusals: Family<2>,
    /// What requests that another target served cost more than at the first of their order, in billionths of a dollar.
    pub failover_cost: Family<1>,
    /// Hedges by the target that they went to, and what became of them.
    pub hedges: Family<2>,
    /// Probes by target and what they were taken for.
    pub probes: Family<2>,
    /// Calls whose failure was their region's affair, by provider and region.
    pub regional: Family<2>,
    running: AtomicU64,
}

impl Meters {
    /// Counts a request as running until what is returned is dropped.
    pub fn running(meters: &std::sync::Arc<Meters>) -> Running {
        meters.running.fetch_add(1, Ordering::Relaxed);
        Running(std::sync::Arc::clone(meters))
    }

    /// Requests that run now.
    pub fn running_now(&self) -> u64 {
        self.running.load(Ordering::Relaxed)
    }
}

/// A running request.
#[derive(Debug)]
pub struct Running(std::sync::Arc<Meters>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_of_labels_counts_for_itself() {
        let family = Family::default();
        family.count(["chat", "served"]);
        family.count(["chat", "served"]);
        family.count(["chat", "refused"]);
        let want = [(["chat", "refused"], 1), (["chat", "served"], 2)];
        assert_eq!(family.values(), want.map(|(l, n)| (l.map(str::to_owned), n)));
    }
}
