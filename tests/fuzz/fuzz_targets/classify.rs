//! `cargo fuzz run --fuzz-dir tests/fuzz classify`

#![no_main]

#[path = "../targets/classify.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
