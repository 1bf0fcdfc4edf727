//! The order in which candidates are asked: splits, prices, equivalents, a standby's exercise, a session's home.
//!
//! The chain as written comes first; each word of the tier changes it in one way, and a word that is not used changes
//! nothing and costs nothing.

use super::scene::{Candidate, Candidates, Scene, Standings};
use crate::decide::order::{Best, Measures, beats, outscores};
use crate::decide::select::{self, Pass};
use crate::decide::standing::{Health, Verdicts};
use crate::graph::Node;
use crate::policy::{DicePurpose, Millis, Order, Percent, Prefer, TargetId, Tier, TierId};

impl Scene<'_> {
    /// Draws each split of the chain: whoever is drawn comes first in his rank, the others after him as written.
    pub(super) fn draw_splits(&self, tier: TierId, candidates: &mut Candidates, verdicts: &mut dyn Verdicts) {
        let Some(tier) = self.graph.tier(tier) else { return };
        let mut start = 0;
        while let Some(first) = candidates.get(start).copied() {
            let len = candidates.iter().skip(start).take_while(|c| c.place == first.place).count().max(1);
            if let Some(drawn) = self.drawn(tier, first, verdicts)
                && let Some(group) = candidates.get_mut(start..start + len)
                && let Some(at) = group.iter().position(|c| c.target == drawn)
                && let Some(ahead) = group.get_mut(..=at)
            {
                ahead.rotate_right(1);
            }
            start += len;
        }
    }

    /// Who is drawn in a candidate's rank; nothing where it is no split. Every target of the rank keeps its share, also
    /// one that this request cannot use, so that no session changes sides because of what it asks.
    fn drawn(&self, tier: &Tier, candidate: Candidate, verdicts: &mut dyn Verdicts) -> Option<TargetId> {
        let Some(Node::Rank { chain, rank, .. }) = self.graph.node(candidate.node) else { return None };
        self.rank(*chain, *rank)?.share?;
        let draw = verdicts.share(DicePurpose::Split, &tier.name);
        let ranks = &tier.chains.get(usize::from(chain.chain))?.ranks;
        let mut upto = Percent::NONE;
        for rank in ranks.iter().filter(|r| r.place == candidate.place) {
            upto = Percent(upto.0.saturating_add(rank.share?.0));
            if upto.takes(draw) {
                return Some(rank.target);
            }
        }
        None
    }

    /// Orders candidates that have been asked how they stand, and their standings with them.
    pub(super) fn arrange(
        &self,
        tier: TierId,
        candidates: &mut Candidates,
        standings: &mut Standings,
        verdicts: &mut dyn Verdicts,
    ) {
        let id = tier;
        let Some(tier) = self.graph.tier(id) else { return };
        match tier.order {
            Order::AsWritten => {}
            Order::Price => {
                let nano = |c: &Candidate| c.worst.map(|worst| worst.0);
                reorder(self.now, candidates, standings, |own, other| beats(nano(own), nano(other)));
            }
            Order::Latency { .. } => self.by_rank(candidates, standings, verdicts),
            Order::Score { weights, .. } => {
                self.by_rank(candidates, standings, verdicts);
                // What this request costs may be another matter than what requests cost.
                let open = candidates.iter().zip(&*standings).filter(|(_, s)| select::reason(s, self.now).is_none());
                let best = Best::of(open.map(|(c, _)| self.measures(c)));
                let wins = |own: &Candidate, other: &Candidate| {
                    outscores(self.measures(own), self.measures(other), best, weights)
                };
                reorder(self.now, candidates, standings, wins);
            }
        }
        match tier.prefer {
            Prefer::Healthy => {}
            Prefer::SameModel => tolerate(candidates, standings),
        }
        if self.facts.pin.is_some() {
            return;
        }
        for exercise in &tier.exercise {
            let name = self.graph.target_name(exercise.target);
            if exercise.share.takes(verdicts.share(DicePurpose::Exercise, name)) {
                self.ahead(exercise.target, candidates, standings);
            }
        }
        if let Some(idle) = tier.affinity
            && let Some(home) = verdicts.home(id, idle, self.now)
        {
            self.ahead(home, candidates, standings);
        }
    }

    /// As the chain's ranking has it.
    fn by_rank(&self, candidates: &mut Candidates, standings: &mut Standings, verdicts: &mut dyn Verdicts) {
        for candidate in candidates.iter_mut() {
            let Some(Node::Rank { chain, .. }) = self.graph.node(candidate.node) else { continue };
            let ranked = verdicts.ranked(*chain, candidate.target, self.facts.stream, self.now);
            candidate.ranked = ranked.place;
            candidate.took = ranked
                .latency
                .map_or(Candidate::UNKNOWN, |took| u32::try_from(took.0).unwrap_or(Candidate::UNKNOWN - 1));
        }
        reorder(self.now, candidates, standings, |own, other| own.ranked < other.ranked);
    }

    fn measures(&self, candidate: &Candidate) -> Measures {
        let quality = self.graph.model(candidate.model).and_then(|model| model.capabilities.quality);
        Measures { latency: candidate.latency(), cost: candidate.worst, quality }
    }

    /// Whether a switch of the route allows this session: all, none, or a canary share of sessions.
    pub(super) fn allowed(&self, share: Percent, what: &str, verdicts: &mut dyn Verdicts) -> bool {
        match share {
            Percent::ALL => true,
            Percent::NONE => false,
            share => share.takes(verdicts.share(DicePurpose::Canary, what)),
        }
    }

    /// Puts a target first, if pass 1 admits it.
    fn ahead(&self, target: TargetId, candidates: &mut Candidates, standings: &mut Standings) {
        let Some(at) = candidates.iter().position(|c| c.target == target) else { return };
        if standings.get(at).is_some_and(|s| select::admits(s, self.now, Pass::Strict).is_some()) {
            to_front(candidates, standings, 0, at);
        }
    }
}

