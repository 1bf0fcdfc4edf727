//! The ledgers of a whole set: which targets share fate, and where each target's ledgers are.
//!
//! In: a graph, or plain descriptions of targets. Out: a plan of groups, and the groups. Targets are in one group where
//! they share a provider or an account, directly or through others. An owner with threads locks each group by itself; in
//! virtual time `Ledgers` holds them as they are. Nothing here locks.

use super::group::Group;
use super::group::spec::{GroupSpec, TargetSpec};
use crate::graph::Graph;
use crate::policy::{Millis, Policy, TargetId, Tier};

/// Where a target's ledgers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Which group.
    pub group: usize,
    /// Which place in it.
    pub place: usize,
}

/// Which targets make up which group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The groups, in the order of their first targets.
    pub groups: Vec<GroupSpec>,
    seats: Vec<Seat>,
}

impl Plan {
    /// Groups targets. Ids are the places in the list.
    pub fn of(targets: Vec<TargetSpec>, attempt: Millis, instance: &str) -> Plan {
        let mut plan = Plan::default();
        let labels = labels(&targets);
        let mut firsts: Vec<usize> = Vec::new();
        for (target, label) in targets.into_iter().zip(labels) {
            let group = firsts.iter().position(|first| *first == label).unwrap_or(firsts.len());
            if group == firsts.len() {
                firsts.push(label);
                plan.groups.push(GroupSpec { targets: Vec::new(), attempt, instance: instance.to_string() });
            }
            if let Some(spec) = plan.groups.get_mut(group) {
                plan.seats.push(Seat { group, place: spec.targets.len() });
                spec.targets.push(target);
            }
        }
        plan
    }

    /// The plan of a graph. `instance` tells this gateway from others; draws only.
    pub fn of_graph(graph: &Graph, instance: &str) -> Plan {
        let policy = graph.policy();
        let paced = policy.budgets.iter().any(|budget| budget.hedge.is_some());
        let targets = (0u16..).map(TargetId).zip(&policy.targets).map(|(id, target)| {
            let provider = graph.provider(target.provider);
            let name = provider.map_or("", |p| &p.name);
            TargetSpec {
                account: provider.map_or(name, |p| &p.account).to_string(),
                upstream: target.upstream.clone(),
                region: target.region.clone(),
                keys: provider.map_or(1, |p| u16::try_from(p.keys.len()).unwrap_or(u16::MAX)),
                max_concurrent: target.max_concurrent,
                breaker: provider.map(|p| p.breaker).unwrap_or_default(),
                probe: target.probe.clone(),
                slow_above: slow_above(policy, id),
                seed: target.seed,
                ramp: target.ramp.clone(),
                paced,
                retry: provider.map(|p| p.retry).unwrap_or_default(),
                ..TargetSpec::plain(&target.name, name)
            }
        });
        Plan::of(targets.collect(), longest_attempt(policy), instance)
    }

    /// Where a target's ledgers are.
    pub fn seat(&self, target: TargetId) -> Option<Seat> {
        self.seats.get(target.index()).copied()
    }
}

/// What is slow for the tiers that a target stands in, where they say so.
fn slow_above(policy: &Policy, target: TargetId) -> Vec<Millis> {
    let stands = |tier: &&Tier| tier.chains.iter().flat_map(|c| &c.ranks).any(|rank| rank.target == target);
    let mut limits: Vec<Millis> = policy.tiers.iter().filter(stands).filter_map(|tier| tier.slow_above).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

/// The longest time that any route grants an attempt: breakers are shared by all routes.
fn longest_attempt(policy: &Policy) -> Millis {
    let limits = policy.budgets.iter().map(|budget| budget.attempt_timeout.unwrap_or(budget.deadline));
    limits.max().unwrap_or(Millis::ZERO)
}

/// The number of each target's group: that of its first target.
fn labels(targets: &[TargetSpec]) -> Vec<usize> {
    let mut labels: Vec<usize> = (0..targets.len()).collect();
    for (at, target) in targets.iter().enumerate() {
        let kin = |other: &TargetSpec| other.provider == target.provider || other.account == target.account;
        let joined: Vec<usize> =
            targets.iter().zip(&labels).take(at + 1).filter(|(t, _)| kin(t)).map(|(_, l)| *l).collect();
        let first = joined.iter().min().copied().unwrap_or(at);
        for label in labels.iter_mut().filter(|l| joined.contains(l)) {
            *label = first;
        }
    }
    labels
}

/// All groups of a set, for an owner without threads.
#[derive(Clone, Debug, Default)]
pub struct Ledgers {
    plan: Plan,
    groups: Vec<Group>,
}

impl Ledgers {
    /// Ledgers that nothing has happened to.
    pub fn new(plan: Plan) -> Ledgers {
        let groups = plan.groups.iter().cloned().map(Group::new).collect();
        Ledgers { plan, groups }
    }

    /// The ledgers of another plan, with what these know of the same breakers and targets.
    #[must_use]
    pub fn carried_to(&self, plan: Plan) -> Ledgers {
        let groups = plan.groups.iter().map(|spec| carried(spec, &self.groups)).collect();
        Ledgers { plan, groups }
    }

    /// The group of a target, and its place there.
    pub fn of(&mut self, target: TargetId) -> Option<(&mut Group, usize)> {
        let seat = self.plan.seat(target)?;
        Some((self.groups.get_mut(seat.group)?, seat.place))
    }

    /// All groups.
    pub fn groups(&mut self) -> impl Iterator<Item = &mut Group> {
        self.groups.iter_mut()
    }
}

/// A group as described, with what others know: one of the same description is taken as it is, calls under way included.
pub fn carried(spec: &GroupSpec, others: &[Group]) -> Group {
    if let Some(same) = others.iter().find(|group| group.spec() == spec) {
        return same.clone();
    }
    let mut group = Group::new(spec.clone());
    for other in others {
        group.take_over(other);
    }
    group
}

#[cfg(test)]
mod tests;
