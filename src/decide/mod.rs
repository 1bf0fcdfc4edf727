//! Decisions: the pure state machine that the gateway, tests and proofs drive. No IO, clock, dice or locks.

pub mod event;
pub mod facts;
pub mod standing;

pub use event::{Call, Commands, Event, Failure, Limits, Next, Phase, Refused, Settle, Timer, Why};
pub use facts::Facts;
pub use standing::{Admission, Breaker, Health, Ramp, Reason, Standing, Verdicts};
