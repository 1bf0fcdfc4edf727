use super::*;
use crate::ready::prepare;
use crate::source::Sources;

/// What is measured, by the target's place in the order of names; averages and percentiles apart.
#[derive(Default)]
struct Known {
    averages: [Option<u64>; 4],
    typical: [Option<u64>; 4],
    asked: u32,
}

impl Measured for Known {
    fn average(&mut self, target: TargetId, _: Kind) -> Option<Millis> {
        self.asked += 1;
        self.averages[target.index()].map(Millis)
    }

    fn typical(&mut self, target: TargetId, _: Kind, _: u64) -> Option<Millis> {
        self.asked += 1;
        self.typical[target.index()].map(Millis)
    }
}

fn averages<const N: usize>(latencies: [u64; N]) -> Known {
    let mut known = Known::default();
    known.averages.iter_mut().zip(latencies).for_each(|(slot, ms)| *slot = Some(ms));
    known
}

fn graph(order: &str, chain: &str) -> Graph {
    let text = format!(
        "switchback 1\nprovider p {{ api emulated }}\nmodel m {{ modalities [text]; context 8k; max-output 1k }}\n\
         target a {{ model m; provider p }}\ntarget b {{ model m; provider p }}\ntarget c {{ model m; provider p }}\n\
         tier t {{ order {order}\n chain {{ {chain} }} }}\ntier u {{ chain {{ a; b; c }} }}\nmatrix x {{ otherwise -> stop }}\n\
         budget d {{ deadline 5s; attempts 2 }}\nroute r {{ tier t; matrix x; budget d }}\n\
         route s {{ tier u; matrix x; budget d }}\n"
    );
    let prepared = prepare(Sources::from_texts([("o.sbk", text)]));
    prepared.ready.unwrap_or_else(|| panic!("{:?}", prepared.diagnostics)).graph
}

/// The targets by their places, seen at an instant that is the same on both clocks.
fn order(orders: &mut Orders, graph: &Graph, at: u64, known: &mut Known) -> String {
    let ordered = orders.0[0].chain;
    let at = Instant { now: Millis(at), wall_ms: at };
    let mut all: Vec<(u16, &str)> = graph.tier(ordered.tier).unwrap().chains[0]
        .ranks
        .iter()
        .map(|rank| (orders.ranked(ordered, rank.target, true, at, known).0.place, graph.target_name(rank.target)))
        .collect();
    all.sort();
    all.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_ranking_stands_until_the_next_is_due() {
    let graph = graph("latency every 10s", "a; b; c");
    let mut orders = Orders::of_graph(&graph);
    assert_eq!(order(&mut orders, &graph, 5_000, &mut Known::default()), "a b c");
    let mut known = averages([300, 200, 100]);
    assert_eq!(order(&mut orders, &graph, 14_999, &mut known), "a b c");
    assert_eq!(known.asked, 0);
    assert_eq!(order(&mut orders, &graph, 15_000, &mut known), "c b a");
    // One look for each target, however many ask.
    assert_eq!(known.asked, 3);
}

#[test]
fn a_change_has_to_win_by_a_tenth_both_ways() {
    let graph = graph("latency every 1s", "a; b; c");
    let mut orders = Orders::of_graph(&graph);
    let mut at = 0;
    let mut ranked = |latencies| {
        at += 1_000;
        order(&mut orders, &graph, at, &mut averages(latencies))
    };
    assert_eq!(ranked([100, 91, 500]), "a b c");
    assert_eq!(ranked([100, 90, 500]), "b a c");
    // Back where it was is not enough to go back.
    assert_eq!(ranked([100, 91, 500]), "b a c");
    assert_eq!(ranked([91, 100, 500]), "b a c");
    assert_eq!(ranked([90, 100, 500]), "a b c");
}

#[test]
fn streams_and_whole_answers_have_orders_of_their_own() {
    let graph = graph("latency", "a; b; c");
    let mut orders = Orders::of_graph(&graph);
    let at = Instant { now: Millis(0), wall_ms: 0 };
    let chain = orders.0[0].chain;
    let a = graph.target_named("a").unwrap();
    assert_eq!(orders.ranked(chain, a, true, at, &mut averages([300, 200, 100])).0.place, 2);
    assert_eq!(orders.ranked(chain, a, false, at, &mut averages([100, 200, 300])).0.place, 0);
}

#[test]
fn from_a_day_on_it_goes_by_percentiles_and_outlives_the_process() {
    const DAY: u64 = 86_400_000;
    let graph = graph("latency every 7d", "a; b; c");
    let mut orders = Orders::of_graph(&graph);
    let mut known = Known { averages: [Some(1), Some(2), Some(3), None], ..Known::default() };
    known.typical = [Some(300), None, Some(100), None];
    assert_eq!(order(&mut orders, &graph, DAY, &mut known), "c a b");
    let kept = serde_json::to_string(&orders.kept()).unwrap();
    // Another process: what has changed since is not looked at before the week is over.
    let mut again = Orders::of_graph(&graph);
    again.restore(&serde_json::from_str::<Vec<KeptRanking>>(&kept).unwrap());
    let mut later = Known { typical: [Some(10), Some(20), Some(900), None], ..Known::default() };
    assert_eq!(order(&mut again, &graph, 8 * DAY - 1, &mut later), "c a b");
    assert_eq!(order(&mut again, &graph, 8 * DAY, &mut later), "a b c");
    // What was kept for another rhythm is not this order's.
    let monthly = self::graph("latency every 30d", "a; b; c");
    let mut other = Orders::of_graph(&monthly);
    other.restore(&serde_json::from_str::<Vec<KeptRanking>>(&kept).unwrap());
    assert_eq!(order(&mut other, &monthly, 8 * DAY - 1, &mut later), "a b c");
}

#[test]
fn a_clock_that_was_set_back_does_not_hold_a_ranking_for_years() {
    let graph = graph("latency every 1d", "a; b; c");
    let mut orders = Orders::of_graph(&graph);
    let mut known = Known { typical: [Some(100), Some(200), Some(300), None], ..Known::default() };
    assert_eq!(order(&mut orders, &graph, 900_000_000_000, &mut known), "a b c");
    known.typical = [Some(300), Some(200), Some(100), None];
    assert_eq!(order(&mut orders, &graph, 1_000, &mut known), "c b a");
}

#[test]
fn another_policy_goes_on_from_the_same_order_by_names() {
    let before = graph("latency every 1h", "a; b; c");
    let mut orders = Orders::of_graph(&before);
    assert_eq!(order(&mut orders, &before, 0, &mut averages([300, 200, 100])), "c b a");
    let after = graph("latency every 1h", "b; a");
    let mut next = Orders::of_graph(&after);
    next.take_over(&orders);
    assert_eq!(order(&mut next, &after, 10, &mut Known::default()), "b a");
    let wider = graph("latency every 1h", "b; a; c");
    let mut back = Orders::of_graph(&wider);
    back.take_over(&next);
    assert_eq!(order(&mut back, &wider, 10, &mut Known::default()), "b a c");
    let other = graph("latency every 2h", "a; b; c");
    let mut anew = Orders::of_graph(&other);
    anew.take_over(&orders);
    assert_eq!(order(&mut anew, &other, 10, &mut Known::default()), "a b c");
}

#[test]
fn tiers_as_written_have_none() {
    assert!(Orders::of_graph(&graph("as-written", "a; b; c")).is_empty());
    assert!(Orders::of_graph(&graph("price", "a; b; c")).is_empty());
}
