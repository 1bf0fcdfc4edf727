//! From blocks to the policy's own types: one file per kind of block.
//!
//! In: a declared block and the shared context. Out: the typed block, or nothing once everything wrong with it was
//! reported. All settings of a block are read before one of them is missed, so that one run shows them all.

pub mod breaker;
pub mod budget;
pub mod contract;
pub mod correction;
pub mod defaults;
pub mod expect;
pub mod health;
pub mod hold;
pub mod matrix;
pub mod model;
pub mod outcome;
pub mod overlap;
pub mod probe;
pub mod provider;
pub mod ramp;
pub mod route;
pub mod row_action;
pub mod script;
pub mod send;
mod spend;
pub mod target;
pub mod test;
pub mod tier;
pub mod trigger;
