//! From trees to a checked policy: names, units, types, contracts, lints.
//!
//! In: all trees of a set. Out: a [`Checked`] policy, if nothing is an error, and everything that is wrong, found in
//! one run. A broken piece is unknown, and whoever meets it stays silent. Never reads files, clock or environment.

pub mod context;
pub mod fields;
pub mod names;
pub mod resolution;
pub mod value;

use crate::policy::{Budget, Contract, Defaults, Matrix, Model, Provider, Route, Target, Test, Tier};

/// A set as far as it could be lowered: what is broken is `None`, and the ids of the others hold all the same.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Sorted by name.
    pub providers: Vec<Option<Provider>>,
    /// Sorted by name.
    pub models: Vec<Option<Model>>,
    /// Sorted by name.
    pub targets: Vec<Option<Target>>,
    /// Sorted by name.
    pub contracts: Vec<Option<Contract>>,
    /// Sorted by name.
    pub tiers: Vec<Option<Tier>>,
    /// Sorted by name.
    pub matrices: Vec<Option<Matrix>>,
    /// Sorted by name.
    pub budgets: Vec<Option<Budget>>,
    /// Sorted by name.
    pub routes: Vec<Option<Route>>,
    /// The set's `defaults` block, or the built-in ones.
    pub defaults: Defaults,
    /// In the order of files and lines.
    pub tests: Vec<Option<Test>>,
}
