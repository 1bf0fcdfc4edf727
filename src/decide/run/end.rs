//! How a run ends: served, refused, cut or left. Each end settles what runs and closes its step.

use super::Run;
use super::race::{Off, Racer};
use super::scene::{Candidate, Scene, Standings, passed_over};
use crate::decide::event::{Next, Refused, Settle, Why};
use crate::decide::select::{self, Pass};
use crate::decide::standing::{Admission, Verdicts};
use crate::decide::trail::{Outcome, Passed, Step, StepAction, StepResult};
use crate::decide::vitals::Latency;
use crate::graph::NodeIndex;
use crate::policy::class::{Blame, Verb};
use crate::policy::{Class, Millis, Refusal, Stage};
use smallvec::SmallVec;

impl Run {
    pub(super) fn served(&mut self, scene: &Scene<'_>, racer: &Racer, verdicts: &mut dyn Verdicts) -> Next {
        let latency = match racer.output {
            Some(output) => Latency::FirstOutput(output.less(racer.started)),
            None => Latency::Whole(scene.now.less(racer.started)),
        };
        let target = racer.candidate.target;
        verdicts.settle(&Settle { blame: Blame::Success, latency: Some(latency), ..Settle::neutral(target) });
        self.close(scene, racer, StepResult::plain(scene.now), verdicts);
        if scene.graph.tier(self.tier).is_some_and(|tier| tier.affinity.is_some()) {
            verdicts.at_home(self.tier, target, scene.now);
        }
        self.answering = Some(racer.step);
        self.counted = racer.usage;
        self.outcome = Some(Outcome::Served);
        Next::Finish
    }

    pub(super) fn client_gone(&mut self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts) -> Next {
        let stage = if self.committed { Stage::Output } else { Stage::Sent };
        self.call_off(scene, Off::Over(stage), verdicts);
        self.planned = None;
        self.outcome = Some(Outcome::Cancelled);
        Next::Abandon
    }

    /// The gateway's own refusal, with nothing forwarded.
    pub(super) fn refuse(&mut self, scene: &Scene<'_>, why: Refusal, retry_after: Option<Millis>) -> Next {
        let status = match why {
            Refusal::Deadline => 504,
            Refusal::NoTarget => scene.route.exhausted.status(),
            Refusal::Contract | Refusal::Disabled | Refusal::Spend => 503,
            Refusal::Limit => 429,
            Refusal::Duplicate => 409,
        };
        let called = self.tally.attempts > 0;
        // A contract that nobody meets will not be met by asking again, nor will a deadline that leaves no time, nor
        // money before the day is over.
        let refused = Refused {
            status,
            why: Why::Refusal(why),
            attempt: None,
            retry_after,
            answered: called || matches!(why, Refusal::Contract | Refusal::Deadline | Refusal::Spend),
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

    /// A `stop` that the row says: the class's own status, or the one it names.
    pub(super) fn stop(&mut self, scene: &Scene<'_>, node: NodeIndex, status: Option<u16>) -> Next {
        let told = self.told;
        let class = told.map_or(Class::Unknown, |t| t.class);
        let ours = told.is_some_and(|t| t.ours);
        self.push_stop(scene, node, SmallVec::new());
        if self.committed {
            return self.break_off(Why::Class(class), told.map(|t| t.attempt));
        }
        self.end(Refused {
            status: status.unwrap_or_else(|| told.map_or_else(|| class.client_status(), |t| t.client_status())),
            why: Why::Class(class),
            attempt: told.map(|t| t.attempt),
            retry_after: None,
            answered: true,
            ours,
        })
    }

    /// The row ran out: nothing it says was possible.
    pub(super) fn ran_out(
        &mut self,
        scene: &Scene<'_>,
        node: Option<NodeIndex>,
        standings: Option<&Standings>,
    ) -> Next {
        if self.committed {
            let node = node.or_else(|| scene.graph.route_node(self.route)).unwrap_or(NodeIndex::end());
            return self.stop(scene, node, None);
        }
        if let Some(node) = node.or_else(|| scene.graph.route_node(self.route)) {
            let mut passed = SmallVec::new();
            if let Some(standings) = standings {
                let unused = |c: &Candidate| self.unused(c.target);
                passed_over(&self.candidates, standings, scene.now, (Pass::Relaxed, 0), unused, &mut passed);
            }
            self.push_stop(scene, node, passed);
        }
        let told = self.told;
        self.end(Refused {
            status: scene.route.exhausted.status(),
            why: told.map_or(Why::Refusal(Refusal::NoTarget), |t| Why::Class(t.class)),
            attempt: told.map(|t| t.attempt),
            retry_after: standings.and_then(|s| select::return_in(s.iter(), scene.now)),
            answered: true,
            ours: told.is_some_and(|t| t.ours),
        })
    }

    fn end(&mut self, refused: Refused) -> Next {
        self.refused = Some(refused);
        self.outcome = Some(Outcome::Refused);
        Next::Refuse(refused)
    }

    pub(super) fn push_stop(&mut self, scene: &Scene<'_>, node: NodeIndex, passed: SmallVec<[Passed; 4]>) {
        self.trail.push(Step {
            at: scene.now.less(self.received),
            node,
            action: StepAction::Row(Verb::Stop),
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
