//! The checks of one pass over a matrix row, for the attempt that just failed.

use super::Run;
use super::lapse::Lapse;
use super::scene::{Candidate, Candidates, Moved, Scene, Standings};
use crate::decide::action::{Bar, Checks};
use crate::decide::backoff::spread;
use crate::decide::deadline::Fit;
use crate::decide::select::{self, Pass};
use crate::decide::standing::{Admission, Standing, Verdicts};
use crate::decide::trail::StepAction;
use crate::policy::class::Verb;
use crate::policy::{Action, Budget, Class, DicePurpose, FallbackTo, Millis, TierId};

/// Where an action would go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) candidate: Candidate,
    pub(super) admission: Admission,
    pub(super) standing: Standing,
    pub(super) at: usize,
    /// How often it was chosen before: above 0 a pause goes before the call.
    pub(super) round: u32,
    /// Pause before the call; nothing for moving on.
    pub(super) wait: Option<Millis>,
    pub(super) granted: Millis,
}

/// What the route's switches allow this session.
#[derive(Clone, Copy, Debug)]
pub(super) struct May {
    pub(super) failover: bool,
    pub(super) fallback: bool,
}

/// One pass over a row.
pub(super) struct PassChecks<'a, 'b> {
    pub(super) run: &'a mut Run,
    pub(super) scene: &'a Scene<'b>,
    pub(super) verdicts: &'a mut dyn Verdicts,
    pub(super) pass: Pass,
    pub(super) lapse: &'a Lapse,
    pub(super) standings: &'a Standings,
    /// Candidates of tiers that a `fallback to TIER` names, and how they stand.
    pub(super) elsewhere: &'a [(TierId, Candidates, Standings)],
    pub(super) choice: Option<Choice>,
    /// Whom it was too late for, or who was too dear, in this walk.
    pub(super) moved: Moved,
    /// Whether this session may go to another target of the model, and to another model.
    pub(super) may: May,
}

impl Checks for PassChecks<'_, '_> {
    fn bars(&mut self, bar: Bar, action: Action) -> bool {
        match bar {
            Bar::Attempts => !self.run.tally.may_attempt(self.scene.budget.attempts),
            Bar::PerTarget => self.per_target(action),
            Bar::Replay => self.run.replay.allows(self.lapse.attempted, action.verb()).is_err(),
            Bar::Target => {
                let run = &*self.run;
                let target = self.lapse.candidate.target;
                let no_key = action == Action::NextKey
                    && run.next_key(self.scene, target, StepAction::Row(Verb::NextKey), self.verdicts).is_none();
                if no_key {
                    return true;
                }
                self.choice = self.find(action);
                self.choice.is_none()
            }
            Bar::Token => match action {
                Action::Retry { .. } | Action::Wait { .. } => {
                    !self.verdicts.retry_token(self.lapse.candidate.target, self.scene.now)
                }
                Action::NextKey | Action::Failover | Action::Fallback(_) | Action::Stop { .. } => false,
            },
            Bar::Money => self.money(action),
            Bar::Time => self.time(action),
        }
    }
}

impl PassChecks<'_, '_> {
    fn per_target(&self, action: Action) -> bool {
        let visit = self.run.visit(self.lapse.candidate.target);
        let full = visit.calls >= self.scene.budget.per_target;
        match action {
            Action::Retry { times } => {
                full || self.lapse.no_retry || self.lapse.repeated || !self.run.tally.may_retry(times)
            }
            // Asked not to come again, and not told when.
            Action::Wait { .. } => {
                let never = self.lapse.no_retry && self.lapse.hint.is_none();
                full || never || self.lapse.repeated || visit.waited
            }
            Action::NextKey | Action::Failover | Action::Fallback(_) | Action::Stop { .. } => false,
        }
    }

