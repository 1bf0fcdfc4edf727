//! What operators and clients ask beside answers: models, health, readiness, metrics.

use super::metrics::Page;
use super::{App, dress};
use crate::decide::Health;
use crate::decide::baselines::Kind;
use crate::decide::group::Group;
use crate::decide::recovery::Phase;
use crate::decide::spend::Today;
use crate::diag::render::json::Finding;
use crate::policy::breaker::Capability;
use crate::policy::{DaySpend, Millis};
use crate::record::{dollars, rfc3339};
use crate::runtime::engine::Engine;
use crate::runtime::live::lock;
use crate::runtime::serving::Serving;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Response, header};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) async fn models(State(app): State<Arc<App>>) -> Response<Body> {
    let serving = app.engine.serving.load();
    let routes = &serving.graph().policy().routes;
    let names: BTreeSet<&str> = routes.iter().flat_map(|r| &r.serves).map(String::as_str).collect();
    let created = serving.loaded_at_ms / 1_000;
    dress::json(200, crate::wire::chat::models::list(names, created).into())
}

pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// The body of `/readyz`: 200 as long as any policy serves, since a rejected edit takes nothing from running traffic.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Readiness {
    /// Whether requests are taken.
    pub ready: bool,
    /// Hash of the policy that serves.
    pub policy: String,
    /// Since when it serves, UTC, RFC 3339.
    pub loaded_at: String,
    /// Whether what is on disk is what serves.
    pub reload: Reload,
}

/// How the last change on disk was taken.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Reload {
    /// Whether what is on disk is what serves.
    pub ok: bool,
    /// Since when that is so, UTC, RFC 3339.
    pub at: String,
    /// Why what is on disk does not serve.
    pub diagnostics: Vec<Finding>,
}

pub(super) async fn readyz(State(app): State<Arc<App>>) -> Response<Body> {
    let serving = app.engine.serving.load();
    let status = app.reload.load();
    let readiness = Readiness {
        ready: true,
        policy: serving.graph().hash().to_owned(),
        loaded_at: rfc3339(serving.loaded_at_ms),
        reload: Reload { ok: status.ok, at: rfc3339(status.at_ms), diagnostics: status.diagnostics.clone() },
    };
    // Strings and numbers always have a JSON form.
    dress::json(200, serde_json::to_vec(&readiness).unwrap_or_default().into())
}

/// How targets and breakers stand, as labels and values.
#[derive(Default)]
struct Standings {
    health: Vec<([String; 2], u64)>,
    breakers: Vec<([String; 2], u64)>,
    ramps: Vec<([String; 1], f64)>,
    stale: Vec<([String; 1], u64)>,
    regions: Vec<([String; 2], u64)>,
    tiers: Vec<([String; 2], u64)>,
    ranks: Vec<([String; 4], u64)>,
}

impl Standings {
    fn of(serving: &Serving, now: Millis) -> Standings {
        let mut all = Standings::default();
        for group in serving.live.groups() {
            let mut group = lock(group);
            let names: Vec<String> = group.spec().targets.iter().map(|t| t.name.clone()).collect();
            all.regions(&mut group, now);
            for (place, name) in names.into_iter().enumerate() {
                let ramp = match group.phase(place, now, Capability::Text) {
                    Phase::Full => 100.0,
                    Phase::Ramping(share) => f64::from(share.0) / 100.0,
                    Phase::Trial | Phase::Blocked => 0.0,
                };
                all.ramps.push(([name.clone()], ramp));
                let health = group.target(place).map(|target| target.health());
                if let Some(target) = group.target(place).filter(|target| target.vitals().is_some()) {
                    all.stale.push(([name.clone()], u64::from(target.is_stale(now))));
                }
                for state in Health::ALL {
                    let value = u64::from(health == Some(*state));
                    all.health.push(([name.clone(), state.word().to_owned()], value));
                }
            }
            for circuit in group.circuits(now) {
                let word = circuit.state.word();
                if word == "closed" && circuit.trips == 0 {
                    continue;
                }
                for state in ["closed", "half-open", "open"] {
                    all.breakers.push(([circuit.key.to_owned(), state.to_owned()], u64::from(state == word)));
                }
            }
        }
        all.tiers = degraded_for(serving);
        let places = serving.live.orders().places();
        all.ranks = places.into_iter().map(|(labels, place)| (labels, u64::from(place))).collect();
        all
    }

