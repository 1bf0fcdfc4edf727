//! Admission while a target comes back: by hash of the session, so that all instances agree and whoever is in at 10%
//! stays in at 50%.

use crate::policy::Percent;
use sha2::{Digest, Sha256};

/// The place of a session among 10 000, for one target and one of its recoveries.
pub fn bucket(target: &str, epoch: u64, session: &str) -> u64 {
    let mut hash = Sha256::new();
    hash.update(b"ramp\0");
    hash.update(target.as_bytes());
    hash.update(b"\0");
    hash.update(epoch.to_string().as_bytes());
    hash.update(b"\0");
    hash.update(session.as_bytes());
    super::draw::first_u64(&hash.finalize()) % 10_000
}

/// Whether a session is in at this share.
pub fn admits(target: &str, epoch: u64, session: &str, share: Percent) -> bool {
    bucket(target, epoch, session) < u64::from(share.0)
}
