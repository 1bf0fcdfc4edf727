//! Live shared state: what all requests know of targets.
//!
//! In: the ends of attempts. Out: answers to the questions of runs. State is kept under names and not under ids, so it
//! carries over when the policy is exchanged. The rules are those of `decide`; here are only the lock and the keys.

use crate::decide::hold::Hold;
use crate::decide::{Settle, Standing, Verdicts, draw};
use crate::graph::Graph;
use crate::policy::{Class, DicePurpose, Millis, Scope, Target, TargetId};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What is known of targets.
#[derive(Debug, Default)]
pub struct Ledger {
    holds: Mutex<HashMap<String, Hold>>,
}

impl Ledger {
    /// The ledger as one request asks it at one instant.
    pub fn asked_by<'a>(&'a self, graph: &'a Graph, request_id: &'a str, now: Millis) -> Asking<'a> {
        Asking { ledger: self, graph, request_id, now }
    }

    fn settle(&self, graph: &Graph, settle: &Settle, now: Millis) {
        let (Some(class), Some(until)) = (settle.class, settle.hold_until) else { return };
        let Some(key) = graph.target(settle.target).and_then(|t| key_of(graph, t, width(class, settle.scope))) else {
            return;
        };
        let mut holds = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
        // Keys come from policies, but policies change: what is over is of no use to anybody.
        holds.retain(|_, hold| hold.holds(now));
        let hold = holds.entry(key).or_default();
        hold.until = hold.until.max(until);
    }

    fn hold_until(&self, graph: &Graph, target: &Target) -> Millis {
        let holds = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
        if holds.is_empty() {
            return Millis::ZERO;
        }
        let keys = Width::ALL.into_iter().filter_map(|width| key_of(graph, target, width));
        keys.filter_map(|key| holds.get(&key)).map(|hold| hold.until).max().unwrap_or_default()
    }
}

/// How much one hold covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// All that uses the account.
    Account,
    /// One model with the account, everywhere.
    Model,
    /// One model with the account in one region.
    ModelInRegion,
    /// All at the account in one region.
    Region,
    /// One target.
    Target,
}

impl Width {
    const ALL: [Width; 5] = [Width::Account, Width::Model, Width::ModelInRegion, Width::Region, Width::Target];
}

/// The width that the answer shows, or else the class table's; absent: it says something about one call alone.
fn width(class: Class, shown: Option<Scope>) -> Option<Width> {
    match shown {
        Some(Scope::Request) => None,
        Some(Scope::Model) => Some(Width::Model),
        Some(Scope::Account | Scope::Provider) => Some(Width::Account),
        Some(Scope::Deployment) => Some(Width::Target),
        Some(Scope::Region) => Some(Width::Region),
        None => Some(match class {
            Class::RateLimit => Width::ModelInRegion,
            Class::QuotaExhausted | Class::Auth => Width::Account,
            Class::Permission | Class::NotFound => Width::Model,
            Class::Connect => Width::Region,
            Class::TimeoutHeaders
            | Class::TimeoutFirstToken
            | Class::TimeoutIdle
            | Class::Overloaded
            | Class::ServerError
            | Class::InvalidRequest
            | Class::ContextOverflow
            | Class::PayloadTooLarge
            | Class::Policy
            | Class::SchemaInvalid
            | Class::EmptyResponse
            | Class::MalformedResponse
            | Class::Truncated
            | Class::StreamEarly
            | Class::PartialStream
            | Class::Unknown => Width::Target,
        }),
    }
}

fn key_of(graph: &Graph, target: &Target, width: impl Into<Option<Width>>) -> Option<String> {
    let account = &graph.provider(target.provider)?.account;
    let region = target.region.as_deref().unwrap_or("");
    // The upstream's name, since that is what the other side counts by.
    let model = &target.upstream;
    Some(match width.into()? {
        Width::Account => format!("account\0{account}"),
        Width::Model => format!("model\0{account}\0{model}"),
        Width::ModelInRegion => format!("model-region\0{account}\0{model}\0{region}"),
        Width::Region => format!("region\0{account}\0{region}"),
        Width::Target => format!("target\0{}", target.name),
    })
}

/// The ledger as one request asks it at one instant.
pub struct Asking<'a> {
    ledger: &'a Ledger,
    graph: &'a Graph,
    request_id: &'a str,
    now: Millis,
}

impl Verdicts for Asking<'_> {
    fn standing(&mut self, target: TargetId, _now: Millis) -> Standing {
        match self.graph.target(target) {
            None => Standing { disabled: true, ..Standing::GOOD },
            Some(target) => Standing {
                disabled: !target.enabled,
                hold_until: self.ledger.hold_until(self.graph, target),
                ..Standing::GOOD
            },
        }
    }

    fn retry_token(&mut self, _target: TargetId, _now: Millis) -> bool {
        // Retry buckets are not in effect yet: budgets alone bound repetition.
        true
    }

    fn settle(&mut self, settle: &Settle) {
        self.ledger.settle(self.graph, settle, self.now);
    }

    fn take_retry_token(&mut self, _target: TargetId, _now: Millis) {}

    fn draw(&mut self, purpose: DicePurpose, attempt: u32) -> u32 {
        draw::ppm(self.request_id, purpose, attempt)
    }
}
