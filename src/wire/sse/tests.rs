use super::*;
use proptest::prelude::*;

fn event(raw: &str, name: &str, data: &str) -> Block {
    let bytes = |s: &str| Bytes::from(s.to_owned());
    Block::Event { raw: bytes(raw), name: bytes(name), data: bytes(data) }
}

fn quiet(raw: &str) -> Block {
    Block::Quiet { raw: Bytes::from(raw.to_owned()) }
}

fn read(pieces: &[&[u8]]) -> (Vec<Block>, bool) {
    let mut reader = SseReader::new();
    let mut blocks = Vec::new();
    for piece in pieces {
        reader.push(Bytes::copy_from_slice(piece));
        blocks.extend(std::iter::from_fn(|| reader.next_block()));
    }
    (blocks, reader.is_unfinished())
}

fn whole(text: &str) -> Vec<Block> {
    read(&[text.as_bytes()]).0
}

#[test]
fn each_line_end_ends_a_line() {
    assert_eq!(whole("data: a\n\n"), [event("data: a\n\n", "", "a")]);
    assert_eq!(whole("data: a\r\rdata: b\r\r"), [event("data: a\r\r", "", "a"), event("data: b\r\r", "", "b")]);
    assert_eq!(whole("data: a\r\n\r\n"), [event("data: a\r\n\r\n", "", "a")]);
    assert_eq!(whole("event: x\r\ndata: a\n\r"), [event("event: x\r\ndata: a\n\r", "x", "a")]);
}

#[test]
fn fields_are_read_as_the_format_says() {
    assert_eq!(whole("data:a\ndata:  b\ndata\n\n"), [event("data:a\ndata:  b\ndata\n\n", "", "a\n b\n")]);
    assert_eq!(
        whole("event: one\nevent:two\ndata: a:b\n\n"),
        [event("event: one\nevent:two\ndata: a:b\n\n", "two", "a:b")]
    );
    assert_eq!(whole("data:\n\n"), [event("data:\n\n", "", "")]);
    assert_eq!(whole("Data: a\n\n"), [quiet("Data: a\n\n")]);
    assert_eq!(whole(" data: a\n\n"), [quiet(" data: a\n\n")]);
}

#[test]
fn what_has_no_data_is_no_event() {
    assert_eq!(whole(": ping\n\nevent: x\nid: 1\n\n"), [quiet(": ping\n\n"), quiet("event: x\nid: 1\n\n")]);
    assert_eq!(whole("\n\n\r\n\rdata: a\n\n"), [event("data: a\n\n", "", "a")]);
    assert_eq!(whole(": note\ndata: a\n\n"), [event(": note\ndata: a\n\n", "", "a")]);
}

#[test]
fn an_event_without_its_empty_line_never_comes() {
    assert_eq!(read(&[b"data: a\n\ndata: b"]), (vec![event("data: a\n\n", "", "a")], true));
    assert_eq!(read(&[b"data: b\n"]), (vec![], true));
    assert!(!read(&[b"data: b\n\n"]).1);
    assert_eq!(read(&[b""]), (vec![], false));
}

#[test]
fn one_byte_order_mark_is_dropped_at_the_beginning() {
    assert_eq!(read(&[b"\xef\xbb\xbfdata: a\n\n"]).0, [event("data: a\n\n", "", "a")]);
    assert_eq!(read(&[b"\xef", b"\xbb", b"\xbfdata: a\n\n"]).0, [event("data: a\n\n", "", "a")]);
    assert_eq!(read(&[b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n"]).0.len(), 1);
    assert!(matches!(read(&[b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n"]).0[0], Block::Quiet { .. }));
    // Half a mark is text like any other.
    let Block::Quiet { raw } = &read(&[b"\xef\xbb", b"data: a\n\n"]).0[0] else { panic!("an event") };
    assert_eq!(raw.as_ref(), b"\xef\xbbdata: a\n\n");
}

#[test]
fn a_return_at_the_end_of_a_piece_takes_the_feed_of_the_next() {
    assert_eq!(
        read(&[b"data: a\r", b"\n\r", b"\ndata: b\r\n\r\n"]).0,
        [event("data: a\r\n\r", "", "a"), event("data: b\r\n\r\n", "", "b")]
    );
}

#[test]
fn a_block_that_is_too_long_ends_everything() {
    let long = vec![b'x'; MAX_BLOCK];
    assert_eq!(read(&[b"data: ", &long, b"\n\n", b"data: a\n\n"]).0, [Block::Overflow]);
    let mut fits = b"data: ".to_vec();
    fits.resize(MAX_BLOCK - 2, b'x');
    assert_eq!(read(&[&fits, b"\n\n"]).0.len(), 1);
}

#[test]
fn an_event_that_came_in_one_piece_is_not_copied() {
    let bytes = Bytes::from_static(b"data: first\n\ndata: second\n\n");
    let mut reader = SseReader::new();
    reader.push(bytes.clone());
    let (Some(Block::Event { data, .. }), Some(Block::Event { raw, .. })) = (reader.next_block(), reader.next_block())
    else {
        panic!("two events")
    };
    assert_eq!(data.as_ptr(), bytes[6..].as_ptr());
    assert_eq!(raw.as_ptr(), bytes[13..].as_ptr());
}

proptest! {
    /// However a stream is cut, the same events come out, and nothing but line ends is lost between them.
    #[test]
    fn cuts_change_nothing(
        lines in proptest::collection::vec(
            prop_oneof!["data: [a-c]{0,3}", "data:[a-c: ]{0,3}", "event: [a-c]", ": [a-c]{0,2}", "[a-c]{0,2}", ""], 0..24),
        ends in proptest::collection::vec(prop_oneof!["\n", "\r", "\r\n"], 24),
        cuts in proptest::collection::vec(0usize..200, 0..6),
    ) {
        let text: String = lines.iter().zip(&ends).flat_map(|(l, e)| [l.as_str(), e.as_str()]).collect();
        let mut at: Vec<usize> = cuts.into_iter().map(|c| c.min(text.len())).chain([0, text.len()]).collect();
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|w| &text.as_bytes()[w[0]..w[1]]).collect();
        let essence = |blocks: Vec<Block>| -> Vec<(Bytes, Bytes)> {
            blocks.into_iter().filter_map(|b| match b {
                Block::Event { name, data, .. } => Some((name, data)),
                Block::Quiet { .. } | Block::Overflow => None,
            }).collect()
        };
        let (cut, open) = read(&pieces);
        let (uncut, open_uncut) = read(&[text.as_bytes()]);
        prop_assert_eq!(essence(cut), essence(uncut));
        prop_assert_eq!(open, open_uncut);
    }
}
