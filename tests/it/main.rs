//! The one integration binary. Each module is one subject.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod emulate;
mod gateway_plain;
mod gateway_refusals;
mod gateway_rig;
mod gateway_stream;
mod layout;
mod reload;
