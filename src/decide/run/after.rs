//! After a failure: who is to blame, which row decides, which of its actions is possible, and what the client is told.

use super::call::How;
use super::checks::{Choice, PassChecks};
use super::scene::{Candidate, Candidates, Scene, Standings, passed_over};
use super::{Planned, Run, Told};
use crate::decide::action::{Bar, Walked, walk};
use crate::decide::deadline::Fit;
use crate::decide::event::{Next, Refused, Settle, Why};
use crate::decide::guard::{Failed, View, holds};
use crate::decide::hold;
use crate::decide::replay::Attempted;
use crate::decide::select::{self, Pass};
use crate::decide::standing::Verdicts;
use crate::decide::trail::Outcome;
use crate::graph::{Edge, Node, NodeIndex};
use crate::policy::class::Blame;
use crate::policy::guard::FailureFacts;
use crate::policy::{Action, Class, FallbackTo, Millis, Refusal, Scope, Stage, TierId};
use smallvec::SmallVec;

impl Run {
    pub(super) fn failed(
        &mut self,
        scene: &Scene<'_>,
        mut failure: FailureFacts<'_>,
        scope: Option<Scope>,
        blame: Blame,
        no_retry: bool,
        verdicts: &mut dyn Verdicts,
    ) -> Next {
        let Some(current) = self.current.take() else { return Next::GoOn };
        let cause = failure.class;
        if self.committed {
            failure.class = Class::PartialStream;
            failure.stage = Stage::Output;
        } else if current.headers && failure.stage == Stage::Sent {
            failure.stage = Stage::Headers;
        }
        let target = current.candidate.target;
        // The hold is that of the cause: a limit that shows itself in mid-stream is a limit all the same.
        let hold_until = hold_until(cause, failure.retry_after, scene.now);
        verdicts.settle(&Settle { target, blame, class: Some(failure.class), scope, hold_until });
        self.close_step(scene, Some(failure.class), Some(failure.stage), failure.status, failure.retry_after);
        self.remember(failure.class);

        let attempted =
            Attempted { stage: failure.stage, committed: self.committed, key_honoured: current.key_honoured };
        let Some(row) = self.row(scene, &failure) else { return self.ran_out(scene, None, None, verdicts) };
        let standings = self.survey(scene, verdicts, &self.candidates);
        let elsewhere = self.elsewhere(scene, row, verdicts);
        // Whether something beside replay safety stood in the way: then there was an action, and nobody left for it.
        let mut exhausted = false;
        let mut stop = None;
        for pass in Pass::all(scene.last_resort(scene.route.tier)) {
            let mut checks = PassChecks {
                run: self,
                scene,
                verdicts,
                pass: *pass,
                failed: current.candidate,
                failure: &failure,
                attempted,
                no_retry,
                standings: &standings,
                elsewhere: &elsewhere,
                choice: None,
                moved_on: 0,
            };
            let Walked { taken, barred } = walk(actions(scene, row), &mut checks);
            let choice = checks.choice;
            match (taken, choice) {
                (Some((node, Action::Stop { status })), _) => {
                    exhausted |= barred.iter().any(|(_, bar)| *bar != Bar::Replay);
                    stop = Some((node, status));
                    // What only time, tokens or safety bars is barred in every pass.
                    let hopeless = barred.iter().all(|(_, bar)| *bar != Bar::Target);
                    if hopeless {
                        break;
                    }
                }
                (Some((node, action)), Some(choice)) => {
                    let way = Way { node, action, pass: *pass, choice };
                    return self.act(scene, way, attempted, &standings, &elsewhere, verdicts);
                }
                (Some(_), None) | (None, _) => exhausted = true,
            }
        }
        match stop {
            Some((node, None)) if exhausted => self.ran_out(scene, Some(node), Some(&standings), verdicts),
            Some((node, status)) => self.stop(scene, node, status),
            None => self.ran_out(scene, None, Some(&standings), verdicts),
        }
    }

    /// The client is told of the first failure, unless a later one says more about the request or the credential.
    fn remember(&mut self, class: Class) {
        let says_more = matches!(class, Class::Policy | Class::Auth | Class::Permission);
        if self.told.is_none() || says_more || self.committed {
            self.told = Some(Told { class, attempt: self.tally.attempts });
        }
    }

