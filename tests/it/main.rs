//! The one integration binary. Each module is one subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm
)]

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

mod allocations;
mod classify;
mod corpus;
#[path = "../common/counting.rs"]
mod counting;
mod damage;
mod diagnostics;
mod docs;
mod emulate;
mod exits;
mod field;
mod first_time;
mod forms;
mod front_door;
mod fuzz;
mod gateway_hedge;
mod gateway_messages;
mod gateway_plain;
mod gateway_refusals;
mod gateway_rest;
mod gateway_rig;
mod gateway_serve;
mod gateway_spend;
mod gateway_stream;
mod git;
mod grammar;
mod incremental;
mod layout;
mod list;
mod lsp;
mod orders;
mod probes;
mod readme;
mod reload;
mod reload_load;
mod schemas;
mod serve_rig;
mod settings;
mod shell;
mod state;
mod text_commands;
