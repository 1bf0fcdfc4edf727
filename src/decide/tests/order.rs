//! Who is asked first where a tier ranks by what is measured.

use super::world::{Bench, HEAD, MATRIX};
use crate::decide::*;
use crate::policy::{Class, Millis, Stage};

/// The chain `a; b; c` in an order: a and b are of one model, c is of another.
fn bench(order: &str) -> Bench {
    let head = HEAD.replace("chain { a; b; c }", &format!("order {order}\n chain {{ a; b; c }}"));
    Bench::new(&format!("{head}{MATRIX}"), |_, _| {})
}

/// Begins with what calls of a, b and c take.
fn begin(order: &str, took: [Option<u64>; 3], change: impl FnOnce(&mut Bench)) -> (Bench, String) {
    let mut b = bench(order);
    b.world.took.0 = took.to_vec();
    change(&mut b);
    let next = b.step(Event::Begin);
    let called = b.called(&next);
    (b, called)
}

fn asked(b: &Bench) -> String {
    let names = b.run.order().map(|(target, ..)| b.graph.target_name(target));
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_fastest_goes_first_and_the_unknown_last() {
    let (b, called) = begin("latency", [None, Some(300), Some(200)], |_| {});
    assert_eq!((called.as_str(), asked(&b).as_str()), ("c", "c b a"));
    let known: Vec<_> = b.run.order().map(|(_, latency, _)| latency.map(|ms| ms.0)).collect();
    assert_eq!(known, [Some(200), Some(300), None]);
    let (_, called) = begin("latency", [Some(100), Some(91), Some(95)], |_| {});
    assert_eq!(called, "a");
}

#[test]
fn who_is_barred_is_not_ranked_and_keeps_his_place() {
    let down = |b: &mut Bench| b.world.standings[1].health = Health::Down;
    let (b, called) = begin("latency", [Some(300), Some(100), Some(200)], down);
    assert_eq!((called.as_str(), asked(&b).as_str()), ("c", "c a b"));
    // Degraded bars in pass 1 alone: where all are, the chain is as written.
    let slow = |b: &mut Bench| b.world.standings.iter_mut().for_each(|s| s.health = Health::Degraded);
    let (_, called) = begin("latency", [Some(300), Some(100), Some(200)], slow);
    assert_eq!(called, "a");
}

#[test]
fn what_follows_a_failure_goes_by_the_same_order() {
    let (mut b, called) = begin("latency", [Some(300), Some(100), Some(200)], |_| {});
    assert_eq!(called, "b");
    let next = b.at(10).fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "a");
    let next = b.at(20).fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "c");
}

#[test]
fn between_two_rankings_nothing_moves() {
    let text = format!("{}{MATRIX}", HEAD.replace("chain { a; b; c }", "order latency every 10s\n chain { a; b; c }"));
    let mut b = Bench::new(&text, |_, _| {});
    let mut first = |now: u64, took: [u64; 3]| {
        b.world.took.0 = took.map(Some).to_vec();
        b.facts.received_at = Millis(now);
        b.run = Run::new(&b.graph, b.run.route(), &b.facts);
        let next = b.at(now).step(Event::Begin);
        b.called(&next)
    };
    assert_eq!(first(0, [300, 100, 200]), "b");
    assert_eq!(first(9_999, [100, 300, 200]), "b");
    assert_eq!(first(10_000, [100, 300, 200]), "a");
}

#[test]
fn a_score_weighs_latency_price_and_quality() {
    // c is twice as dear as written below, and the better model.
    let score = |weights: &str| {
        let head = HEAD
            .replace("chain { a; b; c }", &format!("order score {{ {weights} }}\n chain {{ a; b; c }}"))
            .replace("model m { ", "model m { quality 60%; ")
            .replace("model n { ", "model n { quality 90%; ")
            .replace("target c { model n;", "target c { model n; price $2/M in, $4/M out;");
        let mut b = Bench::new(&format!("{head}{MATRIX}"), |_, _| {});
        b.world.took.0 = vec![Some(400), Some(200), Some(300)];
        b.step(Event::Begin);
        asked(&b)
    };
    assert_eq!(score("latency 100%"), "b c a");
    assert_eq!(score("price 100%"), "a b c");
    assert_eq!(score("quality 100%"), "c a b");
    assert_eq!(score("latency 50%; price 30%; quality 20%"), "b a c");
    assert_eq!(score("latency 60%; quality 40%"), "b c a");
    assert_eq!(score("latency 10%; price 90%"), "a b c");
}

#[test]
fn a_tier_that_is_fallen_back_to_has_its_own_order() {
    let text = format!(
        "{}tier other {{ order latency\n chain {{ b; c }} }}\n{}",
        HEAD.replace("chain { a; b; c }", "chain { a }"),
        MATRIX.replace("connect, timeout-*       -> failover, fallback", "connect, timeout-* -> fallback to other"),
    );
    let mut b = Bench::new(&text, |_, _| {});
    b.world.took.0 = vec![Some(1), Some(200), Some(100)];
    b.step(Event::Begin);
    let next = b.at(10).fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "c");
    assert_eq!((asked(&b).as_str(), b.graph.tier(b.run.tier()).unwrap().name.as_str()), ("c b", "other"));
}

#[test]
fn the_cheapest_goes_first_by_what_the_request_costs() {
    let head = HEAD
        .replace("chain { a; b; c }", "order price\n chain { a; b; c }")
        .replace("target c { model n;", "target c { model n; price $0.90/M in, $1.80/M out;");
    let mut b = Bench::new(&format!("{head}{MATRIX}"), |_, _| {});
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "c");
    let head = head.replace("$0.90/M in, $1.80/M out", "$0.91/M in, $1.82/M out");
    let mut b = Bench::new(&format!("{head}{MATRIX}"), |_, _| {});
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "a");
}
