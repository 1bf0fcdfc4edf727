//! The one interface through which providers are called.
//!
//! In: an `Outgoing` that is complete, with its address and credential. Out: status, headers and a body that comes in
//! pieces, or a `Fault` of the connection. An upstream never retries, redirects, times a whole call or judges an answer;
//! dropping what it returned closes the connection.

pub mod build;
pub mod emulated;
pub mod endpoint;
pub mod fleet;
pub mod http;

pub use endpoint::{Endpoint, Secret, Unresolved};
pub use fleet::Fleet;

use crate::classify::{Fault, Headers};
use bytes::Bytes;
use futures_util::Stream;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A call, ready to be sent.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// All headers but those of the transport, names in lower case.
    pub headers: Vec<(String, Secret)>,
    /// The body.
    pub body: Bytes,
    /// The target's name, for the emulator and for logs.
    pub target: String,
    /// Set when the first byte of the request leaves: until then nothing was asked of anybody.
    pub left: Left,
}

/// Whether a request has left.
#[derive(Clone, Debug, Default)]
pub struct Left(Arc<AtomicBool>);

impl Left {
    /// It leaves now.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it has.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// An answer that has begun.
pub struct Incoming {
    /// The status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderList,
    /// Its body.
    pub body: Body,
}

/// A body in pieces; a fault is the last of them.
pub type Body = Pin<Box<dyn Stream<Item = Result<Bytes, Fault>> + Send>>;

/// A call in flight.
pub type Calling = Pin<Box<dyn Future<Output = Result<Incoming, Fault>> + Send>>;

/// Somebody who can be called.
pub trait Upstream: Send + Sync {
    /// Starts a call. Nothing happens until the future is polled; dropping it ends the call.
    fn call(&self, outgoing: Outgoing) -> Calling;
}

/// Headers of an answer, names in lower case. Values that are no text are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderList(pub Vec<(String, String)>);

impl Headers for HeaderList {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    fn each(&self, show: &mut dyn FnMut(&str, &str)) {
        self.0.iter().for_each(|(n, v)| show(n, v));
    }
}
