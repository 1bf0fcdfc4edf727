//! Decision records: the trail of a run as one JSON line.
//!
//! In: an ended run and how its answer went. Out: a `Record` that serialises without prompts, answers or keys; the
//! session is a hash. Reads no clock: the time of receipt is given.

pub mod baselines;
mod billed;
mod dollars;
mod stamp;

pub use billed::Certainty;
pub use dollars::dollars;
pub use stamp::rfc3339;

use crate::decide::spend::cost;
use crate::decide::{Facts, Outcome, Run, Step};
use crate::graph::Graph;
use crate::policy::{Class, Millis, Modalities, Order, Usage};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// What is known of an answer beside the run itself.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// Wall time of receipt, in milliseconds since 1970.
    pub received_wall_ms: u64,
    /// From receipt to the end.
    pub elapsed: Millis,
    /// Tokens, as the answer states them.
    pub usage: Option<Usage>,
    /// Pieces of output that came of an answer, whole or not: each is a token at least.
    pub pieces: u64,
    /// The model that the answer names.
    pub model: Option<String>,
    /// Which rule gave a failed attempt its class, by the attempt's number from 1.
    pub rules: Vec<(u32, &'static str)>,
}

/// One request's decision record.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Record {
    /// Version of this form: 1.
    pub version: u32,
    /// The request's id: `x-switchback-id`.
    pub id: String,
    /// When it was received, UTC, RFC 3339.
    pub at: String,
    /// The route that took it.
    pub route: Option<String>,
    /// The route's version, as its author counts.
    pub route_version: Option<u64>,
    /// Hash of the policy that decided.
    pub policy: String,
    /// What was asked for.
    pub request: RequestRecord,
    /// How the candidates were ordered, where the tier's order is not as written.
    pub order: Option<OrderRecord>,
    /// What was decided, in order. Steps with a target are upstream calls.
    pub steps: Vec<StepRecord>,
    /// `served`, `refused`, `cut` (after output) or `cancelled` (the client left).
    #[schemars(extend("enum" = ["served", "refused", "cut", "cancelled"]))]
    pub outcome: String,
    /// Who served it, or was answering when it was cut; nothing where it was refused.
    pub target: Option<String>,
    /// The model that the answer names.
    pub model: Option<String>,
    /// The failure class that the client was told of.
    pub class: Option<String>,
    /// The gateway's own refusal that the client was told of.
    pub refusal: Option<String>,
    /// The status of the answer's head; 499 where the client left before it.
    pub status: u16,
    /// Upstream calls.
    pub attempts: u32,
    /// From receipt to the end.
    pub elapsed_ms: u64,
    /// Tokens, as the answer states them.
    pub usage: Option<Usage>,
    /// Output tokens, at least, of an answer that broke off: one for each piece that came.
    pub partial_output: Option<u64>,
    /// What the answer cost at the target's prices; nothing where tokens or prices are not known.
    pub cost_usd: Option<f64>,
    /// How sure that cost is: `exact`, `at-least` or `unknown`.
    #[schemars(extend("enum" = ["exact", "at-least", "unknown"]))]
    pub cost_certainty: String,
    /// What all calls were billed; the worst of a call where nobody said. Nothing where a price is not known.
    pub billed_usd: Option<f64>,
    /// By how much that is more than what the answer would have cost at the first target of the request's order; below zero
    /// where it is less. Nothing where that one served, or tokens or prices are not known.
    pub cost_delta_usd: Option<f64>,
}

/// What was asked for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RequestRecord {
    /// The request's `model`, as written.
    pub model: String,
    /// Whether it was to stream.
    pub stream: bool,
    /// Whether tools were given.
    pub tools: bool,
    /// Input tokens, estimated upwards.
    pub tokens: u64,
    /// Output tokens asked for.
    pub max_output: Option<u64>,
    /// Kinds of content.
    pub modalities: Vec<String>,
    /// Where it came from.
    pub region: Option<String>,
    /// A hash of its session.
    pub session: Option<String>,
}

/// How candidates were ordered.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OrderRecord {
    /// The tier whose chain was asked last.
    pub tier: String,
    /// Its `order`: `price`, `latency` or `score`.
    pub by: String,
    /// Whom the request could be sent to, in order.
    pub candidates: Vec<RankedRecord>,
}

/// A candidate, and what it was ranked by.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankedRecord {
    /// Which.
    pub target: String,
    /// Its latency when the ranking was made; nothing where it was not known, or not asked for.
    pub latency_ms: Option<u64>,
    /// What a call costs at worst; nothing where its price is not known.
    pub worst_cost_usd: Option<f64>,
}

