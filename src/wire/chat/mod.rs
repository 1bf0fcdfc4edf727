//! OpenAI Chat Completions, and servers that are compatible with it.
//!
//! In: bodies and streams of this dialect. Out: facts of a request, a verdict on an answer, the pieces of a stream, and
//! the bodies of errors and lists. Nothing of a body is touched but the value of `model`.

pub mod answer;
pub mod chunk;
mod content;
pub mod error;
pub mod models;
mod plain;
pub mod request;
pub mod stream;

pub use answer::{Answered, Asked, Usage, judge, with_model};
pub use request::{BadRequest, ChatRequest};
pub use stream::{Piece, PieceKind, StreamEnded, StreamReader};
