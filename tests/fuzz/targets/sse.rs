//! Any bytes as an event stream: however they are cut, the same blocks come out, and nothing is lost.

use bytes::Bytes;
use switchback::wire::chat::{Asked, StreamEnded, StreamReader};
use switchback::wire::sse::{Block, SseReader};

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
    for how in [StreamEnded::Clean, StreamEnded::Reset] {
        let mut reader = StreamReader::new(Asked { stream: true, ..Asked::default() });
        reader.push(Bytes::copy_from_slice(head)).for_each(drop);
        reader.push(Bytes::copy_from_slice(tail)).for_each(drop);
        let output = reader.has_output();
        if let Err(failure) = reader.end(how) {
            assert!(output || failure.class != switchback::policy::Class::PartialStream);
        }
    }
}