/// One decision.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StepRecord {
    /// When the call began, or the run stopped, from receipt.
    pub at_ms: u64,
    /// The rank or matrix action that decided.
    pub node: String,
    /// The policy file it stands in.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// `call` for the first, `hedge` for a duplicate of a late one, else the matrix action.
    pub action: String,
    /// Who was called; nothing for a stop.
    pub target: Option<String>,
    /// Which key of the provider's pool it was made with, from 1; nothing where there is no pool.
    pub key: Option<u16>,
    /// How far a failed call had come.
    pub stage: Option<String>,
    /// What a failed call was; nothing where it was served or abandoned.
    pub class: Option<String>,
    /// The upstream's status.
    pub status: Option<u16>,
    /// Pause before the call.
    pub wait_ms: Option<u64>,
    /// The wait that the upstream asked for.
    pub hint_ms: Option<u64>,
    /// Time left before the deadline.
    pub left_ms: u64,
    /// Who was passed over.
    pub skipped: Vec<SkippedRecord>,
    /// The target's health when it was called.
    pub health: Option<String>,
    /// Whether that health was stale: older than three intervals of its probe.
    pub health_stale: bool,
    /// The target's breaker when it was called.
    pub breaker: Option<String>,
    /// The rule that gave the failed call its class.
    pub rule: Option<String>,
    /// What was refused is our translation of the request into the target's dialect; nobody else is to blame.
    pub ours: bool,
    /// Whether, with this failure, its region fails and others of its provider do well.
    pub regional: bool,
    /// What the call was billed; nothing for a stop, and where a price is not known.
    pub billed_usd: Option<f64>,
    /// How that is known: `nothing` (it was not processed), `usage` (the answer says), `worst` (nobody says).
    #[schemars(extend("enum" = ["nothing", "usage", "worst", null]))]
    pub billed_by: Option<String>,
    /// Called off because of its rival: a hedge or the call that it doubled had output first, or failed for good.
    pub lost: bool,
}

/// A target that was passed over.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SkippedRecord {
    /// Which.
    pub target: String,
    /// Why: how it stood, or the clause of the contract that it does not meet.
    pub reason: String,
    /// Whether that is its region's affair: other regions of its provider do well.
    pub regional: bool,
}

/// Status of a record whose client left before the head was sent. Nobody receives it; nginx's number is known to all.
const CLIENT_CLOSED: u16 = 499;

/// The record of a run that has ended.
pub fn record(run: &Run, graph: &Graph, facts: &Facts, ending: &Ending) -> Record {
    let route = graph.route(run.route());
    let refused = run.refused();
    let outcome = run.outcome().unwrap_or(Outcome::Cancelled);
    let served = match outcome {
        Outcome::Served | Outcome::Cut => run.target(),
        Outcome::Cancelled if run.committed() => run.target(),
        Outcome::Cancelled | Outcome::Refused => None,
    };
    let status = match outcome {
        Outcome::Served | Outcome::Cut => 200,
        Outcome::Cancelled if run.committed() => 200,
        Outcome::Cancelled => CLIENT_CLOSED,
        Outcome::Refused => refused.map_or(503, |r| r.status),
    };
    let (class, refusal) = match refused.map(|r| r.why) {
        Some(crate::decide::Why::Class(class)) => (Some(class.word().to_owned()), None),
        Some(crate::decide::Why::Refusal(refusal)) => (None, Some(refusal.word().to_owned())),
        None => (None, None),
    };
    let partial = Some(ending.pieces).filter(|pieces| *pieces > 0 && outcome != Outcome::Served && served.is_some());
    // Of what broke off the input is not known: what is said of it is only ever too little.
    let known = ending.usage.or(partial.map(|output| Usage { input: 0, output, cached: 0 }));
    let cost = served.zip(known).and_then(|(target, usage)| cost(graph, target, usage));
    Record {
        version: 1,
        id: facts.id.clone(),
        at: rfc3339(ending.received_wall_ms),
        route: route.map(|r| r.name.clone()),
        route_version: route.and_then(|r| r.version),
        policy: graph.hash().to_owned(),
        request: request(facts),
        order: order(run, graph),
        steps: steps(run, graph, ending),
        outcome: outcome.word().to_owned(),
        target: served.map(|t| graph.target_name(t).to_owned()),
        model: served.and_then(|t| ending.model.clone().or_else(|| graph.target(t).map(|t| t.upstream.clone()))),
        class,
        refusal,
        status,
        attempts: run.attempts(),
        elapsed_ms: ending.elapsed.0,
        usage: ending.usage,
        partial_output: partial,
        cost_usd: cost.map(dollars),
        cost_certainty: billed::certainty(run.trail(), outcome, cost).word().to_owned(),
        billed_usd: run.billed().map(dollars),
        cost_delta_usd: run.cost_delta(graph).map(dollars::signed),
    }
}

fn order(run: &Run, graph: &Graph) -> Option<OrderRecord> {
    let tier = graph.tier(run.tier()).filter(|tier| tier.order != Order::AsWritten)?;
    let ranked = run.order().map(|(target, latency, worst)| RankedRecord {
        target: graph.target_name(target).to_owned(),
        latency_ms: latency.map(|latency| latency.0),
        worst_cost_usd: worst.map(dollars),
    });
    Some(OrderRecord { tier: tier.name.clone(), by: tier.order.word().to_owned(), candidates: ranked.collect() })
}

