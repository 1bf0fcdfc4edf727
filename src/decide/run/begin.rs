//! The first call of a request: the chain in its order, pass by pass, and the first candidate that nothing speaks against.
//!
//! In: a tier. Out: a call, a wait for somebody who returns, or a refusal. Comes back with another tier where the day's
//! money is spent and the policy says to use it. Nothing was called before.

use super::Run;
use super::call::How;
use super::scene::{Moved, Scene, passed_over};
use crate::decide::deadline::Fit;
use crate::decide::event::Next;
use crate::decide::select::{self, Pass};
use crate::decide::standing::Verdicts;
use crate::decide::trail::{Passed, PassedWhy, StepAction};
use crate::policy::{Refusal, TierId};

impl Run {
    pub(super) fn begin(&mut self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts) -> Next {
        self.dropped.clear();
        self.enter(scene, self.tier, verdicts)
    }

    /// Asks a tier's chain from its start.
    fn enter(&mut self, scene: &Scene<'_>, tier: TierId, verdicts: &mut dyn Verdicts) -> Next {
        self.tier = tier;
        self.candidates = scene.candidates(tier, &mut self.dropped);
        scene.draw_splits(tier, &mut self.candidates, verdicts);
        if self.candidates.is_empty() {
            // Somebody is there, only too dear: it is the money that is missing, and there is some again tomorrow.
            if self.went_beyond {
                return self.refuse_spend(scene, None);
            }
            let unmet = self.dropped.iter().any(|passed| matches!(passed.why, PassedWhy::Unmet(_)));
            return self.refuse(scene, if unmet { Refusal::Contract } else { Refusal::NoTarget }, None);
        }
        if self.time.remaining(scene.now) < self.time.min_attempt {
            return self.refuse(scene, Refusal::Deadline, None);
        }
        let mut standings = self.survey(scene, verdicts, tier, &self.candidates);
        scene.arrange(tier, &mut self.candidates, &mut standings, verdicts);
        self.first = self.first.or(self.candidates.first().map(|c| c.target));
        self.short = Default::default();
        let mut moved = Moved::new();
        for pass in Pass::all(scene.last_resort(tier)) {
            loop {
                let candidates = &self.candidates;
                let fresh = |i: usize| candidates.get(i).is_some_and(|c| !moved.contains(&c.target));
                let open = standings.iter().enumerate().filter(|(i, _)| fresh(*i));
                let Some((at, admission)) = select::pick(*pass, open, scene.now, select::LAST_RESORT_INFLIGHT) else {
                    break;
                };
                let (Some(candidate), Some(standing)) = (self.candidates.get(at).copied(), standings.get(at)) else {
                    break;
                };
                let others = self.others_left(scene, (&self.candidates, &standings), candidate.target, &moved);
                let why = match self.time.attempt(scene.now, self.limit(scene), others) {
                    Fit::Yes(granted) => {
                        let mut passed = self.dropped.clone();
                        passed_over(&self.candidates, &standings, scene.now, (*pass, at), |_| true, &mut passed);
                        let how = How {
                            action: StepAction::Call,
                            node: candidate.node,
                            admission,
                            pass: *pass,
                            wait: None,
                            standing: *standing,
                            passed,
                        };
                        match self.call(scene, candidate, granted, how, verdicts) {
                            Ok(call) => return Next::Call(call),
                            Err(why) => why,
                        }
                    }
                    Fit::MoveOn => PassedWhy::Time,
                    Fit::Stop => return self.refuse(scene, Refusal::Deadline, None),
                };
                moved.push(candidate.target);
                self.dropped.push(Passed::of(candidate.target, why));
            }
        }
        match self.beyond(scene) {
            Some(Some(tier)) => return self.enter(scene, tier, verdicts),
            Some(None) => return self.refuse_spend(scene, None),
            None => {}
        }
        let late = self.dropped.iter().any(|passed| passed.why == PassedWhy::Time);
        if !late && let Some(next) = self.rest(scene, select::back_in(standings.iter(), scene.now), None, verdicts) {
            return next;
        }
        let why = if late { Refusal::Deadline } else { Refusal::NoTarget };
        let mut passed = self.dropped.clone();
        passed_over(&self.candidates, &standings, scene.now, (Pass::Relaxed, 0), |_| true, &mut passed);
        self.dropped = passed;
        self.refuse(scene, why, select::return_in(standings.iter(), scene.now))
    }
}
