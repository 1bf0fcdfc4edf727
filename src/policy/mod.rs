//! The checked model of a policy set: names resolved, units typed, defaults filled in.
//!
//! In: what `check` lowered. Out: plain data that `graph` compiles. Each list is sorted by name and an id is an index
//! into it, so ids do not depend on files, layout or the order of blocks. Nothing here can fail, decide or do IO.

pub mod address;
pub mod breaker;
pub mod budget;
pub mod class;
pub mod contract;
pub mod dialect;
pub mod guard;
pub mod ids;
pub mod matrix;
pub mod probe;
pub mod provider;
pub mod ramp;
pub mod retry;
pub mod route;
pub mod script;
pub mod test;
pub mod tier;
pub mod units;

pub use breaker::{BreakerRules, BreakerScope, Capability, HoldRule};
pub use budget::{Backoff, Beyond, Budget, DaySpend, Hedge, Jitter};
pub use class::{Class, ClassSet, Refusal, Scope, Stage};
pub use contract::{Capabilities, Contract, Modalities, Modality, StructuredOutput, Tools};
pub use dialect::{Dialect, Term, Terms};
pub use guard::{Fact, Guard, Literal};
pub use ids::{BudgetId, ContractId, MatrixId, ModelId, ProviderId, RouteId, TargetId, TierId};
pub use matrix::{Action, FallbackTo, Matrix, Row, RowAction};
pub use probe::ProbeRules;
pub use provider::{Api, Correction, Model, Provider, Target, Text};
pub use ramp::RampRules;
pub use retry::RetryRatio;
pub use route::{Defaults, Effects, Exhausted, Route};
pub use script::{Answer, Script, ScriptLine, StreamEnd, Window};
pub use test::{DicePurpose, Expectation, PathItem, SendFacts, Subject, TargetState, Test, TestLine, TestStep};
pub use tier::{Chain, Exercise, Order, Prefer, Rank, Tier, Weights};
pub use units::{Comparison, Millis, Money, Multiple, Percent, Price, Prices, Rate, Usage};

/// A policy set without errors. Made only by `check`.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Sorted by name.
    pub providers: Vec<Provider>,
    /// Sorted by name.
    pub models: Vec<Model>,
    /// Sorted by name.
    pub targets: Vec<Target>,
    /// Sorted by name.
    pub contracts: Vec<Contract>,
    /// Sorted by name.
    pub tiers: Vec<Tier>,
    /// Sorted by name; `extends` is resolved into the rows.
    pub matrices: Vec<Matrix>,
    /// Sorted by name; `extends` and defaults are resolved.
    pub budgets: Vec<Budget>,
    /// Sorted by name.
    pub routes: Vec<Route>,
    /// The set's `defaults` block, or the built-in ones.
    pub defaults: Defaults,
    /// As written, in the order of files and lines.
    pub tests: Vec<Test>,
}
