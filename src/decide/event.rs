//! What happens to a run, and what a run wants: the two ends of `Run::step`.
//!
//! A driver (the gateway's executor, a test in virtual time) turns the world into events and commands into calls and
//! sleeps. It decides nothing: which timer ran out is read off `Limits`, and its meaning is decided here.

use super::standing::Admission;
use super::vitals::Latency;
use crate::graph::NodeIndex;
use crate::policy::class::Blame;
use crate::policy::{Class, Millis, Refusal, Scope, Stage, TargetId, Usage};

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The request is here.
    Begin,
    /// Something happened to a call: its attempt's number, from 1, and what.
    Attempt(u32, Progress<'a>),
    /// The wait that was asked for is over.
    Woke,
    /// The client has gone.
    ClientGone,
}

/// What happened to a call.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// A success status and its headers came.
    Headers,
    /// It is late: no output yet, nor the whole answer, at the instant that its call named.
    HedgeDue,
    /// The first output is here and will now be forwarded: from here on the run is committed.
    Output,
    /// The answer counts its tokens, and is about to end.
    Counted(Usage),
    /// The answer is complete.
    Served,
    /// It failed.
    Failed(Failure<'a>),
    /// One of its timers ran out.
    TimedOut(Timer),
}

/// A failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    /// Its class.
    pub class: Class,
    /// How far it had come.
    pub stage: Stage,
    /// How wide the answer shows it to be; absent where it does not show it.
    pub scope: Option<Scope>,
    /// The wait that the answer asks for.
    pub hint: Option<Millis>,
    /// The status, where one came.
    pub status: Option<u16>,
    /// The code or type, where one came.
    pub code: Option<&'a str>,
    /// The answer says that it is not to be retried (`x-should-retry: false`).
    pub no_retry: bool,
    /// What we made of the request was refused, and not what the caller wrote: nobody is to blame for it but us.
    pub ours: bool,
}

impl Failure<'_> {
    /// A failure of a class at a stage, with nothing else known.
    pub fn of(class: Class, stage: Stage) -> Failure<'static> {
        Failure { class, stage, scope: None, hint: None, status: None, code: None, no_retry: false, ours: false }
    }

    /// What it is for a breaker.
    pub fn blame(&self) -> Blame {
        if self.ours { Blame::Neutral } else { self.class.blame() }
    }
}

/// The next thing to do. Calls that run go on until they end, are called off, or the request ends.
#[derive(Clone, Debug)]
pub enum Next {
    /// Call a target, beside the call that runs if one does.
    Call(Call),
    /// Do nothing until this instant, then report [`Event::Woke`]. A client that leaves ends the wait.
    Wait {
        /// The instant.
        until: Millis,
    },
    /// Go on as you are.
    GoOn,
    /// Close this call and go on with the other: its rival had output first.
    CallOff {
        /// The attempt's number.
        attempt: u32,
    },
    /// The answer is complete: end it in order.
    Finish,
    /// Nothing was forwarded: tell the client so.
    Refuse(Refused),
    /// Output was forwarded: end the stream with an error event and without an end marker.
    Break(Refused),
    /// The client has gone: close the upstream, send nothing.
    Abandon,
}

/// One upstream call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Which attempt of the request this is, from 1.
    pub attempt: u32,
    /// Whom to call.
    pub target: TargetId,
    /// The rank or action that led here.
    pub node: NodeIndex,
    /// How it was admitted.
    pub admission: Admission,
    /// Which of its provider's keys it is made with, from 0.
    pub key: u16,
    /// When each timer ends.
    pub limits: Limits,
    /// When it is late: report [`Progress::HedgeDue`] then, unless it has had output or ended. Nothing: never.
    pub hedge_at: Option<Millis>,
}

/// A timer of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timer {
    /// No connection in time.
    Connect,
    /// No headers in time.
    Headers,
    /// No output in time.
    FirstOutput,
    /// Silence between output, or a whole answer that is too slow after its headers.
    Idle,
    /// A stream longer than it may be.
    Total,
    /// The request's own deadline.
    Deadline,
}