    /// Where the action would go in this pass, leaving out whom it was too late for and who was too dear.
    fn find(&self, action: Action) -> Option<Choice> {
        match action {
            Action::Retry { .. } | Action::NextKey => {
                self.again(|standing, now| select::admits(standing, now, self.pass))
            }
            Action::Wait { up_to } => {
                let asked = self.asked_wait();
                // A hold of others that outlasts this wait is not ours to break.
                self.again(|standing, now| {
                    let waiting = Standing { hold_until: Millis::ZERO, ..*standing };
                    let held = standing.hold_until.less(now);
                    (asked.max(held) <= up_to).then(|| select::admits(&waiting, now, self.pass)).flatten()
                })
            }
            Action::Failover if !self.may.failover => None,
            Action::Fallback(_) if !self.may.fallback => None,
            Action::Failover | Action::Fallback(_) => {
                let (candidates, standings) = self.chain_of(action);
                self.other(candidates, standings, |c| fits(action, c, &self.lapse.candidate))
            }
            Action::Stop { .. } => None,
        }
    }

    fn again(&self, admits: impl Fn(&Standing, Millis) -> Option<Admission>) -> Option<Choice> {
        let at = self.run.candidates.iter().position(|c| c.target == self.lapse.candidate.target)?;
        let standing = *self.standings.get(at)?;
        let admission = admits(&standing, self.scene.now)?;
        Some(Choice {
            candidate: self.lapse.candidate,
            admission,
            standing,
            at,
            round: 0,
            wait: None,
            granted: Millis::ZERO,
        })
    }

    fn other(
        &self,
        candidates: &Candidates,
        standings: &Standings,
        eligible: impl Fn(&Candidate) -> bool,
    ) -> Option<Choice> {
        // Unused ones first; used ones again only when none is left, one round after the other.
        (0..self.scene.budget.rounds).find_map(|round| {
            let in_round = |c: &Candidate| {
                let visit = self.run.visit(c.target);
                let again = c.target != self.lapse.candidate.target && visit.calls < self.scene.budget.per_target;
                visit.rounds == round && (round == 0 || again)
            };
            let open = candidates
                .iter()
                .zip(standings)
                .enumerate()
                .filter(|(_, (c, _))| !self.moved.contains(&c.target) && in_round(c) && eligible(c))
                .map(|(i, (_, s))| (i, s));
            let (at, admission) = select::pick(self.pass, open, self.scene.now, select::LAST_RESORT_INFLIGHT)?;
            let (candidate, standing) = (*candidates.get(at)?, *standings.get(at)?);
            Some(Choice { candidate, admission, standing, at, round, wait: None, granted: Millis::ZERO })
        })
    }

    /// Whether the caps on money leave too little for the call that was found. Goes on to the next candidate where one is
    /// too dear; each is passed over once, so this ends.
    fn money(&mut self, action: Action) -> bool {
        while let Some(choice) = self.choice {
            if self.run.affords(self.scene, &choice.candidate, self.verdicts) {
                return false;
            }
            match action {
                Action::Failover | Action::Fallback(_) => {
                    self.moved.push(choice.candidate.target);
                    self.choice = self.find(action);
                }
                Action::NextKey | Action::Retry { .. } | Action::Wait { .. } | Action::Stop { .. } => return true,
            }
        }
        true
    }

    /// The wait that the failure asks for: its hint, or the default of its hold.
    fn asked_wait(&self) -> Millis {
        let rule = self.scene.breaker(self.lapse.candidate.target).holds.of(self.lapse.class);
        let default = rule.and_then(|r| r.default).unwrap_or(Millis::ZERO);
        self.lapse.hint.unwrap_or(default)
    }

    fn pause(&mut self, attempt: u32) -> Millis {
        let draw = self.verdicts.draw(DicePurpose::Backoff, attempt);
        let retry = self.run.visit(self.lapse.candidate.target).calls.max(1);
        let pause = self.run.pauses.next(retry, draw);
        // One too-fast answer means that the usual pause is too short.
        if self.lapse.class == Class::RateLimit { pause.max(self.throttled_pause(retry, draw)) } else { pause }
    }

    fn throttled_pause(&self, retry: u32, draw: u32) -> Millis {
        let mut backoff = self.scene.budget.backoff;
        backoff.base = backoff.base.max(Budget::THROTTLED_BASE);
        backoff.cap = backoff.cap.max(backoff.base);
        crate::decide::backoff::Pauses::new(backoff.into()).next(retry, draw)
    }

