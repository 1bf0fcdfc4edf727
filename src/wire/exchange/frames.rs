//! The pieces of a stream, as payloads: whatever framing they came in.
//!
//! In: the pieces and their content type. Out: payloads in order, each with the name that its frame gives it. Framings:
//! server-sent events, also with errors that stand beside them; lines of JSON; chunks of one JSON list; event-stream
//! frames written as header lines, an empty line and the payload.

use crate::wire::sse::{Block, SseReader};
use bytes::Bytes;
use serde_json::value::RawValue;

/// One payload.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Payload {
    /// What its frame says that it is.
    pub name: String,
    /// Its frame says that it is an error.
    pub exception: bool,
    /// Its text.
    pub data: String,
    /// Its frame was not closed when the stream ended.
    pub unfinished: bool,
}

/// The payloads of a stream.
pub(super) fn payloads(content_type: &str, pieces: &[&str]) -> Vec<Payload> {
    let text = pieces.concat();
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    if begins.starts_with(":message-type") || begins.starts_with(":event-type") || begins.starts_with(":exception-type")
    {
        return pieces.iter().map(|piece| frame(piece)).collect();
    }
    let bare = begins.starts_with(['{', '[', '<']);
    let is_events = ["data:", "event:", "id:", "retry:", "error:", ":"].iter().any(|b| begins.starts_with(b));
    if is_events || (content_type.contains("event-stream") && !bare) { events(&text) } else { values(begins) }
}

fn payload(name: &str, data: &str) -> Payload {
    Payload { name: name.to_owned(), exception: false, data: data.to_owned(), unfinished: false }
}

/// A frame of an event stream, written out.
fn frame(piece: &str) -> Payload {
    let (head, data) = piece.split_once("\n\n").or_else(|| piece.split_once("\r\n\r\n")).unwrap_or((piece, ""));
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    let exception = header(":exception-type").or_else(|| header(":error-code"));
    let message = header(":error-message").filter(|_| data.trim().is_empty());
    Payload {
        name: exception.or_else(|| header(":event-type")).unwrap_or_default().to_owned(),
        exception: exception.is_some() || matches!(header(":message-type"), Some("exception" | "error")),
        data: message.unwrap_or(data.trim()).to_owned(),
        unfinished: false,
    }
}

fn events(text: &str) -> Vec<Payload> {
    let mut reader = SseReader::new();
    let mut found = Vec::new();
    reader.push(Bytes::copy_from_slice(text.as_bytes()));
    while let Some(block) = reader.next_block() {
        found.extend(read(block));
    }
    if reader.is_unfinished() {
        // What was not closed is no event; an error in it is told all the same.
        reader.push(Bytes::from_static(b"\n\n"));
        found.extend(reader.next_block().into_iter().flat_map(read).map(|p| Payload { unfinished: true, ..p }));
    }
    found
}

fn read(block: Block) -> Vec<Payload> {
    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    match block {
        Block::Event { name, data, .. } => vec![payload(&text(&name), &text(&data))],
        Block::Quiet { raw } => {
            let raw = text(&raw);
            let raw = raw.trim();
            match raw.strip_prefix("error:") {
                Some(data) => vec![Payload { exception: true, ..payload("error", data.trim()) }],
                None if raw.starts_with(['{', '[']) => values(raw),
                None if raw.starts_with('<') => vec![payload("", raw)],
                None => Vec::new(),
            }
        }
        Block::Overflow => vec![payload("", "overflow")],
    }
}

/// JSON values, whatever stands between them; what cannot be read any more is the last.
fn values(text: &str) -> Vec<Payload> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '[' | ',' | ']'));
        if rest.is_empty() {
            return found;
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match values.next() {
            Some(Ok(value)) => {
                found.push(payload("", value.get()));
                rest = rest.get(values.byte_offset()..).unwrap_or_default();
            }
            Some(Err(_)) | None => {
                let unfinished = !found.is_empty() || rest.starts_with('{');
                found.push(Payload { unfinished, ..payload("", rest) });
                return found;
            }
        }
    }
}
