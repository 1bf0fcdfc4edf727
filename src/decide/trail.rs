//! The trail of a run: what was decided, where, and what came of it. The trail *is* the record.

use super::contract::Unmet;
use super::spend::Bill;
use super::standing::{Admission, Breaker, Health, Reason};
use crate::graph::NodeIndex;
use crate::policy::class::{Verb, words};
use crate::policy::{Class, Millis, Stage, TargetId};
use smallvec::SmallVec;

/// One decision: a call, or the stop that ends the run.
#[derive(Clone, Debug)]
pub struct Step {
    /// When, from receipt.
    pub at: Millis,
    /// The rank (first call) or matrix action (all others) that decided.
    pub node: NodeIndex,
    /// What led to it.
    pub action: StepAction,
    /// Who was called; nothing for a stop.
    pub target: Option<TargetId>,
    /// How it was admitted.
    pub admission: Admission,
    /// Which key of its provider's pool it was made with, from 1; nothing where there is no pool.
    pub key: Option<u16>,
    /// Which pass found it, from 1; zero for a stop.
    pub pass: u8,
    /// How long was waited before the call.
    pub wait: Option<Millis>,
    /// Time left before the deadline.
    pub left: Millis,
    /// Who was passed over, and why.
    pub passed: SmallVec<[Passed; 4]>,
    /// The target's health when it was called.
    pub health: Option<Health>,
    /// Whether that was stale: too old to be relied on.
    pub stale: bool,
    /// The target's breaker when it was called.
    pub breaker: Option<Breaker>,
    /// What came of the call; nothing while it runs.
    pub result: Option<StepResult>,
}

/// What led to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepAction {
    /// The request itself: its first call.
    Call,
    /// An action of the matrix.
    Row(Verb),
    /// A call that was late: this is its duplicate.
    Hedge,
}

impl StepAction {
    /// The word for records and metrics.
    pub fn word(self) -> &'static str {
        match self {
            StepAction::Call => "call",
            StepAction::Row(verb) => verb.word(),
            StepAction::Hedge => "hedge",
        }
    }
}

/// A target that was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Which.
    pub target: TargetId,
    /// Why.
    pub why: PassedWhy,
    /// Whether that is its region's affair: elsewhere its provider does well.
    pub regional: bool,
}

impl Passed {
    /// Passed over for what has nothing to do with how it stands.
    pub fn of(target: TargetId, why: PassedWhy) -> Passed {
        Passed { target, why, regional: false }
    }
}

/// Why a target was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassedWhy {
    /// How it stood.
    Reason(Reason),
    /// A clause of the contract.
    Unmet(Unmet),
    /// Before the reserve there was no time for a call.
    Time,
    /// The day's money did not cover a call.
    Spend,
}

impl std::fmt::Display for PassedWhy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PassedWhy::Reason(reason) => reason.fmt(f),
            PassedWhy::Unmet(unmet) => unmet.fmt(f),
            PassedWhy::Time => f.write_str("time"),
            PassedWhy::Spend => f.write_str("spend"),
        }
    }
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepResult {
    /// The failure's class; nothing where it was served, lost or abandoned.
    pub class: Option<Class>,
    /// How far it had come.
    pub stage: Option<Stage>,
    /// The upstream's status.
    pub status: Option<u16>,
    /// The upstream's hint.
    pub hint: Option<Millis>,
    /// What was refused is our translation of the request.
    pub ours: bool,
    /// When it ended, from receipt.
    pub ended: Millis,
    /// Whether, with it, its region fails and others of its provider do not.
    pub regional: bool,
    /// It was called off because of its rival, which had output first or failed for good.
    pub lost: bool,
    /// What it was billed; nothing where a price is not known.
    pub bill: Option<Bill>,
}

impl StepResult {
    /// An end at this instant of which nothing else is known.
    pub fn plain(ended: Millis) -> StepResult {
        StepResult {
            class: None,
            stage: None,
            status: None,
            hint: None,
            ours: false,
            ended,
            regional: false,
            lost: false,
            bill: None,
        }
    }
}

words! {
    /// How a run ended.
    Outcome {
        Served "served" "the whole answer went out";
        Refused "refused" "nothing went out but an error";
        Cut "cut" "output went out, then an error";
        Cancelled "cancelled" "the client left";
    }
}
