//! The only place that reads clocks.
//!
//! Out: `Millis` since the start of the process on the monotonic clock, and wall time for records. Everything else takes
//! time as a parameter, so that decisions can be tested in virtual time. A clock can also be one that only moves when it
//! is told to: then whoever sleeps wakes in the order of time, and hours pass at once. Whatever reads this clock alone,
//! which is all that a request passes through behind the sockets, then runs in virtual time as it is.

use crate::policy::Millis;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The process's clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    time: Time,
}

#[derive(Clone, Copy, Debug)]
enum Time {
    Since(Instant),
    Stepped(&'static Stepped),
}

impl Clock {
    /// A clock that shows zero now.
    pub fn start() -> Clock {
        Clock { time: Time::Since(Instant::now()) }
    }

    /// A clock that shows zero until [`Stepped::advance`] moves it. It is never freed: one for each simulated world.
    pub fn stepped() -> (Clock, &'static Stepped) {
        let stepped: &'static Stepped = Box::leak(Box::default());
        (Clock { time: Time::Stepped(stepped) }, stepped)
    }

    /// Whole milliseconds since the start, monotonic.
    pub fn now(&self) -> Millis {
        match self.time {
            Time::Since(start) => Millis(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)),
            Time::Stepped(stepped) => stepped.now(),
        }
    }

    /// Milliseconds since 1970 in UTC. A stepped clock begins with the year 2026.
    pub fn wall_ms(&self) -> u64 {
        match self.time {
            Time::Since(_) => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            }
            Time::Stepped(stepped) => STEPPED_FROM_MS.saturating_add(stepped.now().0),
        }
    }

    /// Sleeps until an instant of this clock; returns at once where it has passed. [`Millis::MAX`] never comes.
    pub async fn sleep_until(&self, until: Millis) {
        match self.time {
            Time::Since(_) if until == Millis::MAX => std::future::pending().await,
            Time::Since(start) => match start.checked_add(until.duration()) {
                Some(instant) => tokio::time::sleep_until(instant.into()).await,
                None => std::future::pending().await,
            },
            Time::Stepped(stepped) => stepped.sleep_until(until).await,
        }
    }

    /// What something comes to before an instant of this clock; nothing once that has passed, even if it has come. Asks
    /// for a timer only where it has to wait: most of what is asked for is there already.
    pub async fn before<T>(&self, until: Millis, what: impl Future<Output = T>) -> Option<T> {
        let (mut what, mut late) = (pin!(what), pin!(self.sleep_until(until)));
        poll_fn(|cx| {
            if self.now() >= until {
                return Poll::Ready(None);
            }
            match what.as_mut().poll(cx) {
                Poll::Ready(came) => Poll::Ready(Some(came)),
                Poll::Pending => late.as_mut().poll(cx).map(|()| None),
            }
        })
        .await
    }
}

/// 1 January 2026, 00:00 UTC.
const STEPPED_FROM_MS: u64 = 1_767_225_600_000;

/// Time that moves when it is told to.
#[derive(Debug, Default)]
pub struct Stepped {
    now: AtomicU64,
    sleepers: Mutex<Sleepers>,
}

#[derive(Debug, Default)]
struct Sleepers {
    next: u64,
    /// Each with its number and the instant it waits for.
    waiting: Vec<(u64, Millis, Waker)>,
}

/// Somebody's place among the sleepers, given up with the sleep.
struct Place<'a>(&'a Stepped, u64);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.sleepers().waiting.retain(|(number, ..)| *number != self.1);
    }
}

impl Stepped {
    /// What it shows.
    pub fn now(&self) -> Millis {
        Millis(self.now.load(Ordering::Acquire))
    }

    /// Goes on to the next instant that somebody waits for and wakes them; says whether there was one.
    pub fn advance(&self) -> bool {
        let mut sleepers = self.sleepers();
        let Some(next) = sleepers.waiting.iter().map(|(_, until, _)| *until).min() else { return false };
        self.now.fetch_max(next.0, Ordering::AcqRel);
        let now = self.now();
        let due = sleepers.waiting.extract_if(.., |(_, until, _)| *until <= now).collect::<Vec<_>>();
        drop(sleepers);
        due.into_iter().for_each(|(.., waker)| waker.wake());
        true
    }

    async fn sleep_until(&self, until: Millis) {
        let place = {
            let mut sleepers = self.sleepers();
            sleepers.next += 1;
            Place(self, sleepers.next)
        };
        poll_fn(|cx| {
            if self.now() >= until {
                return Poll::Ready(());
            }
            let mut sleepers = self.sleepers();
            sleepers.waiting.retain(|(number, ..)| *number != place.1);
            if until != Millis::MAX {
                sleepers.waiting.push((place.1, until, cx.waker().clone()));
            }
            Poll::Pending
        })
        .await;
    }

    fn sleepers(&self) -> MutexGuard<'_, Sleepers> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Context;

    #[test]
    fn what_comes_in_time_comes_and_asks_for_no_timer() {
        let (clock, stepped) = Clock::stepped();
        let mut cx = Context::from_waker(Waker::noop());
        let mut at_once = pin!(clock.before(Millis(5), std::future::ready(7)));
        assert_eq!(at_once.as_mut().poll(&mut cx), Poll::Ready(Some(7)));
        assert!(!stepped.advance(), "nobody waits");
        let mut never = pin!(clock.before(Millis(5), std::future::pending::<()>()));
        assert_eq!(never.as_mut().poll(&mut cx), Poll::Pending);
        assert!(stepped.advance());
        assert_eq!(never.as_mut().poll(&mut cx), Poll::Ready(None));
        // What never pauses is not exempt.
        let mut late = pin!(clock.before(Millis(5), std::future::ready(7)));
        assert_eq!(late.as_mut().poll(&mut cx), Poll::Ready(None));
    }

    #[test]
    fn a_stepped_clock_goes_from_sleeper_to_sleeper() {
        let (clock, stepped) = Clock::stepped();
        let mut cx = Context::from_waker(Waker::noop());
        let mut late = pin!(clock.sleep_until(Millis(500)));
        let mut never = pin!(clock.sleep_until(Millis::MAX));
        assert!(late.as_mut().poll(&mut cx).is_pending() && never.as_mut().poll(&mut cx).is_pending());
        {
            let mut gone = pin!(clock.sleep_until(Millis(20)));
            assert!(gone.as_mut().poll(&mut cx).is_pending());
        }
        assert!(stepped.advance());
        assert_eq!(clock.now(), Millis(500), "nobody waits for a sleep that was given up");
        assert!(late.as_mut().poll(&mut cx).is_ready() && never.as_mut().poll(&mut cx).is_pending());
        assert!(!stepped.advance());
        assert_eq!(clock.wall_ms() - STEPPED_FROM_MS, 500);
    }
}