/// Moves the pair at `at` to `front`, those between one back.
fn to_front(candidates: &mut Candidates, standings: &mut Standings, front: usize, at: usize) {
    if let Some(pairs) = candidates.get_mut(front..=at) {
        pairs.rotate_right(1);
    }
    if let Some(pairs) = standings.get_mut(front..=at) {
        pairs.rotate_right(1);
    }
}

/// Puts each of those that nothing speaks against before the first of them that it wins against.
fn reorder(
    now: Millis,
    candidates: &mut Candidates,
    standings: &mut Standings,
    wins: impl Fn(&Candidate, &Candidate) -> bool,
) {
    for at in 1..candidates.len() {
        let Some(own) = candidates.get(at).copied() else { return };
        if standings.get(at).is_none_or(|s| select::reason(s, now).is_some()) {
            continue;
        }
        let worse = |(c, s): (&Candidate, _)| select::reason(s, now).is_none() && wins(&own, c);
        if let Some(front) = candidates.iter().zip(&*standings).take(at).position(worse) {
            to_front(candidates, standings, front, at);
        }
    }
}

/// Being degraded bars nobody, and puts a target behind its healthy equivalents.
fn tolerate(candidates: &mut Candidates, standings: &mut Standings) {
    for standing in standings.iter_mut() {
        standing.tolerated = true;
    }
    // From the back: each degraded target goes behind the last healthy one of its model.
    for at in (0..candidates.len()).rev() {
        let (Some(own), Some(standing)) = (candidates.get(at).copied(), standings.get(at)) else { return };
        if standing.health != Health::Degraded {
            continue;
        }
        let healthy =
            |(c, s): (&Candidate, &crate::decide::Standing)| c.model == own.model && s.health != Health::Degraded;
        if let Some(last) = candidates.iter().zip(&*standings).skip(at + 1).rposition(healthy).map(|i| i + at + 1) {
            if let Some(pairs) = candidates.get_mut(at..=last) {
                pairs.rotate_left(1);
            }
            if let Some(pairs) = standings.get_mut(at..=last) {
                pairs.rotate_left(1);
            }
        }
    }
}
