//! The built-in provider emulator.
