//! From a checked policy to the graph. Nodes are added in the order of names, so indices do not depend on files, layout
//! or the order of blocks.

use super::node::{Edge, Node, Spot};
use super::{Graph, NodeIndex, canonical};
use crate::policy::tier::ChainRef;
use crate::policy::{Action, Fact, FallbackTo, Guard, MatrixId, Policy, RouteId, TierId};
use crate::source::{Sources, Span};
use petgraph::graph::DiGraph;
use std::sync::Arc;

/// Compiles a policy that `check` found without errors. `ready` is the one place that does so.
pub fn compile(policy: &Policy, sources: &Sources) -> Graph {
    let mut builder = Builder { graph: DiGraph::new(), spots: Vec::new(), edges: Vec::new(), sources };
    let routes: Vec<NodeIndex> = ids(&policy.routes)
        .map(|(i, r)| builder.add(Node::Route(RouteId(i)), format!("route {}", r.name), r.span))
        .collect();
    let tiers: Vec<NodeIndex> = ids(&policy.tiers).map(|(i, _)| builder.tier(policy, TierId(i))).collect();
    let matrices: Vec<NodeIndex> =
        ids(&policy.matrices).map(|(i, _)| builder.matrix(policy, MatrixId(i), &tiers)).collect();
    for (node, route) in routes.iter().zip(&policy.routes) {
        builder.connect(*node, Edge::Serves, tiers.get(route.tier.index()));
        builder.connect(*node, Edge::Fails, matrices.get(route.matrix.index()));
    }
    builder.finish(policy, routes)
}

/// A list with ids; a set never holds more than 65 536 of a kind, which `check` makes sure of.
fn ids<T>(list: &[T]) -> impl Iterator<Item = (u16, &T)> {
    (0..=u16::MAX).zip(list)
}

struct Builder<'a> {
    graph: DiGraph<Node, Edge>,
    spots: Vec<Spot>,
    edges: Vec<(NodeIndex, Edge, NodeIndex)>,
    sources: &'a Sources,
}

impl Builder<'_> {
    fn add(&mut self, node: Node, name: String, span: Span) -> NodeIndex {
        let (file, place) = self.sources.locate(span);
        self.spots.push(Spot { name: name.into(), file: file.into(), line: place.line });
        self.graph.add_node(node)
    }

    fn connect(&mut self, from: NodeIndex, edge: Edge, to: Option<&NodeIndex>) {
        if let Some(to) = to {
            self.edges.push((from, edge, *to));
        }
    }

    fn tier(&mut self, policy: &Policy, id: TierId) -> NodeIndex {
        let Some(tier) = policy.tiers.get(id.index()) else { return NodeIndex::end() };
        let node = self.add(Node::Tier(id), format!("tier {}", tier.name), tier.span);
        for (c, chain) in ids(&tier.chains) {
            let reference = ChainRef { tier: id, chain: c };
            let regions = chain.regions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let place = if regions.is_empty() { String::new() } else { format!(" in [{regions}]") };
            let name = format!("tier {} / chain{place}", tier.name);
            let chain_node = self.add(Node::Chain(reference), name, chain.span);
            self.connect(node, Edge::Region, Some(&chain_node));
            for (r, rank) in ids(&chain.ranks) {
                let target = policy.targets.get(rank.target.index()).map_or("", |t| t.name.as_str());
                let name = format!("tier {}{place} / {target}", tier.name);
                let rank_node = Node::Rank { chain: reference, rank: r, target: rank.target };
                let rank_node = self.add(rank_node, name, rank.span);
                self.connect(chain_node, Edge::Next, Some(&rank_node));
            }
        }
        node
    }

    fn matrix(&mut self, policy: &Policy, id: MatrixId, tiers: &[NodeIndex]) -> NodeIndex {
        let Some(matrix) = policy.matrices.get(id.index()) else { return NodeIndex::end() };
        let node = self.add(Node::Matrix(id), format!("matrix {}", matrix.name), matrix.span);
        for (r, row) in ids(&matrix.rows) {
            let name = format!("matrix {} / {}", matrix.name, row.text);
            let row_node = self.add(Node::Row { matrix: id, row: r }, name.clone(), row.span);
            self.connect(node, Edge::On, Some(&row_node));
            for step in &row.actions {
                let action = Node::Action { matrix: id, row: r, action: step.action };
                let action_node = self.add(action, format!("{name} / {}", step.action.verb()), step.span);
                self.connect(row_node, Edge::Then, Some(&action_node));
                if let Action::Fallback(FallbackTo::Tier(tier)) = step.action {
                    self.connect(action_node, Edge::To, tiers.get(tier.index()));
                }
            }
        }
        node
    }

    fn finish(mut self, policy: &Policy, routes: Vec<NodeIndex>) -> Graph {
        // WHY reversed: petgraph hands out a node's edges newest first, and ways must come in the order written.
        for (from, edge, to) in self.edges.iter().rev() {
            self.graph.add_edge(*from, *to, *edge);
        }
        Graph {
            graph: Arc::new(self.graph),
            spots: self.spots.into(),
            routes: routes.into(),
            guard_headers: guard_headers(policy).into(),
            hash: canonical::hash(policy).into(),
            policy: Arc::new(policy.clone()),
        }
    }
}

fn guard_headers(policy: &Policy) -> Vec<String> {
    let chains = policy.tiers.iter().flat_map(|t| &t.chains).flat_map(|c| &c.ranks).filter_map(|r| r.guard.as_ref());
    let rows = policy.matrices.iter().flat_map(|m| &m.rows).filter_map(|r| r.guard.as_ref());
    let routes = policy.routes.iter().filter_map(|r| r.matches.as_ref());
    let mut names = Vec::new();
    for guard in chains.chain(rows).chain(routes) {
        collect_headers(guard, &mut names);
    }
    names.sort();
    names.dedup();
    names
}

fn collect_headers(guard: &Guard, names: &mut Vec<String>) {
    match guard {
        Guard::All(parts) | Guard::Any(parts) => parts.iter().for_each(|p| collect_headers(p, names)),
        Guard::Not(part) => collect_headers(part, names),
        Guard::Compare(Fact::Header(name), _, _) | Guard::In(Fact::Header(name), _) => names.push(name.clone()),
        Guard::Compare(..) | Guard::In(..) => {}
    }
}