    /// The first row of the route's matrix that is for this class and whose guard holds.
    fn row(&self, scene: &Scene<'_>, failure: &FailureFacts<'_>) -> Option<NodeIndex> {
        let matrix = scene.graph.way(scene.graph.route_node(self.route)?, Edge::Fails)?;
        let on_target = self.trail.last().and_then(|s| s.target).map_or(0, |t| self.visit(t).calls);
        let failed = Failed {
            failure,
            attempt: self.tally.attempts,
            on_target,
            left: self.time.remaining(scene.now),
            spent: self.spent,
        };
        let view = View { facts: scene.facts, failed: Some(failed) };
        scene.graph.ways(matrix).map(|(_, node)| node).find(|node| {
            let Some(Node::Row { matrix, row }) = scene.graph.node(*node) else { return false };
            let rows = scene.graph.policy().matrices.get(matrix.index()).map(|m| &m.rows);
            rows.and_then(|r| r.get(usize::from(*row)))
                .is_some_and(|r| r.classes.contains(failure.class) && holds(r.guard.as_ref(), view))
        })
    }

    /// Candidates of the tiers that this row may fall back to.
    fn elsewhere(
        &self,
        scene: &Scene<'_>,
        row: NodeIndex,
        verdicts: &mut dyn Verdicts,
    ) -> SmallVec<[(TierId, Candidates, Standings); 1]> {
        let mut found = SmallVec::new();
        for (_, action) in actions(scene, row) {
            if let Action::Fallback(FallbackTo::Tier(tier)) = action {
                let candidates = scene.candidates(tier, &mut SmallVec::new());
                let standings = self.survey(scene, verdicts, &candidates);
                found.push((tier, candidates, standings));
            }
        }
        found
    }

    fn act(
        &mut self,
        scene: &Scene<'_>,
        way: Way,
        attempted: Attempted,
        standings: &Standings,
        elsewhere: &[(TierId, Candidates, Standings)],
        verdicts: &mut dyn Verdicts,
    ) -> Next {
        let Way { node, action, pass, choice } = way;
        let verb = action.verb();
        if let Ok(allowed) = self.replay.allows(attempted, verb) {
            self.replay.take(allowed);
        }
        let candidate = choice.candidate;
        match action {
            Action::Retry { .. } | Action::Wait { .. } => {
                verdicts.take_retry_token(candidate.target, scene.now);
                let wait = choice.wait.unwrap_or(Millis::ZERO);
                let (admission, standing) = (choice.admission, choice.standing);
                self.planned = Some(Planned { candidate, verb, node, admission, pass, wait, standing });
                Next::Wait { until: scene.now.plus(wait) }
            }
            Action::Failover | Action::Fallback(_) => {
                let mut passed = SmallVec::new();
                let chain = match action {
                    Action::Fallback(FallbackTo::Tier(tier)) => elsewhere.iter().find(|(t, ..)| *t == tier),
                    Action::Fallback(FallbackTo::OtherModel | FallbackTo::LargerContext)
                    | Action::Failover
                    | Action::Retry { .. }
                    | Action::Wait { .. }
                    | Action::Stop { .. } => None,
                };
                let (candidates, standings) =
                    chain.map_or((&self.candidates, standings), |(_, candidates, standings)| (candidates, standings));
                passed_over(
                    candidates,
                    standings,
                    scene.now,
                    (pass, choice.at),
                    |c| self.unused(c.target) && fits(action, c, attempted_model(self)),
                    &mut passed,
                );
                // From here on the other tier's chain is the request's.
                if let Some((_, candidates, _)) = chain {
                    self.candidates = candidates.clone();
                }
                self.pauses.new_target();
                let (admission, standing) = (choice.admission, choice.standing);
                let how = How { verb: Some(verb), node, admission, pass, wait: None, standing, passed };
                Next::Call(self.call(scene, candidate, choice.granted, how))
            }
            Action::Stop { status } => self.stop(scene, node, status),
        }
    }

