//! What serves: a policy and everything that its calls need, exchanged as one.
//!
//! In: a compiled policy, the outside world, and what served before. Out: a `Serving`, or why the policy cannot serve
//! here. A request takes one when it arrives and keeps it to its end.

use super::live::Live;
use super::upstream::endpoint::Outside;
use super::upstream::{Fleet, Unresolved, Upstream};
use crate::graph::Graph;
use std::sync::Arc;

/// What tells this gateway's draws of open times from another's. One process is one gateway; the number of the process
/// is as good as any name.
static INSTANCE: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| std::process::id().to_string());

/// A policy that serves.
pub struct Serving {
    graph: Graph,
    /// Its providers.
    pub fleet: Fleet,
    /// What is known of its targets.
    pub live: Live,
    /// Since when, in milliseconds of wall time since 1970.
    pub loaded_at_ms: u64,
}

impl Serving {
    /// Makes a policy ready to serve. Providers that did not change keep the connections that `before` had.
    ///
    /// # Errors
    /// When a provider needs something from outside the policy that is not there.
    pub fn build(
        graph: Graph,
        outside: &dyn Outside,
        emulated: &Arc<dyn Upstream>,
        before: Option<&Serving>,
        loaded_at_ms: u64,
    ) -> Result<Serving, Unresolved> {
        let fleet = Fleet::fit(&graph.policy().providers, outside, emulated, before.map(|s| &s.fleet))?;
        let live = Live::fit(&graph, &INSTANCE, before.map(|s| &s.live));
        Ok(Serving { graph, fleet, live, loaded_at_ms })
    }

    /// The policy's graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }
}
