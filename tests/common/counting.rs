//! An allocator that counts, for each thread on its own. The only unsafe code of the project: a global allocator cannot
//! be written without it, and it hands every call on as it is.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pub struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is going away allocates without being counted.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: each call goes to the system's allocator with the very arguments that came; counting allocates nothing, since
// the counter is constant-initialised and has nothing to drop.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What is done, and how often this thread asked for memory meanwhile.
pub fn allocations<T>(what: impl FnOnce() -> T) -> (T, u64) {
    let before = COUNT.with(Cell::get);
    let done = what();
    (done, COUNT.with(Cell::get) - before)
}
