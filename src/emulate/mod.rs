//! The built-in provider emulator.

pub mod shorthand;
