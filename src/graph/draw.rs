//! Drawings of the graph: Mermaid, Graphviz, JSON and text, of one route or of all. Reads the graph and nothing else.

use super::{Edge, Graph, Node, NodeIndex};
use crate::policy::RouteId;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The nodes that a drawing shows: all, or those that a route can reach.
fn shown(graph: &Graph, route: Option<RouteId>) -> BTreeSet<NodeIndex> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<NodeIndex> = match route {
        Some(id) => graph.route_node(id).into_iter().collect(),
        None => graph.nodes().map(|(i, _)| i).collect(),
    };
    while let Some(at) = open.pop() {
        if seen.insert(at) {
            open.extend(graph.ways(at).map(|(_, to)| to));
        }
    }
    seen
}

/// What a node says in a drawing.
fn label(graph: &Graph, node: &Node) -> String {
    let policy = graph.policy();
    match node {
        Node::Route(id) => policy.routes.get(id.index()).map_or(String::new(), |r| format!("route {}", r.name)),
        Node::Tier(id) => policy.tiers.get(id.index()).map_or(String::new(), |t| format!("tier {}", t.name)),
        Node::Chain(c) => {
            let chain = policy.tiers.get(c.tier.index()).and_then(|t| t.chains.get(usize::from(c.chain)));
            let regions = chain
                .map_or(String::new(), |c| c.regions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
            if regions.is_empty() { "chain".into() } else { format!("chain in [{regions}]") }
        }
        Node::Rank { rank, target, .. } => format!("{}. {}", rank + 1, graph.target_name(*target)),
        Node::Matrix(id) => policy.matrices.get(id.index()).map_or(String::new(), |m| format!("matrix {}", m.name)),
        Node::Row { matrix, row } => {
            policy.matrices.get(matrix.index()).and_then(|m| m.rows.get(usize::from(*row))).map_or(String::new(), |r| {
                if r.guard.is_some() { format!("{} when …", r.text) } else { r.text.clone() }
            })
        }
        Node::Action { action, .. } => action_text(graph, *action),
    }
}

/// An action in the language's words.
pub fn action_text(graph: &Graph, action: crate::policy::Action) -> String {
    use crate::policy::{Action, FallbackTo};
    match action {
        Action::Retry { times: 1 } => "retry once".into(),
        Action::Retry { times } => format!("retry {times} times"),
        Action::Wait { up_to } => format!("wait up to {up_to}"),
        Action::NextKey => "next-key".into(),
        Action::Failover => "failover".into(),
        Action::Fallback(FallbackTo::OtherModel) => "fallback".into(),
        Action::Fallback(FallbackTo::LargerContext) => "fallback to larger-context".into(),
        Action::Fallback(FallbackTo::Tier(tier)) => {
            format!("fallback to {}", graph.tier(tier).map_or("", |t| t.name.as_str()))
        }
        Action::Stop { status: None } => "stop".into(),
        Action::Stop { status: Some(status) } => format!("stop as {status}"),
    }
}

fn edge_word(edge: Edge) -> &'static str {
    match edge {
        Edge::Serves => "serves",
        Edge::Region => "region",
        Edge::Next => "next",
        Edge::Fails => "fails",
        Edge::On => "on",
        Edge::Then => "then",
        Edge::To => "to",
    }
}

fn kind(node: &Node) -> &'static str {
    match node {
        Node::Route(_) => "route",
        Node::Tier(_) => "tier",
        Node::Chain(_) => "chain",
        Node::Rank { .. } => "rank",
        Node::Matrix(_) => "matrix",
        Node::Row { .. } => "row",
        Node::Action { .. } => "action",
    }
}

/// A Mermaid flow chart.
pub fn mermaid(graph: &Graph, route: Option<RouteId>) -> String {
    let nodes = shown(graph, route);
    let mut out = String::from("flowchart LR\n");
    for (at, node) in graph.nodes().filter(|(i, _)| nodes.contains(i)) {
        let text = label(graph, node).replace('"', "#quot;");
        let (open, close) = match node {
            Node::Route(_) => ("([", "])"),
            Node::Rank { .. } => ("[[", "]]"),
            Node::Row { .. } => ("{{", "}}"),
            Node::Tier(_) | Node::Chain(_) | Node::Matrix(_) | Node::Action { .. } => ("[", "]"),
        };
        let _ = writeln!(out, "  n{}{open}\"{text}\"{close}", at.index());
    }
    for at in &nodes {
        for (number, (edge, to)) in (1..).zip(graph.ways(*at)) {
            let _ = writeln!(out, "  n{} -->|\"{} {number}\"| n{}", at.index(), edge_word(edge), to.index());
        }
    }
    out
}

