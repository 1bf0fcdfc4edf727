//! The async half: it executes commands, reports events, and holds shared state.
//!
//! In: a served policy, requests and their facts. Out: upstream calls, answers and records. Everything here starts
//! things and tells what happened; every decision is made by `decide`. Clocks are read in `clock` alone, and providers
//! are called through `upstream` alone.

mod attempt;
pub mod clock;
pub mod engine;
pub mod execute;
pub mod homes;
pub mod id;
pub mod ledger;
pub mod live;
pub mod meters;
pub mod probe_money;
pub mod prober;
mod probing;
mod race;
pub mod reload;
pub mod reply;
pub mod route_money;
pub mod seen;
pub mod serving;
pub mod sink;
pub mod snapshot;
pub mod store;
pub mod upstream;
pub mod watch;
