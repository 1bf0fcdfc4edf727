//! What a decision asks of memory.

#[path = "../common/decisions.rs"]
mod decisions;

use super::counting::allocations;
use decisions::{POLICY, facts, failover, graph, healthy};

#[test]
fn the_counter_counts() {
    let (boxed, count) = allocations(|| (Box::new(1), vec![1, 2, 3]));
    assert_eq!(count, 2, "{boxed:?}");
    assert_eq!(allocations(|| 1 + 1).1, 0);
}

#[test]
fn a_healthy_request_is_decided_without_asking_for_memory() {
    let graph = graph(POLICY);
    let facts = facts(&graph);
    assert_eq!(allocations(|| healthy(&graph, &facts)), (true, 0));
}

#[test]
fn nor_does_one_failover() {
    let graph = graph(POLICY);
    let facts = facts(&graph);
    assert_eq!(allocations(|| failover(&graph, &facts)), (true, 0));
}
