//! From blocks to the policy's own types: one file per kind of block.
//!
//! In: a declared block and the shared context. Out: the typed block, or nothing once everything wrong with it was
//! reported. All settings of a block are read before one of them is missed, so that one run shows them all.

pub mod budget;
pub mod contract;
pub mod defaults;
pub mod model;
pub mod overlap;
pub mod provider;
pub mod route;
pub mod target;
pub mod tier;
