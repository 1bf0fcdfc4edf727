//! The ledgers of targets, shared by all requests: one lock for each group of targets that share fate.
//!
//! In: a graph, and what was known before. Out: groups behind locks, and permits that give themselves back. A lock is
//! held for one question or one note, never while anything is awaited. The rules are all in `decide`.

use super::clock::Clock;
use crate::decide::group::{Admitted, Group};
use crate::decide::ledgers::{Plan, Seat};
use crate::decide::orders::Orders;
use crate::decide::standing::Admission;
use crate::decide::target_state::Ended;
use crate::graph::Graph;
use crate::policy::TargetId;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One group behind its lock.
pub type Shared = Arc<Mutex<Group>>;

/// The ledgers of a policy that serves.
#[derive(Debug, Default)]
pub struct Live {
    plan: Plan,
    groups: Vec<Shared>,
    /// The orders of tiers that rank by what is measured.
    orders: Mutex<Orders>,
}

/// The group, whoever held it last: every method leaves it whole.
pub fn lock(group: &Shared) -> MutexGuard<'_, Group> {
    group.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    /// The ledgers of a graph. Groups that are described as before are the same ones, calls under way included; new
    /// ones take over what the old ones know of the same breakers and targets.
    pub fn fit(graph: &Graph, instance: &str, before: Option<&Live>) -> Live {
        let plan = Plan::of_graph(graph, instance);
        let known = before.map(|live| live.groups.as_slice()).unwrap_or_default();
        let groups = plan
            .groups
            .iter()
            .map(|spec| {
                if let Some(same) = known.iter().find(|group| lock(group).spec() == spec) {
                    return Arc::clone(same);
                }
                let mut group = Group::new(spec.clone());
                for other in known {
                    group.take_over(&lock(other));
                }
                Arc::new(Mutex::new(group))
            })
            .collect();
        let mut orders = Orders::of_graph(graph);
        if let Some(before) = before {
            orders.take_over(&before.orders());
        }
        Live { plan, groups, orders: Mutex::new(orders) }
    }

    /// The measured orders. Whoever holds them may ask groups; nobody who holds a group asks for them.
    pub fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The group of a target, and its place there.
    pub fn of(&self, target: TargetId) -> Option<(&Shared, usize)> {
        let Seat { group, place } = self.plan.seat(target)?;
        Some((self.groups.get(group)?, place))
    }

    /// All groups.
    pub fn groups(&self) -> &[Shared] {
        &self.groups
    }
}

/// A call's permit. Given back by [`Held::settle`], or, where a request ends without a word, by being dropped: such an
/// end says nothing about the target.
#[derive(Debug)]
pub struct Held {
    group: Shared,
    place: usize,
    permit: Option<Admitted>,
    clock: Clock,
}

impl Held {
    /// Keeps a permit of a group.
    pub fn new(group: Shared, place: usize, permit: Admitted, clock: Clock) -> Held {
        Held { group, place, permit: Some(permit), clock }
    }

    /// Gives the permit back with how the call ended.
    pub fn settle(mut self, ended: &Ended) {
        self.give_back(ended);
    }

    /// Whether the call is one that decides whether its target comes back.
    pub fn is_trial(&self) -> bool {
        self.permit.as_ref().is_some_and(|permit| permit.admission() == Admission::Trial)
    }

    /// The call shows a sign of life.
    pub fn renew(&self) {
        if let Some(permit) = &self.permit {
            lock(&self.group).renew(self.place, self.clock.now(), permit);
        }
    }

    fn give_back(&mut self, ended: &Ended) {
        if let Some(permit) = self.permit.take() {
            lock(&self.group).settle(self.place, self.clock.now(), permit, ended);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.give_back(&Ended::NEUTRAL);
    }
}
