//! What a route spends in a day, against `spend $X/day`: reserved at its worst before a call, settled with what was billed.
//!
//! In: the day, what a call costs at worst, and what it turned out to cost. Out: whether it may be made. However many
//! requests ask at once, what is billed and what is reserved never go above the cap together. A call counts on the day on
//! which it began. No clock: the day is handed in.

use super::contract;
use crate::graph::Graph;
use crate::policy::class::words;
use crate::policy::{Millis, Money, Price, TargetId, Usage};

/// A UTC calendar day, in milliseconds.
const DAY_MS: u64 = 86_400_000;

/// An instant of wall time, as far as days go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Today {
    /// Days since 1970, UTC.
    pub day: u64,
    /// How long it still lasts; at least a millisecond.
    pub left: Millis,
}

impl Today {
    /// From milliseconds since 1970, UTC.
    pub fn at(wall_ms: u64) -> Today {
        Today { day: wall_ms / DAY_MS, left: Millis(DAY_MS - wall_ms % DAY_MS) }
    }
}

/// What one route has spent today.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purse {
    day: u64,
    billed: Money,
    reserved: Money,
}

/// What is kept for a call that runs. Hand it back by [`Purse::settle`], however the call ends.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "what is reserved stays reserved until it is settled"]
pub struct Reservation {
    day: u64,
    worst: Money,
}

impl Reservation {
    /// What was reserved.
    pub fn worst(&self) -> Money {
        self.worst
    }
}

impl Purse {
    /// A day of which so much was spent.
    pub fn of(day: u64, billed: Money) -> Purse {
        Purse { day, billed, reserved: Money::default() }
    }

    /// What was billed on this day, and is reserved.
    pub fn spent(&mut self, today: Today) -> Money {
        self.turn(today);
        self.total()
    }

    /// The same as of the day that it last saw.
    pub fn total(&self) -> Money {
        self.billed.plus(self.reserved)
    }

    /// That day.
    pub fn day(&self) -> u64 {
        self.day
    }

    /// Whether a call fits under the cap; one without a cap always does. Takes nothing.
    pub fn affords(&mut self, today: Today, worst: Money, cap: Option<Money>) -> bool {
        let spent = self.spent(today);
        cap.is_none_or(|cap| spent.plus(worst) <= cap)
    }

    /// Reserves what a call costs at worst; nothing where it does not fit under the cap.
    pub fn reserve(&mut self, today: Today, worst: Money, cap: Option<Money>) -> Option<Reservation> {
        if !self.affords(today, worst, cap) {
            return None;
        }
        self.reserved = self.reserved.plus(worst);
        Some(Reservation { day: self.day, worst })
    }

    /// A call has ended: what was reserved for it gives way to what was billed. One of a day that is over is over with it.
    pub fn settle(&mut self, reservation: Reservation, billed: Money) {
        if reservation.day == self.day {
            self.reserved = self.reserved.less(reservation.worst);
            self.billed = self.billed.plus(billed);
        }
    }

    /// A new day has money of its own. A clock that was set back makes none: the day before is still that after it, and
    /// where it was set back further, what was spent is taken along.
    fn turn(&mut self, today: Today) {
        if today.day > self.day {
            *self = Purse { day: today.day, ..Purse::default() };
        } else if today.day.saturating_add(1) < self.day {
            *self = Purse::of(today.day, self.total());
        }
    }
}

words! {
    /// How it is known what a call was billed.
    Billing {
        Nothing "nothing" "it was not processed";
        Usage "usage" "by the tokens that the answer counts";
        Worst "worst" "nobody said: the worst is taken";
    }
}

/// What a call was billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bill {
    /// The amount.
    pub amount: Money,
    /// How it is known.
    pub by: Billing,
}

impl Bill {
    /// Of a call that was not processed.
    pub const NOTHING: Bill = Bill { amount: Money(0), by: Billing::Nothing };
}

