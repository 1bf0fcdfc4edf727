//! The providers of one policy set, ready to be called.
//!
//! In: the set's providers, the outside world, and the fleet before this one. Out: an endpoint and an upstream for each
//! provider. A provider whose connection settings did not change keeps its upstream, and with it its pool of open
//! connections, over a reload.

use super::Upstream;
use super::endpoint::{Endpoint, Outside, Unresolved};
use super::http::Http;
use crate::policy::{Api, Millis, Provider, ProviderId};
use std::collections::HashMap;
use std::sync::Arc;

/// Endpoints and upstreams by provider.
#[derive(Clone, Default)]
pub struct Fleet {
    ships: Vec<Ship>,
}

#[derive(Clone)]
struct Ship {
    endpoint: Endpoint,
    upstream: Arc<dyn Upstream>,
}

impl Fleet {
    /// The fleet of a set; `emulated` answers for the providers that live in this process.
    ///
    /// # Errors
    /// The first provider that cannot be resolved.
    pub fn fit<'a>(
        providers: impl IntoIterator<Item = &'a Provider>,
        outside: &dyn Outside,
        emulated: &Arc<dyn Upstream>,
        before: Option<&Fleet>,
    ) -> Result<Fleet, Unresolved> {
        let kept: HashMap<_, _> =
            before.into_iter().flat_map(|f| &f.ships).map(|s| (connection(&s.endpoint), &s.upstream)).collect();
        let mut ships = Vec::new();
        for provider in providers {
            let endpoint = Endpoint::resolve(provider, outside)?;
            let upstream = match endpoint.api {
                Api::Emulated => Arc::clone(emulated),
                Api::OpenaiChat => match kept.get(&connection(&endpoint)) {
                    Some(upstream) => Arc::clone(upstream),
                    None => Arc::new(dial(&endpoint)?),
                },
            };
            ships.push(Ship { endpoint, upstream });
        }
        Ok(Fleet { ships })
    }

    /// The endpoint and upstream of a provider.
    pub fn get(&self, provider: ProviderId) -> Option<(&Endpoint, &dyn Upstream)> {
        self.ships.get(provider.index()).map(|ship| (&ship.endpoint, &*ship.upstream))
    }
}

/// What a client's connections depend on.
fn connection(endpoint: &Endpoint) -> (&str, Api, Millis, bool) {
    (&endpoint.provider, endpoint.api, endpoint.timeout_connect, cleartext(endpoint))
}

fn cleartext(endpoint: &Endpoint) -> bool {
    endpoint.chat_url.starts_with("http://")
}

fn dial(endpoint: &Endpoint) -> Result<Http, Unresolved> {
    Http::new(endpoint.timeout_connect, cleartext(endpoint)).map_err(|what| Unresolved::Unusable {
        provider: endpoint.provider.clone(),
        setting: "base-url".to_owned(),
        what: format!("needs TLS, which this system cannot do: {what}"),
    })
}
