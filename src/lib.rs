//! Switchback: a declarative failover policy engine for LLM APIs.
//!
//! Two halves. Everything up to a decision is pure: `source → syntax → check → policy → graph → decide`, with `diag` for
//! what is wrong, `classify` and `wire` for what upstreams say, and `story` for tests in virtual time. Everything that
//! touches the world (`runtime`, `gateway`, `emulate`, `lsp`, `cli`) is behind the feature `gateway`: it only starts things
//! and reports what happened.
#![forbid(unsafe_code)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::wildcard_enum_match_arm
    )
)]

pub mod check;
pub mod classify;
pub mod decide;
pub mod diag;
pub mod graph;
pub mod policy;
pub mod ready;
pub mod record;
pub mod source;
pub mod story;
pub mod syntax;
pub mod wire;

#[cfg(feature = "gateway")]
pub mod cli;
#[cfg(feature = "gateway")]
pub mod emulate;
#[cfg(feature = "gateway")]
pub mod gateway;
#[cfg(feature = "gateway")]
pub mod lsp;
#[cfg(feature = "gateway")]
pub mod runtime;
