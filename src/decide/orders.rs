//! Measured orders: which target of a chain goes before which, ranked anew from time to time.
//!
//! In: the time, and, where a ranking is due, what is measured of each target. Out: each target's place, and the latency
//! by which it has it. Between two rankings nothing moves, and who is ahead stays there until another wins by a tenth. No
//! clock, no lock, and no room that grows.

use super::baselines::Kind;
use super::contract::prices;
use super::order::{Best, Measures, beats, outscores, rearrange};
use crate::graph::Graph;
use crate::policy::tier::ChainRef;
use crate::policy::{Millis, Money, Order, Percent, TargetId};
use serde::{Deserialize, Serialize};

/// A question's instant on both clocks. Rankings that outlive the process go by wall time, the others do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instant {
    /// On the monotonic clock.
    pub now: Millis,
    /// Milliseconds since 1970.
    pub wall_ms: u64,
}

/// Where a target stands in its chain's ranking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranked {
    /// Its place, from 0.
    pub place: u16,
    /// What its latency was when the ranking was made.
    pub latency: Option<Millis>,
}

/// What is measured of targets.
pub trait Measured {
    /// The moving average of its latencies.
    fn average(&mut self, target: TargetId, kind: Kind) -> Option<Millis>;

    /// The p50 of its calls of the last fourteen days.
    fn typical(&mut self, target: TargetId, kind: Kind, wall_ms: u64) -> Option<Millis>;
}

#[derive(Clone, Debug)]
struct Member {
    target: TargetId,
    name: String,
    latency: Option<Millis>,
    cost: Option<Money>,
    quality: Option<Percent>,
}

impl Member {
    fn measures(&self) -> Measures {
        Measures { latency: self.latency, cost: self.cost, quality: self.quality }
    }
}

/// A chain's targets in their present order, for one kind of answers.
#[derive(Clone, Debug)]
struct Ranking {
    /// When it was made; none before the first.
    at_ms: Option<u64>,
    members: Vec<Member>,
}

impl Ranking {
    /// A clock that was set back makes it due as well: it would else stand still for as long as it was wrong.
    fn is_due(&self, every: Millis, at_ms: u64) -> bool {
        self.at_ms.is_none_or(|last| at_ms < last || at_ms - last >= every.0)
    }

    fn rank(&mut self, order: Order, latency: impl FnMut(TargetId) -> Option<Millis>) {
        let mut latency = latency;
        for member in &mut self.members {
            member.latency = latency(member.target);
        }
        match order {
            Order::AsWritten | Order::Price => {}
            Order::Latency { .. } => {
                let ms = |member: &Member| member.latency.map(|latency| latency.0);
                rearrange(&mut self.members, |own, other| beats(ms(own), ms(other)));
            }
            Order::Score { weights, .. } => {
                let best = Best::of(self.members.iter().map(Member::measures));
                let wins = |own: &Member, other: &Member| outscores(own.measures(), other.measures(), best, weights);
                rearrange(&mut self.members, wins);
            }
        }
    }

    /// Goes on from another ranking of targets with the same names; those that it does not know come last.
    fn take_over(&mut self, other: &[(String, Option<Millis>)], at_ms: u64) {
        if other.iter().all(|(_, latency)| latency.is_none()) {
            return;
        }
        self.at_ms = Some(at_ms);
        let place = |name: &str| other.iter().position(|(known, _)| known == name);
        self.members.sort_by_key(|member| place(&member.name).unwrap_or(usize::MAX));
        for member in &mut self.members {
            member.latency = place(&member.name).and_then(|at| other.get(at)?.1);
        }
    }

    fn known(&self) -> Vec<(String, Option<Millis>)> {
        self.members.iter().map(|member| (member.name.clone(), member.latency)).collect()
    }
}

/// One chain of a tier that is ordered by what is measured.
#[derive(Clone, Debug)]
struct Ordered {
    chain: ChainRef,
    tier: String,
    order: Order,
    /// For streams, and for whole answers.
    rankings: [Ranking; 2],
}

/// The measured orders of a policy; empty where no tier has one.
#[derive(Clone, Debug, Default)]
pub struct Orders(Vec<Ordered>);

/// A ranking as it is kept over restarts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRanking {
    tier: String,
    /// Which of the tier's chains, from 0.
    chain: u16,
    kind: Kind,
    /// `latency` or `score`.
    order: String,
    every_ms: u64,
    at_ms: u64,
    /// The targets in order, with the latency that each was ranked by.
    targets: Vec<(String, Option<u64>)>,
}

/// The request that a score's prices are compared for while nobody asks: as large as a test's.
const NOMINAL: (u64, u64) = (1_000, 500);

