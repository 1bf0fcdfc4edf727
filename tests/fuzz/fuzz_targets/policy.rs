//! `cargo fuzz run --fuzz-dir tests/fuzz policy`

#![no_main]

#[path = "../targets/policy.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
