//! Probes: small real questions to targets, in the background, so that an outage is found without a request that meets it.
//!
//! In: the policy that serves, and time. Out: notes in the ledgers. Each target is asked by itself, through the client,
//! credential and dialect that its traffic uses, and nothing a probe does is on the path of a request. A probe takes no
//! permit and is no sample of a breaker. What is asked, and what an answer says, is in `probing`.

use super::engine::Engine;
use super::live::lock;
use super::probing;
use super::serving::Serving;
use super::upstream::{Body, build};
use crate::classify::{Called, Fault};
use crate::decide::baselines::Kind;
use crate::decide::vitals::{Judged, Probed};
use crate::decide::{draw, spend};
use crate::policy::probe::{ProbeKind, ProbeRules};
use crate::policy::{Dialect, Millis, TargetId};
use crate::wire::chat::ChatRequest;
use crate::wire::chat::answer::Asked;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Largest answer to a probe that is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024;
/// How often it is looked whether another policy serves.
const LOOK: Millis = Millis(250);
/// A UTC calendar day, in milliseconds.
const DAY_MS: u64 = 86_400_000;

/// Probes the targets of whatever policy serves, until it is dropped.
pub async fn run(engine: Arc<Engine>) {
    loop {
        let serving = engine.serving.load();
        let mut probers = JoinSet::new();
        for (id, target) in (0u16..).map(TargetId).zip(&serving.graph().policy().targets) {
            if target.probe.is_some() && target.enabled {
                probers.spawn(follow(Arc::clone(&engine), Arc::clone(&serving), id));
            }
        }
        // Another policy: its targets are probed by its own rules. What was learned is in the ledgers.
        while Arc::ptr_eq(&serving, &engine.serving.load()) {
            let next = engine.clock.now().plus(LOOK);
            engine.clock.sleep_until(next).await;
        }
        probers.shutdown().await;
    }
}

/// Probes one target, again and again.
async fn follow(engine: Arc<Engine>, serving: Arc<Serving>, id: TargetId) {
    let graph = serving.graph();
    let Some(target) = graph.target(id) else { return };
    let Some(rules) = &target.probe else { return };
    let Some((endpoint, _)) = serving.fleet.get(target.provider) else { return };
    let Ok(chat) = probing::question(rules, &target.upstream, endpoint.vendor) else { return };
    let seed = draw::seed(&["probe", &target.name, &std::process::id().to_string()]);
    // Not all at once when a policy begins to serve.
    let mut next = engine.clock.now().plus(Millis(draw::below(seed, 0, rules.every.0 / ProbeRules::FIRST_WITHIN)));
    for number in 1u64.. {
        engine.clock.sleep_until(next).await;
        let probed = if afford(&engine, &serving, id, rules) {
            probe(&engine, &serving, id, rules, &chat, number).await
        } else {
            Probed::Inconclusive
        };
        if let Probed::Passed(took) = probed {
            engine.seen.note(&target.name, Kind::Probe, took, engine.clock.wall_ms());
        }
        let Some((group, place)) = serving.live.of(id) else { return };
        let now = engine.clock.now();
        let (judged, before, after, changing) = {
            let mut group = lock(group);
            let health = |group: &crate::decide::group::Group| group.target(place).map(|t| t.health());
            let before = health(&group);
            let judged = group.probe(place, now, probed);
            let changing = group.target(place).and_then(|t| t.vitals()).is_some_and(|v| v.is_changing());
            (judged, before, health(&group), changing)
        };
        engine.meters.probes.count([&target.name, judged.word()]);
        match (before, after) {
            (Some(before), Some(after)) if before != after => {
                tracing::warn!(target_name = target.name, from = before.word(), to = after.word(), "health changed");
            }
            _ => tracing::debug!(target_name = target.name, judged = judged.word(), "probed"),
        }
        next = now.plus(probing::pause(rules, changing && judged != Judged::Skip, seed, number));
    }
}

/// Whether a probe is within what probes of this target may cost a day. A price that is not known costs nothing here:
/// `check` refuses a cap without one.
fn afford(engine: &Engine, serving: &Serving, id: TargetId, rules: &ProbeRules) -> bool {
    let Some(cap) = rules.spend_per_day else { return true };
    let worst = spend::cost(serving.graph(), id, probing::usage(rules)).unwrap_or_default();
    engine.probe_money.afford(serving.graph().target_name(id), engine.clock.wall_ms() / DAY_MS, worst, cap)
}

/// Asks once and judges the answer.
async fn probe(
    engine: &Engine,
    serving: &Serving,
    id_of: TargetId,
    rules: &ProbeRules,
    chat: &ChatRequest,
    number: u64,
) -> Probed {
    let Some(target) = serving.graph().target(id_of) else { return Probed::Inconclusive };
    let Some((endpoint, upstream)) = serving.fleet.get(target.provider) else { return Probed::Inconclusive };
    // Asked in the words of clients, so that it comes out as their requests do.
    let dialect = endpoint.api.dialect();
    let called =
        Called { vendor: endpoint.vendor, corrections: &target.corrections, translated: dialect != Dialect::Chat };
    // With a key that does not rest; where all rest, nothing can be learned of the target.
    let key = serving.live.of(id_of).and_then(|(group, place)| lock(group).key(place, engine.clock.now(), &[]));
    let Some(key) = key else { return Probed::Inconclusive };
    let id = format!("probe-{}-{number}", target.name);
    let Ok(outgoing) = build::outgoing(endpoint, (target, None), key, chat, &[], &id) else {
        return Probed::Inconclusive;
    };
    let began = engine.clock.now();
    let late = began.plus(rules.longest());
    let asked = async {
        let incoming = upstream.call(outgoing).await?;
        // Whether the server answers at all: it may be up and its model gone.
        if rules.kind == ProbeKind::Endpoint {
            return Ok(None);
        }
        let body = body_of(incoming.body).await?;
        Ok::<_, Fault>(Some((incoming.status, incoming.headers, body)))
    };
    let answer = tokio::select! {
        answer = asked => answer,
        () = engine.clock.sleep_until(late) => return Probed::Failed,
    };
    let took = engine.clock.now().less(began);
    let wall = engine.clock.wall_ms();
    match answer {
        Ok(None) => Probed::Inconclusive,
        Ok(Some((status, headers, body))) if !(200..300).contains(&status) => {
            probing::verdict_on(called.answer(status, &headers, &body, wall).class)
        }
        Ok(Some((_, headers, body))) => {
            let asked = Asked { vendor: endpoint.vendor, ..chat.asked() };
            probing::of_success(rules, (dialect, &asked), &headers, body, took, wall)
        }
        // So much for so little is no answer.
        Err(Fault::BodyTooLarge) => probing::bad(rules),
        Err(_) => Probed::Failed,
    }
}

async fn body_of(mut body: Body) -> Result<Bytes, Fault> {
    let mut whole = BytesMut::new();
    while let Some(piece) = body.next().await {
        let piece = piece?;
        if whole.len() + piece.len() > MAX_ANSWER {
            return Err(Fault::BodyTooLarge);
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}