impl Orders {
    /// The orders of a graph, all as written.
    pub fn of_graph(graph: &Graph) -> Orders {
        let mut all = Vec::new();
        for (id, tier) in (0u16..).map(crate::policy::TierId).zip(&graph.policy().tiers) {
            if tier.order.every().is_none() {
                continue;
            }
            for (at, chain) in (0u16..).zip(&tier.chains) {
                let members = chain.ranks.iter().filter_map(|rank| member(graph, rank.target)).collect();
                let ranking = Ranking { at_ms: None, members };
                let chain = ChainRef { tier: id, chain: at };
                let rankings = [ranking.clone(), ranking];
                all.push(Ordered { chain, tier: tier.name.clone(), order: tier.order, rankings });
            }
        }
        Orders(all)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Goes on from the orders of another policy, by the names of tiers and targets, where the order is the same.
    pub fn take_over(&mut self, other: &Orders) {
        for own in &mut self.0 {
            let same = |o: &&Ordered| o.tier == own.tier && o.chain.chain == own.chain.chain && o.order == own.order;
            let Some(theirs) = other.0.iter().find(same) else { continue };
            for (ranking, theirs) in own.rankings.iter_mut().zip(&theirs.rankings) {
                if let Some(at_ms) = theirs.at_ms {
                    ranking.take_over(&theirs.known(), at_ms);
                }
            }
        }
    }

    /// Where a target stands. A ranking that is due is made first: whoever asks next is told the same. Says beside it
    /// whether one was made that outlives the process.
    pub fn ranked(
        &mut self,
        chain: ChainRef,
        target: TargetId,
        stream: bool,
        at: Instant,
        measured: &mut dyn Measured,
    ) -> (Ranked, bool) {
        let Some(ordered) = self.0.iter_mut().find(|ordered| ordered.chain == chain) else {
            return (Ranked::default(), false);
        };
        let Some(every) = ordered.order.every() else { return (Ranked::default(), false) };
        let [streams, wholes] = &mut ordered.rankings;
        let (ranking, kind) = if stream { (streams, Kind::Stream) } else { (wholes, Kind::Whole) };
        let lasting = is_lasting(every);
        let at_ms = if lasting { at.wall_ms } else { at.now.0 };
        let due = ranking.is_due(every, at_ms);
        if due {
            ranking.at_ms = Some(at_ms);
            ranking.rank(ordered.order, |target| {
                if lasting { measured.typical(target, kind, at.wall_ms) } else { measured.average(target, kind) }
            });
        }
        let found = ranking.members.iter().position(|member| member.target == target);
        let place = found.and_then(|place| u16::try_from(place).ok()).unwrap_or(u16::MAX);
        let latency = found.and_then(|place| ranking.members.get(place)?.latency);
        (Ranked { place, latency }, due && lasting)
    }

    /// Where all targets stand, for those who look from outside: tier, chain (from 1), kind and target, and the place from 1.
    pub fn places(&self) -> Vec<([String; 4], u16)> {
        let mut all = Vec::new();
        for ordered in &self.0 {
            let chain = ordered.chain.chain.saturating_add(1).to_string();
            for (ranking, kind) in ordered.rankings.iter().zip([Kind::Stream, Kind::Whole]) {
                for (place, member) in (1u16..).zip(&ranking.members) {
                    let labels = [ordered.tier.as_str(), &chain, kind.word(), &member.name];
                    all.push((labels.map(str::to_owned), place));
                }
            }
        }
        all
    }

    /// The rankings that outlive the process, as they are kept.
    pub fn kept(&self) -> Vec<KeptRanking> {
        let mut all = Vec::new();
        for ordered in &self.0 {
            let Some(every) = ordered.order.every().filter(|every| is_lasting(*every)) else { continue };
            for (ranking, kind) in ordered.rankings.iter().zip([Kind::Stream, Kind::Whole]) {
                let Some(at_ms) = ranking.at_ms else { continue };
                let targets = ranking.known().into_iter().map(|(name, latency)| (name, latency.map(|l| l.0)));
                all.push(KeptRanking {
                    tier: ordered.tier.clone(),
                    chain: ordered.chain.chain,
                    kind,
                    order: ordered.order.word().to_owned(),
                    every_ms: every.0,
                    at_ms,
                    targets: targets.collect(),
                });
            }
        }
        all
    }

    /// Goes on from rankings that were kept, where the order is the same.
    pub fn restore(&mut self, kept: &[KeptRanking]) {
        for ordered in &mut self.0 {
            let Some(every) = ordered.order.every().filter(|every| is_lasting(*every)) else { continue };
            for (ranking, kind) in ordered.rankings.iter_mut().zip([Kind::Stream, Kind::Whole]) {
                let same = |k: &&KeptRanking| {
                    (k.tier.as_str(), k.chain, k.kind) == (ordered.tier.as_str(), ordered.chain.chain, kind)
                        && (k.order.as_str(), k.every_ms) == (ordered.order.word(), every.0)
                };
                if let Some(kept) = kept.iter().find(same) {
                    let known: Vec<_> = kept.targets.iter().map(|(name, ms)| (name.clone(), ms.map(Millis))).collect();
                    ranking.take_over(&known, kept.at_ms);
                }
            }
        }
    }
}

/// From a day on an order goes by percentiles and wall time: a moving average has long forgotten what was that day.
fn is_lasting(every: Millis) -> bool {
    every >= Order::LASTING
}

fn member(graph: &Graph, id: TargetId) -> Option<Member> {
    let target = graph.target(id)?;
    let capabilities = &graph.model(target.model)?.capabilities;
    let prices = prices(target, capabilities);
    let (input, output) = NOMINAL;
    let cost = prices.input.zip(prices.output).map(|(i, o)| i.of(input).plus(o.of(output)));
    Some(Member { target: id, name: target.name.clone(), latency: None, cost, quality: capabilities.quality })
}

#[cfg(test)]
mod tests;
