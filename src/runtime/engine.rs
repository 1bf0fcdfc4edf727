//! What all requests share.

use super::clock::Clock;
use super::homes::Homes;
use super::meters::Meters;
use super::probe_money::ProbeMoney;
use super::route_money::RouteMoney;
use super::seen::Seen;
use super::serving::Serving;
use super::sink::Sink;
use super::snapshot::Current;
use super::store::{Store, Unusable};
use crate::record::Record;
use std::sync::Arc;

/// The shared half of the runtime.
pub struct Engine {
    /// The clock.
    pub clock: Clock,
    /// The policy that serves now.
    pub serving: Current<Serving>,
    /// Where sessions were last served.
    pub homes: Homes,
    /// What is counted.
    pub meters: Arc<Meters>,
    /// Where records go.
    pub sink: Sink,
    /// What outlives the process.
    pub store: Arc<Store>,
    /// What probes have spent today.
    pub probe_money: ProbeMoney,
    /// What calls took.
    pub seen: Seen,
    /// What the calls of routes have cost today.
    pub route_money: RouteMoney,
}

impl Engine {
    /// An engine that serves a policy, and goes on from what a store kept. `region` is where the gateway stands.
    ///
    /// # Errors
    /// When the store's folder cannot be read.
    pub fn kept(
        clock: Clock,
        serving: Serving,
        sink: Sink,
        store: Arc<Store>,
        region: Option<&str>,
    ) -> Result<Engine, Unusable> {
        let (probe_money, route_money) = (ProbeMoney::kept(&store)?, RouteMoney::kept(&store)?);
        let seen = Seen::kept(&store, region)?;
        let engine = Engine { store, probe_money, route_money, seen, ..Engine::new(clock, serving, sink) };
        engine.serving.load().live.orders().restore(&engine.seen.rankings());
        engine.forget();
        Ok(engine)
    }

    /// An engine that serves a policy, and forgets all when it ends.
    pub fn new(clock: Clock, serving: Serving, sink: Sink) -> Engine {
        Engine {
            clock,
            serving: Current::new(serving),
            homes: Homes::default(),
            meters: Arc::new(Meters::default()),
            sink,
            store: Arc::new(Store::memory()),
            probe_money: ProbeMoney::default(),
            seen: Seen::default(),
            route_money: RouteMoney::default(),
        }
    }

    /// Serves another policy from now on. Rankings that outlive the process outlive it as well.
    pub fn exchange(&self, serving: Serving) {
        serving.live.orders().restore(&self.seen.rankings());
        self.serving.store(Arc::new(serving));
        self.forget();
    }

    /// Lets go of what was kept of targets that the policy does not name, once nothing of it counts.
    fn forget(&self) {
        let serving = self.serving.load();
        self.seen.forget(|name| serving.graph().target_named(name).is_some(), self.clock.wall_ms());
    }

    /// Makes a record and hands it to the sink, if anybody keeps records.
    pub fn record(&self, record: impl FnOnce() -> Record) {
        if !self.sink.keeps() {
            return;
        }
        match serde_json::to_string(&record()) {
            Ok(line) => self.sink.send(line),
            Err(error) => tracing::error!(%error, "a decision record could not be written down"),
        }
    }
}
