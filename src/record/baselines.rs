//! The report of baselines: what targets are like, the order that this suggests, and where the policy's order disagrees.
//!
//! In: baselines, a graph, the wall time. Out: plain data, and a table for people. Suggests by the rule that `order latency`
//! follows and by no other. Changes nothing and reads no clock.

use super::rfc3339;
use crate::decide::baselines::{Baselines, DAYS, Kind, MIN_CALLS};
use crate::decide::order::{beats, rearrange};
use crate::graph::{Graph, Node, Spot};
use crate::policy::tier::ChainRef;
use crate::policy::{Chain, Millis, Order, Tier};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;

/// What `baselines` says.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The version of this form.
    pub version: u32,
    /// The hash of the policy that the targets and orders are of.
    pub policy: String,
    /// When it was asked, UTC, RFC 3339.
    pub at: String,
    /// Days that count, the present one included.
    pub days: u64,
    /// Fewer calls than these suggest nothing.
    pub min_calls: u64,
    /// What is known, by target, then by the gateway's region, then by kind.
    pub baselines: Vec<Row>,
    /// What it suggests, by tier and chain as written.
    pub orders: Vec<Suggestion>,
    /// Targets that were measured and are none of the policy's.
    pub strangers: Vec<String>,
}

/// One target, seen from one region, and one kind of call.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Row {
    /// The target.
    pub target: String,
    /// Where it is, if the policy says so.
    pub region: Option<String>,
    /// Where the gateway was, if it was told (`serve --region`).
    pub gateway_region: Option<String>,
    /// `stream` (to the first output), `whole` (to the end) or `probe`.
    pub kind: String,
    /// Calls that count.
    pub calls: u64,
    /// Half of them were at least as fast, in milliseconds; like the others at most 3.2% off.
    pub p50_ms: u64,
    /// Nineteen of twenty were.
    pub p95_ms: u64,
    /// Ninety-nine of a hundred were.
    pub p99_ms: u64,
    /// The beginning of the oldest day that counts, UTC, RFC 3339.
    pub since: String,
    /// The end of the latest call, UTC, RFC 3339.
    pub latest: String,
    /// How long ago that was, in milliseconds.
    pub age_ms: u64,
}

/// The order of one chain, seen from one region, for one kind of call.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Suggestion {
    /// The tier.
    pub tier: String,
    /// The request regions that the chain is for; empty: all others.
    pub chain: Vec<String>,
    /// The file of the chain.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Where the gateway was, if it was told.
    pub gateway_region: Option<String>,
    /// What was compared: `stream`, `whole`, or where too little is known of both, `probe`.
    pub kind: String,
    /// The tier's `order`.
    pub order: String,
    /// The targets as written.
    pub written: Vec<String>,
    /// The targets as their p50 suggests: who stands further back goes ahead where he is a tenth faster.
    pub suggested: Vec<String>,
    /// Targets with too few calls; they come last.
    pub unknown: Vec<String>,
    /// Whether the two are the same.
    pub agrees: bool,
    /// Whether the difference is one of the policy: its order is as written, and not one that re-ranks by itself.
    pub disagrees: bool,
}

impl Report {
    /// What is known at an instant of wall time, and what follows for a policy.
    pub fn new(baselines: &Baselines, graph: &Graph, wall_ms: u64) -> Report {
        let targets = &graph.policy().targets;
        let mut rows = Vec::new();
        for target in targets {
            for from in baselines.regions() {
                for kind in Kind::ALL {
                    let Some(known) = baselines.percentiles(from, &target.name, *kind, wall_ms) else { continue };
                    rows.push(Row {
                        target: target.name.clone(),
                        region: target.region.clone(),
                        gateway_region: named(from),
                        kind: kind.word().to_owned(),
                        calls: known.calls,
                        p50_ms: known.p50.0,
                        p95_ms: known.p95.0,
                        p99_ms: known.p99.0,
                        since: rfc3339(known.since_ms),
                        latest: rfc3339(known.latest_ms),
                        age_ms: wall_ms.saturating_sub(known.latest_ms),
                    });
                }
            }
        }
        let mut orders = Vec::new();
        for (at, node) in graph.nodes() {
            let (Node::Chain(chain), Some(spot)) = (node, graph.spot(at)) else { continue };
            let Some((tier, chain)) = written(graph, *chain) else { continue };
            for from in baselines.regions() {
                orders.extend(suggestions(baselines, graph, (tier, chain, spot), from, wall_ms));
            }
        }
        let known = baselines.regions().flat_map(|from| baselines.targets(from));
        let mut strangers: Vec<String> =
            known.filter(|name| graph.target_named(name).is_none()).map(str::to_owned).collect();
        strangers.sort();
        strangers.dedup();
        Report {
            version: 1,
            policy: graph.hash().to_owned(),
            at: rfc3339(wall_ms),
            days: DAYS,
            min_calls: MIN_CALLS,
            baselines: rows,
            orders,
            strangers,
        }
    }

    /// Whether some order of the policy is not the one that is suggested.
    pub fn disagrees(&self) -> bool {
        self.orders.iter().any(|order| order.disagrees)
    }

