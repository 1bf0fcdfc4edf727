//! Any bytes as an event stream: however they are cut, the same blocks come out, and nothing is lost.

use bytes::Bytes;
use switchback::policy::{Class, Dialect};
use switchback::wire::chat::{Asked, PieceKind, StreamEnded};
use switchback::wire::messages::Answering;
use switchback::wire::sse::{Block, SseReader};
use switchback::wire::translate::StreamReader;

fn blocks(pieces: &[&[u8]]) -> (Vec<Block>, bool) {
    let mut reader = SseReader::new();
    let mut found = Vec::new();
    for piece in pieces {
        reader.push(Bytes::copy_from_slice(piece));
        while let Some(block) = reader.next_block() {
            found.push(block);
        }
    }
    (found, reader.is_unfinished())
}

/// The same without the bytes as they came: a line feed after a CR may come with the next piece.
fn meaning(blocks: &[Block]) -> Vec<Option<(Bytes, Bytes)>> {
    let event = |block: &Block| match block {
        Block::Event { name, data, .. } => Some(Some((name.clone(), data.clone()))),
        Block::Overflow => Some(None),
        Block::Quiet { .. } => None,
    };
    blocks.iter().filter_map(event).collect()
}

/// One input: its first byte says where it is cut.
pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let whole = blocks(&[rest]);
    let single: Vec<&[u8]> = rest.chunks(1).collect();
    let (head, tail) = rest.split_at(usize::from(*first).min(rest.len()));
    for cut in [blocks(&single), blocks(&[head, tail])] {
        assert_eq!(meaning(&whole.0), meaning(&cut.0));
        assert_eq!(whole.1, cut.1);
    }
    for dialect in [Dialect::Chat, Dialect::Messages] {
        for how in [StreamEnded::Clean, StreamEnded::Reset] {
            let cut = read(dialect, &[head, tail], how);
            // A line feed after a CR may come with the next piece, and changes no more than the bytes that are sent on.
            assert_eq!(cut, read(dialect, &[rest], how));
            assert!(cut.0 || cut.1 != Err(Class::PartialStream));
        }
    }
}

/// Whether there was output, and what the stream was.
fn read(dialect: Dialect, pieces: &[&[u8]], how: StreamEnded) -> (bool, Result<Option<String>, Class>) {
    let mut reader = StreamReader::new(dialect, Asked { stream: true, ..Asked::default() }, Answering::default);
    for piece in pieces {
        reader.push(Bytes::copy_from_slice(piece));
        while let Some(piece) = reader.next_piece() {
            // What is sent on of another dialect is a stream of chat.
            let events = blocks(&[&piece.raw]).0;
            assert!(dialect == Dialect::Chat || !matches!(piece.kind, PieceKind::Output) || events.len() == 1);
        }
    }
    let output = reader.chat().has_output();
    (output, reader.end(how).map(|answered| answered.finish).map_err(|failure| failure.class))
}
