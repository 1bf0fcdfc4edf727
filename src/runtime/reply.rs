//! The line between a running request and whoever sends its answer to the client.
//!
//! In: what the execution has to say, in order. Out: one `Reply`, and for a stream its pieces. The line is bounded, so a
//! slow client slows the execution and through it the upstream; a far end that is dropped is noticed at once. Knows no
//! HTTP.

use crate::decide::Refused;
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

/// Pieces that may wait for a slow client.
const AHEAD: usize = 16;

/// What is known of a request when its answer begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its id.
    pub id: String,
    /// Its route.
    pub route: String,
    /// The hash of the policy it runs on.
    pub policy: String,
    /// Upstream calls so far.
    pub attempts: u32,
    /// The target whose answer this is.
    pub target: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub enum Reply {
    /// A whole answer, as JSON.
    Whole(Head, Bytes),
    /// A stream of events.
    Stream(Head, Pieces),
    /// None.
    Refused(Head, Refused, Option<String>),
}

/// A piece of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// Events to be sent as they are.
    Events(Bytes),
    /// The stream is broken: what the client is told, and what the attempt itself said.
    Broken(Refused, Option<String>),
    /// The stream is complete.
    End,
}

/// The far end of a stream. That it ends without [`Piece::End`] or [`Piece::Broken`] means that the execution died.
pub type Pieces = mpsc::Receiver<Piece>;

/// The near end.
#[derive(Debug)]
pub enum Line {
    /// Nothing was said.
    Quiet(oneshot::Sender<Reply>),
    /// A stream is running.
    Open(mpsc::Sender<Piece>),
    /// All was said.
    Done,
}

/// The client has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

impl Line {
    /// Both ends.
    pub fn new() -> (Line, oneshot::Receiver<Reply>) {
        let (near, far) = oneshot::channel();
        (Line::Quiet(near), far)
    }

    /// Comes true when the client goes; never once all was said.
    pub async fn gone(&mut self) {
        match self {
            Line::Quiet(near) => near.closed().await,
            Line::Open(near) => near.closed().await,
            Line::Done => std::future::pending().await,
        }
    }

    /// Says the one thing that is not a stream.
    pub fn say(&mut self, reply: Reply) {
        if let Line::Quiet(near) = std::mem::replace(self, Line::Done) {
            // A client that has gone hears nothing, which is as it should be.
            let _ = near.send(reply);
        }
    }

    /// Begins a stream.
    pub fn open(&mut self, head: Head) {
        if matches!(self, Line::Quiet(_)) {
            let (near, far) = mpsc::channel(AHEAD);
            self.say(Reply::Stream(head, far));
            *self = Line::Open(near);
        }
    }

    /// Sends a piece, waiting for the client where it is slow.
    ///
    /// # Errors
    /// When the client has gone.
    pub async fn send(&mut self, piece: Piece) -> Result<(), Gone> {
        let Line::Open(near) = self else { return Err(Gone) };
        let last = !matches!(piece, Piece::Events(_));
        near.send(piece).await.map_err(|_| Gone)?;
        if last {
            *self = Line::Done;
        }
        Ok(())
    }
}