    fn time(&mut self, action: Action) -> bool {
        let attempt = self.run.tally.attempts;
        let wait = match action {
            Action::Retry { .. } => self.pause(attempt),
            Action::Wait { .. } => self.whole_wait(attempt),
            Action::NextKey | Action::Failover | Action::Fallback(_) => return self.time_to_move(action),
            Action::Stop { .. } => return false,
        };
        let here = (&self.run.candidates, self.standings);
        let others = self.run.others_left(self.scene, here, self.lapse.candidate.target, &Moved::new());
        let fits = matches!(self.run.time.wait(self.scene.now, wait, others), Fit::Yes(_));
        if let Some(choice) = &mut self.choice {
            choice.wait = Some(wait);
        }
        !fits
    }

    /// Hint, hold or backoff, whichever is longest; where the hint decides, a little more, so that those who were told
    /// the same do not come back in the same instant.
    fn whole_wait(&mut self, attempt: u32) -> Millis {
        let held = self.choice.map_or(Millis::ZERO, |c| c.standing.hold_until.less(self.scene.now));
        let asked = self.asked_wait().max(held);
        let pause = self.pause(attempt);
        if pause >= asked {
            return pause;
        }
        spread(asked, self.verdicts.draw(DicePurpose::Backoff, attempt))
    }

    /// The chain that an action goes on in, and how its candidates stand.
    fn chain_of(&self, action: Action) -> (&Candidates, &Standings) {
        let elsewhere = match action {
            Action::Fallback(FallbackTo::Tier(tier)) => self.elsewhere.iter().find(|(t, ..)| *t == tier),
            Action::Fallback(FallbackTo::OtherModel | FallbackTo::LargerContext)
            | Action::NextKey
            | Action::Failover
            | Action::Retry { .. }
            | Action::Wait { .. }
            | Action::Stop { .. } => None,
        };
        elsewhere.map_or((&self.run.candidates, self.standings), |(_, candidates, standings)| (candidates, standings))
    }

    /// Goes on to the next candidate where the first would get too little before the reserve. Each is passed over once,
    /// so this ends.
    fn time_to_move(&mut self, action: Action) -> bool {
        while let Some(choice) = self.choice {
            let target = choice.candidate.target;
            let others = self.run.others_left(self.scene, self.chain_of(action), target, &self.moved);
            if choice.round > 0 {
                return self.time_for_round(choice, others);
            }
            match self.run.time.attempt(self.scene.now, self.run.limit(self.scene), others) {
                Fit::Yes(granted) => {
                    self.choice = Some(Choice { granted, ..choice });
                    return false;
                }
                // Another key is of no use to whoever would be next.
                Fit::MoveOn if action == Action::NextKey => return true,
                Fit::MoveOn => {
                    self.moved.push(target);
                    self.choice = self.find(action);
                    if self.money(action) {
                        return true;
                    }
                }
                Fit::Stop => return true,
            }
        }
        true
    }

    /// A target that was used before is asked again after one backoff, which grows with the rounds.
    fn time_for_round(&mut self, choice: Choice, others: bool) -> bool {
        let draw = self.verdicts.draw(DicePurpose::Backoff, self.run.tally.attempts);
        let wait = crate::decide::backoff::Pauses::new(self.scene.budget.backoff.into()).next(choice.round, draw);
        self.choice = Some(Choice { wait: Some(wait), ..choice });
        !matches!(self.run.time.wait(self.scene.now, wait, others), Fit::Yes(_))
    }
}

/// Whether a candidate is one that the action looks at, after this one failed.
pub(super) fn fits(action: Action, candidate: &Candidate, failed: &Candidate) -> bool {
    match action {
        Action::Failover => candidate.model == failed.model,
        Action::Fallback(FallbackTo::OtherModel) => candidate.model != failed.model,
        Action::Fallback(FallbackTo::LargerContext) => candidate.context > failed.context,
        Action::Fallback(FallbackTo::Tier(_)) => true,
        Action::NextKey | Action::Retry { .. } | Action::Wait { .. } | Action::Stop { .. } => false,
    }
}