    pub(super) fn woke(&mut self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts) -> Next {
        let Some(planned) = self.planned.take() else { return Next::GoOn };
        let standings = self.survey(scene, verdicts, &self.candidates);
        let others = self.others_left(scene, &standings, planned.candidate.target, 0);
        let Fit::Yes(granted) = self.time.attempt(scene.now, self.limit(scene), others) else {
            // The wait was chosen so that it fits; waking late is the only way here.
            return self.ran_out(scene, Some(planned.node), Some(&standings), verdicts);
        };
        let how = How {
            verb: Some(planned.verb),
            node: planned.node,
            admission: planned.admission,
            pass: planned.pass,
            wait: Some(planned.wait),
            standing: planned.standing,
            passed: SmallVec::new(),
        };
        Next::Call(self.call(scene, planned.candidate, granted, how))
    }

    /// A `stop` that the row says: the class's own status, or the one it names.
    fn stop(&mut self, scene: &Scene<'_>, node: NodeIndex, status: Option<u16>) -> Next {
        let told = self.told;
        let class = told.map_or(Class::Unknown, |t| t.class);
        self.push_stop(scene, node, SmallVec::new());
        if self.committed {
            return self.break_off(Why::Class(class), told.map(|t| t.attempt));
        }
        self.end(Refused {
            status: status.unwrap_or_else(|| class.client_status()),
            why: Why::Class(class),
            attempt: told.map(|t| t.attempt),
            retry_after: None,
            answered: true,
        })
    }

    /// The row ran out: nothing it says was possible.
    fn ran_out(
        &mut self,
        scene: &Scene<'_>,
        node: Option<NodeIndex>,
        standings: Option<&Standings>,
        _verdicts: &mut dyn Verdicts,
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
            status: scene.route.exhausted,
            why: told.map_or(Why::Refusal(Refusal::NoTarget), |t| Why::Class(t.class)),
            attempt: told.map(|t| t.attempt),
            retry_after: standings.and_then(|s| select::return_in(s.iter(), scene.now)),
            answered: true,
        })
    }

    fn end(&mut self, refused: Refused) -> Next {
        self.refused = Some(refused);
        self.outcome = Some(Outcome::Refused);
        Next::Refuse(refused)
    }
}

/// An action that is taken, and where it goes.
#[derive(Clone, Copy)]
struct Way {
    node: NodeIndex,
    action: Action,
    pass: Pass,
    choice: Choice,
}

/// The model of the target that just failed.
fn attempted_model(run: &Run) -> Option<crate::policy::ModelId> {
    let target = run.target()?;
    run.candidates.iter().find(|c| c.target == target).map(|c| c.model)
}

/// Whether a candidate was one that the action looked at, for the record.
fn fits(action: Action, candidate: &Candidate, failed: Option<crate::policy::ModelId>) -> bool {
    match action {
        Action::Failover => Some(candidate.model) == failed,
        Action::Fallback(FallbackTo::OtherModel) => Some(candidate.model) != failed,
        Action::Fallback(FallbackTo::LargerContext | FallbackTo::Tier(_)) => true,
        Action::Retry { .. } | Action::Wait { .. } | Action::Stop { .. } => false,
    }
}

/// The actions of a row, in order.
fn actions<'a>(scene: &'a Scene<'_>, row: NodeIndex) -> impl Iterator<Item = (NodeIndex, Action)> + 'a {
    scene.graph.ways(row).filter_map(|(_, node)| match scene.graph.node(node) {
        Some(Node::Action { action, .. }) => Some((node, *action)),
        Some(
            Node::Route(_) | Node::Tier(_) | Node::Chain(_) | Node::Rank { .. } | Node::Matrix(_) | Node::Row { .. },
        )
        | None => None,
    })
}

/// Until when the class holds its key.
fn hold_until(class: Class, hint: Option<Millis>, now: Millis) -> Option<Millis> {
    let rule = hold::rule(class)?;
    let wait = hint.filter(|h| *h > Millis::ZERO).or(rule.default)?;
    let mut held = hold::Hold::default();
    held.extend(now, wait, rule.cap);
    Some(held.until)
}
