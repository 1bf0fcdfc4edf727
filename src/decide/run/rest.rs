//! A request that nobody admits waits for the first target that is known to return: `exhausted wait up to D`.
//!
//! In: when somebody returns, and what had failed before, if anything had. Out: one wait for the whole request, after
//! which everything is asked again as if it were new. Never waits for what has no known end, and never past the deadline.

use super::Run;
use super::after::{Around, actions};
use super::checks::fits;
use super::lapse::Lapse;
use super::scene::Scene;
use crate::decide::backoff::spread;
use crate::decide::deadline::Fit;
use crate::decide::event::Next;
use crate::decide::select;
use crate::decide::standing::Verdicts;
use crate::policy::{Action, DicePurpose, Exhausted, FallbackTo, Millis};

/// The one rest of a request.
#[derive(Clone, Debug)]
pub(super) enum Rest {
    /// Not needed so far.
    Untaken,
    /// It goes on.
    Running {
        /// How long it is.
        wait: Millis,
        /// After what; nothing where no call was made.
        lapse: Option<Lapse>,
    },
    /// It is over, and there is no second one.
    Over,
}

impl Run {
    /// Waits until somebody returns, if the route says so and it was not done before.
    pub(super) fn rest(
        &mut self,
        scene: &Scene<'_>,
        back: Option<Millis>,
        lapse: Option<&Lapse>,
        verdicts: &mut dyn Verdicts,
    ) -> Option<Next> {
        let (Exhausted::Wait { up_to }, Rest::Untaken) = (scene.route.exhausted, &self.rest) else { return None };
        let back = back.filter(|back| *back <= up_to)?;
        let fits = |wait: Millis| matches!(self.time.wait(scene.now, wait, false), Fit::Yes(_)).then_some(wait);
        // Those who wait for the same target do not all come back in the same instant, where there is time for that.
        let draw = verdicts.draw(DicePurpose::Backoff, self.tally.attempts);
        let wait = fits(spread(back, draw)).or_else(|| fits(back))?;
        self.rest = Rest::Running { wait, lapse: lapse.cloned() };
        Some(Next::Wait { until: scene.now.plus(wait) })
    }

    /// The rest is over: everything is asked again.
    pub(super) fn rested(&mut self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts) -> Next {
        let Rest::Running { wait, lapse } = std::mem::replace(&mut self.rest, Rest::Over) else { return Next::GoOn };
        self.rested = Some(wait);
        match lapse {
            None => self.begin(scene, verdicts),
            Some(lapse) => self.after(scene, &lapse, verdicts),
        }
    }

    /// How soon somebody is back whom the row would go to.
    pub(super) fn back_in(&self, scene: &Scene<'_>, lapse: &Lapse, around: &Around<'_>) -> Option<Millis> {
        let reached = actions(scene, around.row).map(|(_, action)| action).take_while(|action| !stops(*action));
        let returns = reached.filter_map(|action| {
            let (candidates, standings) = match action {
                Action::Failover if around.may.failover => (&self.candidates, around.standings),
                Action::Fallback(FallbackTo::Tier(tier)) if around.may.fallback => {
                    around.elsewhere.iter().find(|(t, ..)| *t == tier).map(|(_, c, s)| (c, s))?
                }
                Action::Fallback(FallbackTo::OtherModel | FallbackTo::LargerContext) if around.may.fallback => {
                    (&self.candidates, around.standings)
                }
                Action::Failover
                | Action::Fallback(_)
                | Action::NextKey
                | Action::Retry { .. }
                | Action::Wait { .. }
                | Action::Stop { .. } => return None,
            };
            let meant = candidates.iter().zip(standings);
            let meant = meant.filter(|(c, _)| self.unused(c.target) && fits(action, c, &lapse.candidate));
            select::back_in(meant.map(|(_, standing)| standing), scene.now)
        });
        returns.min()
    }
}

fn stops(action: Action) -> bool {
    matches!(action, Action::Stop { .. })
}
