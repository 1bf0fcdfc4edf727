//! One exchange with an upstream, in any dialect: what went wrong in it.
//!
//! In: who was called how, and what came back: an answer, a stream, or a fault of the connection. Out: the failure, if it
//! is one, and how wide it is. It is what operators ask with; live traffic goes through the same tables, and through the
//! readers of its dialect, which also know what the request asked for. It never decides what to do next.

mod frames;
pub mod line;
mod stream;
mod whole;

use super::output::{self, Dialect, Object};
use crate::classify::{Classified, Fault, Vendor, fault, http};
use crate::policy::{Class, Scope, Stage};

/// How the body of an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// In order.
    #[default]
    Clean,
    /// The connection broke.
    Reset,
    /// Nothing more came.
    Stall,
}

/// What an upstream sent.
#[derive(Clone, Debug)]
pub enum Came<'a> {
    /// No status line was received.
    Nothing {
        /// What happened, as the corpus names it; empty where only words are there.
        fault: &'a str,
        /// The words of the client's library.
        words: &'a str,
    },
    /// One answer with a body.
    Whole {
        /// Its status.
        status: u16,
        /// Its body.
        body: &'a str,
        /// How it ended.
        end: End,
    },
    /// An answer that streams.
    Stream {
        /// Its status.
        status: u16,
        /// Its pieces, in order.
        events: Vec<&'a str>,
        /// How it ended.
        end: End,
    },
}

/// One exchange.
#[derive(Clone, Debug)]
pub struct Exchange<'a> {
    /// Whose answer it is.
    pub provider: &'a str,
    /// The dialect of the call.
    pub api: &'a str,
    /// The answer's headers.
    pub headers: Vec<(String, String)>,
    /// What came.
    pub came: Came<'a>,
}

/// What an exchange was.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The failure; nothing where the answer is one.
    pub failure: Option<Classified>,
    /// How wide the failure is: what the answer shows, or else what is usual for such a vendor.
    pub scope: Option<Scope>,
    /// In a stream: what the same payload would be as a plain answer.
    pub cause: Option<Class>,
    /// Whose table was asked first.
    pub vendor: &'static Vendor,
}

/// What it was. `wall_ms` is our clock in milliseconds since 1970, for dates in answers that carry no clock of their own.
pub fn judge(exchange: &Exchange<'_>, wall_ms: u64) -> Verdict {
    let vendor = Vendor::of(exchange.provider, exchange.api);
    let case = Case { exchange, vendor, dialect: output::dialect(exchange.api), wall_ms };
    let (failure, cause) = match &exchange.came {
        Came::Nothing { fault, words } => (Some(case.fault(fault, words)), None),
        Came::Whole { status, body, end } if (200..300).contains(status) => (case.whole(body, *end), None),
        Came::Whole { status, body, .. } => (Some(case.answer(*status, body)), None),
        Came::Stream { status, events, end } if (200..300).contains(status) => case.stream(events, *end),
        Came::Stream { status, events, .. } => (Some(case.answer(*status, &events.concat())), None),
    };
    let scope = failure.as_ref().map(|f| f.scope.unwrap_or_else(|| vendor.width(f.class)));
    Verdict { failure, scope, cause, vendor }
}

/// An exchange, and whose it is.
struct Case<'a> {
    exchange: &'a Exchange<'a>,
    vendor: &'static Vendor,
    dialect: Option<&'static Dialect>,
    wall_ms: u64,
}

/// Words of client libraries for faults of a connection, in lower case.
const FAULT_WORDS: &[(Fault, &[&str])] = &[
    (Fault::Dns, &["enotfound", "eai_again", "getaddrinfo", "name or service not known", "dns", "name resolution"]),
    (
        Fault::HeadersTimeout,
        &["headers timeout", "headers_timeout", "read timed out", "readtimeout", "response timeout"],
    ),
    (Fault::Refused, &["econnrefused", "connection refused", "ehostunreach", "enetunreach", "no route to host"]),
    (Fault::Tls, &["tls", "ssl", "certificate", "handshake"]),
    (
        Fault::ConnectTimeout,
        &["etimedout", "connect timeout", "connection timed out", "connect timed out", "timed out"],
    ),
    (
        Fault::ResetBeforeHeaders { sent: true },
        &["econnreset", "reset", "socket hang up", "broken pipe", "epipe", "eof"],
    ),
];

impl Case<'_> {
    fn fault(&self, name: &str, words: &str) -> Classified {
        let known = match name.replace(['-', ' '], "_").to_lowercase().as_str() {
            "dns" => Fault::Dns,
            "refused" => Fault::Refused,
            "tls" => Fault::Tls,
            "connect_timeout" => Fault::ConnectTimeout,
            "reset_before_headers" => Fault::ResetBeforeHeaders { sent: true },
            "headers_timeout" => Fault::HeadersTimeout,
            _ => {
                let words = format!("{name} {words}").to_lowercase();
                let told = FAULT_WORDS.iter().find(|(_, marks)| marks.iter().any(|m| words.contains(m)));
                told.map_or(Fault::Other { sent: true }, |(fault, _)| *fault)
            }
        };
        fault(known)
    }

    fn answer(&self, status: u16, body: &str) -> Classified {
        http::answer_of(self.vendor, status, &self.exchange.headers, body.as_bytes(), self.wall_ms)
    }

    /// What an error object inside a success is. `named` is a type that stands outside of it.
    fn error(&self, payload: &str, named: Option<&str>) -> Classified {
        http::error_of(self.vendor, payload.as_bytes(), named, &self.exchange.headers, self.wall_ms)
    }

    fn brings_output(&self, object: &Object<'_>) -> bool {
        self.dialects().any(|d| d.brings_output(object))
    }

    fn knows(&self, object: &Object<'_>) -> bool {
        self.dialects().any(|d| d.knows(object))
    }

    fn reason(&self, object: &Object<'_>) -> Option<String> {
        self.dialects().find_map(|d| d.reason(object))
    }

    fn refuses(&self, object: &Object<'_>) -> bool {
        let paths = ["choices[].message", "choices[].delta", "output[].content[]", "response.output[].content[]"];
        let mut found = false;
        for path in paths {
            object.members.at(path, &mut |part| found = found || output::CHAT_PART.refuses(part.get()));
        }
        found
    }

    /// The dialect of the call, or all where nobody here knows it.
    fn dialects(&self) -> impl Iterator<Item = &'static Dialect> {
        let all = if self.dialect.is_some() { &[][..] } else { output::DIALECTS };
        self.dialect.into_iter().chain(all)
    }
}

/// A failure of an answer that began, before any output.
fn found(class: Class, rule: &'static str, words: &str) -> Classified {
    Classified::of(class, Stage::Headers, rule).saying(words)
}

#[cfg(test)]
mod tests;
