//! Makes calls: what goes out to a target.
//!
//! In: the client's request, the target, its provider's endpoint. Out: an `Outgoing`, in the target's dialect: the client's
//! bytes with the target's model name in them, or what `wire` makes of them. Of the client's headers only those that the provider is to be handed, and never one that
//! belongs to a connection, carries a credential, or speaks to this gateway.

use super::{Endpoint, Outgoing, Secret};
use crate::policy::{Dialect, Target};
use crate::wire::chat::ChatRequest;
use crate::wire::messages::Unwritten;
use crate::wire::translate;

/// The header that says which version of the dialect is spoken, and the one in which requests are written: that which
/// takes what chat requests say of sampling.
const ANTHROPIC_VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Client headers that no policy can hand on.
const NEVER: &[&str] = &[
    // Of the connection.
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    // Credentials.
    "api-key",
    "authorization",
    "cookie",
    "proxy-authorization",
    "x-api-key",
    "x-goog-api-key",
];

/// The call of a request to a target that gives so much output at most, with one of its provider's keys.
///
/// # Errors
/// Where the target's dialect has no words for the request.
pub fn outgoing(
    endpoint: &Endpoint,
    (target, most): (&Target, Option<u64>),
    key: u16,
    chat: &ChatRequest,
    client_headers: &[(String, String)],
    request_id: &str,
) -> Result<Outgoing, Unwritten> {
    let accept = if chat.stream() { "text/event-stream" } else { "application/json" };
    let mut headers =
        vec![("content-type".to_owned(), Secret::new("application/json")), ("accept".to_owned(), Secret::new(accept))];
    if let Some(key) = endpoint.keys.get(usize::from(key)) {
        headers.push((endpoint.key_header.to_owned(), key.clone()));
    }
    headers.extend(endpoint.headers.iter().cloned());
    // What the policy says wins; two of them would be joined on the way, and be none.
    let (version, spoken) = ANTHROPIC_VERSION;
    if endpoint.api.dialect() == Dialect::Messages && headers.iter().all(|(name, _)| name != version) {
        headers.push((version.to_owned(), Secret::new(spoken)));
    }
    if let Some(name) = &target.idempotency_key {
        // The same for each call of this request at this target, and no other's.
        headers.push((name.to_ascii_lowercase(), Secret::new(format!("{request_id}-{}", target.name))));
    }
    for (name, value) in client_headers {
        let taken = headers.iter().any(|(n, _)| n == name);
        if endpoint.pass.contains(name) && may_pass(name) && !taken {
            headers.push((name.clone(), Secret::new(value.as_str())));
        }
    }
    Ok(Outgoing {
        headers,
        body: translate::request(chat, endpoint.api.dialect(), &target.upstream, most)?,
        target: target.name.clone(),
        left: super::Left::default(),
    })
}

fn may_pass(name: &str) -> bool {
    !NEVER.contains(&name) && !name.starts_with("x-switchback-") && !name.starts_with("proxy-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::vendor::ANYBODY;
    use crate::policy::{Api, Millis, ModelId, Prices, ProviderId};
    use crate::source::Span;
    use crate::wire::chat::request;

    #[test]
    fn only_what_the_provider_is_to_be_handed_goes_out() {
        let endpoint = Endpoint {
            provider: "p".into(),
            api: Api::OpenaiChat,
            vendor: &ANYBODY,
            url: "http://127.0.0.1:1/v1/chat/completions".into(),
            key_header: "authorization",
            keys: vec![Secret::new("Bearer other"), Secret::new("Bearer ours")],
            headers: Vec::new(),
            pass: ["x-cache-hint", "authorization", "cookie", "x-switchback-session"].map(String::from).to_vec(),
            timeout_connect: Millis(2_000),
        };
        let target = Target {
            name: "t".into(),
            span: Span::default(),
            docs: None,
            model: ModelId(0),
            provider: ProviderId(0),
            upstream: "big".into(),
            region: None,
            prices: Prices::default(),
            retention: None,
            enabled: true,
            quantization: None,
            idempotency_key: Some("Idempotency-Key".into()),
            script: None,
            max_concurrent: None,
            corrections: Vec::new(),
            seed: None,
            probe: None,
            ramp: crate::policy::RampRules::default(),
        };
        let body = r#"{"model":"chat", "messages":[{"role":"user","content":"hi"}]}"#;
        let chat = request::read(body.into()).unwrap();
        let client: Vec<(String, String)> = [
            ("x-cache-hint", "warm"),
            ("authorization", "Bearer theirs"),
            ("cookie", "c=1"),
            ("x-switchback-session", "s"),
            ("x-other", "o"),
        ]
        .map(|(n, v)| (n.into(), v.into()))
        .to_vec();
        let out = outgoing(&endpoint, (&target, None), 1, &chat, &client, "sb-1").unwrap();
        let sent: Vec<(&str, &str)> = out.headers.iter().map(|(n, v)| (n.as_str(), v.expose())).collect();
        let want = [
            ("content-type", "application/json"),
            ("accept", "application/json"),
            ("authorization", "Bearer ours"),
            ("idempotency-key", "sb-1-t"),
            ("x-cache-hint", "warm"),
        ];
        assert_eq!(sent, want);
        assert_eq!(out.body, body.replace("\"chat\"", "\"big\""));
    }
}
