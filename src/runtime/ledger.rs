//! Live shared state: what all requests know of targets.
//!
//! In: the ends of attempts. Out: answers to the questions of runs. State is kept under the names of targets and not
//! under ids, so it carries over when the policy is exchanged, and requests that still run on an old one share it. The
//! rules are those of `decide`; here are only the lock and the names.

use crate::decide::hold::Hold;
use crate::decide::holds::Holds;
use crate::decide::{Settle, Standing, Verdicts, draw};
use crate::graph::Graph;
use crate::policy::{DicePurpose, Millis, TargetId};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// What is known of targets.
#[derive(Debug, Default)]
pub struct Ledger {
    holds: RwLock<HashMap<String, Hold>>,
}

impl Ledger {
    /// The ledger as one request asks it at one instant.
    pub fn asked_by<'a>(&'a self, graph: &'a Graph, request_id: &'a str, now: Millis) -> Asking<'a> {
        Asking { ledger: self, graph, request_id, now }
    }

    fn settle(&self, graph: &Graph, settle: &Settle, now: Millis) {
        if settle.hold_until.is_none() {
            return;
        }
        let mut covered = Holds::new(graph);
        covered.settle(graph, settle);
        let mut holds = self.holds.write().unwrap_or_else(PoisonError::into_inner);
        // Targets come and go with policies: what is over is of no use to anybody.
        holds.retain(|_, hold| hold.holds(now));
        for (target, id) in graph.policy().targets.iter().zip(0u16..) {
            let until = covered.until(TargetId(id));
            if until > now {
                let hold = holds.entry(target.name.clone()).or_default();
                hold.until = hold.until.max(until);
            }
        }
    }

    fn hold_until(&self, target: &str) -> Millis {
        let holds = self.holds.read().unwrap_or_else(PoisonError::into_inner);
        holds.get(target).map_or(Millis::ZERO, |hold| hold.until)
    }
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
                hold_until: self.ledger.hold_until(&target.name),
                ..Standing::GOOD
            },
        }
    }

    fn retry_token(&mut self, _target: TargetId, _now: Millis) -> bool {
        // Retry buckets are not in effect yet: budgets alone bound repetition.
        true
    }

    fn take_retry_token(&mut self, _target: TargetId, _now: Millis) {}

    fn settle(&mut self, settle: &Settle) {
        self.ledger.settle(self.graph, settle, self.now);
    }

    fn draw(&mut self, purpose: DicePurpose, attempt: u32) -> u32 {
        draw::ppm(self.request_id, purpose, attempt)
    }
}
