//! Hedging: a duplicate of a call that is late, at another target of its model. Whoever has output first has won.
//!
//! In: a call that begins, and the instant at which it is late. Out: that instant, and the second call, where all is there
//! that a duplicate needs: a pure request, an attempt, time, a target that nothing speaks against, money, and a token of
//! that target's retry bucket. A request has one hedge at most, never once output was forwarded, and never at a target
//! that is slow, coming back or on trial. Where something is missing the call goes on alone.

use super::Run;
use super::call::How;
use super::money::Short;
use super::race::Racer;
use super::scene::{Candidate, Moved, Scene, passed_over};
use crate::decide::deadline::Fit;
use crate::decide::event::Call;
use crate::decide::replay::Attempted;
use crate::decide::select::{self, Pass};
use crate::decide::standing::{Admission, Health, Ramp, Standing, Verdicts};
use crate::decide::trail::StepAction;
use crate::policy::class::Verb;
use crate::policy::{Millis, Stage, TargetId};
use smallvec::SmallVec;

impl Run {
    /// When a call that begins now is late: after its target's p95, or the budget's least. Nothing where nothing follows
    /// from that, or where too little is known of the target.
    pub(super) fn hedge_at(
        &self,
        scene: &Scene<'_>,
        target: TargetId,
        action: StepAction,
        verdicts: &mut dyn Verdicts,
    ) -> Option<Millis> {
        let rule = scene.budget.hedge?;
        if self.hedged || action == StepAction::Hedge {
            return None;
        }
        let usual = verdicts.p95(target, scene.facts.stream, scene.now)?;
        Some(scene.now.plus(usual.max(rule.at_least))).filter(|at| *at < self.time.deadline)
    }

    /// The second call, beside one that is late; nothing where it has to go on alone.
    pub(super) fn hedge(&mut self, scene: &Scene<'_>, late: &Racer, verdicts: &mut dyn Verdicts) -> Option<Call> {
        if scene.budget.hedge.is_none() || self.hedged || self.committed || self.racers.len() != 1 {
            return None;
        }
        if !self.tally.may_attempt(scene.budget.attempts) {
            return None;
        }
        // The call that is late may well be answered yet: a duplicate is a repeat of what may have been processed, at
        // another target.
        let attempted = Attempted { stage: Stage::Sent, committed: false, key_honoured: false };
        let allowed = self.replay.allows(attempted, Verb::Failover).ok()?;
        if !scene.allowed(scene.route.failover, "failover", verdicts) {
            return None;
        }
        let standings = self.survey(scene, verdicts, self.tier, &self.candidates);
        let equal = |run: &Run, c: &Candidate| c.model == late.candidate.model && run.unused(c.target);
        let open: SmallVec<[(usize, Candidate, Standing); 4]> = self
            .candidates
            .iter()
            .zip(&standings)
            .enumerate()
            .filter(|(_, (c, s))| {
                let elsewhere = equal(self, c) && scene.apart(c.target, late.candidate.target);
                elsewhere && is_full(s, scene.now)
            })
            .map(|(at, (candidate, standing))| (at, *candidate, *standing))
            .collect();
        self.short = Short::default();
        let mut found = None;
        for (at, candidate, standing) in open {
            if !self.affords(scene, &candidate, verdicts) {
                continue;
            }
            let others = self.others_left(scene, (&self.candidates, &standings), candidate.target, &Moved::new());
            if let Fit::Yes(granted) = self.time.attempt(scene.now, self.limit(scene), others)
                && verdicts.take_retry_token(candidate.target, scene.now)
            {
                found = Some((at, candidate, standing, granted));
                break;
            }
        }
        let (at, candidate, standing, granted) = found?;
        let mut passed = SmallVec::new();
        let fresh = |c: &Candidate| equal(self, c);
        passed_over(&self.candidates, &standings, scene.now, (Pass::Strict, at), fresh, &mut passed);
        passed.extend(self.short.passed());
        let how = How {
            action: StepAction::Hedge,
            node: candidate.node,
            admission: Admission::Normal,
            pass: Pass::Strict,
            wait: None,
            standing,
            passed,
        };
        let call = self.call(scene, candidate, granted, how, verdicts).ok()?;
        self.hedged = true;
        self.replay.take(allowed);
        Some(call)
    }
}

impl Scene<'_> {
    /// Whether two targets are two deployments: the same name in the same place under the same account is one, however
    /// often the policy lists it.
    fn apart(&self, one: TargetId, other: TargetId) -> bool {
        let place = |target| {
            let target = self.graph.target(target)?;
            let provider = self.graph.provider(target.provider)?;
            Some((target.provider, &provider.account, &target.upstream, &target.region))
        };
        one != other && place(one) != place(other)
    }
}

/// Whether a target is well and has all its traffic: no trial, no ramp, not slow, whatever its tier tolerates.
fn is_full(standing: &Standing, now: Millis) -> bool {
    select::admits(standing, now, Pass::Strict) == Some(Admission::Normal)
        && standing.health == Health::Healthy
        && standing.ramp == Ramp::Full
}