    /// The report for people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if self.baselines.is_empty() {
            let _ = writeln!(out, "no call of the last {} days is known", self.days);
        } else {
            let head = ["target", "region", "seen from", "kind", "calls", "p50", "p95", "p99", "latest"];
            let rows: Vec<[String; 9]> = self.baselines.iter().map(Row::cells).collect();
            table(&head, &rows, &mut out);
        }
        for order in &self.orders {
            order.tell(&mut out);
        }
        if !self.strangers.is_empty() {
            let _ = writeln!(out, "\nnot in the policy: {}", self.strangers.join(", "));
        }
        out
    }
}

impl Row {
    fn cells(&self) -> [String; 9] {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let ms = |ms: u64| format!("{ms}ms");
        [
            self.target.clone(),
            or_dash(&self.region),
            or_dash(&self.gateway_region),
            self.kind.clone(),
            self.calls.to_string(),
            ms(self.p50_ms),
            ms(self.p95_ms),
            ms(self.p99_ms),
            format!("{} ago", rough(Millis(self.age_ms))),
        ]
    }
}

impl Suggestion {
    fn tell(&self, out: &mut String) {
        let chain = if self.chain.is_empty() { String::new() } else { format!(" in [{}]", self.chain.join(", ")) };
        let from = self.gateway_region.as_ref().map_or_else(String::new, |from| format!(", seen from {from}"));
        let _ =
            writeln!(out, "\ntier {}{chain} by p50 of {}{from} ({}:{})", self.tier, self.kind, self.file, self.line);
        let _ = writeln!(out, "  written    {}", self.written.join(", "));
        let verdict = match (self.agrees, self.disagrees) {
            (true, _) => "the same".to_owned(),
            (false, true) => "the policy's order disagrees".to_owned(),
            (false, false) => format!("`order {}` ranks by itself", self.order),
        };
        let _ = writeln!(out, "  suggested  {}: {verdict}", self.suggested.join(", "));
        if !self.unknown.is_empty() {
            let _ = writeln!(out, "  too few calls of {}", self.unknown.join(", "));
        }
    }
}

fn named(region: &str) -> Option<String> {
    (!region.is_empty()).then(|| region.to_owned())
}

fn written(graph: &Graph, chain: ChainRef) -> Option<(&Tier, &Chain)> {
    let tier = graph.tier(chain.tier)?;
    Some((tier, tier.chains.get(usize::from(chain.chain))?))
}

fn suggestions(
    baselines: &Baselines,
    graph: &Graph,
    (tier, chain, spot): (&Tier, &Chain, &Spot),
    from: &str,
    wall_ms: u64,
) -> Vec<Suggestion> {
    let measured = |kind: Kind| {
        let known = chain.ranks.iter().map(|rank| {
            let name = graph.target_name(rank.target);
            (name.to_owned(), baselines.typical(from, name, kind, wall_ms).map(|p50| p50.0))
        });
        known.collect::<Vec<_>>()
    };
    // One target alone is nothing to compare.
    let comparable = |kind: &Kind| measured(*kind).iter().filter(|(_, p50)| p50.is_some()).count() >= 2;
    let mut kinds: Vec<Kind> = [Kind::Stream, Kind::Whole].into_iter().filter(comparable).collect();
    if kinds.is_empty() {
        kinds.extend([Kind::Probe].into_iter().filter(comparable));
    }
    let names = |all: &[(String, Option<u64>)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    kinds
        .into_iter()
        .map(|kind| {
            let mut all = measured(kind);
            let written = names(&all);
            rearrange(&mut all, |(_, own), (_, other)| beats(*own, *other));
            let suggested = names(&all);
            all.retain(|(_, p50)| p50.is_none());
            let agrees = written == suggested;
            Suggestion {
                tier: tier.name.clone(),
                chain: chain.regions.iter().map(ToString::to_string).collect(),
                file: spot.file.to_string(),
                line: spot.line,
                gateway_region: named(from),
                kind: kind.word().to_owned(),
                order: tier.order.word().to_owned(),
                disagrees: !agrees && tier.order == Order::AsWritten,
                agrees,
                written,
                suggested,
                unknown: names(&all),
            }
        })
        .collect()
}

/// A time in its largest unit, rounded down: `3m`, `2d`.
fn rough(time: Millis) -> Millis {
    let unit = [86_400_000, 3_600_000, 60_000, 1_000].into_iter().find(|unit| time.0 >= *unit);
    unit.map_or(Millis::ZERO, |unit| Millis(time.0 / unit * unit))
}

/// Columns as wide as their widest cell, numbers to the right.
fn table<const N: usize>(head: &[&str; N], rows: &[[String; N]], out: &mut String) {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        cells.chain(head.get(at).map(|cell| cell.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut line = |cells: [&str; N]| {
        let cells = cells.into_iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
            if (4..8).contains(&at) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        let text = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line(*head);
    for row in rows {
        line(row.each_ref().map(String::as_str));
    }
}

#[cfg(test)]
mod tests;
