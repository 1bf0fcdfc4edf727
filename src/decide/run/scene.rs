//! What a step works with, and who may be called at all: the chain for the request's region, less the ranks whose guard
//! does not hold and the targets that the contract drops.

use crate::decide::contract::{self, Need, Offer, Unmet, unmet};
use crate::decide::facts::Facts;
use crate::decide::guard::{View, holds};
use crate::decide::hold::Hold;
use crate::decide::select::{self, Pass};
use crate::decide::standing::Standing;
use crate::decide::trail::{Passed, PassedWhy};
use crate::graph::{Edge, Graph, Node, NodeIndex};
use crate::policy::breaker::BreakerRules;
use crate::policy::tier::ChainRef;
use crate::policy::{
    Beyond, Budget, Class, Dialect, Millis, ModelId, Money, Provider, Rank, Route, RouteId, TargetId, TierId,
};
use smallvec::SmallVec;

/// A target that a request may be sent to: its guard holds and the contract is met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) node: NodeIndex,
    pub(super) target: TargetId,
    pub(super) model: ModelId,
    pub(super) context: u64,
    /// The rank as written; candidates that share one are a split.
    pub(super) place: u16,
    /// Its place in the tier's measured order, where it has one.
    pub(super) ranked: u16,
    /// The latency by which it has that place, in milliseconds; [`Candidate::UNKNOWN`] where there is none. As small as it
    /// is, it fits where a candidate had room.
    pub(super) took: u32,
    /// What a call costs at worst; nothing where a price is not known.
    pub(super) worst: Option<Money>,
    /// Whether the day's cap bounds it: not where its chain is the one that is used beyond the cap.
    pub(super) capped: bool,
}

impl Candidate {
    /// No latency is known.
    pub(super) const UNKNOWN: u32 = u32::MAX;

    /// The latency by which it was ranked.
    pub(super) fn latency(&self) -> Option<Millis> {
        (self.took != Candidate::UNKNOWN).then(|| Millis(u64::from(self.took)))
    }
}

/// Candidates of one chain; eight of them need no allocation.
pub(super) type Candidates = SmallVec<[Candidate; 8]>;
/// How the candidates stand, in the same order.
pub(super) type Standings = SmallVec<[Standing; 8]>;

/// What a step works with: everything that does not change while a request runs.
pub(super) struct Scene<'a> {
    pub(super) graph: &'a Graph,
    pub(super) id: RouteId,
    pub(super) facts: &'a Facts,
    pub(super) route: &'a Route,
    pub(super) budget: &'a Budget,
    pub(super) now: Millis,
}

