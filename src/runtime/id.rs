//! Request ids: unguessable, since they are also the seed of every draw of a request.

use super::clock::Clock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A fresh id: `sb-` and 32 hex digits.
pub fn fresh(clock: &Clock) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0u8; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // Without randomness ids are still unique in this process, which is all that records need.
        let unique = u128::from(clock.wall_ms()) << 64 | u128::from(COUNT.fetch_add(1, Ordering::Relaxed));
        bytes = unique.to_be_bytes();
    }
    let mut id = String::with_capacity(35);
    id.push_str("sb-");
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            id.extend(char::from_digit(u32::from(digit), 16));
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_have_one_form() {
        let clock = Clock::start();
        let (one, two) = (fresh(&clock), fresh(&clock));
        assert_ne!(one, two);
        assert!(one.len() == 35 && one.starts_with("sb-") && one[3..].bytes().all(|b| b.is_ascii_hexdigit()), "{one}");
    }
}
