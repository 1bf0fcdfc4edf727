//! Tests: the steps of a `test` block, names resolved.

use super::class::{Class, Refusal, Verb};
use super::contract::{Modalities, StructuredOutput};
use super::ids::{ProviderId, RouteId, TargetId};
use super::route::Effects;
use super::script::Answer;
use super::units::{Comparison, Millis, Money, Percent};
use crate::source::Span;

/// A `test` block.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its title.
    pub name: String,
    /// The whole block.
    pub span: Span,
    /// Its lines in order.
    pub lines: Vec<TestLine>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct TestLine {
    /// `at D` before it; absent: from the start.
    pub at: Option<Millis>,
    /// Where it stands.
    pub span: Span,
    /// What it says.
    pub step: TestStep,
}

/// What a line of a test says.
#[derive(Clone, Debug)]
pub enum TestStep {
    /// `send ROUTE { facts }`
    Send {
        /// The route.
        route: RouteId,
        /// The request.
        facts: Box<SendFacts>,
    },
    /// `TARGET answers …`
    Answers {
        /// The target.
        target: TargetId,
        /// The answer.
        answer: Answer,
        /// How long it takes.
        after: Millis,
        /// How many calls it answers; absent: the rest if it is the last line, else one.
        times: Option<u32>,
    },
    /// `TARGET is …`
    Is {
        /// The target.
        target: TargetId,
        /// Its state.
        state: TargetState,
    },
    /// `given dice N% [for PURPOSE]`
    Dice {
        /// The draw.
        share: Percent,
        /// Which draws; absent: all.
        purpose: Option<DicePurpose>,
    },
    /// `given spent $X for ROUTE`
    Spent {
        /// What its calls have cost on the day on which the test begins.
        amount: Money,
        /// The route.
        route: RouteId,
    },
    /// `expect …`
    Expect(Expectation),
}

super::class::words! {
    /// What a draw is for.
    DicePurpose {
        Ramp "ramp" "admission while a target comes back";
        Split "split" "the order inside a rank";
        Exercise "exercise" "the share that keeps a standby proven";
        Backoff "backoff" "the length of a pause";
        Canary "canary" "the share that may fail over or fall back";
    }
}

/// The request of a `send`.
#[derive(Clone, Debug)]
pub struct SendFacts {
    /// `stream yes`
    pub stream: bool,
    /// Input tokens.
    pub tokens: u64,
    /// Requested output tokens.
    pub max_output: u64,
    /// Whether tools are given.
    pub tools: bool,
    /// Whether a schema or JSON is asked for.
    pub schema: StructuredOutput,
    /// Content beside text.
    pub modalities: Modalities,
    /// Who asks.
    pub client: Option<String>,
    /// From where.
    pub region: Option<String>,
    /// In which session.
    pub session: Option<String>,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Metadata.
    pub metadata: Vec<(String, String)>,
    /// What it may set off; can only tighten the route's word.
    pub side_effects: Option<Effects>,
}

/// A state that a test puts a target in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetState {
    /// `down`
    Down,
    /// `degraded`
    Degraded,
    /// `open`
    Open,
    /// `half-open`
    HalfOpen,
    /// `held for D`
    Held(Millis),
    /// `disabled`
    Disabled,
    /// `ramping at N%`
    Ramping(Percent),
}

/// A name that is a target or a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A target.
    Target(TargetId),
    /// All targets of a provider.
    Provider(ProviderId),
}

/// One expectation about the last `send` above it.
#[derive(Clone, Debug)]
pub enum Expectation {
    /// `served by T`
    ServedBy(TargetId),
    /// `refused CLASS [as STATUS]`
    Refused {
        /// What the client was told.
        why: Told,
        /// The status.
        status: Option<u16>,
    },
    /// `attempts == 2`
    Attempts(Comparison, u64),
    /// `elapsed < 1s`
    Elapsed(Comparison, Millis),
    /// `cost < $0.01`
    Cost(Comparison, Money),
    /// `path [overloaded, retry, ok]`
    Path(Vec<PathItem>),
    /// `never T`
    Never(Subject),
    /// `skipped T as REASON`
    Skipped {
        /// The target.
        target: TargetId,
        /// The reason's word.
        reason: String,
    },
    /// `output "text"`
    Output(String),
    /// `ended with error`
    EndedWithError,
}

/// What a client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A failed attempt's class.
    Class(Class),
    /// The gateway's own refusal.
    Refusal(Refusal),
}

/// One piece of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathItem {
    /// An attempt that failed.
    Class(Class),
    /// An attempt that was served.
    Ok,
    /// An attempt that was called off because of its rival.
    Lost,
    /// The attempt that comes next doubles a late one.
    Hedge,
    /// What was done between two attempts.
    Action(Verb),
}
