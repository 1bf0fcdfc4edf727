//! What all requests share.

use super::clock::Clock;
use super::homes::Homes;
use super::meters::Meters;
use super::serving::Serving;
use super::sink::Sink;
use super::snapshot::Current;
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
}

impl Engine {
    /// An engine that serves a policy.
    pub fn new(clock: Clock, serving: Serving, sink: Sink) -> Engine {
        Engine {
            clock,
            serving: Current::new(serving),
            homes: Homes::default(),
            meters: Arc::new(Meters::default()),
            sink,
        }
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
