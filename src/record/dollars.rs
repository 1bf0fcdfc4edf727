//! Amounts as records and metrics print them.
//!
//! In: billionths of a dollar. Out: dollars, as a float, which is what JSON and Prometheus have. Never read back: nothing
//! is decided by it.

use crate::policy::Money;

/// Dollars for people and JSON. Nothing is decided by it.
pub fn dollars(money: Money) -> f64 {
    // Amounts of one request are far below 2^53 billionths of a dollar.
    #[allow(clippy::cast_precision_loss)]
    let nano = money.0 as f64;
    nano / 1e9
}

/// The same of an amount that may be below zero.
pub(super) fn signed(nano: i64) -> f64 {
    let amount = dollars(Money(nano.unsigned_abs()));
    if nano < 0 { -amount } else { amount }
}
