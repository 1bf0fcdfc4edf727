//! The only place that reads clocks.
//!
//! Out: `Millis` since the start of the process on the monotonic clock, and wall time for records. Everything else takes
//! time as a parameter, so that decisions can be tested in virtual time.

use crate::policy::Millis;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The process's clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that shows zero now.
    pub fn start() -> Clock {
        Clock { start: Instant::now() }
    }

    /// Whole milliseconds since the start, monotonic.
    pub fn now(&self) -> Millis {
        Millis(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Milliseconds since 1970 in UTC.
    pub fn wall_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    /// Sleeps until an instant of this clock; returns at once where it has passed. [`Millis::MAX`] never comes.
    pub async fn sleep_until(&self, until: Millis) {
        match self.start.checked_add(until.duration()) {
            Some(instant) => tokio::time::sleep_until(instant.into()).await,
            None => std::future::pending().await,
        }
    }
}
