//! What a decision asks of memory.

#[path = "../common/decisions.rs"]
mod decisions;

use super::counting::allocations;
use decisions::{POLICY, facts, failover, graph, healthy};
use switchback::decide::baselines::Kind;
use switchback::decide::orders::{Instant, Measured, Orders};
use switchback::policy::tier::ChainRef;
use switchback::policy::{Millis, TargetId, TierId};

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

/// The later in the chain, the faster.
struct Took;

impl Measured for Took {
    fn average(&mut self, target: TargetId, _: Kind) -> Option<Millis> {
        Some(Millis(1_000 / (1 + target.index() as u64)))
    }

    fn typical(&mut self, target: TargetId, kind: Kind, _: u64) -> Option<Millis> {
        self.average(target, kind)
    }
}

#[test]
fn nor_does_an_order_by_what_is_measured() {
    let order = "tier t { order score { latency 50%; price 50% }; slow-above 2s; chain {";
    let graph = graph(&POLICY.replace("tier t { chain {", order));
    let facts = facts(&graph);
    assert_eq!(allocations(|| healthy(&graph, &facts)), (true, 0));
    let mut orders = Orders::of_graph(&graph);
    let chain = ChainRef { tier: TierId(0), chain: 0 };
    let at = Instant { now: Millis(7), wall_ms: 7 };
    // The first question makes the ranking.
    let (places, count) =
        allocations(|| [0, 1, 2].map(|t| orders.ranked(chain, TargetId(t), true, at, &mut Took).0.place));
    assert_eq!((places, count), ([2, 1, 0], 0));
}
