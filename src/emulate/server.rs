//! The emulator over HTTP.
//!
//! In: a listener and an [`Emulator`]. Out: its answers on sockets, faults included: a reset is a TCP reset, a cut leaves
//! the chunked body without its last chunk, silence holds the connection. Also what it received, under
//! `/emulator/calls`. Decides no answer, and serves no one but who can reach the listener.

mod socket;

use super::{EmulatedAnswer, EmulatedFault, Emulator};
use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use socket::{Reset, Socket};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Largest request that is taken, in bytes.
const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;

/// What lies between the last bytes before a cut and the cut. The server writes a body out when it has to wait for more
/// of it, and drops what is not written yet when the body breaks off.
const BEFORE_A_CUT: Duration = Duration::from_millis(10);

/// Pause after a connection that could not be accepted, so that a system without room is not asked without end.
const AFTER_A_REFUSAL: Duration = Duration::from_millis(50);

type Body = UnsyncBoxBody<Bytes, EmulatedFault>;

/// Serves until dropped; connections end with it.
pub async fn serve(listener: TcpListener, emulator: Arc<Emulator>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let _ = stream.set_nodelay(true);
                    let emulator = Arc::clone(&emulator);
                    connections.spawn(async move {
                        let reset = Reset::default();
                        let io = TokioIo::new(Socket::new(stream, reset.clone()));
                        let service = service_fn(|request| answer(&emulator, &reset, request));
                        // A connection that ends badly ends badly on purpose, or by its client: nobody is to be told.
                        let _ = http1::Builder::new().timer(TokioTimer::new()).serve_connection(io, service).await;
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(AFTER_A_REFUSAL).await;
                }
            },
            // Collects what has ended; there is nothing to collect while there is no connection.
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn answer(
    emulator: &Emulator,
    reset: &Reset,
    request: Request<Incoming>,
) -> Result<Response<Body>, EmulatedFault> {
    let path = request.uri().path().trim_end_matches('/');
    match (path, request.method()) {
        ("/v1/chat/completions" | "/chat/completions", &Method::POST) => chat(emulator, reset, request).await,
        ("/v1/models" | "/models", &Method::GET) => Ok(json(StatusCode::OK, &models(emulator))),
        ("/emulator/calls", &Method::GET) => Ok(json(StatusCode::OK, &serde_json::json!(emulator.calls()))),
        ("/emulator/calls", &Method::DELETE) => {
            emulator.reset();
            Ok(json(StatusCode::OK, &serde_json::json!(emulator.calls())))
        }
        ("/v1/chat/completions" | "/chat/completions", _) => Ok(wrong_method("POST")),
        ("/v1/models" | "/models", _) => Ok(wrong_method("GET")),
        ("/emulator/calls", _) => Ok(wrong_method("GET, DELETE")),
        (path, _) => {
            let message = format!(
                "the emulator serves no `{path}`; it serves /v1/chat/completions, /v1/models and /emulator/calls"
            );
            Ok(error(StatusCode::NOT_FOUND, "not_found", &message))
        }
    }
}

async fn chat(emulator: &Emulator, reset: &Reset, request: Request<Incoming>) -> Result<Response<Body>, EmulatedFault> {
    let (head, body) = request.into_parts();
    let headers: Vec<String> = head.headers.keys().map(|name| name.as_str().to_string()).collect();
    let Ok(body) = Limited::new(body, MAX_REQUEST_BYTES).collect().await.map(|b| b.to_bytes()) else {
        return Ok(error(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", "the request is too large or broke off"));
    };
    match emulator.receive(headers, &body).await {
        Ok(answer) => Ok(response(answer)),
        Err(fault) => {
            match fault {
                EmulatedFault::Reset => reset.demand(),
                EmulatedFault::Cut => {}
            }
            Err(fault)
        }
    }
}

fn response(answer: EmulatedAnswer) -> Response<Body> {
    let body = match answer.body.at_once() {
        Some(bytes) => whole(bytes),
        None => {
            let frames = answer.body.into_stream().then(|piece| async {
                if piece.is_err() {
                    tokio::time::sleep(BEFORE_A_CUT).await;
                }
                piece.map(Frame::data)
            });
            StreamBody::new(frames).boxed_unsync()
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

fn models(emulator: &Emulator) -> serde_json::Value {
    let model = |id: String| serde_json::json!({"id": id, "object": "model", "created": 0, "owned_by": "switchback"});
    let data: Vec<_> = emulator.names().into_iter().map(model).collect();
    serde_json::json!({"object": "list", "data": data})
}

fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

fn json(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    let mut response = Response::new(whole(value.to_string().into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn error(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    json(
        status,
        &serde_json::json!({"error": {
            "message": message, "type": "invalid_request_error", "param": null, "code": code,
        }}),
    )
}

fn wrong_method(allowed: &'static str) -> Response<Body> {
    let mut response =
        error(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", &format!("this path takes {allowed}"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}
