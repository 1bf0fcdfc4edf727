//! The built-in provider emulator.

pub mod answer;
pub mod ledger;
pub mod shorthand;
