//! Values with units: whole numbers in the smallest unit the language allows, so that no decision needs a float.

use std::fmt;

/// A duration, or an instant on the monotonic clock, in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// Nothing.
    pub const ZERO: Millis = Millis(0);
    /// Longer than anything.
    pub const MAX: Millis = Millis(u64::MAX);

    /// The sum, at most [`Millis::MAX`].
    #[must_use]
    pub fn plus(self, other: Millis) -> Millis {
        Millis(self.0.saturating_add(other.0))
    }

    /// The difference, at least zero.
    #[must_use]
    pub fn less(self, other: Millis) -> Millis {
        Millis(self.0.saturating_sub(other.0))
    }

    /// As the standard library's duration.
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }
}

impl fmt::Display for Millis {
    /// In the language's own notation, the largest unit that is exact: `90s`, `250ms`, `2m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0;
        for (unit, size) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)] {
            if n > 0 && n.is_multiple_of(size) {
                return write!(f, "{}{unit}", n / size);
            }
        }
        write!(f, "{n}ms")
    }
}

/// A share in basis points: `99.5%` is 9 950.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(pub u32);

impl Percent {
    /// Nothing.
    pub const NONE: Percent = Percent(0);
    /// Everything.
    pub const ALL: Percent = Percent(10_000);

    /// Whether a draw in parts per million falls into this share.
    pub fn takes(self, draw: u32) -> bool {
        u64::from(draw) < u64::from(self.0) * 100
    }

    /// This share of a time, rounded down.
    pub fn of(self, whole: Millis) -> Millis {
        let share = u128::from(whole.0) * u128::from(self.0) / 10_000;
        Millis(u64::try_from(share).unwrap_or(u64::MAX))
    }

    /// Whether a part of a whole is at least this share. Nothing is no share of nothing.
    pub fn is_reached(self, part: u64, whole: u64) -> bool {
        whole > 0 && u128::from(part) * 10_000 >= u128::from(whole) * u128::from(self.0)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 100, self.0 % 100);
        match rest {
            0 => write!(f, "{whole}%"),
            r if r.is_multiple_of(10) => write!(f, "{whole}.{}%", r / 10),
            r => write!(f, "{whole}.{r:02}%"),
        }
    }
}

/// How many times another value: `2.5x` is 2 500.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Multiple(pub u32);

impl Multiple {
    /// So many times a duration, rounded down, at most [`Millis::MAX`].
    pub fn of(self, duration: Millis) -> Millis {
        let thousandths = u128::from(duration.0) * u128::from(self.0);
        Millis(u64::try_from(thousandths / 1_000).unwrap_or(u64::MAX))
    }

    /// Whether a duration is more than so many times a base.
    pub fn exceeded(self, duration: Millis, base: Millis) -> bool {
        u128::from(duration.0) * 1_000 > u128::from(base.0) * u128::from(self.0)
    }
}

impl fmt::Display for Multiple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 1_000 {
            0 => write!(f, "{}x", self.0 / 1_000),
            rest => write!(f, "{}.{}x", self.0 / 1_000, format!("{rest:03}").trim_end_matches('0')),
        }
    }
}

/// So many in each span of time: `20/min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    /// How many.
    pub count: u32,
    /// In this time, which is not zero.
    pub per: Millis,
}

/// Money in billionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(pub u64);

impl Money {
    /// The sum, at most the largest amount.
    #[must_use]
    pub fn plus(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }

    /// The difference, at least nothing.
    #[must_use]
    pub fn less(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        if rest == 0 {
            return write!(f, "${whole}");
        }
        let digits = format!("{rest:09}");
        let digits = digits.trim_end_matches('0');
        write!(f, "${whole}.{digits:0<2}")
    }
}

/// A price: billionths of a US dollar for a million tokens. `$2.50/M` is 2 500 000 000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(pub u64);

impl Price {
    /// What so many tokens cost at this price, rounded up to a whole billionth of a dollar.
    pub fn of(self, tokens: u64) -> Money {
        let nano = (u128::from(self.0) * u128::from(tokens)).div_ceil(1_000_000);
        Money(u64::try_from(nano).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/M", Money(self.0))
    }
}

/// What tokens cost at a model or target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Prices {
    /// Input.
    pub input: Option<Price>,
    /// Input read from the provider's cache.
    pub cached: Option<Price>,
    /// Output.
    pub output: Option<Price>,
}

/// Tokens that an answer counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Usage {
    /// Input.
    pub input: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// Input that was read from a cache; part of `input`.
    pub cached: u64,
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::Greater => ">",
            Comparison::AtLeast => ">=",
        }
    }

    /// Whether `left` and `right` stand in this relation.
    pub fn holds<T: Ord + ?Sized>(self, left: &T, right: &T) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Greater => left > right,
            Comparison::AtLeast => left >= right,
        }
    }
}