    /// Whether each region fails while others of its provider do not, for providers of several regions.
    fn regions(&mut self, group: &mut Group, now: Millis) {
        let sites: Vec<(String, String)> =
            group.spec().targets.iter().map(|t| (t.provider.clone(), t.region.clone().unwrap_or_default())).collect();
        for (place, (provider, region)) in sites.iter().enumerate() {
            let several = sites.iter().any(|(p, r)| p == provider && r != region && !r.is_empty());
            if region.is_empty() || !several {
                continue;
            }
            let fails = u64::from(group.is_regional(place, now));
            let labels = [provider.clone(), region.clone()];
            match self.regions.iter_mut().find(|(known, _)| *known == labels) {
                Some((_, known)) => *known = fails.max(*known),
                None => self.regions.push((labels, fails)),
            }
        }
    }
}

/// The percentiles of each target that was called.
fn baselines(engine: &Engine, serving: &Serving) -> Vec<([String; 3], u64)> {
    let wall_ms = engine.clock.wall_ms();
    let mut all = Vec::new();
    for target in &serving.graph().policy().targets {
        for kind in Kind::ALL {
            let Some(known) = engine.seen.percentiles(&target.name, *kind, wall_ms) else { continue };
            for (quantile, value) in [("0.5", known.p50), ("0.95", known.p95), ("0.99", known.p99)] {
                all.push(([target.name.as_str(), kind.word(), quantile].map(str::to_owned), value.0));
            }
        }
    }
    all
}

/// Which targets are too slow for tiers that have a limit of their own, though not for everybody.
fn degraded_for(serving: &Serving) -> Vec<([String; 2], u64)> {
    let graph = serving.graph();
    let mut all = Vec::new();
    for tier in &graph.policy().tiers {
        let Some(limit) = tier.slow_above else { continue };
        let targets: BTreeSet<_> = tier.chains.iter().flat_map(|c| &c.ranks).map(|rank| rank.target).collect();
        for id in targets {
            let Some((group, place)) = serving.live.of(id) else { continue };
            let seen = lock(group).target(place).map(|target| target.health_above(limit, target.health()));
            let labels = [tier.name.clone(), graph.target_name(id).to_owned()];
            all.push((labels, u64::from(seen == Some(Health::Degraded))));
        }
    }
    all
}

/// Dollars by route.
type Dollars = Vec<([String; 1], f64)>;

/// What each route with a cap a day has spent today, and the cap.
fn spending(engine: &Engine, serving: &Serving) -> (Dollars, Dollars) {
    let graph = serving.graph();
    let today = Today::at(engine.clock.wall_ms());
    let routes = graph.policy().routes.iter();
    let capped = routes.filter_map(|route| Some((&route.name, graph.budget_of(route)?.spend_per_day?)));
    let pair = |(name, day): (&String, DaySpend)| {
        let spent = engine.route_money.spent(name, today);
        (([name.clone()], dollars(spent)), ([name.clone()], dollars(day.cap)))
    };
    capped.map(pair).unzip()
}

