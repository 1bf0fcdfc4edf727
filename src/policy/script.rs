//! Scripted answers: what a target does in a test, in the built-in emulator, and in `switchback emulate`.

use super::class::Class;
use super::units::{Millis, Percent};
use crate::source::Span;

/// One scripted answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// `ok`, `ok "text"`
    Ok {
        /// The answer's text; the emulator's own where absent.
        text: Option<String>,
    },
    /// `STATUS [retry-after D] [code "x"]`
    Status {
        /// The HTTP status.
        status: u16,
        /// The hint, as a header.
        retry_after: Option<Millis>,
        /// The error's code.
        code: Option<String>,
    },
    /// A class name: an answer that is of this class beyond doubt.
    Failure {
        /// The class.
        class: Class,
        /// The hint, as a header.
        retry_after: Option<Millis>,
    },
    /// `hangs`: takes the request and says nothing.
    Hangs,
    /// `resets`: takes the request and resets the connection before headers.
    Resets,
    /// `streams N tokens then …`
    Streams {
        /// Pieces of output before the end.
        tokens: u32,
        /// What happens then.
        then: StreamEnd,
    },
    /// `truncated`: ends by length below the request's own limit.
    Truncated,
    /// `empty`: a success with nothing in it.
    Empty,
    /// `invalid-json`: a success that is no JSON; in a stream a malformed frame.
    InvalidJson,
}

super::class::words! {
    /// How a scripted stream ends.
    StreamEnd {
        Cuts "cuts" "the connection ends in the middle of the body";
        Stalls "stalls" "nothing more comes";
        Errors "errors" "an error event comes";
        Ends "ends" "it ends in order, but without a finish reason or end marker";
    }
}

/// A target's script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Lines as written. The last whose window and share fit, and whose count is not used up, answers.
    pub lines: Vec<ScriptLine>,
    /// The script's time starts again after so long.
    pub repeats: Option<Millis>,
}

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLine {
    /// When it holds.
    pub window: Window,
    /// The share of calls it holds for; absent: all.
    pub share: Option<Percent>,
    /// The answer.
    pub answer: Answer,
    /// How long it takes: to the headers of an error, to the first output of an answer.
    pub after: Millis,
    /// How many calls it answers; absent: all.
    pub times: Option<u32>,
    /// Where it stands.
    pub span: Span,
}

/// When a script line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// From the start, or from so late on.
    Since(Millis),
    /// From one time up to, and not at, another.
    Between(Millis, Millis),
}
