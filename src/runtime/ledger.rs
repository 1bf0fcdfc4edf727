//! Live shared state: what all requests know of targets.
//!
//! In: the ends of attempts. Out: answers to the questions of runs. State is kept under the names of targets and not
//! under ids, so it carries over when the policy is exchanged, and requests that still run on an old one share it. The
//! rules are those of `decide`; here are only the lock and the names.

use super::homes::Homes;
use crate::decide::hold::Hold;
use crate::decide::holds::Holds;
use crate::decide::{Facts, Settle, Standing, Verdicts, draw};
use crate::graph::Graph;
use crate::policy::class::Blame;
use crate::policy::{DicePurpose, Millis, TargetId};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// What is known of targets.
#[derive(Debug, Default)]
pub struct Ledger {
    homes: Homes,
    holds: RwLock<HashMap<String, Hold>>,
}

impl Ledger {
    /// The ledger as one request asks it at one instant.
    pub fn asked_by<'a>(&'a self, graph: &'a Graph, facts: &'a Facts, now: Millis) -> Asking<'a> {
        Asking { ledger: self, graph, facts, now }
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
    facts: &'a Facts,
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
        if settle.blame == Blame::Success
            && self.graph.has_affinity()
            && let (Some(session), Some(target)) = (&self.facts.session, self.graph.target(settle.target))
        {
            self.ledger.homes.served(draw::hash(session), &target.name, self.now);
        }
    }

    fn draw(&mut self, purpose: DicePurpose, attempt: u32) -> u32 {
        draw::ppm(&self.facts.id, purpose, attempt)
    }

    fn share(&mut self, purpose: DicePurpose, of: &str) -> u32 {
        draw::share(self.facts.session_key(), purpose, of)
    }

    fn home(&mut self, idle: Millis, now: Millis) -> Option<TargetId> {
        let home = self.ledger.homes.of(draw::hash(self.facts.session.as_deref()?), idle, now)?;
        self.graph.target_named(&home)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Class;
    use crate::ready::prepare;
    use crate::source::Sources;

    fn graph(targets: &[&str]) -> Graph {
        let blocks: String = targets
            .iter()
            .map(|t| format!("provider {t} {{ api emulated }}\ntarget {t} {{ model m; provider {t} }}\n"))
            .collect();
        let text = format!(
            "switchback 1\n{blocks}model m {{ modalities [text]; context 8k; max-output 1k }}\ntier t {{ chain {{ {} }} }}\n\
             matrix x {{ otherwise -> stop }}\nbudget b {{ deadline 5s; attempts 2 }}\nroute r {{ tier t; matrix x; budget b }}\n",
            targets.join("; ")
        );
        let prepared = prepare(Sources::from_texts([("p.sbk", text)]));
        prepared.ready.unwrap_or_else(|| panic!("{:?}", prepared.diagnostics)).graph
    }

    fn held(ledger: &Ledger, graph: &Graph, name: &str, now: u64) -> bool {
        let target = graph.target_named(name).unwrap();
        let now = Millis(now);
        now < ledger.asked_by(graph, &Facts::plain("sb-1", "r"), now).standing(target, now).hold_until
    }

    #[test]
    fn a_hold_is_the_targets_whatever_its_place_in_the_next_policy() {
        let (before, after) = (graph(&["m1", "z1"]), graph(&["a1", "b1", "z1"]));
        let ledger = Ledger::default();
        ledger.asked_by(&before, &Facts::plain("sb-1", "r"), Millis(100)).settle(&Settle {
            target: before.target_named("z1").unwrap(),
            blame: Blame::Throttled,
            class: Some(Class::RateLimit),
            scope: None,
            hold_until: Some(Millis(1_100)),
        });
        assert!(held(&ledger, &before, "z1", 1_099) && held(&ledger, &after, "z1", 1_099));
        assert!(!held(&ledger, &after, "z1", 1_100));
        assert!(!held(&ledger, &before, "m1", 200) && !held(&ledger, &after, "b1", 200));
    }

    #[test]
    fn what_git_switched_off_is_off_and_draws_are_the_requests_own() {
        let graph = graph(&["m1", "z1"]);
        let ledger = Ledger::default();
        let facts = Facts::plain("sb-1", "r");
        let mut asking = ledger.asked_by(&graph, &facts, Millis(0));
        assert!(!asking.standing(TargetId(0), Millis(0)).disabled);
        assert!(asking.standing(TargetId(99), Millis(0)).disabled);
        let draw = asking.draw(DicePurpose::Backoff, 1);
        assert_eq!(draw, asking.draw(DicePurpose::Backoff, 1));
        assert_ne!(draw, ledger.asked_by(&graph, &Facts::plain("sb-2", "r"), Millis(0)).draw(DicePurpose::Backoff, 1));
    }
}
