//! Guards: what follows `when`, compiled to slots. Facts are an enum and not names, since looking attributes up by
//! name costs several times the walk itself.

use super::class::{Class, Stage};
use super::contract::{Modalities, Pattern};
use super::units::{Comparison, Millis, Money};

/// Something that a guard may read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// `request.model`
    Model,
    /// `request.stream`
    Stream,
    /// `request.tools`
    Tools,
    /// `request.tokens`
    Tokens,
    /// `request.max-output`
    MaxOutput,
    /// `request.modalities`
    Modalities,
    /// `request.client`
    Client,
    /// `request.region`
    Region,
    /// `request.session`
    Session,
    /// `request.header("x")`, lower case
    Header(String),
    /// `request.metadata("x")`
    Metadata(String),
    /// `failure.retry-after`
    RetryAfter,
    /// `failure.status`
    Status,
    /// `failure.code`
    Code,
    /// `failure.stage`
    Stage,
    /// `attempt.number`
    AttemptNumber,
    /// `attempt.on-target`
    AttemptOnTarget,
    /// `time.left`
    TimeLeft,
    /// `spent`
    Spent,
}

impl Fact {
    /// Whether it can be read only after a failure, that is in matrix rows.
    pub fn needs_failure(&self) -> bool {
        match self {
            Fact::RetryAfter
            | Fact::Status
            | Fact::Code
            | Fact::Stage
            | Fact::AttemptNumber
            | Fact::AttemptOnTarget
            | Fact::TimeLeft
            | Fact::Spent => true,
            Fact::Model
            | Fact::Stream
            | Fact::Tools
            | Fact::Tokens
            | Fact::MaxOutput
            | Fact::Modalities
            | Fact::Client
            | Fact::Region
            | Fact::Session
            | Fact::Header(_)
            | Fact::Metadata(_) => false,
        }
    }
}

/// What a fact is compared with; its variant fits the fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// Truth.
    Flag(bool),
    /// A plain number: tokens, status, attempts.
    Count(u64),
    /// A time.
    Time(Millis),
    /// An amount.
    Money(Money),
    /// A name or string.
    Text(String),
    /// Several names or patterns, for `in`.
    Texts(Vec<Pattern>),
    /// Several numbers, for `in`.
    Counts(Vec<u64>),
    /// A stage.
    Stage(Stage),
    /// Several stages, for `in`.
    Stages(Vec<Stage>),
    /// Modalities, for `in`: all of the request's are among these.
    Modalities(Modalities),
}

/// A condition on facts. A comparison with an absent fact is false, `!=` included.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Guard {
    /// All hold.
    All(Vec<Guard>),
    /// One holds.
    Any(Vec<Guard>),
    /// It does not hold.
    Not(Box<Guard>),
    /// A comparison.
    Compare(Fact, Comparison, Literal),
    /// `fact in [..]`.
    In(Fact, Literal),
}

/// What went wrong with an attempt, as guards and the decision see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureFacts<'a> {
    /// Its class.
    pub class: Class,
    /// Its stage.
    pub stage: Stage,
    /// The upstream's status, where one was received.
    pub status: Option<u16>,
    /// The upstream's code or type, where one was given.
    pub code: Option<&'a str>,
    /// The hint.
    pub retry_after: Option<Millis>,
}