/// What an answer costs at its target's prices; nothing where one of them is not known.
pub fn cost(graph: &Graph, target: TargetId, usage: Usage) -> Option<Money> {
    let target = graph.target(target)?;
    let model = graph.model(target.model)?;
    let prices = contract::prices(target, &model.capabilities);
    let (input, output) = (prices.input?, prices.output?);
    let cached: Price = prices.cached.unwrap_or(input);
    let fresh = usage.input.saturating_sub(usage.cached);
    Some(input.of(fresh).plus(cached.of(usage.cached)).plus(output.of(usage.output)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: Option<Money> = Some(Money(100));

    fn on(day: u64) -> Today {
        Today::at(day * DAY_MS + 1)
    }

    #[test]
    fn a_day_is_a_utc_calendar_day() {
        assert_eq!(Today::at(0), Today { day: 0, left: Millis(86_400_000) });
        assert_eq!(Today::at(86_399_999), Today { day: 0, left: Millis(1) });
        assert_eq!(Today::at(86_400_000), Today { day: 1, left: Millis(86_400_000) });
    }

    #[test]
    fn what_is_reserved_counts_until_it_is_settled_and_then_the_bill_does() {
        let mut purse = Purse::default();
        let first = purse.reserve(on(9), Money(60), CAP).unwrap();
        assert!(!purse.affords(on(9), Money(41), CAP));
        assert_eq!(purse.reserve(on(9), Money(41), CAP), None);
        let second = purse.reserve(on(9), Money(40), CAP).unwrap();
        assert_eq!(purse.spent(on(9)), Money(100));
        purse.settle(first, Money(5));
        assert_eq!(purse.spent(on(9)), Money(45));
        purse.settle(second, Money(40));
        assert!(purse.affords(on(9), Money(55), CAP) && !purse.affords(on(9), Money(56), CAP));
        // A bill above what was thought the worst counts as it is, and what is beyond the cap counts too.
        let free = purse.reserve(on(9), Money(500), None).unwrap();
        purse.settle(free, Money(700));
        assert_eq!(purse.spent(on(9)), Money(745));
    }

    #[test]
    fn a_call_counts_on_the_day_on_which_it_began() {
        let mut purse = Purse::default();
        let late = purse.reserve(on(1), Money(100), CAP).unwrap();
        let early = purse.reserve(on(2), Money(100), CAP).unwrap();
        purse.settle(late, Money(100));
        assert_eq!(purse.spent(on(2)), Money(100));
        purse.settle(early, Money(1));
        assert_eq!(purse.spent(on(2)), Money(1));
    }

    #[test]
    fn a_clock_that_is_set_back_makes_no_money() {
        let mut purse = Purse::of(7, Money(90));
        assert_eq!(purse.spent(on(6)), Money(90));
        assert_eq!(purse.day(), 7);
        assert_eq!(purse.spent(on(3)), Money(90));
        assert_eq!(purse.day(), 3);
        assert_eq!(purse.spent(on(4)), Money::default());
    }

    /// Many calls at once, in every order in which they can begin and end.
    #[test]
    fn however_calls_interleave_the_cap_holds() {
        for seed in 0..200u64 {
            let mut purse = Purse::default();
            let mut running: Vec<Reservation> = Vec::new();
            for step in 0..200 {
                let draw = crate::decide::draw::below(seed, step, 99);
                if draw < 60 {
                    running.extend(purse.reserve(on(1), Money(draw + 1), Some(Money(1_000))));
                } else if let Some(call) = running.pop() {
                    let billed = Money(call.worst().0 * draw / 100);
                    purse.settle(call, billed);
                }
                assert!(purse.spent(on(1)) <= Money(1_000));
            }
            let left: Vec<Money> = running.iter().map(Reservation::worst).collect();
            assert_eq!(purse.reserved, left.iter().fold(Money::default(), |sum, m| sum.plus(*m)));
        }
    }
}
