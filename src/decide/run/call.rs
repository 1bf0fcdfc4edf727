//! Starting a call: its place in the trail, what it is granted, and when its timers end.

use super::race::Racer;
use super::scene::{Candidate, Scene};
use super::{Run, Visit};
use crate::decide::deadline;
use crate::decide::event::{Call, Limits, Timer};
use crate::decide::select::Pass;
use crate::decide::standing::{Admission, Reason, Standing, Verdicts};
use crate::decide::trail::{Passed, PassedWhy, Step, StepAction};
use crate::graph::NodeIndex;
use crate::policy::class::{Blame, Verb};
use crate::policy::{Millis, TargetId};
use smallvec::SmallVec;

/// What led to a call.
pub(super) struct How {
    pub(super) action: StepAction,
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

    /// What a timer that ran out says, by the granted-time rule: whoever had less time than the timer's own limit, since
    /// the deadline or the reserve left no more, is compared with that limit. One that ran in full speaks for itself.
    pub(super) fn evidence(&self, scene: &Scene<'_>, timer: Timer, racer: &Racer) -> Blame {
        let budget = scene.budget;
        let attempt = budget.attempt_timeout.unwrap_or_else(|| self.time.deadline.less(self.received));
        let own = |limit: Option<Millis>| limit.unwrap_or(attempt).min(attempt);
        let first_token = if scene.facts.stream { budget.first_token } else { None };
        let limit = match timer {
            Timer::Connect => own(Some(scene.timeout_connect(racer.candidate.target))).min(own(budget.headers)),
            Timer::Headers => own(budget.headers).min(own(first_token)),
            Timer::FirstOutput => own(first_token),
            // Of a whole answer it is also the timer of all that was granted.
            Timer::Idle if !scene.facts.stream && scene.now >= racer.started.plus(racer.granted) => attempt,
            Timer::Idle | Timer::Total => Millis::ZERO,
            Timer::Deadline => return Blame::Neutral,
        };
        let least = scene.breaker(racer.candidate.target).timeout_evidence;
        deadline::evidence(racer.granted.min(limit), limit, least)
    }

    /// Starts a call.
    ///
    /// # Errors
    /// The reason against it, where the target, or the money for it, was taken from under this request since it was chosen.
    pub(super) fn call(
        &mut self,
        scene: &Scene<'_>,
        candidate: Candidate,
        granted: Millis,
        how: How,
        verdicts: &mut dyn Verdicts,
    ) -> Result<Call, PassedWhy> {
        let target = candidate.target;
        let key = self.next_key(scene, target, how.action, verdicts).ok_or(PassedWhy::Reason(Reason::Hold))?;
        if !self.reserve(scene, &candidate, verdicts) {
            return Err(PassedWhy::Spend);
        }
        let is_hedge = how.action == StepAction::Hedge;
        // A hedge is paid for: it is no arrival that pays for others.
        let arrives = self.unused(target) && !is_hedge;
        if let Err(reason) = verdicts.admit(target, (how.admission, key), arrives, scene.now) {
            self.give_back(scene, verdicts);
            return Err(PassedWhy::Reason(reason));
        }
        let pool = self.note_key(scene, target, key);
        match how.action {
            StepAction::Call | StepAction::Hedge => self.tally.attempts = self.tally.attempts.saturating_add(1),
            StepAction::Row(verb) => self.tally.take(verb),
        }
        self.count_visit(target, how.action);
        self.spent = self.spent.plus(candidate.worst.unwrap_or_default());
        let limits = self.limits(scene, target, granted);
        let hedge_at = self.hedge_at(scene, target, how.action, verdicts);
        // Each call to a target that de-duplicates by a key carries one; a request sends the same one there each time.
        let key_honoured = scene.graph.target(target).is_some_and(|t| t.idempotency_key.is_some());
        self.racers.push(Racer {
            attempt: self.tally.attempts,
            step: self.trail.len(),
            candidate,
            started: scene.now,
            granted,
            headers: false,
            output: None,
            key_honoured,
            is_hedge,
            usage: None,
        });
        // A rest before it is part of the pause.
        let wait = match (how.wait, self.rested.take()) {
            (Some(own), Some(rest)) => Some(own.plus(rest)),
            (own, rest) => own.or(rest),
        };
        self.trail.push(Step {
            at: scene.now.less(self.received),
            node: how.node,
            action: how.action,
            target: Some(target),
            admission: how.admission,
            key: pool.then(|| key.saturating_add(1)),
            pass: how.pass.number(),
            wait,
            left: self.time.remaining(scene.now),
            passed: how.passed,
            health: Some(how.standing.health),
            stale: how.standing.stale,
            breaker: Some(how.standing.breaker),
            result: None,
        });
        let (attempt, node, admission) = (self.tally.attempts, how.node, how.admission);
        Ok(Call { attempt, target, node, admission, key, limits, hedge_at })
    }

    /// The key for a call at a target: `next-key` takes one that this request has not used.
    pub(super) fn next_key(
        &self,
        scene: &Scene<'_>,
        target: TargetId,
        action: StepAction,
        verdicts: &mut dyn Verdicts,
    ) -> Option<u16> {
        let provider = scene.graph.target(target)?.provider;
        let used: SmallVec<[u16; 4]> = match action {
            StepAction::Row(Verb::NextKey) => {
                self.keys.iter().filter(|(p, _)| *p == provider).map(|(_, key)| *key).collect()
            }
            StepAction::Call | StepAction::Hedge | StepAction::Row(_) => SmallVec::new(),
        };
        verdicts.key(target, &used, scene.now)
    }

    /// Remembers a key that is used now; says whether it is one of a pool.
    fn note_key(&mut self, scene: &Scene<'_>, target: TargetId, key: u16) -> bool {
        let provider = scene.graph.target(target).map(|t| t.provider);
        let Some(provider) = provider else { return false };
        if !self.keys.contains(&(provider, key)) {
            self.keys.push((provider, key));
        }
        scene.graph.provider(provider).is_some_and(|p| p.keys.len() > 1)
    }

    /// Keys of a pool are no further calls at the target: `per-target` does not count them.
    fn count_visit(&mut self, target: TargetId, action: StepAction) {
        if action == StepAction::Row(Verb::NextKey) {
            return;
        }
        let waited = action == StepAction::Row(Verb::Wait);
        let anew = match action {
            StepAction::Call | StepAction::Hedge | StepAction::Row(Verb::Failover | Verb::Fallback) => true,
            StepAction::Row(_) => false,
        };
        match self.visits.iter_mut().find(|v| v.target == target) {
            Some(visit) => {
                visit.calls = visit.calls.saturating_add(1);
                visit.rounds = visit.rounds.saturating_add(u32::from(anew));
                visit.waited |= waited;
            }
            None => self.visits.push(Visit { target, calls: 1, rounds: u32::from(anew), waited }),
        }
    }

    fn limits(&self, scene: &Scene<'_>, target: TargetId, granted: Millis) -> Limits {
        let start = scene.now;
        let within = |limit: Option<Millis>| start.plus(limit.unwrap_or(granted).min(granted));
        Limits {
            connect_by: within(Some(scene.timeout_connect(target))),
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
