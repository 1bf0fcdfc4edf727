//! The inputs of the fuzz targets, replayed: what was once odd stays harmless.
//!
//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz classify` looks for more; `tests/fuzz/corpus` keeps what is worth it.

#[path = "../fuzz/targets/classify.rs"]
mod classify;
#[path = "../fuzz/targets/sse.rs"]
mod sse;

use std::path::Path;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        run(&bytes);
        // Cut off at any of some places, it is still harmless.
        for end in (0..bytes.len()).step_by(bytes.len() / 6 + 1) {
            run(&bytes[..end]);
        }
        count += 1;
    }
    assert!(count >= 10, "{target}: {count} inputs");
}

#[test]
fn classify_replays() {
    replay("classify", classify::run);
}

#[test]
fn sse_replays() {
    replay("sse", sse::run);
}
