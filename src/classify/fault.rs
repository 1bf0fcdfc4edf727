//! Faults of a connection: what went wrong where no status, or no whole body, came.
//!
//! In: the kind of fault, named by whoever holds the socket. Out: `Classified`. Timers are not faults: their meaning is
//! decided where they were set.

use super::Classified;
use crate::policy::{Class, Stage};

/// What happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The name could not be looked up.
    Dns,
    /// Nobody listens, or no way leads there.
    Refused,
    /// No secure connection came about.
    Tls,
    /// No connection in time.
    ConnectTimeout,
    /// The connection ended before headers.
    ResetBeforeHeaders {
        /// Whether some of the request may have left.
        sent: bool,
    },
    /// The other side does not speak HTTP.
    NotHttp,
    /// The body of an answer broke off.
    BodyReset {
        /// Whether output was forwarded.
        output: bool,
    },
    /// A whole answer is larger than the gateway takes.
    BodyTooLarge,
    /// No headers in time, where no timer of ours says so.
    HeadersTimeout,
    /// Any other fault before headers.
    Other {
        /// Whether some of the request may have left.
        sent: bool,
    },
}

/// What a fault is.
pub fn fault(fault: Fault) -> Classified {
    let left = |sent| if sent { Stage::Sent } else { Stage::NotSent };
    let (class, stage, rule, words) = match fault {
        Fault::Dns => (Class::Connect, Stage::NotSent, "fault-dns", "the name could not be looked up"),
        Fault::Refused => (Class::Connect, Stage::NotSent, "fault-refused", "the connection was refused"),
        Fault::Tls => (Class::Connect, Stage::NotSent, "fault-tls", "no secure connection came about"),
        Fault::ConnectTimeout => (Class::Connect, Stage::NotSent, "fault-connect-timeout", "no connection in time"),
        Fault::ResetBeforeHeaders { sent } => {
            (Class::Connect, left(sent), "fault-reset", "the connection was reset before an answer began")
        }
        Fault::NotHttp => (Class::MalformedResponse, Stage::Sent, "fault-not-http", "the answer is no HTTP"),
        Fault::BodyReset { output: false } => {
            (Class::Truncated, Stage::Headers, "fault-body-reset", "the answer broke off")
        }
        Fault::BodyReset { output: true } => {
            (Class::PartialStream, Stage::Output, "fault-body-reset", "the answer broke off")
        }
        Fault::BodyTooLarge => {
            (Class::MalformedResponse, Stage::Headers, "fault-body-too-large", "the answer is too large")
        }
        Fault::HeadersTimeout => {
            (Class::TimeoutHeaders, Stage::Sent, "fault-headers-timeout", "no answer began in time")
        }
        Fault::Other { sent } => (Class::Connect, left(sent), "fault-other", "the connection failed"),
    };
    let cause = (class == Class::PartialStream).then_some(Class::Truncated);
    Classified { cause, ..Classified::of(class, stage, rule).saying(words) }
}
