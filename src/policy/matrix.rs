//! Matrices: what each failure class leads to.

use super::class::{ClassSet, Verb};
use super::guard::Guard;
use super::ids::TierId;
use super::units::Millis;
use crate::source::Span;

/// An error-to-action matrix; `extends` is resolved: own rows first, then the inherited ones.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its documentation.
    pub docs: Option<String>,
    /// Rows in order; the first that matches decides. Total: each class has an unguarded row.
    pub rows: Vec<Row>,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The classes it is for. `otherwise` is resolved to the classes left.
    pub classes: ClassSet,
    /// As written: `connect, timeout-*`.
    pub text: String,
    /// Its condition.
    pub guard: Option<Guard>,
    /// Actions up to and including the first `stop`, which is added where it was left out.
    pub actions: Vec<RowAction>,
    /// The whole row.
    pub span: Span,
}

/// An action and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowAction {
    /// The action.
    pub action: Action,
    /// Its words; the row's end for a `stop` that was left out.
    pub span: Span,
    /// Whether the author wrote it; false for the `stop` that a row that runs out means.
    pub written: bool,
}

/// What may be done after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// `retry N times`
    Retry {
        /// Retries in a row at one target.
        times: u32,
    },
    /// `wait up to D`
    Wait {
        /// The longest hint that is sat out.
        up_to: Millis,
    },
    /// `next-key`
    NextKey,
    /// `failover`
    Failover,
    /// `fallback …`
    Fallback(FallbackTo),
    /// `stop`, `stop as STATUS`
    Stop {
        /// The status for the client.
        status: Option<u16>,
    },
}

/// Where a fallback goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FallbackTo {
    /// A target of another model in the request's chain.
    OtherModel,
    /// Any target with a strictly larger context.
    LargerContext,
    /// The other tier's chain for this request's region.
    Tier(TierId),
}

impl Action {
    /// Its verb.
    pub fn verb(self) -> Verb {
        match self {
            Action::Retry { .. } => Verb::Retry,
            Action::Wait { .. } => Verb::Wait,
            Action::NextKey => Verb::NextKey,
            Action::Failover => Verb::Failover,
            Action::Fallback(_) => Verb::Fallback,
            Action::Stop { .. } => Verb::Stop,
        }
    }
}
