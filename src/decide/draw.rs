//! Dice without dice: a draw is a hash of the request's id, its purpose and the attempt, so that tests, replays and
//! explanations see what production saw.

use crate::policy::DicePurpose;
use sha2::{Digest, Sha256};

/// A draw in parts per million, 0 to 999 999.
pub fn ppm(request_id: &str, purpose: DicePurpose, attempt: u32) -> u32 {
    let mut hash = Sha256::new();
    hash.update(request_id.as_bytes());
    hash.update(b"\0");
    hash.update(purpose.word().as_bytes());
    hash.update(b"\0");
    hash.update(attempt.to_be_bytes());
    scaled(&hash.finalize())
}

/// A session's draw for a share of something, in parts per million: the same for all requests of the session.
pub fn share(session: &str, purpose: DicePurpose, of: &str) -> u32 {
    let mut hash = Sha256::new();
    for part in [purpose.word(), of, session] {
        hash.update(part.as_bytes());
        hash.update(b"\0");
    }
    scaled(&hash.finalize())
}

fn scaled(digest: &[u8]) -> u32 {
    let scaled = (u128::from(first_u64(digest)) * 1_000_000) >> 64;
    u32::try_from(scaled).unwrap_or(999_999)
}

/// Names as a number: the seed of a series of draws that belong to no request, or what is kept of a session without its
/// name.
pub fn seed(parts: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update(b"\0");
    }
    first_u64(&hash.finalize())
}

/// The draw of this number from a series: 0 to `most`.
pub fn below(seed: u64, number: u64, most: u64) -> u64 {
    // SplitMix64 (Steele, Lea, Flood 2014): one step from any state to a well-mixed value.
    let mut x = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    let scaled = (u128::from(x) * (u128::from(most) + 1)) >> 64;
    u64::try_from(scaled).unwrap_or(most)
}

/// The first eight bytes of a digest, as a big-endian number.
pub(crate) fn first_u64(digest: &[u8]) -> u64 {
    digest.iter().take(8).fold(0, |n, byte| (n << 8) | u64::from(*byte))
}
