//! What the calls of each route cost today, against `spend $X/day`.
//!
//! In: what a call costs at worst, and in the end what it was billed. Out: whether it may be made. One lock for all
//! routes, held for one question. Outlives reloads, by the route's name, and with a state folder also restarts; what was
//! reserved when a process died counts at its worst. The rules are `decide::spend`'s.

use super::store::{Document, Store, Unusable};
use crate::decide::spend::{Purse, Reservation, Today};
use crate::policy::Money;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Its name in the state folder.
const NAME: &str = "route-spend";

/// One route's day, as it is kept.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Spent {
    /// Days since 1970, UTC.
    day: u64,
    /// Billionths of a dollar: billed, and reserved for calls that run.
    nano: u64,
}

type Purses = BTreeMap<String, Purse>;

/// What was spent, by route.
#[derive(Clone, Debug, Default)]
pub struct RouteMoney {
    purses: Arc<Mutex<Purses>>,
    document: Document,
}

fn lock(purses: &Mutex<Purses>) -> MutexGuard<'_, Purses> {
    purses.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RouteMoney {
    /// Goes on from what a store kept, and is kept by it.
    ///
    /// # Errors
    /// When the store's folder cannot be read.
    pub fn kept(store: &Store) -> Result<RouteMoney, Unusable> {
        let known = store.read::<BTreeMap<String, Spent>>(NAME)?.unwrap_or_default();
        let known = known.into_iter().map(|(route, spent)| (route, Purse::of(spent.day, Money(spent.nano))));
        let purses = Arc::new(Mutex::new(known.collect()));
        let seen = Arc::clone(&purses);
        let document = store.follow(NAME, move || {
            let spent = |purse: &Purse| Spent { day: purse.day(), nano: purse.total().0 };
            lock(&seen).iter().map(|(route, purse)| (route.clone(), spent(purse))).collect::<BTreeMap<_, _>>()
        });
        Ok(RouteMoney { purses, document })
    }

    /// Whether a call of a route fits under its cap. Takes nothing.
    pub fn affords(&self, route: &str, today: Today, worst: Money, cap: Option<Money>) -> bool {
        with(&mut lock(&self.purses), route, |purse| purse.affords(today, worst, cap))
    }

    /// Keeps what a call costs at worst, until what is returned is settled or dropped; nothing where it does not fit.
    pub fn reserve(&self, route: &str, today: Today, worst: Money, cap: Option<Money>) -> Option<Kept> {
        let reservation = with(&mut lock(&self.purses), route, |purse| purse.reserve(today, worst, cap))?;
        self.document.changed();
        Some(Kept { money: self.clone(), route: route.to_owned(), reservation: Some(reservation) })
    }

    /// What a route has spent today.
    pub fn spent(&self, route: &str, today: Today) -> Money {
        with(&mut lock(&self.purses), route, |purse| purse.spent(today))
    }

    fn settle(&self, route: &str, reservation: Reservation, billed: Money) {
        with(&mut lock(&self.purses), route, |purse| purse.settle(reservation, billed));
        self.document.changed();
    }
}

fn with<T>(purses: &mut Purses, route: &str, ask: impl FnOnce(&mut Purse) -> T) -> T {
    match purses.get_mut(route) {
        Some(purse) => ask(purse),
        None => ask(purses.entry(route.to_owned()).or_default()),
    }
}

/// What is kept for a call that runs. Dropped without a bill, it counts as the worst.
#[derive(Debug)]
pub struct Kept {
    money: RouteMoney,
    route: String,
    reservation: Option<Reservation>,
}

impl Kept {
    /// The call has ended, and was billed this.
    pub fn settle(mut self, billed: Money) {
        if let Some(reservation) = self.reservation.take() {
            self.money.settle(&self.route, reservation, billed);
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            let worst = reservation.worst();
            self.money.settle(&self.route, reservation, worst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: Option<Money> = Some(Money(100));

    fn today() -> Today {
        Today::at(86_400_000)
    }

    #[test]
    fn a_call_that_nobody_settles_counts_as_the_worst() {
        let money = RouteMoney::default();
        drop(money.reserve("r", today(), Money(60), CAP));
        assert_eq!(money.spent("r", today()), Money(60));
        money.reserve("r", today(), Money(40), CAP).unwrap().settle(Money(1));
        assert_eq!(money.spent("r", today()), Money(61));
        assert_eq!(money.spent("s", today()), Money(0), "each route has its own");
    }

    #[test]
    fn threads_that_reserve_at_once_never_go_above_the_cap() {
        let money = RouteMoney::default();
        let kept: Vec<Kept> = std::thread::scope(|scope| {
            let ask = || {
                let one = || money.reserve("r", today(), Money(7), CAP);
                (0..50).filter_map(|_| one()).collect::<Vec<_>>()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(kept.len(), 14);
        assert_eq!(money.spent("r", today()), Money(98));
    }

    #[test]
    fn what_was_spent_today_is_spent_after_a_restart_and_what_ran_counts_at_its_worst() {
        let folder = std::env::temp_dir().join(format!("switchback-route-money-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let store = Arc::new(Store::open(&folder, 0).unwrap());
        let money = RouteMoney::kept(&store).unwrap();
        let keeper = Store::keeper(&store).unwrap().unwrap();
        money.reserve("r", today(), Money(30), CAP).unwrap().settle(Money(10));
        let running = money.reserve("r", today(), Money(50), CAP);
        keeper.finish();
        std::mem::forget(running);
        drop((money, store));
        let store = Arc::new(Store::open(&folder, 1).unwrap());
        let money = RouteMoney::kept(&store).unwrap();
        assert_eq!(money.spent("r", today()), Money(60));
        assert!(!money.affords("r", today(), Money(41), CAP));
        assert!(money.affords("r", Today::at(2 * 86_400_000), Money(100), CAP), "the next day has its own");
        let _ = std::fs::remove_dir_all(&folder);
    }
}
