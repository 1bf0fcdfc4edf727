//! Tiers: which targets, in which order.

use super::contract::Pattern;
use super::guard::Guard;
use super::ids::TargetId;
use super::ids::TierId;
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
