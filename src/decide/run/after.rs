//! After a failure: which row decides, which of its actions is possible, and what the client is told.

use super::call::How;
use super::checks::{Choice, May, PassChecks, fits};
use super::lapse::Lapse;
use super::scene::{Candidate, Candidates, Moved, Scene, Standings, passed_over};
use super::{Planned, Run};
use crate::decide::action::{Bar, Walked, walk};
use crate::decide::deadline::Fit;
use crate::decide::event::{Call, Next};
use crate::decide::guard::{Failed, View, holds};
use crate::decide::select::Pass;
use crate::decide::standing::Verdicts;
use crate::decide::trail::StepAction;
use crate::graph::{Edge, Node, NodeIndex};
use crate::policy::{Action, FallbackTo, TierId};
use smallvec::SmallVec;

impl Run {
    /// What follows a lapse. Walks the row again where a target was taken from under this request: each time it stands
    /// otherwise, and after so many times the row has run out.
    pub(super) fn after(&mut self, scene: &Scene<'_>, lapse: &Lapse, verdicts: &mut dyn Verdicts) -> Next {
        let Some(row) = self.row(scene, lapse) else { return self.ran_out(scene, None, None) };
        let may = May {
            failover: scene.allowed(scene.route.failover, "failover", verdicts),
            fallback: scene.allowed(scene.route.fallback, "fallback", verdicts),
        };
        // The tier that is used once the day's money is spent.
        let mut beyond = None;
        for _ in 0..=self.candidates.len().saturating_add(1) {
            let standings = self.survey(scene, verdicts, self.tier, &self.candidates);
            let elsewhere = self.elsewhere(scene, row, beyond, verdicts);
            let around = Around { row, beyond, may, standings: &standings, elsewhere: &elsewhere };
            let found = self.find(scene, lapse, &around, verdicts);
            let spent = if beyond.is_some() { None } else { self.beyond(scene) };
            match (found, spent) {
                (Found::Way(way), _) => {
                    if let Some(next) = self.act(scene, way, lapse, &around, verdicts) {
                        return next;
                    }
                }
                (Found::Stop { .. } | Found::Nothing, Some(Some(tier))) => beyond = Some(tier),
                (Found::Stop { node, status: None, .. }, Some(None)) => return self.refuse_spend(scene, Some(node)),
                (Found::Stop { node, status: None, exhausted: true, wanting }, None) => {
                    let back = if wanting { self.back_in(scene, lapse, &around) } else { None };
                    if let Some(next) = self.rest(scene, back, Some(lapse), verdicts) {
                        return next;
                    }
                    return self.ran_out(scene, Some(node), Some(&standings));
                }
                (Found::Stop { node, status, .. }, _) => return self.stop(scene, node, status),
                (Found::Nothing, _) => return self.ran_out(scene, None, Some(&standings)),
            }
        }
        self.ran_out(scene, None, None)
    }

    /// Walks the row, pass by pass.
    fn find(&mut self, scene: &Scene<'_>, lapse: &Lapse, around: &Around<'_>, verdicts: &mut dyn Verdicts) -> Found {
        // Whether the row would have gone elsewhere, and something beside replay safety stood in the way.
        let mut exhausted = false;
        // Whether a target was what it wanted for.
        let mut wanting = false;
        let mut stop = None;
        for pass in Pass::all(scene.last_resort(self.tier)) {
            let mut checks = PassChecks {
                run: self,
                scene,
                verdicts,
                pass: *pass,
                lapse,
                standings: around.standings,
                elsewhere: around.elsewhere,
                choice: None,
                moved: Moved::new(),
                may: around.may,
            };
            let beyond = around.beyond.map(|tier| (around.row, Action::Fallback(FallbackTo::Tier(tier))));
            let row = actions(scene, around.row).filter(|_| beyond.is_none());
            let Walked { taken, barred } = walk(beyond.into_iter().chain(row), &mut checks);
            let choice = checks.choice;
            match (taken, choice) {
                (Some((node, Action::Stop { status })), _) => {
                    exhausted |= barred.iter().any(|(action, bar)| moves(*action) && *bar != Bar::Replay);
                    wanting |= barred.iter().any(|(action, bar)| moves(*action) && *bar == Bar::Target);
                    stop = Some((node, status));
                    // What only time, tokens or safety bars is barred in every pass.
                    let hopeless = barred.iter().all(|(_, bar)| *bar != Bar::Target);
                    if hopeless {
                        break;
                    }
                }
                (Some((node, action)), Some(choice)) => {
                    return Found::Way(Way { node, action, pass: *pass, choice });
                }
                (Some(_), None) | (None, _) => {}
            }
        }
        stop.map_or(Found::Nothing, |(node, status)| Found::Stop { node, status, exhausted, wanting })
    }

