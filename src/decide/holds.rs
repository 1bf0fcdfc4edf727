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
        let width = width(settle);
        for (target, hold) in graph.policy().targets.iter().zip(&mut self.until) {
            if covers(graph, width, origin, target) {
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

/// What a hold covers, all of it at one provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Target,
    AccountModelRegion,
    Region,
    Account,
    Provider,
}

/// What the answer showed, or else what the class table says.
fn width(settle: &Settle) -> Width {
    match (settle.scope, settle.class) {
        (Some(Scope::Request | Scope::Deployment), _) => Width::Target,
        (Some(Scope::Model), _) => Width::AccountModelRegion,
        (Some(Scope::Region), _) => Width::Region,
        (Some(Scope::Account), _) | (None, Some(Class::QuotaExhausted)) => Width::Account,
        (Some(Scope::Provider), _) => Width::Provider,
        (None, Some(Class::RateLimit)) => Width::AccountModelRegion,
        (None, _) => Width::Target,
    }
}

fn covers(graph: &Graph, width: Width, origin: &Target, other: &Target) -> bool {
    let account = |t: &Target| graph.provider(t.provider).map(|p| p.account.clone());
    match width {
        Width::Target => origin.name == other.name,
        Width::AccountModelRegion => {
            account(origin) == account(other) && origin.upstream == other.upstream && origin.region == other.region
        }
        Width::Region => origin.provider == other.provider && origin.region == other.region,
        Width::Account => account(origin) == account(other),
        Width::Provider => origin.provider == other.provider,
    }
}
