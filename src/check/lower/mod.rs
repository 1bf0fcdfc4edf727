//! Lowering: one file for each kind of block.

pub mod expect;
pub mod matrix;
pub mod outcome;
pub mod row_action;
pub mod script;
pub mod send;
pub mod test;
