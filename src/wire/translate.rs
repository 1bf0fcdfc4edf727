//! Where dialects meet: requests in the target's words, answers in the caller's.
//!
//! In: a chat request and the target's dialect; answers and streams of that dialect. Out: what goes out, and chat answers
//! and the pieces of chat streams, judged. Between chat and chat nothing is touched and nothing is copied. Every caller
//! speaks chat so far; this is the only place that another pair would change.

use super::chat::answer::{Answered, Asked};
use super::chat::{self, ChatRequest, Piece, StreamEnded};
use super::messages::{self, Answering, Said, Translator, Unwritten};
use crate::classify::{Classified, Headers};
use crate::policy::{Dialect, Terms};
use bytes::Bytes;

/// What a request says for which a dialect has no words.
pub fn beyond(chat: &ChatRequest, dialect: Dialect) -> Terms {
    match dialect {
        Dialect::Chat => Terms::default(),
        Dialect::Messages => messages::request::beyond(chat),
    }
}

/// The body of a request for a model. `most` is what the model gives at most, in tokens.
///
/// # Errors
/// Where the dialect has no words for something in it.
pub fn request(chat: &ChatRequest, dialect: Dialect, model: &str, most: Option<u64>) -> Result<Bytes, Unwritten> {
    match dialect {
        Dialect::Chat => Ok(chat.upstream_body(model)),
        Dialect::Messages => messages::request::write(chat, model, most),
    }
}

/// Judges a whole answer of a dialect; also gives it as chat says it, with `to` for what it does not say. `wall_ms` is milliseconds since 1970.
///
/// # Errors
/// Where it is no answer.
pub fn judge(
    dialect: Dialect,
    headers: &dyn Headers,
    body: Bytes,
    asked: &Asked,
    to: impl FnOnce() -> Answering,
    wall_ms: u64,
) -> Result<(Bytes, Answered), Classified> {
    let translated = match dialect {
        Dialect::Chat => None,
        Dialect::Messages => std::str::from_utf8(&body).ok().and_then(|text| messages::chat_of(text, &to())),
    };
    let body = match (translated, dialect) {
        (Some(translated), _) => translated?.into(),
        (None, Dialect::Chat) => body,
        // Not a message: an error, or something else. A chat answer is no answer of this dialect either.
        (None, Dialect::Messages) => {
            let judged = chat::judge(headers, &body, asked, wall_ms);
            return Err(judged.err().unwrap_or_else(other));
        }
    };
    let answered = chat::judge(headers, &body, asked, wall_ms)?;
    Ok((body, answered))
}

fn other() -> Classified {
    use crate::policy::{Class, Stage};
    Classified::of(Class::MalformedResponse, Stage::Headers, "body-other-json")
        .saying("the answer is none of the target's dialect")
}

/// A reader of one stream of any dialect. Its pieces are chat's.
#[derive(Debug)]
pub struct StreamReader {
    chat: chat::StreamReader,
    translator: Option<Translator>,
}

impl StreamReader {
    /// A reader at the beginning of an answer.
    pub fn new(dialect: Dialect, asked: Asked, to: impl FnOnce() -> Answering) -> StreamReader {
        let translator = match dialect {
            Dialect::Chat => None,
            Dialect::Messages => Some(Translator::new(to())),
        };
        StreamReader { chat: chat::StreamReader::new(asked), translator }
    }

    /// Takes the next bytes. The pieces that they complete come from [`StreamReader::next_piece`].
    pub fn push(&mut self, bytes: Bytes) {
        match &mut self.translator {
            Some(translator) if !self.chat.is_over() => translator.push(bytes),
            Some(_) => {}
            None => {
                self.chat.push(bytes);
            }
        }
    }

    /// The next piece that is complete.
    pub fn next_piece(&mut self) -> Option<Piece> {
        let mut events = Bytes::new();
        loop {
            if let Some(piece) = self.chat.push(std::mem::take(&mut events)).next() {
                return Some(piece);
            }
            let translator = self.translator.as_mut().filter(|_| !self.chat.is_over())?;
            match translator.next_said()? {
                Said::Events(said) => events = said,
                Said::Failed(failure) => return Some(self.chat.fail(failure)),
            }
        }
    }

    /// What is known of the stream so far.
    pub fn chat(&self) -> &chat::StreamReader {
        &self.chat
    }

    /// The verdict, once the body has ended or the end marker was seen.
    ///
    /// # Errors
    /// Where an error came, the answer has no end, or it holds nothing.
    pub fn end(&mut self, how: StreamEnded) -> Result<Answered, Classified> {
        let mut how = how;
        if let Some(translator) = &self.translator {
            if let Some(usage) = translator.usage() {
                self.chat.learn(usage);
            }
            if translator.is_unfinished() {
                how = StreamEnded::Reset;
            }
        }
        self.chat.end(how)
    }
}
