//! An upstream answer or fault becomes one class, at one stage, with one scope and one hint.
//!
//! In: a status with headers and body, an error object from inside a success, or a connection's fault. Out:
//! `Classified`. Pure: no clock but the wall time it is given, and no state. It never decides what to do next, and
//! what it hands on of an answer's words is bounded and free of keys.

pub mod called;
pub mod correct;
pub mod fault;
pub mod hint;
pub mod http;
pub mod rules;
pub mod said;
pub mod vendor;
pub mod vendors;

pub use called::Called;
pub use fault::{Fault, fault};
pub use vendor::Vendor;

use crate::policy::{Class, Millis, Scope, Stage};

/// What went wrong, whoever said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The class.
    pub class: Class,
    /// Where the class is `partial-stream`: what the same failure would have been before output.
    pub cause: Option<Class>,
    /// How far the attempt had come.
    pub stage: Stage,
    /// How wide the answer shows it to be; absent where it does not show it.
    pub scope: Option<Scope>,
    /// The wait that the answer asks for, where waiting helps against the class.
    pub hint: Option<Millis>,
    /// The wait that the answer states, whatever its class.
    pub told: Option<Millis>,
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
    /// What was refused is our translation of the request: see [`Called`].
    pub ours: bool,
}

impl Classified {
    /// A class at a stage by a rule, with nothing else known.
    pub fn of(class: Class, stage: Stage, rule: &'static str) -> Classified {
        Classified {
            class,
            cause: None,
            stage,
            scope: None,
            hint: None,
            told: None,
            status: None,
            code: None,
            message: None,
            no_retry: false,
            rule,
            ours: false,
        }
    }

    /// The same with words for the client; they are bounded and scrubbed here.
    #[must_use]
    pub fn saying(self, message: &str) -> Classified {
        Classified { message: Some(said::words(message)), ..self }
    }

    /// The same with the scope that the answer shows.
    #[must_use]
    pub fn within(self, scope: Scope) -> Classified {
        Classified { scope: Some(scope), ..self }
    }

    /// The same failure once output was forwarded: `partial-stream`, whatever its cause.
    #[must_use]
    pub fn after_output(self) -> Classified {
        let cause = if self.class == Class::PartialStream {
            self.cause
        } else if self.class == Class::StreamEarly {
            // A fault that names no class is, as a plain answer, the other side's.
            Some(Class::ServerError)
        } else {
            Some(self.class)
        };
        Classified { class: Class::PartialStream, cause, stage: Stage::Output, scope: None, ..self }
    }
}

/// Headers of an answer, looked up without regard to case.
pub trait Headers {
    /// The value of a header, where it is there and is text.
    fn get(&self, name: &str) -> Option<&str>;

    /// Shows every header. Who cannot list its headers shows none.
    fn each(&self, show: &mut dyn FnMut(&str, &str)) {
        let _ = show;
    }
}

impl<N: AsRef<str>, V: AsRef<str>> Headers for Vec<(N, V)> {
    fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(n, _)| n.as_ref().eq_ignore_ascii_case(name)).map(|(_, v)| v.as_ref())
    }

    fn each(&self, show: &mut dyn FnMut(&str, &str)) {
        self.iter().for_each(|(n, v)| show(n.as_ref(), v.as_ref()));
    }
}

/// No headers at all.
#[derive(Clone, Copy, Debug)]
pub struct NoHeaders;

impl Headers for NoHeaders {
    fn get(&self, _name: &str) -> Option<&str> {
        None
    }
}

#[cfg(test)]
mod tests;
