//! Request ids: unguessable, since they are also the seed of every draw of a request.
//!
//! In: the system's randomness, drawn for many ids at once, since each drawing is a system call. Out: ids that no other
//! process gives and that tell nothing of each other: no two share a byte of what was drawn.

use super::clock::Clock;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Random bytes of one id.
const BYTES: usize = 16;
/// Bytes that a thread draws at once: 64 ids.
const DRAWN: usize = 64 * BYTES;

/// What a thread has drawn and not given away.
struct Drawn {
    bytes: [u8; DRAWN],
    left: usize,
}

impl Drawn {
    /// The next bytes; each is handed out once. Nothing where the system has no randomness.
    fn take(&mut self) -> Option<[u8; BYTES]> {
        if self.left < BYTES {
            getrandom::fill(&mut self.bytes).ok()?;
            self.left = DRAWN;
        }
        let (rest, taken) = self.bytes.get_mut(..self.left)?.split_last_chunk_mut::<BYTES>()?;
        self.left = rest.len();
        Some(std::mem::take(taken))
    }
}

thread_local! {
    static RANDOM: RefCell<Drawn> = const { RefCell::new(Drawn { bytes: [0; DRAWN], left: 0 }) };
}

/// A fresh id: `sb-` and 32 hex digits.
pub fn fresh(clock: &Clock) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // While a thread ends it may have given up what it had.
    let drawn = RANDOM.try_with(|drawn| drawn.try_borrow_mut().ok()?.take()).ok().flatten();
    let bytes = drawn.unwrap_or_else(|| {
        // Without randomness ids are still unique in this process, which is all that records need.
        let unique = u128::from(clock.wall_ms()) << 64 | u128::from(COUNT.fetch_add(1, Ordering::Relaxed));
        unique.to_be_bytes()
    });
    let mut id = String::with_capacity(3 + 2 * BYTES);
    id.push_str("sb-");
    id.extend(bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit));
    id
}

/// A hex digit of four bits.
fn digit(bits: u8) -> char {
    char::from(if bits < 10 { b'0' + bits } else { b'a' + (bits - 10) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_differ_and_have_one_form() {
        let clock = Clock::start();
        let (one, two) = (fresh(&clock), fresh(&clock));
        assert_ne!(one, two);
        assert!(one.len() == 35 && one.starts_with("sb-") && one[3..].bytes().all(|b| b.is_ascii_hexdigit()), "{one}");
        assert_eq!((0..16).map(digit).collect::<String>(), "0123456789abcdef");
    }

    #[test]
    fn nothing_that_was_drawn_is_given_twice_and_no_id_is_half_of_another() {
        let clock = Clock::start();
        let draw = move || (0..DRAWN / BYTES * 3 + 1).map(|_| fresh(&clock)).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(draw)).collect();
        let ids: Vec<String> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        let halves: HashSet<&str> = ids.iter().flat_map(|id| [&id[3..19], &id[19..]]).collect();
        assert_eq!(halves.len(), 2 * ids.len());
    }

    #[test]
    fn what_was_given_away_is_kept_no_longer() {
        let mut drawn = Drawn { bytes: [7; DRAWN], left: DRAWN };
        assert_eq!(drawn.take(), Some([7; BYTES]));
        assert_eq!((drawn.left, &drawn.bytes[DRAWN - BYTES..]), (DRAWN - BYTES, [0; BYTES].as_slice()));
        while drawn.left > 0 {
            assert_eq!(drawn.take(), Some([7; BYTES]));
        }
        assert!(drawn.take().is_some_and(|bytes| bytes != [7; BYTES] && bytes != [0; BYTES]), "it draws anew");
    }
}
