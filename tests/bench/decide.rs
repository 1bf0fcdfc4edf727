//! Deciding: from `Run::new` to the end of the request, with nothing around it.

use super::counting::allocations;
use super::decisions::{POLICY, facts, failover, graph, healthy};
use super::line::{at, result, setting};
use std::hint::black_box;
use std::time::Instant;
use switchback::decide::Facts;
use switchback::graph::Graph;

/// The goal for a healthy request, in nanoseconds.
const AIM: f64 = 1_000.0;

pub fn run() {
    let graph = graph(POLICY);
    let facts = facts(&graph);
    let n = setting("SWITCHBACK_BENCH_DECISIONS", 500_000) as usize;
    let empty = at(&times(n, || true), 0.5);
    for (name, what, aim) in [
        ("decide healthy", healthy as fn(&Graph, &Facts) -> bool, Some(("aim", AIM))),
        ("decide one failover", failover, None),
    ] {
        assert!(what(&graph, &facts));
        let sorted = times(n, || what(black_box(&graph), black_box(&facts)));
        // What two readings of the clock take is not the decision's.
        result(&format!("{name} p50"), "ns", at(&sorted, 0.5) - empty, aim, n);
        result(&format!("{name} p99"), "ns", at(&sorted, 0.99) - empty, aim, n);
        let (_, count) = allocations(|| what(&graph, &facts));
        result(&format!("{name} allocations"), "count", count as f64, None, 1);
    }
}

fn times(n: usize, what: impl Fn() -> bool) -> Vec<f64> {
    let mut times = Vec::with_capacity(n);
    for _ in 0..n {
        let began = Instant::now();
        black_box(what());
        times.push(began.elapsed().as_nanos() as f64);
    }
    times.sort_by(f64::total_cmp);
    times
}
