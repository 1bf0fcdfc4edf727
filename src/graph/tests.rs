//! What the hash and the indices depend on, and what they do not.

use super::{Edge, Graph, Node, draw};
use crate::policy::RouteId;
use crate::ready::prepare;
use crate::source::Sources;

const BLOCKS: [&str; 8] = [
    "provider p { api openai-chat; base-url \"http://127.0.0.1:9/v1\" }\n",
    "model m { modalities [text]; streaming yes; context 32k; max-output 4k }\n",
    "target a { model m; provider p }\n",
    "target b { model m; provider p; upstream \"b-2\" }\n",
    "tier t { chain { a; b } }\n",
    "matrix x { connect -> retry once, failover; timeout-* -> failover; otherwise -> stop }\n",
    "budget u { deadline 10s; attempts 3; reserve 2s }\n",
    "route r { tier t; matrix x; budget u }\n",
];

fn graph_of(files: &[(&str, String)]) -> Graph {
    let prepared = prepare(Sources::from_texts(files.iter().map(|(n, t)| (*n, t.as_str()))));
    let found: Vec<_> = prepared.diagnostics.iter().map(|d| d.message.clone()).collect();
    prepared.ready.unwrap_or_else(|| panic!("{found:?}")).graph
}

fn whole(text: &str) -> Graph {
    graph_of(&[("a.sbk", format!("switchback 1\n{text}"))])
}

#[test]
fn the_hash_is_free_of_layout_comments_file_names_and_order() {
    let plain = whole(&BLOCKS.concat());
    assert_eq!(plain.hash().len(), 64);
    let reversed: String = BLOCKS.iter().rev().copied().collect();
    assert_eq!(whole(&reversed).hash(), plain.hash(), "order of blocks");
    let spread = BLOCKS.concat().replace("; ", "\n  ").replace("{ ", "{\n  # why\n  ").replace(" }", "\n}");
    assert_eq!(whole(&spread).hash(), plain.hash(), "layout and comments");
    let documented = BLOCKS.concat().replace("tier t", "## the one tier\ntier t");
    assert_eq!(whole(&documented).hash(), plain.hash(), "documentation");
    let (one, two) = BLOCKS.split_at(3);
    let files =
        [("z.sbk", format!("switchback 1\n{}", one.concat())), ("b.sbk", format!("switchback 1\n{}", two.concat()))];
    let split = graph_of(&files);
    assert_eq!(split.hash(), plain.hash(), "files");
    assert_eq!(draw::mermaid(&split, None), draw::mermaid(&plain, None), "indices too");
    let tested = BLOCKS.concat() + "test \"t\" { send r; a answers ok; expect served by a }\n";
    assert_eq!(whole(&tested).hash(), plain.hash(), "tests decide nothing");
}

#[test]
fn the_hash_sees_every_change_of_meaning() {
    let text = BLOCKS.concat();
    let plain = whole(&text);
    for (from, to) in [
        ("a; b", "b; a"),
        ("retry once", "retry 2 times"),
        ("otherwise -> stop", "otherwise -> stop as 502"),
        ("deadline 10s", "deadline 11s"),
        ("reserve 2s", "reserve 3s"),
        ("upstream \"b-2\"", "upstream \"b-3\""),
        ("context 32k", "context 33k"),
        ("127.0.0.1:9", "127.0.0.1:8"),
        ("budget u }", "budget u; version 2 }"),
        ("budget u }", "budget u; side-effects unknown }"),
        ("a; b", "a; b when request.tokens > 1k"),
    ] {
        assert_ne!(whole(&text.replace(from, to)).hash(), plain.hash(), "{from} -> {to}");
    }
}

#[test]
fn ways_come_in_the_order_written_and_nodes_know_their_lines() {
    let graph = whole(&BLOCKS.concat());
    let route = graph.route_node(RouteId(0)).unwrap();
    let matrix = graph.way(route, Edge::Fails).unwrap();
    let rows: Vec<_> = graph.ways(matrix).map(|(_, row)| graph.spot(row).unwrap().name.to_string()).collect();
    assert_eq!(rows, ["matrix x / connect", "matrix x / timeout-*", "matrix x / otherwise"]);
    let tier = graph.way(route, Edge::Serves).unwrap();
    let chain = graph.way(tier, Edge::Region).unwrap();
    let ranks: Vec<_> = graph
        .ways(chain)
        .filter_map(|(_, rank)| match graph.node(rank)? {
            Node::Rank { target, .. } => Some(graph.target_name(*target).to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(ranks, ["a", "b"]);
    let (_, retry) = graph.ways(graph.ways(matrix).next().unwrap().1).next().unwrap();
    let spot = graph.spot(retry).unwrap();
    assert_eq!((spot.name.as_ref(), spot.file.as_ref(), spot.line), ("matrix x / connect / retry", "a.sbk", 7));
}

#[test]
fn drawings_hold_what_a_route_reaches_and_no_more() {
    let text = BLOCKS.concat()
        + "route r2 { tier t2; matrix x; budget u }\ntarget c { model m; provider p }\ntier t2 { chain { c } }\n";
    let graph = whole(&text);
    let one = draw::text(&graph, Some(RouteId(0)));
    assert!(one.contains("route r ") && !one.contains("route r2") && !one.contains("1. c"), "{one}");
    let json = draw::json(&graph, Some(RouteId(1)));
    let json = serde_json::to_value(&json).unwrap();
    let labels: Vec<_> =
        json["nodes"].as_array().unwrap().iter().map(|n| n["label"].as_str().unwrap().to_owned()).collect();
    assert!(labels.contains(&"1. c".to_owned()) && !labels.contains(&"1. a".to_owned()), "{labels:?}");
    for edge in json["edges"].as_array().unwrap() {
        let ids: Vec<_> = json["nodes"].as_array().unwrap().iter().map(|n| n["id"].clone()).collect();
        assert!(ids.contains(&edge["from"]) && ids.contains(&edge["to"]), "{edge}");
    }
}
