//! `POST /v1/chat/completions`.
//!
//! In: a request. Out: its facts and bytes for the runtime, and the runtime's answer as HTTP. What no route could take is
//! refused here, before any upstream is called.

use super::error::ClientError;
use super::events::Events;
use super::link::Link;
use super::{App, dress};
use crate::decide::{Facts, pinnable, route_for};
use crate::graph::Graph;
use crate::policy::{Defaults, Millis, Provider, RouteId};
use crate::record::{self, Unrouted};
use crate::runtime::execute::{self, Order};
use crate::runtime::reply::{Head, Line, Reply};
use crate::runtime::serving::Serving;
use crate::wire::chat::request;
use crate::wire::translate;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response, Version, header};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::sync::Arc;
use std::time::Duration;

/// Longest request head that is taken, in bytes of names and values.
const MAX_HEAD: usize = 64 * 1024;
/// What is left of a body that is too large is read for so long and so far before the connection is closed: a client
/// that is cut off while it writes may never see the answer that is there for it.
const LINGER: Duration = Duration::from_secs(5);
const MAX_LINGER: usize = 64 * 1024 * 1024;

const DEADLINE: &str = "x-switchback-deadline-ms";
const PIN: &str = "x-switchback-pin";

pub(super) async fn completions(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let received_at = app.engine.clock.now();
    let received_wall_ms = app.engine.clock.wall_ms();
    let serving = app.engine.serving.load();
    let mut head = app.head(&serving, None);
    let (parts, body) = request.into_parts();
    let mut link = parts.extensions.get::<Link>().cloned();
    let mut seen = None;
    match order(&app, &serving, &mut head, &mut seen, received_at, &parts, body).await {
        Ok(order) => {
            let (line, reply) = Line::new();
            execute::spawn(Arc::clone(&app.engine), order, line);
            match reply.await {
                Ok(reply) => answer(reply, link.take(), parts.version),
                // The execution died without a word, which no policy can mend.
                Err(_) => dress::error(&ClientError::new(500, "internal", "the gateway failed"), &head),
            }
        }
        Err(error) => {
            app.engine.meters.requests.count([&head.route, error.code]);
            tracing::info!(id = head.id, status = error.status, code = error.code, "refused before any decision");
            app.engine.record(|| {
                record::unrouted(&Unrouted {
                    id: &head.id,
                    policy: &head.policy,
                    route: Some(head.route.as_str()).filter(|r| !r.is_empty()),
                    facts: seen.as_ref(),
                    class: error.class(),
                    status: error.status,
                    received_wall_ms,
                    elapsed: app.engine.clock.now().less(received_at),
                })
            });
            dress::error(&error, &head)
        }
    }
}

fn answer(reply: Reply, link: Option<Link>, version: Version) -> Response<Body> {
    match reply {
        Reply::Whole(head, body) => dress::with_head(dress::json(200, body), &head),
        Reply::Refused(head, refused, said) => dress::refused(&refused, said.as_deref(), &head),
        Reply::Stream(head, pieces) => {
            // Before HTTP/1.1 there are no chunks: the connection's end is the body's.
            if let Some(link) = link.as_ref().filter(|_| version < Version::HTTP_11) {
                link.open_ended();
            }
            let events = Events::new(head.id.clone(), pieces, link);
            dress::with_head(dress::events(Body::from_stream(events)), &head)
        }
    }
}

/// The request as the runtime takes it. `seen` are its facts as soon as they are known, for the record of a refusal.
async fn order(
    app: &App,
    serving: &Arc<Serving>,
    head: &mut Head,
    seen: &mut Option<Facts>,
    received_at: Millis,
    parts: &Parts,
    body: Body,
) -> Result<Box<Order>, ClientError> {
    let headers = &parts.headers;
    let head_bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if head_bytes > MAX_HEAD {
        let what = format!("the headers are larger than {MAX_HEAD} bytes, the most taken here");
        return Err(ClientError::new(431, "headers_too_large", what));
    }
    let asks_first = headers.contains_key(header::EXPECT);
    let body = whole(body, asks_first, app.max_body, app.body_within).await?;
    let chat = request::read(body)?;
    let graph = serving.graph();
    let mut facts = chat.facts(&head.id);
    facts.received_at = received_at;
    // Only where somebody may be called who speaks otherwise.
    let other = |p: &Provider| Some(p.api.dialect()).filter(|dialect| *dialect != facts.dialect);
    if let Some(dialect) = graph.policy().providers.iter().find_map(other) {
        facts.beyond = translate::beyond(&chat, dialect);
    }
    match routed(app, graph, head, &mut facts, headers) {
        Ok(route) => {
            let client_headers = handed_on(serving, headers);
            Ok(Box::new(Order { serving: Arc::clone(serving), route, facts, chat, client_headers }))
        }
        Err(error) => {
            *seen = Some(facts);
            Err(error)
        }
    }
}