impl Scene<'_> {
    /// The candidates of a tier's chain for this request, and who was dropped by the contract.
    pub(super) fn candidates(&self, tier: TierId, dropped: &mut SmallVec<[Passed; 4]>) -> Candidates {
        let mut candidates = Candidates::new();
        let need =
            self.graph.contract_of(self.route).map_or_else(Need::default, Need::of_contract).sharpened(self.facts);
        let Some(tier_at) = self.tier_node(tier) else { return candidates };
        let region = self.facts.region.as_deref();
        for (edge, chain) in self.graph.ways(tier_at) {
            let Some(Node::Chain(reference)) = self.graph.node(chain) else { continue };
            let chosen = self.graph.tier(tier).and_then(|t| t.chain_for(region));
            if edge != Edge::Region || chosen != Some(usize::from(reference.chain)) {
                continue;
            }
            for (_, rank) in self.graph.ways(chain) {
                if let Some(candidate) = self.candidate(rank, &need, dropped)
                    && candidates.iter().all(|c| c.target != candidate.target)
                {
                    candidates.push(candidate);
                }
            }
        }
        candidates
    }

    fn candidate(&self, node: NodeIndex, need: &Need<'_>, dropped: &mut SmallVec<[Passed; 4]>) -> Option<Candidate> {
        let Some(Node::Rank { chain, rank, target }) = self.graph.node(node) else { return None };
        let (chain, rank, target) = (*chain, *rank, *target);
        // A pin narrows: the one target alone, and only where the request could have been sent without it.
        let pinned_elsewhere = self.facts.pin.is_some_and(|pin| pin != target);
        let guard = self.rank(chain, rank)?.guard.as_ref();
        if pinned_elsewhere || !holds(guard, View { facts: self.facts, failed: None }) {
            return None;
        }
        let stated = self.graph.target(target)?;
        let model = self.graph.model(stated.model)?;
        // Whether it meets the contract is not told by what is noted: the chain of another tier may have noted it before.
        let mut met = true;
        let mut note = |clause| {
            met = false;
            let passed = Passed::of(target, PassedWhy::Unmet(clause));
            if !dropped.contains(&passed) {
                dropped.push(passed);
            }
        };
        let dialect = self.graph.provider(stated.provider).map_or(Dialect::Chat, |p| p.api.dialect());
        unmet(need, &Offer::of(stated, &model.capabilities, dialect), &mut note);
        let worst = self.worst(target);
        // A single call above the cap could never be made, whatever else happens, nor one of which nobody knows the worst.
        let price = match (worst, self.budget.spend_per_request) {
            (None, cap) => (cap.is_some() || self.budget.spend_per_day.is_some()).then_some(Unmet::UnknownPrice),
            (Some(worst), cap) => cap.filter(|cap| worst > *cap).map(|_| Unmet::Cost),
        };
        if let Some(clause) = price {
            note(clause);
        }
        let capped = self.budget.spend_per_day.is_some_and(|day| day.then != Beyond::Use(chain.tier));
        let place = self.rank(chain, rank).map_or(0, |r| r.place);
        met.then_some(Candidate {
            node,
            target,
            model: stated.model,
            context: model.capabilities.context.unwrap_or(0),
            place,
            ranked: 0,
            took: Candidate::UNKNOWN,
            worst,
            capped,
        })
    }

    pub(super) fn rank(&self, chain: ChainRef, rank: u16) -> Option<&Rank> {
        self.graph.tier(chain.tier)?.chains.get(usize::from(chain.chain))?.ranks.get(usize::from(rank))
    }

    /// Input and the whole output asked for (or, where none is, the most the model gives), at the target's prices.
    fn worst(&self, target: TargetId) -> Option<Money> {
        let target = self.graph.target(target)?;
        let model = self.graph.model(target.model)?;
        let prices = contract::prices(target, &model.capabilities);
        let output = self.facts.max_output.or(model.capabilities.max_output)?;
        let output = output.saturating_mul(self.facts.choices);
        Some(prices.input?.of(self.facts.tokens).plus(prices.output?.of(output)))
    }

    fn tier_node(&self, tier: TierId) -> Option<NodeIndex> {
        if tier == self.route.tier {
            return self.graph.way(self.graph.route_node(self.id)?, Edge::Serves);
        }
        self.graph.nodes().find(|(_, n)| **n == Node::Tier(tier)).map(|(i, _)| i)
    }

    /// The breaker of a target's provider.
    pub(super) fn breaker(&self, target: TargetId) -> BreakerRules {
        let provider = self.graph.target(target).and_then(|t| self.graph.provider(t.provider));
        provider.map_or_else(BreakerRules::default, |p| p.breaker)
    }

    /// How long a connection to a target may take.
    pub(super) fn timeout_connect(&self, target: TargetId) -> Millis {
        let provider = self.graph.target(target).and_then(|t| self.graph.provider(t.provider));
        provider.map_or(Provider::TIMEOUT_CONNECT, |p| p.timeout_connect)
    }

    /// Until when a failure of this class holds what it speaks for.
    pub(super) fn hold_until(&self, target: TargetId, class: Class, hint: Option<Millis>) -> Option<Millis> {
        let rule = self.breaker(target).holds.of(class)?;
        let wait = hint.filter(|h| *h > Millis::ZERO).or(rule.default)?;
        let mut held = Hold::default();
        held.extend(self.now, wait, rule.cap);
        Some(held.until)
    }

    pub(super) fn last_resort(&self, tier: TierId) -> bool {
        self.graph.tier(tier).is_some_and(|t| t.last_resort)
    }
}

/// Notes who was passed over in pass 1 on the way to the one chosen: all that were looked at.
pub(super) fn passed_over(
    candidates: &Candidates,
    standings: &Standings,
    now: Millis,
    chosen: (Pass, usize),
    eligible: impl Fn(&Candidate) -> bool,
    into: &mut SmallVec<[Passed; 4]>,
) {
    let (pass, at) = chosen;
    for (i, (candidate, standing)) in candidates.iter().zip(standings).enumerate() {
        if pass == Pass::Strict && i >= at {
            break;
        }
        if eligible(candidate)
            && let Some(reason) = select::reason(standing, now)
        {
            let (target, why) = (candidate.target, PassedWhy::Reason(reason));
            into.push(Passed { target, why, regional: standing.regional && reason.is_of_failing() });
        }
    }
}

/// Targets that were just passed over for this decision alone: for want of time, or taken from under the request.
pub(super) type Moved = SmallVec<[TargetId; 4]>;
