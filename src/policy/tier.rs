//! Tiers: which targets, in which order.

use super::contract::Pattern;
use super::guard::Guard;
use super::ids::{TargetId, TierId};
use super::units::{Millis, Percent};
use crate::source::Span;

/// Chains of targets.
#[derive(Clone, Debug)]
pub struct Tier {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its documentation.
    pub docs: Option<String>,
    /// Chains for regions in the order written, then the one for all others.
    pub chains: Vec<Chain>,
    /// Whether a target that is down or open may be asked when nothing else is left.
    pub last_resort: bool,
    /// A latency above this is slow for this tier, whatever the probe's own rules say.
    pub slow_above: Option<Millis>,
    /// How candidates are ordered.
    pub order: Order,
    /// Whether a healthy other model goes before a degraded equivalent.
    pub prefer: Prefer,
    /// Shares of sessions that ask a standby first, so that it stays proven.
    pub exercise: Vec<Exercise>,
    /// How long a session stays where it was last served; absent: no affinity.
    pub affinity: Option<Millis>,
}

/// How candidates are ordered. All but `as-written` re-rank those that nothing speaks against; who stands further back
/// goes ahead only where he wins by a tenth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// As the chain says.
    #[default]
    AsWritten,
    /// By what the request costs at worst.
    Price,
    /// By how long calls took.
    Latency {
        /// From one ranking to the next.
        every: Millis,
    },
    /// By the weighted sum of best-to-own ratios.
    Score {
        /// From one ranking to the next.
        every: Millis,
        /// What each measure counts.
        weights: Weights,
    },
}

/// What each measure counts in a score; together 100%.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Weights {
    /// How long calls took.
    pub latency: Percent,
    /// What the request costs at worst.
    pub price: Percent,
    /// The model's `quality`.
    pub quality: Percent,
}

impl Order {
    /// Who stands further back goes ahead where his measure is at most so many percent of the other's: a smaller difference
    /// is not worth a change of targets.
    pub const WIN_PCT: u128 = 90;
    /// Default of `every`: often enough to follow a bad hour, seldom enough that traffic does not swing.
    pub const EVERY: Millis = Millis(60_000);
    /// From a day on, rankings go by the percentiles of the last fourteen days, and outlive the process.
    pub const LASTING: Millis = Millis(86_400_000);

    /// The word of the language.
    pub fn word(self) -> &'static str {
        match self {
            Order::AsWritten => "as-written",
            Order::Price => "price",
            Order::Latency { .. } => "latency",
            Order::Score { .. } => "score",
        }
    }

    /// From one ranking to the next; absent where nothing is measured.
    pub fn every(self) -> Option<Millis> {
        match self {
            Order::AsWritten | Order::Price => None,
            Order::Latency { every } | Order::Score { every, .. } => Some(every),
        }
    }
}

super::class::words! {
    /// What goes first when an equivalent is degraded.
    Prefer {
        Healthy "healthy" "a healthy other model";
        SameModel "same-model" "the same model, slow as it is";
    }
}

/// `exercise N% of TARGET`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exercise {
    /// The share of sessions.
    pub share: Percent,
    /// Whom they ask first.
    pub target: TargetId,
}

/// Ranks in order.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Request regions it is for; empty: all.
    pub regions: Vec<Pattern>,
    /// Its ranks.
    pub ranks: Vec<Rank>,
    /// The `chain` statement.
    pub span: Span,
}

/// One target of a chain.
#[derive(Clone, Debug)]
pub struct Rank {
    /// The rank as written, from 0. Targets that share one are a split.
    pub place: u16,
    /// Its share of a split; absent where it stands alone in its rank.
    pub share: Option<Percent>,
    /// The target.
    pub target: TargetId,
    /// Its condition.
    pub guard: Option<Guard>,
    /// Where it stands.
    pub span: Span,
}

impl Tier {
    /// The index of the chain for a request's region: the first that matches as written.
    pub fn chain_for(&self, region: Option<&str>) -> Option<usize> {
        self.chains
            .iter()
            .position(|c| c.regions.is_empty() || region.is_some_and(|r| c.regions.iter().any(|p| p.matches(r))))
    }
}

/// A chain of a tier: the tier and the chain's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChainRef {
    /// The tier.
    pub tier: TierId,
    /// Index into its chains.
    pub chain: u16,
}