/// The request's route, its facts completed by its headers.
fn routed(
    app: &App,
    graph: &Graph,
    head: &mut Head,
    facts: &mut Facts,
    headers: &HeaderMap,
) -> Result<RouteId, ClientError> {
    read_headers(app, &graph.policy().defaults, graph.guard_headers(), headers, facts)?;
    let route = route_for(graph, facts).ok_or_else(|| ClientError {
        param: Some("model".into()),
        ..ClientError::new(
            404,
            "model_not_found",
            format!("no route serves the model `{}`", record::short(&facts.model)),
        )
    })?;
    head.route = graph.route(route).map(|r| r.name.clone()).unwrap_or_default();
    if let Some(name) = text(headers, PIN)? {
        let pin = pinnable(graph, route, facts, name).ok_or_else(|| {
            let route = &head.route;
            header_error(PIN, format!("`{name}` is no target of the chain of route `{route}`"))
        })?;
        facts.pin = Some(pin);
    }
    Ok(route)
}

async fn whole(mut body: Body, asks_first: bool, max: usize, within: Duration) -> Result<Bytes, ClientError> {
    let too_large =
        || ClientError::new(413, "body_too_large", format!("the body is larger than {max} bytes, the most taken here"));
    // What is announced as too large need not be read to be refused.
    if hyper::body::Body::size_hint(&body).lower() > max as u64 {
        // A client that asks first has not begun to send, and is told not to.
        if !asks_first {
            tokio::spawn(read_away(body));
        }
        return Err(too_large());
    }
    match tokio::time::timeout(within, Limited::new(&mut body, max).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            tokio::spawn(read_away(body));
            Err(too_large())
        }
        Ok(Err(_)) => Err(ClientError::new(400, "invalid_json", "the body broke off")),
        Err(_) => Err(ClientError::new(408, "request_timeout", "the body did not come in time")),
    }
}

async fn read_away(mut body: Body) {
    let mut left = MAX_LINGER;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(LINGER, reading).await;
}

fn read_headers(
    app: &App,
    defaults: &Defaults,
    guard_headers: &[String],
    headers: &HeaderMap,
    facts: &mut Facts,
) -> Result<(), ClientError> {
    facts.session = text(headers, &defaults.session_header)?.map(str::to_owned);
    facts.region = text(headers, &defaults.region_header)?.map(str::to_owned).or_else(|| app.region.clone());
    for name in guard_headers {
        if let Some(value) = text(headers, name)? {
            facts.headers.push((name.clone(), value.to_owned()));
        }
    }
    facts.deadline = match text(headers, DEADLINE)? {
        None => None,
        Some(ms) => Some(milliseconds(ms.trim()).ok_or_else(|| {
            header_error(DEADLINE, "it must be a whole number of milliseconds from receipt".to_owned())
        })?),
    };
    Ok(())
}

/// Digits and nothing else.
fn milliseconds(text: &str) -> Option<Millis> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok().map(Millis)).flatten()
}

/// A header's value. An empty one counts as absent.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, ClientError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    match value.to_str() {
        Ok(text) => Ok(Some(text).filter(|t| !t.trim().is_empty())),
        Err(_) => Err(header_error(name, "it is no plain text".to_owned())),
    }
}

fn header_error(name: &str, what: String) -> ClientError {
    ClientError { param: Some(name.to_owned()), ..ClientError::new(400, "invalid-request", format!("{name}: {what}")) }
}

/// The client headers that some provider of the policy is handed, so that no others are kept.
fn handed_on(serving: &Serving, headers: &HeaderMap) -> Vec<(String, String)> {
    let mut kept: Vec<(String, String)> = Vec::new();
    let policy = serving.graph().policy();
    let ours = [&policy.defaults.session_header, &policy.defaults.region_header];
    for name in policy.providers.iter().flat_map(|p| &p.pass_headers).filter(|n| !ours.contains(n)) {
        let value = headers.get(name).and_then(|v| v.to_str().ok());
        if let Some(value) = value.filter(|_| !kept.iter().any(|(n, _)| n == name)) {
            kept.push((name.clone(), value.to_owned()));
        }
    }
    kept
}
