//! Routes: which requests get which contract, tier, matrix and budget.

use super::budget::{Beyond, Budget};
use super::guard::Guard;
use super::ids::{BudgetId, ContractId, MatrixId, RouteId, TierId};
use super::matrix::{Action, FallbackTo, Matrix};
use super::units::{Millis, Percent};
use crate::source::Span;

super::class::words! {
    /// What a request may have set off at the provider.
    Effects {
        None "none" "plain generation: may be repeated";
        Unknown "unknown" "tools run by the provider, or stored state: repeated only where it cannot have been processed";
    }
}

/// One route. Matrix and budget are filled in from `defaults`.
#[derive(Clone, Debug)]
pub struct Route {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its documentation.
    pub docs: Option<String>,
    /// The author's version number.
    pub version: Option<u64>,
    /// Values of the request's `model` that select it.
    pub serves: Vec<String>,
    /// Asked before the routes without one.
    pub matches: Option<Guard>,
    /// Asked before this other route.
    pub before: Option<RouteId>,
    /// What the answer must be able to do, beside what the request itself uses.
    pub contract: Option<ContractId>,
    /// Who may answer.
    pub tier: TierId,
    /// What failures lead to.
    pub matrix: MatrixId,
    /// What it may take.
    pub budget: BudgetId,
    /// Whether requests may have side effects.
    pub side_effects: Effects,
    /// The share of sessions that may go to another target of the model: all, none, or a canary.
    pub failover: Percent,
    /// The share of sessions that may go to another model.
    pub fallback: Percent,
    /// What happens when no target is left.
    pub exhausted: Exhausted,
}

impl Route {
    /// The tiers whose targets may answer it: its own, those that its matrix falls back to, and the one that is used
    /// beyond a day's money. `matrix` and `budget` are the route's.
    pub fn tiers(&self, matrix: Option<&Matrix>, budget: Option<&Budget>) -> Vec<TierId> {
        let actions = matrix.iter().flat_map(|matrix| &matrix.rows).flat_map(|row| &row.actions);
        let fallbacks = actions.filter_map(|action| match action.action {
            Action::Fallback(FallbackTo::Tier(tier)) => Some(tier),
            Action::Fallback(FallbackTo::OtherModel | FallbackTo::LargerContext)
            | Action::Retry { .. }
            | Action::Wait { .. }
            | Action::NextKey
            | Action::Failover
            | Action::Stop { .. } => None,
        });
        let beyond = budget.and_then(|budget| budget.spend_per_day).and_then(|day| match day.then {
            Beyond::Use(tier) => Some(tier),
            Beyond::Stop => None,
        });
        let mut tiers = vec![self.tier];
        for tier in fallbacks.chain(beyond) {
            if !tiers.contains(&tier) {
                tiers.push(tier);
            }
        }
        tiers
    }
}

/// What happens when no target is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exhausted {
    /// `stop as STATUS`
    Stop {
        /// The status that the client sees.
        status: u16,
    },
    /// `wait up to D`: once for the first target that is known to return, then as `stop` by default.
    Wait {
        /// Longest time that is waited.
        up_to: Millis,
    },
}

impl Exhausted {
    /// Where nothing is said.
    pub const DEFAULT: Exhausted = Exhausted::Stop { status: 503 };

    /// The status where it stops, a wait having been of no use.
    pub fn status(self) -> u16 {
        match self {
            Exhausted::Stop { status } => status,
            Exhausted::Wait { .. } => 503,
        }
    }
}

/// What holds where a route does not say otherwise.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// The client header that names the session, in lower case.
    pub session_header: String,
    /// The client header that names the region, in lower case.
    pub region_header: String,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { session_header: "x-switchback-session".into(), region_header: "x-switchback-region".into() }
    }
}