/// A Graphviz digraph.
pub fn dot(graph: &Graph, route: Option<RouteId>) -> String {
    let nodes = shown(graph, route);
    let mut out = String::from("digraph policy {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (at, node) in graph.nodes().filter(|(i, _)| nodes.contains(i)) {
        let text = label(graph, node).replace('\\', "\\\\").replace('"', "\\\"");
        let shape = match node {
            Node::Route(_) => ", shape=oval",
            Node::Rank { .. } => ", shape=box3d",
            Node::Row { .. } => ", shape=hexagon",
            Node::Tier(_) | Node::Chain(_) | Node::Matrix(_) | Node::Action { .. } => "",
        };
        let _ = writeln!(out, "  n{} [label=\"{text}\"{shape}];", at.index());
    }
    for at in &nodes {
        for (number, (edge, to)) in (1..).zip(graph.ways(*at)) {
            let _ = writeln!(out, "  n{} -> n{} [label=\"{} {number}\"];", at.index(), to.index(), edge_word(edge));
        }
    }
    out.push_str("}\n");
    out
}

/// An indented tree, each line with the place it was written at.
pub fn text(graph: &Graph, route: Option<RouteId>) -> String {
    let mut out = String::new();
    let roots =
        (0u16..).zip(&graph.policy().routes).map(|(i, _)| RouteId(i)).filter(|id| route.is_none_or(|r| r == *id));
    for root in roots.filter_map(|id| graph.route_node(id)) {
        let mut path = Vec::new();
        text_node(graph, root, 0, &mut path, &mut out);
    }
    out
}

fn text_node(graph: &Graph, at: NodeIndex, depth: usize, path: &mut Vec<NodeIndex>, out: &mut String) {
    let Some(node) = graph.node(at) else { return };
    let line = format!("{}{}", "  ".repeat(depth), label(graph, node));
    let place = graph.spot(at).map_or(String::new(), |s| format!("{}:{}", s.file, s.line));
    let _ = writeln!(out, "{line:<56} {place}");
    // A tier may be reached again through a fallback: it is named and not unfolded twice.
    if path.contains(&at) || (matches!(node, Node::Tier(_)) && depth > 1) {
        return;
    }
    path.push(at);
    for (_, to) in graph.ways(at) {
        text_node(graph, to, depth + 1, path, out);
    }
    path.pop();
}

/// The graph as data.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Drawing {
    /// Version of this form: 1.
    version: u32,
    /// The policy's hash.
    policy: String,
    /// Nodes in the graph's own order.
    nodes: Vec<DrawnNode>,
    /// Edges in the order in which they are asked.
    edges: Vec<DrawnEdge>,
}

/// A node of a [`Drawing`].
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct DrawnNode {
    /// Its index in the graph.
    id: usize,
    /// `route`, `tier`, `chain`, `rank`, `matrix`, `row` or `action`.
    kind: String,
    /// Its text.
    label: String,
    /// The name that records use.
    name: String,
    /// The file it was written in.
    file: String,
    /// The line, from 1.
    line: u32,
}

/// An edge of a [`Drawing`].
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct DrawnEdge {
    /// Where it starts.
    from: usize,
    /// Where it ends.
    to: usize,
    /// What it is: `serves`, `region`, `next`, `fails`, `on`, `then` or `to`.
    kind: String,
}

/// The graph as data.
pub fn json(graph: &Graph, route: Option<RouteId>) -> Drawing {
    let nodes = shown(graph, route);
    let drawn = graph.nodes().filter(|(i, _)| nodes.contains(i)).map(|(at, node)| {
        let spot = graph.spot(at);
        DrawnNode {
            id: at.index(),
            kind: kind(node).into(),
            label: label(graph, node),
            name: spot.map_or(String::new(), |s| s.name.to_string()),
            file: spot.map_or(String::new(), |s| s.file.to_string()),
            line: spot.map_or(0, |s| s.line),
        }
    });
    let edges = nodes.iter().flat_map(|at| {
        graph.ways(*at).map(|(edge, to)| DrawnEdge { from: at.index(), to: to.index(), kind: edge_word(edge).into() })
    });
    Drawing { version: 1, policy: graph.hash().into(), nodes: drawn.collect(), edges: edges.collect() }
}
