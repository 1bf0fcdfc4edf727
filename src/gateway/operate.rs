//! What operators and clients ask beside answers: models, health, readiness, metrics.

use super::metrics::Page;
use super::{App, dress};
use crate::record::rfc3339;
use crate::runtime::reload::Finding;
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
    page.gauge("switchback_requests_running", "Requests that run now.", &[], engine.meters.running_now());
    page.counter("switchback_records_dropped_total", "Decision records that were lost.", engine.sink.dropped());
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
