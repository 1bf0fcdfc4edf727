//! The built-in provider emulator: answers like a provider, with the faults that a script asks for.
//!
//! In: scripts of targets, or none where a model's name is a script; and requests as they would go to a provider. Out:
//! answers over time and faults of the connection, and a count of what was received. The same emulator serves inside the
//! process and, through `server`, on sockets. Never judges a request: that is the gateway's work.

pub mod answer;
mod ask;
mod emulator;
pub mod ledger;
pub mod server;
pub mod shorthand;

pub use answer::{EmulatedAnswer, EmulatedBody, EmulatedFault};
pub use emulator::{Emulator, Scripted};
pub use ledger::Calls;
