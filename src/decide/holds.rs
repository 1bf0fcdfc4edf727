//! The holds of a whole set: which targets a hold covers, and when it ends.
//!
//! One value shared by the gateway's live state and by tests in virtual time. The owner locks it; nothing here does.

use super::event::Settle;
use super::hold::Hold;
use crate::graph::Graph;
use crate::policy::{Class, Millis, Scope, Target, TargetId};

/// When each target's hold ends, by target id.
#[derive(Clone, Debug, Default)]
pub struct Holds {
    until: Vec<Hold>,
}

impl Holds {
    /// No target is held.
    pub fn new(graph: &Graph) -> Holds {
        Holds { until: vec![Hold::default(); graph.policy().targets.len()] }
    }

    /// Until when a target is held; zero where it never was.
    pub fn until(&self, target: TargetId) -> Millis {
        self.until.get(target.index()).map_or(Millis::ZERO, |h| h.until)
    }

    /// Holds one target, whatever it shares with others.
    pub fn hold(&mut self, target: TargetId, until: Millis) {
        if let Some(hold) = self.until.get_mut(target.index()) {
            hold.until = hold.until.max(until);
        }
    }

    /// Takes note of an attempt's end: its hold covers every target that the answer spoke for.
    pub fn settle(&mut self, graph: &Graph, settle: &Settle) {
        let Some(until) = settle.hold_until else { return };
        let Some(origin) = graph.target(settle.target) else { return };
        let width = Width::of(settle.scope, settle.class);
        for (target, hold) in graph.policy().targets.iter().zip(&mut self.until) {
            if width.covers(&site(graph, origin), &site(graph, target)) {
                hold.until = hold.until.max(until);
            }
        }
    }

    /// The holds of another graph, carried over by the targets' names.
    #[must_use]
    pub fn carried_to(&self, from: &Graph, to: &Graph) -> Holds {
        let mut holds = Holds::new(to);
        for (target, hold) in from.policy().targets.iter().zip(&self.until) {
            if let Some(id) = to.target_named(&target.name) {
                holds.hold(id, hold.until);
            }
        }
        holds
    }
}

/// Where a target is, for what it shares with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site<'a> {
    pub target: &'a str,
    pub provider: &'a str,
    pub account: &'a str,
    pub upstream: &'a str,
    pub region: Option<&'a str>,
}

fn site<'a>(graph: &'a Graph, target: &'a Target) -> Site<'a> {
    let provider = graph.provider(target.provider);
    Site {
        target: &target.name,
        provider: provider.map_or("", |p| &p.name),
        account: provider.map_or("", |p| &p.account),
        upstream: &target.upstream,
        region: target.region.as_deref(),
    }
}

/// What a hold covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Target,
    AccountModelRegion,
    Region,
    Account,
    Provider,
}

impl Width {
    /// What the answer showed, or else what the class table says.
    pub(super) fn of(scope: Option<Scope>, class: Option<Class>) -> Width {
        match (scope, class) {
            (Some(Scope::Request | Scope::Deployment), _) => Width::Target,
            (Some(Scope::Model), _) => Width::AccountModelRegion,
            (Some(Scope::Region), _) => Width::Region,
            (Some(Scope::Account), _) | (None, Some(Class::QuotaExhausted)) => Width::Account,
            (Some(Scope::Provider), _) => Width::Provider,
            (None, Some(Class::RateLimit)) => Width::AccountModelRegion,
            (None, _) => Width::Target,
        }
    }

    /// Whether what one target was told holds for another.
    pub(super) fn covers(self, origin: &Site<'_>, other: &Site<'_>) -> bool {
        match self {
            Width::Target => origin.target == other.target,
            Width::AccountModelRegion => {
                origin.account == other.account && origin.upstream == other.upstream && origin.region == other.region
            }
            Width::Region => origin.provider == other.provider && origin.region == other.region,
            Width::Account => origin.account == other.account,
            Width::Provider => origin.provider == other.provider,
        }
    }
}
