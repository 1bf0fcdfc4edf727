//! A stream of chunks: which of its events are output, and whether it came to its end.
//!
//! In: bytes of the body as they come, then how the body ended. Out: pieces to send on unchanged, each of a kind, and a
//! verdict. Output is what a caller could show or use: text, reasoning, a refusal, a tool call. Roles, empty deltas,
//! usage, comments and pings are not. A stream is complete when each choice it began gave a reason for its end; neither
//! an end marker nor the end of the body proves that.

use super::answer::{Answered, Asked, Ending, Usage, failed_finish};
use super::chunk::Chunk;
use crate::classify::{Classified, NoHeaders, http};
use crate::policy::{Class, Stage};
use crate::wire::broken::{self, Began, Ended};
use crate::wire::sse::{Block, SseReader};
use bytes::Bytes;

/// Most choices of one answer: no request may ask for as many, and each is remembered.
const MAX_CHOICES: usize = 1_024;

/// One piece of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its bytes as they came, with the empty line that ends them.
    pub raw: Bytes,
    /// What it is.
    pub kind: PieceKind,
}

/// What a piece is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// No output: held back before the first output, sent on after it.
    Quiet,
    /// Output. It may also bring a choice's end.
    Output,
    /// The end of a choice, and nothing else. Before output it is held back like `Quiet`: the answer may be empty.
    Finish,
    /// The end marker. It is sent on only once [`StreamReader::end`] has agreed.
    Done,
    /// An error, classified for where it came: `partial-stream` after output. Nothing comes after it, and it is not
    /// sent on.
    Error(Classified),
    /// Not of this dialect; otherwise like `Error`.
    Malformed(Classified),
}

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnded {
    /// In order.
    Clean,
    /// It broke off.
    Reset,
}

/// A reader of one answer.
#[derive(Debug)]
pub struct StreamReader {
    asked: Asked,
    events: SseReader,
    /// Index of each choice that was seen, and whether it ended.
    choices: Vec<(u64, bool)>,
    output: bool,
    done: bool,
    /// Some event was JSON of no known form.
    foreign: bool,
    answered: Answered,
    failed: Option<Classified>,
}

impl StreamReader {
    /// A reader at the beginning of an answer.
    pub fn new(asked: Asked) -> StreamReader {
        StreamReader {
            asked,
            events: SseReader::new(),
            choices: Vec::new(),
            output: false,
            done: false,
            foreign: false,
            answered: Answered::default(),
            failed: None,
        }
    }

