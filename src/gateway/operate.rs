//! What operators and clients ask beside answers: models, health, readiness, metrics.

use super::metrics::Page;
use super::{App, dress};
use crate::record::rfc3339;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Response, header};
use serde_json::json;
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

pub(super) async fn readyz(State(app): State<Arc<App>>) -> Response<Body> {
    let serving = app.engine.serving.load();
    let reload = app.reload.load();
    let body = json!({
        "ready": true,
        "policy": serving.graph().hash(),
        "loaded_at": rfc3339(serving.loaded_at_ms),
        "reload": {
            "ok": reload.ok,
            "at": rfc3339(reload.at_ms),
            "diagnostics": reload.diagnostics,
        },
    });
    dress::json(200, body.to_string().into())
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
