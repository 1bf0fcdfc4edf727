//! The HTTP face: chat completions, the list of models, health, metrics.
//!
//! In: HTTP requests. Out: facts for the runtime, and its answers as HTTP. Refuses by itself only what no policy could
//! decide: a body that is no request, a model that no route serves. Never calls a provider and never chooses a target.

mod chat;
pub mod dress;
pub mod error;
mod events;
mod link;
mod metrics;
mod operate;
pub mod server;

pub use operate::{Readiness, Reload};

use crate::policy::RouteId;
use crate::runtime::engine::Engine;
use crate::runtime::id;
use crate::runtime::reload::ReloadStatus;
use crate::runtime::reply::Head;
use crate::runtime::serving::Serving;
use crate::runtime::snapshot::Current;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::middleware::map_response_with_state;
use axum::routing::{get, post};
use error::ClientError;
use std::sync::Arc;
use std::time::Duration;

/// What handlers share.
pub struct App {
    /// The runtime.
    pub engine: Arc<Engine>,
    /// Where reloading stands.
    pub reload: Arc<Current<ReloadStatus>>,
    /// Largest request body, in bytes.
    pub max_body: usize,
    /// Longest time for a request body to come.
    pub body_within: Duration,
    /// The gateway's own region, for requests that name none.
    pub region: Option<String>,
}

impl App {
    fn head(&self, serving: &Serving, route: Option<RouteId>) -> Head {
        let graph = serving.graph();
        let route = route.and_then(|r| graph.route(r)).map(|r| r.name.clone()).unwrap_or_default();
        Head { id: id::fresh(&self.engine.clock), route, policy: graph.hash().to_owned(), attempts: 0, target: None }
    }
}

/// All that the gateway answers.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat::completions))
        .route("/v1/models", get(operate::models))
        .route("/healthz", get(operate::healthz))
        .route("/readyz", get(operate::readyz))
        .route("/metrics", get(operate::metrics))
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(map_response_with_state(Arc::clone(&app), dressed))
        .with_state(app)
}

async fn not_found(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let message = format!("there is nothing at {}", request.uri().path());
    early(&app, ClientError::new(404, "not_found", message))
}

async fn wrong_method(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let message = format!("{} does not answer to {}", request.uri().path(), request.method());
    early(&app, ClientError::new(405, "method_not_allowed", message))
}

/// An error without a route.
fn early(app: &App, error: ClientError) -> Response<Body> {
    app.engine.meters.requests.count(["", error.code]);
    dress::error(&error, &app.head(&app.engine.serving.load(), None))
}

/// Every answer has an id and says which policy was serving.
async fn dressed(State(app): State<Arc<App>>, response: Response<Body>) -> Response<Body> {
    if response.headers().contains_key(dress::ID) {
        return response;
    }
    let head = app.head(&app.engine.serving.load(), None);
    dress::with_head(response, &head)
}
