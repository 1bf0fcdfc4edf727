//! Where sessions were last served, for `affinity`.
//!
//! In: a session that a tier served, by whom and when. Out: its home there, as long as it is not idle for too long. Tier and
//! session are kept as one hash, and at most so many of them: those that were idle longest are forgotten first. Never read by anything
//! but the order in which candidates are asked.

use crate::policy::Millis;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Most sessions that are remembered, each once for each tier that served it.
const MOST: usize = 100_000;

/// The homes of sessions.
#[derive(Debug, Default)]
pub struct Homes(Mutex<HashMap<u64, (String, Millis)>>);

impl Homes {
    /// The session was served by a target, now.
    pub fn served(&self, session: u64, target: &str, now: Millis) {
        let mut homes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if homes.len() >= MOST && !homes.contains_key(&session) {
            // Half at once, so that a full map is not swept for each new session.
            let mut times: Vec<Millis> = homes.values().map(|(_, at)| *at).collect();
            let middle = times.len() / 2;
            let (_, median, _) = times.select_nth_unstable(middle);
            let median = *median;
            homes.retain(|_, (_, at)| *at > median);
        }
        match homes.get_mut(&session) {
            Some((home, at)) => {
                if home != target {
                    target.clone_into(home);
                }
                *at = now;
            }
            None => {
                homes.insert(session, (target.to_owned(), now));
            }
        }
    }

    /// Where the session is at home, if it was served there no longer ago than `idle`.
    pub fn of(&self, session: u64, idle: Millis, now: Millis) -> Option<String> {
        let homes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        homes.get(&session).filter(|(_, at)| now < at.plus(idle)).map(|(target, _)| target.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_at_home_until_it_was_idle_too_long() {
        let homes = Homes::default();
        homes.served(1, "a", Millis(100));
        assert_eq!(homes.of(1, Millis(50), Millis(149)).as_deref(), Some("a"));
        assert_eq!(homes.of(1, Millis(50), Millis(150)), None);
        homes.served(1, "b", Millis(160));
        assert_eq!(homes.of(1, Millis(50), Millis(170)).as_deref(), Some("b"));
        assert_eq!(homes.of(2, Millis(50), Millis(170)), None);
    }

    #[test]
    fn what_was_idle_longest_is_forgotten_first() {
        let homes = Homes::default();
        for n in 0..=MOST as u64 {
            homes.served(n, "a", Millis(n));
        }
        let (late, forever) = (Millis(MOST as u64), Millis::MAX);
        assert_eq!(homes.of(0, forever, late), None);
        assert!(homes.of(MOST as u64, forever, late).is_some());
        assert!(homes.of(MOST as u64 - 1, forever, late).is_some());
    }
}
