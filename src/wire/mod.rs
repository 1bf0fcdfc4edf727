//! The dialects: canonical facts of requests, answers and streams, one folder per API.
//!
//! In: bytes as they came over the wire. Out: values that say what a request asks for, whether an answer is one, and
//! what the next piece of a stream is; and bytes to send on. Nothing here does IO, waits, or reads a clock; bytes that
//! are handed on are the bytes that came.

mod broken;
pub mod chat;
mod ending;
pub mod exchange;
pub mod json;
pub mod messages;
pub mod output;
pub mod scripted;
pub mod sse;
pub mod translate;

use crate::classify::Classified;
use crate::decide::event::Failure;

/// A classified failure as the event that a run is told.
pub fn failure(classified: &Classified) -> Failure<'_> {
    Failure {
        // The run itself knows whether output was forwarded; what holds and blame hang on is the cause.
        class: classified.cause.unwrap_or(classified.class),
        stage: classified.stage,
        scope: classified.scope,
        hint: classified.hint,
        status: classified.status,
        code: classified.code.as_deref(),
        no_retry: classified.no_retry,
        ours: classified.ours,
    }
}
