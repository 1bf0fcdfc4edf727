//! Admission while a target comes back: by hash of the session, so that all instances agree and whoever is in at 10%
//! stays in at 50%.

use crate::policy::{Percent, RampRules};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};

/// The place of a session among 10 000, for one target and one of its recoveries.
pub fn bucket(target: &str, epoch: u64, session: &str) -> u64 {
    let mut hash = Sha256::new();
    hash.update(b"ramp\0");
    hash.update(target.as_bytes());
    hash.update(b"\0");
    // A digest takes whatever it is fed, and needs no room to write the number in first.
    let _ = write!(Digits(&mut hash), "{epoch}");
    hash.update(b"\0");
    hash.update(session.as_bytes());
    super::draw::first_u64(&hash.finalize()) % RampRules::PLACES
}

struct Digits<'a>(&'a mut Sha256);

impl Write for Digits<'_> {
    fn write_str(&mut self, digits: &str) -> fmt::Result {
        self.0.update(digits.as_bytes());
        Ok(())
    }
}

/// Whether a session is in at this share.
pub fn admits(target: &str, epoch: u64, session: &str, share: Percent) -> bool {
    bucket(target, epoch, session) < u64::from(share.0)
}