/// Instants at which the timers of an attempt end. Pings, comments and role-only events satisfy none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For the connection.
    pub connect_by: Millis,
    /// For the response headers.
    pub headers_by: Millis,
    /// For the first output of a stream, or the end of any other answer.
    pub output_by: Millis,
    /// Longest silence between output, once there was some; for a whole answer, between pieces of its body.
    pub idle: Millis,
    /// For the end of a stream.
    pub total_by: Millis,
    /// The request's deadline: bounds everything up to the first output of a stream, and the whole of any other answer.
    pub deadline: Millis,
    /// Whether the answer streams.
    pub stream: bool,
}

/// How far an attempt has come, for its timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No connection yet.
    Connecting,
    /// Connected, no headers.
    Waiting,
    /// Headers, no output. `since` is when the last piece of body came, or the headers.
    Opened {
        /// Last sign of life.
        since: Millis,
    },
    /// Output has begun. `since` is when the last output came.
    Flowing {
        /// Last output.
        since: Millis,
    },
}

impl Limits {
    /// The timer that runs out next in this phase, and when. On a tie the request's own deadline goes first, since it
    /// blames nobody.
    pub fn next(&self, phase: Phase) -> (Millis, Timer) {
        let after_headers = if self.stream { Timer::FirstOutput } else { Timer::Idle };
        let mut due = match phase {
            Phase::Connecting => (self.connect_by.min(self.headers_by), Timer::Connect),
            Phase::Waiting => (self.headers_by.min(self.output_by), Timer::Headers),
            Phase::Opened { since } if !self.stream => (self.output_by.min(since.plus(self.idle)), after_headers),
            Phase::Opened { .. } => (self.output_by, after_headers),
            Phase::Flowing { since } => (since.plus(self.idle), Timer::Idle),
        };
        if self.total_by <= due.0 {
            due = (self.total_by, Timer::Total);
        }
        let deadline_holds = !self.stream || !matches!(phase, Phase::Flowing { .. });
        if deadline_holds && self.deadline <= due.0 {
            due = (self.deadline, Timer::Deadline);
        }
        due
    }
}

/// What shared state learns from an attempt's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settle {
    /// Which target.
    pub target: TargetId,
    /// For its breaker, the granted-time rule applied.
    pub blame: Blame,
    /// The class, where it failed.
    pub class: Option<Class>,
    /// How wide the answer showed it to be.
    pub scope: Option<Scope>,
    /// The wait that the answer asked for.
    pub hint: Option<Millis>,
    /// Nobody is sent there until this instant.
    pub hold_until: Option<Millis>,
    /// How long it took, where there was output.
    pub latency: Option<Latency>,
}

impl Settle {
    /// An end that says nothing about the target.
    pub fn neutral(target: TargetId) -> Settle {
        Settle { target, blame: Blame::Neutral, class: None, scope: None, hint: None, hold_until: None, latency: None }
    }
}

/// What the client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The HTTP status, where the head is not sent yet.
    pub status: u16,
    /// A failed attempt's class, or the gateway's own refusal.
    pub why: Why,
    /// Whose message to pass on: the attempt's number, from 1.
    pub attempt: Option<u32>,
    /// The earliest known return of a target, from now.
    pub retry_after: Option<Millis>,
    /// Our own attempts have answered for this: the client's library is not to repeat it.
    pub answered: bool,
    /// What failed was our translation of the request, not the request.
    pub ours: bool,
}

/// Class or refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A failed attempt's class.
    Class(Class),
    /// The gateway's own refusal.
    Refusal(Refusal),
}

impl Why {
    /// The word of the language.
    pub fn word(self) -> &'static str {
        match self {
            Why::Class(c) => c.word(),
            Why::Refusal(r) => r.word(),
        }
    }
}