/// A request that was refused before any decision: it was no request, no route serves its model, or it asked for what its
/// route does not allow.
#[derive(Clone, Debug)]
pub struct Unrouted<'a> {
    /// Its id.
    pub id: &'a str,
    /// Hash of the policy that was serving.
    pub policy: &'a str,
    /// The route, where one was found.
    pub route: Option<&'a str>,
    /// Its facts, as far as it was read.
    pub facts: Option<&'a Facts>,
    /// What it is called in the record.
    pub class: Class,
    /// The status of the answer.
    pub status: u16,
    /// Wall time of receipt, in milliseconds since 1970.
    pub received_wall_ms: u64,
    /// From receipt to the answer.
    pub elapsed: Millis,
}

/// The record of a request that never became a run: no step, no call.
pub fn unrouted(refused: &Unrouted<'_>) -> Record {
    let nothing = Facts { modalities: Modalities::default(), ..Facts::plain(refused.id, "") };
    Record {
        version: 1,
        id: refused.id.to_owned(),
        at: rfc3339(refused.received_wall_ms),
        route: refused.route.map(str::to_owned),
        route_version: None,
        policy: refused.policy.to_owned(),
        request: request(refused.facts.unwrap_or(&nothing)),
        order: None,
        steps: Vec::new(),
        outcome: Outcome::Refused.word().to_owned(),
        target: None,
        model: None,
        class: Some(refused.class.word().to_owned()),
        refusal: None,
        status: refused.status,
        attempts: 0,
        elapsed_ms: refused.elapsed.0,
        usage: None,
        partial_output: None,
        cost_usd: None,
        cost_certainty: Certainty::Exact.word().to_owned(),
        billed_usd: None,
        cost_delta_usd: None,
    }
}

fn request(facts: &Facts) -> RequestRecord {
    RequestRecord {
        model: short(&facts.model),
        stream: facts.stream,
        tools: facts.tools,
        tokens: facts.tokens,
        max_output: facts.max_output,
        modalities: facts.modalities.iter().map(|m| m.word().to_owned()).collect(),
        region: facts.region.as_deref().map(short),
        session: facts.session.as_deref().map(session_hash),
    }
}

/// What a client wrote, at a length that a record can bear.
pub fn short(text: &str) -> String {
    const MOST: usize = 256;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Enough of a hash to tell sessions apart in records, and too little to try names against at leisure across logs.
fn session_hash(session: &str) -> String {
    let digest = Sha256::digest([b"session\0", session.as_bytes()].concat());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn steps(run: &Run, graph: &Graph, ending: &Ending) -> Vec<StepRecord> {
    let mut attempt = 0u32;
    run.trail()
        .iter()
        .map(|step| {
            attempt += u32::from(step.target.is_some());
            let rule = ending.rules.iter().find(|(n, _)| step.target.is_some() && *n == attempt).map(|(_, rule)| *rule);
            step_record(step, graph, rule)
        })
        .collect()
}

fn step_record(step: &Step, graph: &Graph, rule: Option<&'static str>) -> StepRecord {
    let spot = graph.spot(step.node);
    let result = step.result;
    StepRecord {
        at_ms: step.at.0,
        node: spot.map_or(String::new(), |s| s.name.to_string()),
        file: spot.map_or(String::new(), |s| s.file.to_string()),
        line: spot.map_or(0, |s| s.line),
        action: step.action.word().to_owned(),
        target: step.target.map(|t| graph.target_name(t).to_owned()),
        key: step.key,
        stage: result.and_then(|r| r.stage).map(|s| s.word().to_owned()),
        class: result.and_then(|r| r.class).map(|c| c.word().to_owned()),
        status: result.and_then(|r| r.status),
        wait_ms: step.wait.map(|w| w.0),
        hint_ms: result.and_then(|r| r.hint).map(|h| h.0),
        left_ms: step.left.0,
        skipped: step
            .passed
            .iter()
            .map(|p| SkippedRecord {
                target: graph.target_name(p.target).to_owned(),
                reason: p.why.to_string(),
                regional: p.regional,
            })
            .collect(),
        health: step.health.map(|h| h.word().to_owned()),
        health_stale: step.stale,
        breaker: step.breaker.map(|b| b.word().to_owned()),
        rule: rule.map(str::to_owned),
        ours: result.is_some_and(|r| r.ours),
        regional: result.is_some_and(|r| r.regional),
        billed_usd: result.and_then(|r| r.bill).map(|bill| dollars(bill.amount)),
        billed_by: result.and_then(|r| r.bill).map(|bill| bill.by.word().to_owned()),
        lost: result.is_some_and(|r| r.lost),
    }
}