    /// Takes the next bytes and gives the pieces that they complete. Pieces that are not taken come with the next push.
    pub fn push(&mut self, bytes: Bytes) -> Pieces<'_> {
        // Nothing that comes after an end or a failure is looked at, or kept.
        if !self.is_over() {
            self.events.push(bytes);
        }
        Pieces { reader: self }
    }

    /// Whether an end or a failure was seen: nothing more is looked at.
    pub fn is_over(&self) -> bool {
        self.failed.is_some() || self.done
    }

    /// Learns what it cost from elsewhere than the stream.
    pub fn learn(&mut self, usage: Usage) {
        self.answered.usage = Some(usage);
    }

    /// Takes a failure that was found elsewhere than in the stream, at the place where the stream is.
    pub fn fail(&mut self, failure: Classified) -> Piece {
        Piece { raw: Bytes::new(), kind: self.error(failure) }
    }

    /// Whether output was seen.
    pub fn has_output(&self) -> bool {
        self.output
    }

    /// Whether each choice that was asked for gave a reason for its end.
    pub fn is_complete(&self) -> bool {
        self.failed.is_none() && !self.lacks_choices() && self.choices.iter().all(|(_, ended)| *ended)
    }

    /// Whether a choice that was asked for has not begun. Servers that know of one choice only are believed when they
    /// say that they are done.
    fn lacks_choices(&self) -> bool {
        let seen = u64::try_from(self.choices.len()).unwrap_or(u64::MAX);
        !self.done && seen < self.asked.choices.max(1)
    }

    /// Whether the end marker was seen. Some servers leave it out; clients wait for it.
    pub fn has_done(&self) -> bool {
        self.done
    }

    /// What it cost, as far as it was told.
    pub fn usage(&self) -> Option<Usage> {
        self.answered.usage
    }

    /// The model that serves, as far as it was told.
    pub fn model(&self) -> Option<&str> {
        self.answered.model.as_deref()
    }

    /// The verdict, once the body has ended or the end marker was seen.
    ///
    /// # Errors
    /// Where an error came, some choice has no end, or the answer holds nothing.
    pub fn end(&mut self, how: StreamEnded) -> Result<Answered, Classified> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let incomplete = self.lacks_choices() || self.choices.iter().any(|(_, ended)| !ended);
        if self.choices.is_empty() || incomplete {
            let ended = match how {
                // An event that was not closed was on its way.
                StreamEnded::Clean if self.choices.is_empty() && self.events.is_unfinished() => Ended::Reset,
                StreamEnded::Clean => Ended::Clean,
                StreamEnded::Reset => Ended::Reset,
            };
            let other = Classified::of(Class::MalformedResponse, Stage::Headers, "stream-other")
                .saying("the stream is no chat completion");
            let began = match (self.choices.is_empty(), self.foreign) {
                (false, _) => Began::Answer,
                (true, true) => Began::Other(&other),
                (true, false) => Began::Nothing,
            };
            return Err(self.placed(broken::off(ended, began)));
        }
        if !self.output {
            let finish = self.answered.finish.as_deref();
            Ending { output: false, choices: self.choices.len(), finish, usage: self.answered.usage }
                .judge(&self.asked)?;
        }
        Ok(self.answered.clone())
    }

    /// An error that the stream holds. No headers come with it, and nobody's clock is asked for its waits.
    fn said(&self, payload: &[u8]) -> Classified {
        http::error_of(self.asked.vendor, payload, None, &NoHeaders, 0)
    }

    /// A failure, at the place where the stream is.
    fn placed(&self, failure: Classified) -> Classified {
        if self.output { failure.after_output() } else { failure }
    }

    fn read(&mut self, block: Block) -> Piece {
        let (raw, kind) = match block {
            Block::Quiet { raw } => match stray_error(&raw) {
                Some(payload) => (raw.clone(), self.error(self.said(payload))),
                None => (raw, PieceKind::Quiet),
            },
            Block::Event { raw, name, data } => (raw, self.event(&name, &data)),
            Block::Overflow => (Bytes::new(), self.malformed("stream-overflow", "an event is too long")),
        };
        Piece { raw, kind }
    }

    fn event(&mut self, name: &[u8], data: &[u8]) -> PieceKind {
        if data.trim_ascii() == b"[DONE]" {
            self.done = true;
            return PieceKind::Done;
        }
        if name == b"error" {
            return self.error(self.said(data));
        }
        if name == b"ping" {
            return PieceKind::Quiet;
        }
        let Some(chunk) = std::str::from_utf8(data).ok().and_then(Chunk::read) else {
            return self.malformed("stream-not-json", "an event is no JSON object");
        };
        self.chunk(&chunk)
    }

    fn chunk(&mut self, chunk: &Chunk<'_>) -> PieceKind {
        if let Some(error) = chunk.error {
            return self.error(self.said(error.as_bytes()));
        }
        if let Some(model) = chunk.model.as_deref().filter(|_| self.answered.model.is_none()) {
            self.answered.model = Some(model.to_owned());
        }
        self.answered.usage = chunk.usage.or(self.answered.usage);
        let Some(choices) = &chunk.choices else {
            self.foreign |= chunk.usage.is_none();
            return PieceKind::Quiet;
        };
        let (mut output, mut finish) = (false, false);
        for choice in choices {
            if let Some(failure) = choice.finish.as_deref().and_then(failed_finish) {
                // Before output the reason `error` alone names no class.
                let general = failure.class == Class::ServerError;
                let class = if general { Class::StreamEarly } else { failure.class };
                return self.error(Classified { class, ..failure });
            }
            output |= choice.output;
            finish |= choice.finish.is_some();
            self.note(choice.index, choice.finish.as_deref());
            if self.choices.len() > MAX_CHOICES {
                return self.malformed("stream-choices", "the stream has more choices than any answer");
            }
        }
        self.output |= output;
        match (output, finish) {
            (true, _) => PieceKind::Output,
            (false, true) => PieceKind::Finish,
            (false, false) => PieceKind::Quiet,
        }
    }

    fn note(&mut self, index: u64, finish: Option<&str>) {
        match self.choices.iter_mut().find(|(i, _)| *i == index) {
            Some((_, ended)) => *ended |= finish.is_some(),
            None => self.choices.push((index, finish.is_some())),
        }
        if let Some(finish) = finish.filter(|_| self.answered.finish.is_none()) {
            self.answered.finish = Some(finish.to_owned());
        }
    }

    fn error(&mut self, failure: Classified) -> PieceKind {
        let failure = self.placed(failure);
        self.failed = Some(failure.clone());
        PieceKind::Error(failure)
    }

    fn malformed(&mut self, rule: &'static str, words: &str) -> PieceKind {
        let failure = self.placed(Classified::of(Class::MalformedResponse, Stage::Headers, rule).saying(words));
        self.failed = Some(failure.clone());
        PieceKind::Malformed(failure)
    }
}

/// The pieces that are complete.
#[derive(Debug)]
pub struct Pieces<'r> {
    reader: &'r mut StreamReader,
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.reader.is_over() {
            return None;
        }
        let block = self.reader.events.next_block()?;
        Some(self.reader.read(block))
    }
}

/// An error under a field name of its own, which the format itself ignores.
fn stray_error(raw: &[u8]) -> Option<&[u8]> {
    raw.strip_prefix(b"error:").map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests;
