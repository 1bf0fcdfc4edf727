//! Server-sent events, read piece by piece.
//!
//! In: bytes of a body in whatever pieces they come. Out: blocks, each with the bytes that it was, so that it can be
//! sent on unchanged: events with their data, and blocks without data (comments, pings, settings). An event that is not
//! closed by an empty line never comes out. It knows nothing of what the data means, `[DONE]` included.

use bytes::{Buf, Bytes, BytesMut};

/// Longest block, in bytes; what is longer is no event stream that could be served.
pub const MAX_BLOCK: usize = 1024 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// What the reader found next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// An event with data.
    Event {
        /// Its bytes, with the empty line that ends it.
        raw: Bytes,
        /// Its name; empty where it has none.
        name: Bytes,
        /// Its data lines, joined by line feeds.
        data: Bytes,
    },
    /// A block without data: comments, pings, settings.
    Quiet {
        /// Its bytes, with the empty line that ends it.
        raw: Bytes,
    },
    /// A block of more than [`MAX_BLOCK`] bytes. Nothing comes after it.
    Overflow,
}

/// A reader of one stream.
#[derive(Debug, Default)]
pub struct SseReader {
    /// The beginning of a block that has not ended yet.
    tail: BytesMut,
    /// Bytes that were not looked at yet.
    fresh: Bytes,
    /// How much of a byte order mark was seen; `None` once the beginning is over.
    mark: Mark,
    /// The last byte looked at was a CR: a LF right after it belongs to it.
    after_cr: bool,
    /// The line that is being read has some content.
    in_line: bool,
    /// The block that is being read has some line.
    in_block: bool,
    overflowed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Seen(usize),
    Over,
}

impl Default for Mark {
    fn default() -> Mark {
        Mark::Seen(0)
    }
}

impl SseReader {
    /// A reader at the beginning of a stream.
    pub fn new() -> SseReader {
        SseReader::default()
    }

    /// Takes the next bytes. The blocks that they complete come from [`SseReader::next_block`].
    pub fn push(&mut self, bytes: Bytes) {
        if self.fresh.is_empty() {
            self.fresh = bytes;
        } else if !bytes.is_empty() {
            self.fresh = [std::mem::take(&mut self.fresh), bytes].concat().into();
        }
    }

    /// The next block that is complete.
    pub fn next_block(&mut self) -> Option<Block> {
        self.skip_mark();
        loop {
            if self.overflowed {
                return None;
            }
            let end = self.scan();
            let length = end.unwrap_or(self.fresh.len());
            if self.tail.len() + length > MAX_BLOCK {
                *self = SseReader { overflowed: true, ..SseReader::default() };
                return Some(Block::Overflow);
            }
            let piece = self.fresh.split_to(length);
            if end.is_none() {
                self.tail.extend_from_slice(&piece);
                return None;
            }
            let raw = if self.tail.is_empty() {
                piece
            } else {
                self.tail.extend_from_slice(&piece);
                self.tail.split().freeze()
            };
            if std::mem::take(&mut self.in_block) {
                return Some(read(raw));
            }
            // An empty line that ends nothing: no block.
        }
    }

    /// Whether the stream ends here in the middle of a block, which is thereby lost.
    pub fn is_unfinished(&self) -> bool {
        self.in_block || self.in_line
    }

    /// Where the block being read ends in the fresh bytes: after the line end of an empty line.
    fn scan(&mut self) -> Option<usize> {
        if std::mem::take(&mut self.after_cr) {
            match self.fresh.first() {
                // The rest of the CR that ended the line before; where it ended a block, that is already out.
                Some(b'\n') if self.tail.is_empty() => self.fresh.advance(1),
                Some(b'\n') => {
                    self.tail.extend_from_slice(b"\n");
                    self.fresh.advance(1);
                }
                Some(_) => {}
                None => self.after_cr = true,
            }
        }
        let mut at = 0;
        loop {
            let rest = self.fresh.get(at..)?;
            let Some(length) = rest.iter().position(|b| matches!(b, b'\n' | b'\r')) else {
                self.in_line |= !rest.is_empty();
                return None;
            };
            self.in_line |= length > 0;
            at += length + 1;
            if rest.get(length) == Some(&b'\r') {
                match rest.get(length + 1) {
                    Some(b'\n') => at += 1,
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
            if !std::mem::take(&mut self.in_line) {
                return Some(at);
            }
            self.in_block = true;
        }
    }

    /// Drops one byte order mark at the beginning, however it is cut.
    fn skip_mark(&mut self) {
        while let (Mark::Seen(seen), Some(byte)) = (self.mark, self.fresh.first()) {
            if BOM.get(seen) == Some(byte) {
                self.fresh.advance(1);
                self.mark = if seen + 1 == BOM.len() { Mark::Over } else { Mark::Seen(seen + 1) };
            } else {
                self.tail.extend_from_slice(BOM.get(..seen).unwrap_or_default());
                self.in_line |= seen > 0;
                self.mark = Mark::Over;
            }
        }
    }
}

/// Reads the fields of a whole block.
fn read(raw: Bytes) -> Block {
    let mut name = Bytes::new();
    let mut data: Option<Data> = None;
    let mut rest = raw.clone();
    while !rest.is_empty() {
        let length = rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
        let line = rest.split_to(length);
        rest.advance(if rest.starts_with(b"\r\n") { 2 } else { rest.len().min(1) });
        let colon = line.iter().position(|b| *b == b':').unwrap_or(line.len());
        let mut value = line.slice(colon..);
        value.advance(value.len().min(1));
        if value.first() == Some(&b' ') {
            value.advance(1);
        }
        match line.get(..colon) {
            Some(b"data") => data = Some(Data::joined(data, value)),
            Some(b"event") => name = value,
            Some(_) | None => {}
        }
    }
    match data {
        Some(Data::One(data)) => Block::Event { raw, name, data },
        Some(Data::Many(data)) => Block::Event { raw, name, data: data.freeze() },
        None => Block::Quiet { raw },
    }
}

/// Data lines: a single one, which nearly all events have, is not copied.
enum Data {
    One(Bytes),
    Many(BytesMut),
}

impl Data {
    fn joined(before: Option<Data>, line: Bytes) -> Data {
        let mut all = match before {
            None => return Data::One(line),
            Some(Data::One(first)) => BytesMut::from(first),
            Some(Data::Many(all)) => all,
        };
        all.extend_from_slice(b"\n");
        all.extend_from_slice(&line);
        Data::Many(all)
    }
}

#[cfg(test)]
mod tests;