    /// The first row of the route's matrix that is for this class and whose guard holds.
    pub(super) fn row(&self, scene: &Scene<'_>, lapse: &Lapse) -> Option<NodeIndex> {
        let failure = &lapse.facts();
        let matrix = scene.graph.way(scene.graph.route_node(self.route)?, Edge::Fails)?;
        let failed = Failed {
            failure,
            attempt: self.tally.attempts,
            on_target: self.visit(lapse.candidate.target).calls,
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
        beyond: Option<TierId>,
        verdicts: &mut dyn Verdicts,
    ) -> SmallVec<[(TierId, Candidates, Standings); 1]> {
        let named = actions(scene, row).filter_map(|(_, action)| match action {
            Action::Fallback(FallbackTo::Tier(tier)) => Some(tier),
            Action::Fallback(FallbackTo::OtherModel | FallbackTo::LargerContext)
            | Action::Failover
            | Action::NextKey
            | Action::Retry { .. }
            | Action::Wait { .. }
            | Action::Stop { .. } => None,
        });
        let mut found = SmallVec::new();
        for tier in named.chain(beyond) {
            let mut candidates = scene.candidates(tier, &mut SmallVec::new());
            scene.draw_splits(tier, &mut candidates, verdicts);
            let mut standings = self.survey(scene, verdicts, tier, &candidates);
            scene.arrange(tier, &mut candidates, &mut standings, verdicts);
            found.push((tier, candidates, standings));
        }
        found
    }

    fn act(
        &mut self,
        scene: &Scene<'_>,
        way: Way,
        lapse: &Lapse,
        around: &Around<'_>,
        verdicts: &mut dyn Verdicts,
    ) -> Option<Next> {
        let Way { node, action, pass, choice } = way;
        let verb = action.verb();
        let candidate = choice.candidate;
        let next = match (action, choice.wait) {
            (Action::Stop { status }, _) => self.stop(scene, node, status),
            (_, Some(wait)) => {
                match action {
                    // Somebody may have taken the last one since it was asked for.
                    Action::Retry { .. } | Action::Wait { .. } => {
                        verdicts.take_retry_token(candidate.target, scene.now).then_some(())?;
                    }
                    Action::Failover | Action::Fallback(_) => self.pauses.new_target(),
                    Action::NextKey | Action::Stop { .. } => {}
                }
                let lapse = Lapse { repeated: true, ..lapse.clone() };
                let (admission, standing) = (choice.admission, choice.standing);
                self.planned = Some(Planned { candidate, verb, node, admission, pass, wait, standing, lapse });
                Next::Wait { until: scene.now.plus(wait) }
            }
            (_, None) => Next::Call(self.move_on(scene, way, lapse, around, verdicts)?),
        };
        if let Ok(allowed) = self.replay.allows(lapse.attempted, verb) {
            self.replay.take(allowed);
        }
        Some(next)
    }

    /// Calls another target; nothing where it was taken from under this request.
    fn move_on(
        &mut self,
        scene: &Scene<'_>,
        way: Way,
        lapse: &Lapse,
        around: &Around<'_>,
        verdicts: &mut dyn Verdicts,
    ) -> Option<Call> {
        let Way { node, action, pass, choice } = way;
        let mut passed = SmallVec::new();
        let chain = match action {
            Action::Fallback(FallbackTo::Tier(tier)) => around.elsewhere.iter().find(|(t, ..)| *t == tier),
            Action::Fallback(FallbackTo::OtherModel | FallbackTo::LargerContext)
            | Action::NextKey
            | Action::Failover
            | Action::Retry { .. }
            | Action::Wait { .. }
            | Action::Stop { .. } => None,
        };
        let (candidates, standings) = match chain {
            Some((_, candidates, standings)) => (candidates, standings),
            None => (&self.candidates, around.standings),
        };
        let eligible = |c: &Candidate| self.unused(c.target) && fits(action, c, &lapse.candidate);
        passed_over(candidates, standings, scene.now, (pass, choice.at), eligible, &mut passed);
        passed.extend(self.short.passed());
        let (admission, standing) = (choice.admission, choice.standing);
        let how = How { action: StepAction::Row(action.verb()), node, admission, pass, wait: None, standing, passed };
        let call = self.call(scene, choice.candidate, choice.granted, how, verdicts).ok()?;
        // From here on the other tier's chain is the request's.
        if let Some((tier, candidates, _)) = chain {
            self.tier = *tier;
            self.candidates = candidates.clone();
        }
        if action != Action::NextKey {
            self.pauses.new_target();
        }
        Some(call)
    }

    pub(super) fn woke(&mut self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts) -> Next {
        let Some(planned) = self.planned.take() else { return self.rested(scene, verdicts) };
        let standings = self.survey(scene, verdicts, self.tier, &self.candidates);
        let here = (&self.candidates, &standings);
        let others = self.others_left(scene, here, planned.candidate.target, &Moved::new());
        let Fit::Yes(granted) = self.time.attempt(scene.now, self.limit(scene), others) else {
            // The wait was chosen so that it fits; waking late is the only way here.
            return self.ran_out(scene, Some(planned.node), Some(&standings));
        };
        let how = How {
            action: StepAction::Row(planned.verb),
            node: planned.node,
            admission: planned.admission,
            pass: planned.pass,
            wait: Some(planned.wait),
            standing: planned.standing,
            passed: SmallVec::new(),
        };
        match self.call(scene, planned.candidate, granted, how, verdicts) {
            Ok(call) => Next::Call(call),
            Err(_) => self.after(scene, &planned.lapse, verdicts),
        }
    }
}

/// What does not change while one row is walked.
pub(super) struct Around<'a> {
    pub(super) row: NodeIndex,
    /// Where the row goes instead, the day's money being spent.
    beyond: Option<TierId>,
    pub(super) may: May,
    pub(super) standings: &'a Standings,
    pub(super) elsewhere: &'a [(TierId, Candidates, Standings)],
}

/// What walking a row came to.
enum Found {
    Way(Way),
    Stop { node: NodeIndex, status: Option<u16>, exhausted: bool, wanting: bool },
    Nothing,
}

/// An action that is taken, and where it goes.
#[derive(Clone, Copy)]
struct Way {
    node: NodeIndex,
    action: Action,
    pass: Pass,
    choice: Choice,
}

/// Whether an action goes elsewhere: to another target, or with another key.
fn moves(action: Action) -> bool {
    match action {
        Action::NextKey | Action::Failover | Action::Fallback(_) => true,
        Action::Retry { .. } | Action::Wait { .. } | Action::Stop { .. } => false,
    }
}

/// The actions of a row, in order.
pub(super) fn actions<'a>(scene: &'a Scene<'_>, row: NodeIndex) -> impl Iterator<Item = (NodeIndex, Action)> + 'a {
    scene.graph.ways(row).filter_map(|(_, node)| match scene.graph.node(node) {
        Some(Node::Action { action, .. }) => Some((node, *action)),
        Some(
            Node::Route(_) | Node::Tier(_) | Node::Chain(_) | Node::Rank { .. } | Node::Matrix(_) | Node::Row { .. },
        )
        | None => None,
    })
}
