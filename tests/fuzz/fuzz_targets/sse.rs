//! `cargo fuzz run --fuzz-dir tests/fuzz sse`

#![no_main]

#[path = "../targets/sse.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
