//! The decision graph: one petgraph `DiGraph` per policy set, with the policy as its side tables.
//!
//! In: a checked policy and its sources. Out: the graph that runs walk, a map from each node to file and line, and a
//! hash over names. Compiling a checked policy cannot fail. The only module that names petgraph. Nothing here decides.

mod canonical;
mod compile;
pub mod draw;
mod node;

pub use compile::compile;
pub use node::{Edge, Node, Spot};
pub use petgraph::graph::NodeIndex;

use crate::policy::{
    Budget, Contract, Model, ModelId, Policy, Provider, ProviderId, Route, RouteId, Target, TargetId, Tier, TierId,
};
use petgraph::graph::DiGraph;
use petgraph::visit::EdgeRef;
use std::sync::Arc;

/// A compiled policy set. Cheap to clone: everything large is shared.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(super) graph: Arc<DiGraph<Node, Edge>>,
    pub(super) spots: Arc<[Spot]>,
    pub(super) routes: Arc<[NodeIndex]>,
    pub(super) policy: Arc<Policy>,
    pub(super) guard_headers: Arc<[String]>,
    pub(super) hash: Arc<str>,
}

impl Graph {
    /// 64 hex digits over names and values, free of comments, layout, file names and the order of blocks.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The side tables.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The headers that some guard reads, in lower case, each once.
    pub fn guard_headers(&self) -> &[String] {
        &self.guard_headers
    }

    /// What a node is.
    pub fn node(&self, at: NodeIndex) -> Option<&Node> {
        self.graph.node_weight(at)
    }

    /// Where a node was written.
    pub fn spot(&self, at: NodeIndex) -> Option<&Spot> {
        self.spots.get(at.index())
    }

    /// All nodes in order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeIndex, &Node)> {
        self.graph.node_indices().filter_map(|i| self.graph.node_weight(i).map(|n| (i, n)))
    }

    /// The ways out of a node, in the order in which they are asked.
    pub fn ways(&self, from: NodeIndex) -> impl Iterator<Item = (Edge, NodeIndex)> {
        self.graph.edges(from).map(|e| (*e.weight(), e.target()))
    }

    /// The way out of a node that is of this kind.
    pub fn way(&self, from: NodeIndex, edge: Edge) -> Option<NodeIndex> {
        self.ways(from).find(|(e, _)| *e == edge).map(|(_, to)| to)
    }

    /// The node of a route.
    pub fn route_node(&self, route: RouteId) -> Option<NodeIndex> {
        self.routes.get(route.index()).copied()
    }

    /// A route.
    pub fn route(&self, id: RouteId) -> Option<&Route> {
        self.policy.routes.get(id.index())
    }

    /// A target.
    pub fn target(&self, id: TargetId) -> Option<&Target> {
        self.policy.targets.get(id.index())
    }

    /// A model.
    pub fn model(&self, id: ModelId) -> Option<&Model> {
        self.policy.models.get(id.index())
    }

    /// A provider.
    pub fn provider(&self, id: ProviderId) -> Option<&Provider> {
        self.policy.providers.get(id.index())
    }

    /// A tier.
    pub fn tier(&self, id: TierId) -> Option<&Tier> {
        self.policy.tiers.get(id.index())
    }

    /// A route's budget.
    pub fn budget_of(&self, route: &Route) -> Option<&Budget> {
        self.policy.budgets.get(route.budget.index())
    }

    /// A route's contract.
    pub fn contract_of(&self, route: &Route) -> Option<&Contract> {
        route.contract.and_then(|c| self.policy.contracts.get(c.index()))
    }

    /// A target's name; empty for an id of another graph.
    pub fn target_name(&self, id: TargetId) -> &str {
        self.target(id).map_or("", |t| t.name.as_str())
    }

    /// The id of a target's name.
    pub fn target_named(&self, name: &str) -> Option<TargetId> {
        let at = self.policy.targets.binary_search_by(|t| t.name.as_str().cmp(name)).ok()?;
        u16::try_from(at).ok().map(TargetId)
    }
}

#[cfg(test)]
mod tests;