pub(super) async fn metrics(State(app): State<Arc<App>>) -> Response<Body> {
    let engine = &app.engine;
    let serving = engine.serving.load();
    let mut page = Page::default();
    page.counters(
        "switchback_requests_total",
        "Requests by route and result.",
        ["route", "result"],
        &engine.meters.requests,
    );
    page.counters(
        "switchback_attempts_total",
        "Upstream calls by route, target, class of the failure or ok, and the action that led to them.",
        ["route", "target", "class", "action"],
        &engine.meters.attempts,
    );
    page.counters(
        "switchback_attempts_ours_total",
        "Upstream calls refused for what the gateway's translation made of the request.",
        ["route", "target"],
        &engine.meters.ours,
    );
    page.counters(
        "switchback_hedges_total",
        "Hedges by the target that they went to and what became of them.",
        ["target", "result"],
        &engine.meters.hedges,
    );
    page.counters(
        "switchback_probes_total",
        "Probes by target and what they were taken for.",
        ["target", "result"],
        &engine.meters.probes,
    );
    page.counters(
        "switchback_refusals_total",
        "The gateway's own refusals by route.",
        ["route", "refusal"],
        &engine.meters.refusals,
    );
    page.dollars(
        "switchback_failover_cost_dollars_total",
        "What requests that another target served cost more than they would have at the first of their order.",
        ["route"],
        &engine.meters.failover_cost,
    );
    let (spent, caps) = spending(&app.engine, &serving);
    page.gauges(
        "switchback_spend_today_dollars",
        "What a route with a cap a day has spent today, what is reserved for running calls included.",
        ["route"],
        &spent,
    );
    page.gauges("switchback_spend_cap_dollars", "The most that a route may spend a day.", ["route"], &caps);
    let states = Standings::of(&serving, engine.clock.now());
    page.gauges(
        "switchback_health_state",
        "1 for the health that probes give a target.",
        ["target", "state"],
        &states.health,
    );
    page.gauges(
        "switchback_health_stale",
        "1 where nothing was learned of a target for three intervals of its probe.",
        ["target"],
        &states.stale,
    );
    page.gauges(
        "switchback_region_failing",
        "1 where a region fails while others of its provider do well.",
        ["provider", "region"],
        &states.regions,
    );
    page.counters(
        "switchback_regional_failures_total",
        "Upstream calls whose failure was their region's affair, by provider and region.",
        ["provider", "region"],
        &engine.meters.regional,
    );
    page.gauges(
        "switchback_breaker_state",
        "1 for the state of a breaker; only breakers that are not closed, or have opened, are listed.",
        ["key", "state"],
        &states.breakers,
    );
    page.gauges(
        "switchback_ramp_percent",
        "The share of sessions that a target takes while it comes back, in percent; 100 where no ramp runs.",
        ["target"],
        &states.ramps,
    );
    page.gauges(
        "switchback_tier_degraded",
        "1 where a target is degraded for a tier with a slow-above of its own.",
        ["tier", "target"],
        &states.tiers,
    );
    page.gauges(
        "switchback_baseline_milliseconds",
        "How long calls of a target took over 14 days, as this gateway saw them; only what was called is listed.",
        ["target", "kind", "quantile"],
        &baselines(engine, &serving),
    );
    page.gauges(
        "switchback_order_place",
        "The place of a target in the ranking of a tier's chain, from 1; only of tiers that rank by what is measured.",
        ["tier", "chain", "kind", "target"],
        &states.ranks,
    );
    page.gauge("switchback_requests_running", "Requests that run now.", &[], engine.meters.running_now());
    page.counter("switchback_records_dropped_total", "Decision records that were lost.", engine.sink.dropped());
    page.gauge(
        "switchback_state_ok",
        "1 unless the last write of state to disk failed; also where no folder keeps it.",
        &[],
        u64::from(engine.store.is_well()),
    );
    page.counter(
        "switchback_state_write_failures_total",
        "Writes of state to disk that failed.",
        engine.store.failures(),
    );
    page.counters(
        "switchback_state_corrupt_total",
        "Documents of the state folder that could not be read at start and were moved aside.",
        ["document"],
        engine.store.corrupt(),
    );
    page.gauge(
        "switchback_policy_reload_ok",
        "1 if what is on disk is what serves.",
        &[],
        u64::from(app.reload.load().ok),
    );
    page.gauge("switchback_policy_info", "The policy that serves.", &[("hash", serving.graph().hash())], 1);
    let mut response = Response::new(Body::from(page.into_text()));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
