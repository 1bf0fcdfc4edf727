//! The async half: executes commands, reports events, holds shared state.

pub mod reload;
pub mod snapshot;
pub mod watch;
