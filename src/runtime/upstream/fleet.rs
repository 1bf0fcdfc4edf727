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
                Api::OpenaiChat | Api::AnthropicMessages => match kept.get(&connection(&endpoint)) {
                    Some(upstream) => Arc::clone(upstream),
                    None => Arc::new(dial(&endpoint)?),
                },
            };
            ships.push(Ship { endpoint, upstream });
        }
        Ok(Fleet { ships })
    }

    /// The same providers, all of them reached through one upstream, whatever they are: a world without a network.
    #[must_use]
    pub fn through(self, upstream: &Arc<dyn Upstream>) -> Fleet {
        let ships = self.ships.into_iter();
        Fleet { ships: ships.map(|ship| Ship { upstream: Arc::clone(upstream), ..ship }).collect() }
    }

    /// The endpoint and upstream of a provider.
    pub fn get(&self, provider: ProviderId) -> Option<(&Endpoint, &dyn Upstream)> {
        self.ships.get(provider.index()).map(|ship| (&ship.endpoint, &*ship.upstream))
    }
}

/// What a client's connections depend on.
fn connection(endpoint: &Endpoint) -> (&str, Api, Millis, &str) {
    (&endpoint.provider, endpoint.api, endpoint.timeout_connect, &endpoint.url)
}

fn dial(endpoint: &Endpoint) -> Result<Http, Unresolved> {
    Http::new(&endpoint.url, endpoint.timeout_connect).map_err(|what| Unresolved::Unusable {
        provider: endpoint.provider.clone(),
        setting: "base-url".to_owned(),
        what,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::Emulator;
    use crate::policy::Text;
    use crate::runtime::upstream::emulated::Emulated;
    use crate::runtime::upstream::endpoint::Process;
    use crate::source::Span;

    fn provider(name: &str, api: Api, connect: u64) -> Provider {
        Provider {
            name: name.into(),
            span: Span::default(),
            docs: None,
            api,
            base_url: None,
            keys: Vec::new(),
            headers: Vec::new(),
            pass_headers: Vec::new(),
            account: name.into(),
            timeout_connect: Millis(connect),
            breaker: crate::policy::BreakerRules::default(),
            retry: crate::policy::RetryRatio::default(),
        }
    }

    #[test]
    fn an_unchanged_provider_keeps_its_connections_over_a_reload() {
        let emulated: Arc<dyn Upstream> = Arc::new(Emulated::new(Arc::new(Emulator::by_name())));
        let kept = |fleet: &Fleet, at: usize| Arc::clone(&fleet.ships[at].upstream);
        let before = [provider("a", Api::OpenaiChat, 100), provider("b", Api::OpenaiChat, 100)];
        let first = Fleet::fit(&before, &Process, &emulated, None).unwrap();
        let mut after = before.clone();
        after[0].keys = vec![Text::Literal("another".into())];
        after[1].timeout_connect = Millis(200);
        let second = Fleet::fit(&after, &Process, &emulated, Some(&first)).unwrap();
        assert!(Arc::ptr_eq(&kept(&first, 0), &kept(&second, 0)));
        assert!(!Arc::ptr_eq(&kept(&first, 1), &kept(&second, 1)));
        assert!(!Arc::ptr_eq(&kept(&first, 0), &kept(&first, 1)), "providers share no pool");
        assert_eq!(second.get(ProviderId(0)).unwrap().0.keys[0].expose(), "Bearer another");
    }

    #[test]
    fn emulated_providers_share_the_emulator() {
        let emulated: Arc<dyn Upstream> = Arc::new(Emulated::new(Arc::new(Emulator::by_name())));
        let fleet = Fleet::fit(&[provider("a", Api::Emulated, 1)], &Process, &emulated, None).unwrap();
        assert!(Arc::ptr_eq(&fleet.ships[0].upstream, &emulated));
    }
}
