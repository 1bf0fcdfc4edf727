//! The headers that answers carry.
//!
//! In: an answer and what is known of its request. Out: a response with `x-switchback-*`, `x-should-retry` and
//! `Retry-After` where they are due.

use super::error::ClientError;
use crate::decide::Refused;
use crate::policy::Millis;
use crate::runtime::reply::Head;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use bytes::Bytes;

/// Request id.
pub const ID: HeaderName = HeaderName::from_static("x-switchback-id");
/// The same id under the name that client libraries look for.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Route.
pub const ROUTE: HeaderName = HeaderName::from_static("x-switchback-route");
/// Hash of the policy.
pub const POLICY: HeaderName = HeaderName::from_static("x-switchback-policy");
/// Upstream calls so far.
pub const ATTEMPTS: HeaderName = HeaderName::from_static("x-switchback-attempts");
/// Whose answer it is.
pub const TARGET: HeaderName = HeaderName::from_static("x-switchback-target");
/// Tells client libraries whether to repeat.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Longest `Retry-After` that a client's library is left to sleep out by itself.
const LONGEST_SLEEP: Millis = Millis(60_000);

/// Headers that an answer has at most, those of the connection included: asked for at once, they grow in no steps.
const HEADERS: usize = 12;

/// A response with a JSON body.
pub fn json(status: u16, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().reserve(HEADERS);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A response whose body is a stream of events.
pub fn events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.reserve(HEADERS);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Some proxies gather whole answers unless told so.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// An error before any route was chosen, or one that no route made.
pub fn error(error: &ClientError, head: &Head) -> Response<Body> {
    with_head(json(error.status, error.body(&head.id)), head)
}

/// A run's refusal.
pub fn refused(refused: &Refused, said: Option<&str>, head: &Head) -> Response<Body> {
    let mut response = error(&ClientError::refused(refused, said), head);
    // Some client libraries sleep for as long as they are told, silently; whoever is told of minutes decides for himself.
    let long = refused.retry_after.is_some_and(|after| after > LONGEST_SLEEP);
    if refused.answered || long {
        response.headers_mut().insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    }
    if let Some(after) = refused.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(whole_seconds(after)));
    }
    response
}

/// The same response with the headers of its request.
pub fn with_head(mut response: Response<Body>, head: &Head) -> Response<Body> {
    let headers = response.headers_mut();
    set(headers, ID, &head.id);
    set(headers, REQUEST_ID, &head.id);
    set(headers, POLICY, &head.policy);
    headers.insert(ATTEMPTS, HeaderValue::from(head.attempts));
    if !head.route.is_empty() {
        set(headers, ROUTE, &head.route);
    }
    if let Some(target) = &head.target {
        set(headers, TARGET, target);
    }
    response
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Rounded up: a client that comes back early has come in vain.
fn whole_seconds(wait: Millis) -> u64 {
    wait.0.div_ceil(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::Why;
    use crate::policy::Refusal;

    #[test]
    fn a_refusal_carries_its_head_and_when_to_come_back() {
        let head = Head { id: "sb-1".into(), route: "chat".into(), policy: "ab".into(), attempts: 2, target: None };
        let refused = |answered, retry_after| Refused {
            status: 503,
            why: Why::Refusal(Refusal::NoTarget),
            attempt: None,
            retry_after,
            answered,
            ours: false,
        };
        let response = super::refused(&refused(true, Some(Millis(1_001))), None, &head);
        let get = |name: &str| response.headers().get(name).map(|v| v.to_str().unwrap());
        assert_eq!(response.status(), 503);
        assert_eq!(get("x-switchback-id"), Some("sb-1"));
        assert_eq!(get("x-switchback-route"), Some("chat"));
        assert_eq!(get("x-switchback-attempts"), Some("2"));
        assert_eq!(get("x-switchback-target"), None);
        assert_eq!(get("x-should-retry"), Some("false"));
        assert_eq!(get("retry-after"), Some("2"));
        let response = super::refused(&refused(false, None), None, &head);
        assert!(!response.headers().contains_key("x-should-retry") && !response.headers().contains_key("retry-after"));
    }
}
