//! Anthropic Messages, as a target's dialect: chat requests are written in it, its answers are read as chat answers.
//!
//! In: chat requests; bodies and streams of this dialect. Out: bodies of this dialect; bodies and events of chat. What it
//! has no words for is named and never dropped in silence; what may be dropped without loss is in `docs/dialects.md`. It
//! judges no answer: what it makes of one is judged as any chat answer is.

mod answer;
mod content;
mod form;
pub mod request;
mod stream;
mod tools;
mod turns;
mod usage;

pub use answer::chat_of;
pub use request::Unwritten;
pub use stream::{Said, Translator};

/// What a chat answer says that no answer of this dialect does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answering {
    /// Seconds since 1970.
    pub created: u64,
    /// The model that was called, for an answer that names none.
    pub model: String,
    /// Whether a stream is to end with its usage.
    pub include_usage: bool,
}
