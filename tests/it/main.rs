//! The one integration binary. Each module is one subject.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod diagnostics;
mod list;
mod settings;
