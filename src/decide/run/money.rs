//! The money of a request: what its calls cost at worst before they begin, and what they were billed when they have ended.
//!
//! In: a call that is to be made, or has ended. Out: whether the caps of request and day allow it, and its bill. Every
//! call, whatever led to it, comes through `reserve`, and every end of one through `bill`.

use super::Run;
use super::race::Racer;
use super::scene::{Candidate, Scene};
use crate::decide::event::Next;
use crate::decide::spend::{Bill, Billing, cost};
use crate::decide::standing::Verdicts;
use crate::decide::trail::{Outcome, Passed, PassedWhy};
use crate::graph::{Graph, NodeIndex};
use crate::policy::{Beyond, Millis, Money, Refusal, Stage, TargetId, TierId};
use smallvec::SmallVec;

/// Whom the day had too little money for, in this decision.
#[derive(Clone, Debug, Default)]
pub(super) struct Short {
    targets: SmallVec<[TargetId; 2]>,
    /// How long until there is money again; nothing where no day has enough.
    back: Option<Millis>,
}

impl Short {
    fn add(&mut self, target: TargetId, back: Option<Millis>) {
        if !self.targets.contains(&target) {
            self.targets.push(target);
        }
        self.back = self.back.or(back);
    }

    /// As the record says it.
    pub(super) fn passed(&self) -> impl Iterator<Item = Passed> + '_ {
        self.targets.iter().map(|target| Passed::of(*target, PassedWhy::Spend))
    }
}

impl Run {
    /// Whether what is left of the request's cap and of the day's covers a call at its worst. Takes nothing.
    pub(super) fn affords(&mut self, scene: &Scene<'_>, candidate: &Candidate, verdicts: &mut dyn Verdicts) -> bool {
        if let Some(cap) = scene.budget.spend_per_request
            && candidate.worst.is_none_or(|worst| self.spent.plus(worst) > cap)
        {
            return false;
        }
        let Some((worst, cap)) = days(scene, candidate) else { return true };
        let affords = verdicts.affords(worst, cap);
        self.noted(candidate, (worst, cap), affords)
    }

    /// Keeps what a call costs at worst; says whether there is enough. One that is kept is settled by [`Run::bill`].
    pub(super) fn reserve(&mut self, scene: &Scene<'_>, candidate: &Candidate, verdicts: &mut dyn Verdicts) -> bool {
        if !self.affords(scene, candidate, verdicts) {
            return false;
        }
        let Some((worst, cap)) = days(scene, candidate) else { return true };
        let reserved = verdicts.reserve(self.next_attempt(), worst, cap);
        self.noted(candidate, (worst, cap), reserved)
    }

    /// A call for which money was kept was not made after all.
    pub(super) fn give_back(&self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts) {
        if scene.budget.spend_per_day.is_some() {
            verdicts.bill(self.next_attempt(), Money::default());
        }
    }

    /// The number of the attempt that comes next.
    pub(super) fn next_attempt(&self) -> u32 {
        self.tally.attempts.saturating_add(1)
    }

    /// Remembers whom there was too little for; money that no day has comes back with none.
    fn noted(&mut self, of: &Candidate, (worst, cap): (Money, Option<Money>), known: Result<(), Millis>) -> bool {
        if let Err(back) = known {
            self.short.add(of.target, cap.is_none_or(|cap| worst <= cap).then_some(back));
        }
        known.is_ok()
    }

    /// What a call was billed that has come so far: by its usage, nothing where it was not processed, else the worst.
    /// Settles what was kept for it.
    pub(super) fn bill(
        &mut self,
        scene: &Scene<'_>,
        racer: &Racer,
        stage: Option<Stage>,
        verdicts: &mut dyn Verdicts,
    ) -> Option<Bill> {
        let candidate = &racer.candidate;
        let by_usage = racer.usage.and_then(|usage| cost(scene.graph, candidate.target, usage));
        let bill = match (by_usage, stage) {
            (Some(amount), _) => Some(Bill { amount, by: Billing::Usage }),
            (None, Some(Stage::NotSent | Stage::Rejected)) => Some(Bill::NOTHING),
            (None, Some(Stage::Sent | Stage::Headers | Stage::Output) | None) => {
                candidate.worst.map(|amount| Bill { amount, by: Billing::Worst })
            }
        };
        if let (Some((worst, _)), attempt) = (days(scene, candidate), racer.attempt) {
            verdicts.bill(attempt, bill.map_or(worst, |bill| bill.amount));
        }
        bill
    }

    /// What all calls so far were billed; nothing where a price of one of them is not known.
    pub fn billed(&self) -> Option<Money> {
        let calls = self.trail.iter().filter(|step| step.target.is_some());
        let bills = calls.map(|step| step.result.and_then(|result| result.bill).map(|bill| bill.amount));
        bills.reduce(|sum, bill| Some(sum?.plus(bill?))).flatten()
    }

    /// By how much the whole request cost more than its answer would have at the first target of its order, in billionths
    /// of a dollar; below zero where it cost less. Nothing where the first one served, nobody did, or a price or the
    /// tokens are not known.
    pub fn cost_delta(&self, graph: &Graph) -> Option<i64> {
        let (first, usage) = (self.first?, self.counted?);
        let elsewhere = self.outcome == Some(Outcome::Served) && self.target() != Some(first);
        let planned = cost(graph, first, usage).filter(|_| elsewhere)?;
        i64::try_from(i128::from(self.billed()?.0) - i128::from(planned.0)).ok()
    }

    /// What the policy does when the day's money is spent, if that is what stood in the way: another tier's chain, from
    /// which everything is asked from the start, or nothing more.
    pub(super) fn beyond(&mut self, scene: &Scene<'_>) -> Option<Option<TierId>> {
        let day = scene.budget.spend_per_day.filter(|_| !self.short.targets.is_empty())?;
        match day.then {
            Beyond::Use(tier) if !self.went_beyond => {
                self.went_beyond = true;
                Some(Some(tier))
            }
            Beyond::Use(_) | Beyond::Stop => Some(None),
        }
    }

    /// The refusal `spend`: nothing was forwarded, and there is money again when the day is over.
    pub(super) fn refuse_spend(&mut self, scene: &Scene<'_>, node: Option<NodeIndex>) -> Next {
        if let Some(node) = node {
            let passed = self.short.passed().collect();
            self.push_stop(scene, node, passed);
        }
        let back = self.short.back;
        self.refuse(scene, Refusal::Spend, back)
    }
}

/// What a call takes of the day at worst, and the cap that it is held against: none where its chain is the one that is
/// used beyond it. Nothing where the route has no such cap.
fn days(scene: &Scene<'_>, candidate: &Candidate) -> Option<(Money, Option<Money>)> {
    let day = scene.budget.spend_per_day?;
    // Who has no known worst is no candidate under a cap.
    Some((candidate.worst.unwrap_or_default(), candidate.capped.then_some(day.cap)))
}
