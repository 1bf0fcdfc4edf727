//! An emulated answer as it comes over time.
//!
//! In: the pieces of a scripted answer, each with its delay. Out: a status, headers and a body that yields the pieces
//! when they are due and then ends, breaks off or stays silent. Decides nothing of what is said.

use crate::policy::Millis;
use bytes::Bytes;
use std::collections::VecDeque;

/// What the emulator answers where headers come at all.
#[derive(Debug)]
pub struct EmulatedAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The headers, names in lower case; none about length or transfer.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: EmulatedBody,
}

/// A fault of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmulatedFault {
    /// Before any header.
    #[error("connection reset before headers (emulated)")]
    Reset,
    /// In the middle of the body.
    #[error("connection ended in the middle of the body (emulated)")]
    Cut,
}

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// In order.
    Whole,
    /// The connection ends first.
    Cut,
    /// Never.
    Silence,
}

/// A body that comes in time.
#[derive(Debug)]
pub struct EmulatedBody {
    pieces: VecDeque<(Millis, Bytes)>,
    end: Option<BodyEnd>,
    whole: bool,
}

impl EmulatedBody {
    /// A body that is there at once.
    pub fn whole(bytes: Bytes) -> EmulatedBody {
        EmulatedBody { pieces: [(Millis::ZERO, bytes)].into(), end: Some(BodyEnd::Whole), whole: true }
    }

    /// A body of pieces, each so long after the one before.
    pub fn pieces(pieces: impl IntoIterator<Item = (Millis, Bytes)>, end: BodyEnd) -> EmulatedBody {
        EmulatedBody { pieces: pieces.into_iter().collect(), end: Some(end), whole: false }
    }

    /// The next piece when it is due, a fault, or nothing at the end. A future that is dropped loses nothing but the
    /// time waited; after a fault there is nothing.
    pub async fn next(&mut self) -> Option<Result<Bytes, EmulatedFault>> {
        if let Some((delay, _)) = self.pieces.front() {
            if *delay > Millis::ZERO {
                tokio::time::sleep(delay.duration()).await;
            }
            return self.pieces.pop_front().map(|(_, bytes)| Ok(bytes));
        }
        match self.end {
            Some(BodyEnd::Silence) => std::future::pending().await,
            Some(BodyEnd::Cut) => {
                self.end = None;
                Some(Err(EmulatedFault::Cut))
            }
            Some(BodyEnd::Whole) | None => None,
        }
    }

    /// All of it, for a body that is there at once: it can be sent with its length.
    pub fn at_once(&self) -> Option<Bytes> {
        self.whole.then(|| self.pieces.front().map(|(_, bytes)| bytes.clone()).unwrap_or_default())
    }

    /// As a stream.
    pub fn into_stream(self) -> impl futures_util::Stream<Item = Result<Bytes, EmulatedFault>> + Send + 'static {
        futures_util::stream::unfold(self, |mut body| async move { body.next().await.map(|piece| (piece, body)) })
    }
}
