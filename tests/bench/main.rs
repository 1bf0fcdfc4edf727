//! Benches, by command: `cargo bench --bench bench -- decide|gateway|check|reload|memory`, several or none for all.
//!
//! Each result is one line of JSON on stdout; what is being done is told on stderr. `SECONDS` of each load and `ROUNDS`
//! come from the environment (`SWITCHBACK_BENCH_SECS`, `SWITCHBACK_BENCH_ROUNDS`). What runs besides is in `mock`, `load`
//! and `process`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm
)]

mod check;
#[path = "../common/counting.rs"]
mod counting;
mod decide;
#[path = "../common/decisions.rs"]
mod decisions;
mod gateway;
mod line;
mod load;
mod memory;
mod mock;
mod process;
mod reload;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    // Parts that run as processes of their own, so that each can be kept on a core.
    match args.first().map(String::as_str) {
        Some("mock") => return mock::run(),
        Some("load") => return load::run(&args[1..]),
        _ => {}
    }
    let wanted = |name: &str| args.is_empty() || args.iter().any(|a| a == name);
    for (name, bench) in [
        ("decide", decide::run as fn()),
        ("check", check::run),
        ("reload", reload::run),
        ("memory", memory::run),
        ("gateway", gateway::run),
    ] {
        if wanted(name) {
            eprintln!("# {name}");
            bench();
        }
    }
}
