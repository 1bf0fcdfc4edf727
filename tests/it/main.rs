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

mod corpus;
mod diagnostics;
mod emulate;
mod layout;
mod reload;
