//! An upstream answer or fault becomes one class, at one stage, with one scope and one hint.
//!
//! In: a status with headers and body, an error object from inside a success, or a connection's fault. Out:
//! `Classified`. Pure: no clock but the wall time it is given, and no state.

pub mod hint;

use crate::policy::{Class, Millis, Scope, Stage};

/// What went wrong, whoever said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The class.
    pub class: Class,
    /// How far the attempt had come.
    pub stage: Stage,
    /// How wide the answer shows it to be; absent where it does not show it.
    pub scope: Option<Scope>,
    /// The wait that the answer asks for.
    pub hint: Option<Millis>,
    /// The answer's status.
    pub status: Option<u16>,
    /// The answer's code or type.
    pub code: Option<String>,
    /// The answer's own words, for the client; bounded, and free of anything that looks like a key.
    pub message: Option<String>,
    /// The answer says not to retry.
    pub no_retry: bool,
    /// Which rule decided, for the record.
    pub rule: &'static str,
}

/// Headers of an answer, looked up without regard to case.
pub trait Headers {
    /// The value of a header, where it is there and is text.
    fn get(&self, name: &str) -> Option<&str>;
}
