//! How a run ends: served, refused, cut or left. Each end settles what runs and closes its step.

use super::Run;
use super::race::Racer;
use super::scene::Scene;
use crate::decide::event::{Next, Refused, Settle, Why};
use crate::decide::standing::{Admission, Verdicts};
use crate::decide::trail::{Outcome, Passed, Step, StepResult};
use crate::decide::vitals::Latency;
use crate::graph::NodeIndex;
use crate::policy::class::{Blame, Verb};
use crate::policy::{Millis, Refusal, Stage};
use smallvec::SmallVec;

impl Run {
    pub(super) fn served(&mut self, scene: &Scene<'_>, racer: &Racer, verdicts: &mut dyn Verdicts) -> Next {
        let latency = match racer.output {
            Some(output) => Latency::FirstOutput(output.less(racer.started)),
            None => Latency::Whole(scene.now.less(racer.started)),
        };
        let target = racer.candidate.target;
        verdicts.settle(&Settle { blame: Blame::Success, latency: Some(latency), ..Settle::neutral(target) });
        self.close_step(racer.step, StepResult::plain(scene.now));
        self.answering = Some(racer.step);
        self.outcome = Some(Outcome::Served);
        Next::Finish
    }

    pub(super) fn client_gone(&mut self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts) -> Next {
        let stage = if self.committed { Stage::Output } else { Stage::Sent };
        self.call_off(scene, stage, verdicts);
        self.planned = None;
        self.outcome = Some(Outcome::Cancelled);
        Next::Abandon
    }

    /// The gateway's own refusal, with nothing forwarded.
    pub(super) fn refuse(&mut self, scene: &Scene<'_>, why: Refusal, retry_after: Option<Millis>) -> Next {
        let status = match why {
            Refusal::Deadline => 504,
            Refusal::NoTarget => scene.route.exhausted.status(),
            Refusal::Contract | Refusal::Disabled => 503,
            Refusal::Spend | Refusal::Limit => 429,
            Refusal::Duplicate => 409,
        };
        let called = self.tally.attempts > 0;
        // A contract that nobody meets will not be met by asking again, nor will a deadline that leaves no time.
        let refused = Refused {
            status,
            why: Why::Refusal(why),
            attempt: None,
            retry_after,
            answered: called || matches!(why, Refusal::Contract | Refusal::Deadline),
            ours: false,
        };
        if !called && let Some(node) = scene.graph.route_node(self.route) {
            let passed = self.dropped.clone();
            self.push_stop(scene, node, passed);
        }
        self.refused = Some(refused);
        self.outcome = Some(Outcome::Refused);
        Next::Refuse(refused)
    }

    /// Output was forwarded and there will be no more.
    pub(super) fn break_off(&mut self, why: Why, attempt: Option<u32>) -> Next {
        let refused = Refused { status: 502, why, attempt, retry_after: None, answered: true, ours: false };
        self.refused = Some(refused);
        self.outcome = Some(Outcome::Cut);
        Next::Break(refused)
    }

    pub(super) fn push_stop(&mut self, scene: &Scene<'_>, node: NodeIndex, passed: SmallVec<[Passed; 4]>) {
        self.trail.push(Step {
            at: scene.now.less(self.received),
            node,
            action: Some(Verb::Stop),
            target: None,
            admission: Admission::Normal,
            key: None,
            pass: 0,
            wait: self.rested.take(),
            left: self.time.remaining(scene.now),
            passed,
            health: None,
            stale: false,
            breaker: None,
            result: None,
        });
    }
}
