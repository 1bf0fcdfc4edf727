//! From trees to a checked policy: names, units, types, contracts, lints.

pub mod value;
