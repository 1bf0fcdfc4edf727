//! What is current, handed out whole.
//!
//! In: a value that replaces the one before. Out: an `Arc` of the value that is current now. Whoever holds one keeps it
//! for as long as they need, so a running request finishes on what it began with. Never locks a reader, never shows half
//! of an exchange, and does not know what it holds.

use arc_swap::ArcSwap;
use std::sync::Arc;

/// A value that is exchanged as a whole.
#[derive(Debug)]
pub struct Current<T>(ArcSwap<T>);

impl<T> Current<T> {
    /// Starts with a value.
    pub fn new(value: T) -> Self {
        Self(ArcSwap::from_pointee(value))
    }

    /// What is current now. Take it once per request and keep it.
    pub fn load(&self) -> Arc<T> {
        self.0.load_full()
    }

    /// Makes another value current; whoever loaded the one before keeps that.
    pub fn store(&self, value: Arc<T>) {
        self.0.store(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_keeps_what_it_loaded() {
        let current = Current::new("old");
        let held = current.load();
        current.store(Arc::new("new"));
        assert_eq!((*held, *current.load()), ("old", "new"));
    }
}
