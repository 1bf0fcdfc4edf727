//! What probes of each target have spent today, against `spend $X/day`.
//!
//! In: what a probe would cost at worst, and the UTC day. Out: whether it may be made. Outlives reloads, and with a state
//! folder also restarts. Never decides what a probe costs or when one is due.

use super::store::{Document, Store, Unusable};
use crate::policy::Money;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Its name in the state folder.
const NAME: &str = "probe-spend";

/// One target's day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Spent {
    /// Days since 1970, UTC.
    day: u64,
    /// Billionths of a dollar.
    nano: u64,
}

type Days = BTreeMap<String, Spent>;

/// What was spent, by target.
#[derive(Debug, Default)]
pub struct ProbeMoney {
    days: Arc<Mutex<Days>>,
    document: Document,
}

fn lock(days: &Mutex<Days>) -> MutexGuard<'_, Days> {
    days.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProbeMoney {
    /// Goes on from what a store kept, and is kept by it.
    ///
    /// # Errors
    /// When the store's folder cannot be read.
    pub fn kept(store: &Store) -> Result<ProbeMoney, Unusable> {
        let days = Arc::new(Mutex::new(store.read::<Days>(NAME)?.unwrap_or_default()));
        let seen = Arc::clone(&days);
        let document = store.follow(NAME, move || lock(&seen).clone());
        Ok(ProbeMoney { days, document })
    }

    /// Books a probe of a target, if it is within what probes of it may cost on this day.
    pub fn afford(&self, target: &str, day: u64, worst: Money, cap: Money) -> bool {
        let mut days = lock(&self.days);
        // Days that are over bind nobody, and names that left the policy go with them.
        days.retain(|_, spent| spent.day == day);
        let spent = days.get(target).map_or(0, |spent| spent.nano).saturating_add(worst.0);
        if spent > cap.0 {
            return false;
        }
        days.insert(target.to_owned(), Spent { day, nano: spent });
        self.document.changed();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_its_own_money_and_each_target_its_own() {
        let money = ProbeMoney::default();
        let afford = |target, day| money.afford(target, day, Money(40), Money(100));
        assert_eq!([afford("a", 1), afford("a", 1), afford("a", 1)], [true, true, false]);
        assert!(afford("b", 1) && afford("a", 2));
        assert_eq!(lock(&money.days).len(), 1);
    }

    #[test]
    fn what_was_spent_today_is_spent_after_a_restart() {
        let folder = std::env::temp_dir().join(format!("switchback-probe-money-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for (allowed, start) in [(true, 0), (true, 1), (false, 2)] {
            let store = Arc::new(Store::open(&folder, start).unwrap());
            let money = ProbeMoney::kept(&store).unwrap();
            let keeper = Store::keeper(&store).unwrap().unwrap();
            assert_eq!(money.afford("a", 1, Money(40), Money(100)), allowed);
            keeper.finish();
        }
        let _ = std::fs::remove_dir_all(&folder);
    }
}
