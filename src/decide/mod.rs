//! Decisions: the pure state machine that the gateway, tests and proofs drive.
//!
//! In: a graph, the facts of a request, events and the answers to questions about targets. Out: commands, and the trail
//! of what was decided and why. No IO, no clock, no dice, no locks, and no allocation while nothing fails.

pub mod action;
pub mod average;
pub mod backoff;
pub mod baselines;
pub mod bucket;
pub mod circuit;
pub mod contract;
pub mod deadline;
pub mod draw;
pub mod event;
pub mod facts;
pub mod group;
pub mod guard;
pub mod histogram;
pub mod hold;
pub mod ledgers;
pub mod order;
pub mod orders;
mod pace;
pub mod path;
pub mod pool;
pub mod ramp;
pub mod recovery;
pub mod replay;
mod routes;
mod run;
pub mod select;
pub mod spend;
pub mod standing;
pub mod target_state;
pub mod trail;
pub mod vitals;
mod width;
pub mod window;

pub use event::{Call, Event, Failure, Limits, Next, Phase, Progress, Refused, Settle, Timer, Why};
pub use facts::Facts;
pub use routes::{pinnable, route_for};
pub use run::Run;
pub use standing::{Admission, Breaker, Health, Ramp, Reason, Standing, Verdicts};
pub use trail::{Outcome, Passed, Step, StepAction, StepResult};

#[cfg(test)]
mod tests;
