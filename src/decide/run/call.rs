//! Starting a call: its place in the trail, what it is granted, and when its timers end.

use super::scene::{Candidate, Scene};
use super::{Current, Run, Visit};
use crate::decide::event::{Call, Limits};
use crate::decide::select::Pass;
use crate::decide::standing::{Admission, Standing};
use crate::decide::trail::{Passed, Step};
use crate::graph::NodeIndex;
use crate::policy::class::Verb;
use crate::policy::{Millis, Money, Provider, TargetId};
use smallvec::SmallVec;

/// What led to a call.
pub(super) struct How {
    pub(super) verb: Option<Verb>,
    pub(super) node: NodeIndex,
    pub(super) admission: Admission,
    pub(super) pass: Pass,
    pub(super) wait: Option<Millis>,
    pub(super) standing: Standing,
    pub(super) passed: SmallVec<[Passed; 4]>,
}

impl Run {
    /// The attempt's own limit, before the deadline is looked at.
    pub(super) fn limit(&self, scene: &Scene<'_>) -> Millis {
        scene.budget.attempt_timeout.unwrap_or(Millis::MAX)
    }

    /// The limit that the granted-time rule compares with: the tightest timer up to first output, or, where the budget
    /// names none, all the time the request had.
    fn fair_limit(&self, scene: &Scene<'_>) -> Millis {
        let first = if scene.facts.stream { scene.budget.first_token } else { None };
        let own = [scene.budget.attempt_timeout, scene.budget.headers, first].into_iter().flatten().min();
        own.unwrap_or_else(|| self.time.deadline.less(self.received))
    }

    pub(super) fn call(&mut self, scene: &Scene<'_>, candidate: Candidate, granted: Millis, how: How) -> Call {
        let target = candidate.target;
        match how.verb {
            None => self.tally.attempts = self.tally.attempts.saturating_add(1),
            Some(verb) => self.tally.take(verb),
        }
        self.count_visit(target, how.verb == Some(Verb::Wait));
        self.spent = self.spent.plus(worst_cost(scene, target));
        let limits = self.limits(scene, target, granted);
        let limit = self.fair_limit(scene);
        // Each call to a target that de-duplicates by a key carries one; a request sends the same one there each time.
        let key_honoured = scene.graph.target(target).is_some_and(|t| t.idempotency_key.is_some());
        self.current = Some(Current { candidate, granted: granted.min(limit), limit, headers: false, key_honoured });
        self.trail.push(Step {
            at: scene.now.less(self.received),
            node: how.node,
            action: how.verb,
            target: Some(target),
            admission: how.admission,
            pass: how.pass.number(),
            wait: how.wait,
            left: self.time.remaining(scene.now),
            passed: how.passed,
            health: Some(how.standing.health),
            breaker: Some(how.standing.breaker),
            result: None,
        });
        Call { attempt: self.tally.attempts, target, node: how.node, admission: how.admission, limits }
    }

    fn count_visit(&mut self, target: TargetId, waited: bool) {
        match self.visits.iter_mut().find(|v| v.target == target) {
            Some(visit) => {
                visit.calls = visit.calls.saturating_add(1);
                visit.waited |= waited;
            }
            None => self.visits.push(Visit { target, calls: 1, waited }),
        }
    }

    fn limits(&self, scene: &Scene<'_>, target: TargetId, granted: Millis) -> Limits {
        let start = scene.now;
        let within = |limit: Option<Millis>| start.plus(limit.unwrap_or(granted).min(granted));
        let provider = scene.graph.target(target).and_then(|t| scene.graph.provider(t.provider));
        let connect = provider.map_or(Provider::TIMEOUT_CONNECT, |p| p.timeout_connect);
        Limits {
            connect_by: within(Some(connect)),
            headers_by: within(scene.budget.headers),
            output_by: within(if scene.facts.stream { scene.budget.first_token } else { None }),
            idle: scene.budget.idle,
            total_by: match scene.budget.total {
                Some(total) if scene.facts.stream => start.plus(total),
                Some(_) | None => Millis::MAX,
            },
            deadline: self.time.deadline,
            stream: scene.facts.stream,
        }
    }
}

/// Input and the whole output asked for, at the target's prices; nothing where a price is not known.
fn worst_cost(scene: &Scene<'_>, target: TargetId) -> Money {
    let Some(target) = scene.graph.target(target) else { return Money::default() };
    let Some(model) = scene.graph.model(target.model) else { return Money::default() };
    let prices = crate::decide::contract::Offer::of(target, &model.capabilities).prices;
    let output = scene.facts.max_output.or(model.capabilities.max_output).unwrap_or(0);
    let input_cost = prices.input.map_or(Money::default(), |p| p.of(scene.facts.tokens));
    input_cost.plus(prices.output.map_or(Money::default(), |p| p.of(output)))
}
