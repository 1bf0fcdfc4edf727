//! Whole policies in the pure half.
