//! From text to a loose, lossless tree. Knows brackets, words and values, and not one keyword.

pub mod settings;
pub mod tree;
