use super::*;
use crate::ready::prepare;
use crate::source::Sources;

const POLICY: &str = "switchback 1\nprovider p { api emulated }\nmodel m { modalities [text]; context 8k; max-output 1k }\n\
    target a { model m; provider p; region us }\ntarget b { model m; provider p }\ntarget c { model m; provider p }\n\
    tier t { chain { a; b; c } }\nmatrix x { otherwise -> stop }\nbudget u { deadline 5s; attempts 2 }\n\
    route r { tier t; matrix x; budget u }\n";
const DAY: u64 = 86_400_000;

fn graph() -> Graph {
    prepare(Sources::from_texts([("p.sbk", POLICY)])).ready.unwrap().graph
}

fn measured(calls: &[(&str, Kind, u64, u32)]) -> Baselines {
    let mut all = Baselines::default();
    for (target, kind, latency, times) in calls {
        (0..*times).for_each(|_| all.note("eu", target, *kind, Millis(*latency), 3 * DAY));
    }
    all
}

fn report(calls: &[(&str, Kind, u64, u32)]) -> Report {
    Report::new(&measured(calls), &graph(), 3 * DAY + 125_000)
}

#[test]
fn an_order_is_suggested_where_two_can_be_compared() {
    assert!(report(&[("a", Kind::Stream, 900, 20)]).orders.is_empty());
    let report = report(&[("a", Kind::Stream, 900, 20), ("b", Kind::Stream, 300, 20), ("c", Kind::Stream, 10, 19)]);
    let [order] = report.orders.as_slice() else { panic!("{:?}", report.orders) };
    assert_eq!((order.written.join(" "), order.suggested.join(" ")), ("a b c".into(), "b a c".into()));
    assert_eq!((order.unknown.as_slice(), order.agrees, order.disagrees), (["c".to_owned()].as_slice(), false, true));
    assert_eq!((order.file.as_str(), order.line), ("p.sbk", 7));
    assert!(report.disagrees());
}

#[test]
fn less_than_a_tenth_is_no_disagreement() {
    let report = report(&[("a", Kind::Whole, 20, 20), ("b", Kind::Whole, 19, 20), ("c", Kind::Whole, 20, 20)]);
    assert!(report.orders[0].agrees && !report.disagrees());
}

#[test]
fn probes_speak_where_traffic_does_not() {
    let probes = [("a", Kind::Probe, 900, 20), ("b", Kind::Probe, 300, 20)];
    assert_eq!(report(&probes).orders[0].kind, "probe");
    let both = [probes.as_slice(), &[("a", Kind::Whole, 30, 20), ("b", Kind::Whole, 30, 20)]].concat();
    let kinds: Vec<String> = report(&both).orders.into_iter().map(|order| order.kind).collect();
    assert_eq!(kinds, ["whole"]);
}

#[test]
fn a_table_for_people() {
    let text =
        report(&[("a", Kind::Stream, 900, 120), ("b", Kind::Stream, 300, 20), ("old", Kind::Whole, 1, 1)]).text();
    let want = "\
target  region  seen from  kind    calls    p50    p95    p99  latest
a       us      eu         stream    120  912ms  912ms  912ms  2m ago
b       -       eu         stream     20  296ms  296ms  296ms  2m ago

tier t by p50 of stream, seen from eu (p.sbk:7)
  written    a, b, c
  suggested  b, a, c: the policy's order disagrees
  too few calls of c

not in the policy: old
";
    assert_eq!(text, want);
    assert_eq!(report(&[]).text(), "no call of the last 14 days is known\n");
}
