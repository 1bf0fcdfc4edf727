//! What ledgers are made from: targets as plain descriptions, free of ids, so that those of two policies compare.

use crate::decide::width::Site;
use crate::policy::breaker::{BreakerRules, BreakerScope, Capability};
use crate::policy::probe::{ProbeRules, Seed};
use crate::policy::{Millis, RampRules, RetryRatio};

/// One target, as far as its ledgers are concerned. Whether it is switched on is not: that needs no memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSpec {
    /// Its name.
    pub name: String,
    /// Its provider's name.
    pub provider: String,
    /// Its provider's account.
    pub account: String,
    /// The model's name at the provider. Two names there are two models, whatever the policy calls them: one may be
    /// retired, or at its limit, without the other.
    pub upstream: String,
    /// Where it is.
    pub region: Option<String>,
    /// How many keys its provider has; from two on they are a pool.
    pub keys: u16,
    /// Most calls in flight.
    pub max_concurrent: Option<u32>,
    /// The number of its recoveries, where instances share one; else 0.
    pub epoch: u64,
    /// Its provider's breaker.
    pub breaker: BreakerRules,
    /// Its probe; none: it counts as healthy.
    pub probe: Option<ProbeRules>,
    /// What is slow for tiers that say so themselves, each once, in order.
    pub slow_above: Vec<Millis>,
    /// The baseline it states.
    pub seed: Option<Seed>,
    /// Its ramp; without stages it is full at once.
    pub ramp: RampRules,
    /// Whether its pace is kept: some budget hedges.
    pub paced: bool,
    /// Its retry bucket.
    pub retry: RetryRatio,
}

impl TargetSpec {
    /// A target with the language's defaults, at a provider of its own account.
    pub fn plain(name: impl Into<String>, provider: impl Into<String>) -> TargetSpec {
        let (name, provider) = (name.into(), provider.into());
        TargetSpec {
            upstream: name.clone(),
            account: provider.clone(),
            name,
            provider,
            region: None,
            keys: 1,
            max_concurrent: None,
            epoch: 0,
            breaker: BreakerRules::default(),
            probe: None,
            slow_above: Vec::new(),
            seed: None,
            ramp: RampRules::default(),
            paced: false,
            retry: RetryRatio::default(),
        }
    }

    /// The key of its breaker at this scope; for `capability`, see [`TargetSpec::capability_key`].
    pub fn key(&self, scope: BreakerScope) -> String {
        let TargetSpec { name, provider, account, upstream, .. } = self;
        match scope {
            BreakerScope::Account => format!("account={account}"),
            BreakerScope::Region => format!("provider={provider};region={}", self.region.as_deref().unwrap_or("")),
            BreakerScope::Model => format!("provider={provider};account={account};model={upstream}"),
            BreakerScope::Target | BreakerScope::Capability => format!("target={name}"),
        }
    }

    /// The key of the breaker of one capability.
    pub fn capability_key(&self, capability: Capability) -> String {
        format!("target={};capability={capability}", self.name)
    }

    pub(in crate::decide) fn site(&self) -> Site<'_> {
        Site {
            target: &self.name,
            provider: &self.provider,
            account: &self.account,
            upstream: &self.upstream,
            region: self.region.as_deref(),
        }
    }
}

/// Targets that share breakers or holds, directly or through others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSpec {
    /// They, sorted by name.
    pub targets: Vec<TargetSpec>,
    /// The longest time that any attempt is granted.
    pub attempt: Millis,
    /// What tells this gateway from others; draws only.
    pub instance: String,
}
