//! Numbers with units: text such as `1.5s` or `$2.50/M` split, recognised and scaled to whole smallest units.
//!
//! In: the text of one number item. Out: a whole number, or which of a few things is wrong with it. Words the messages
//! only as far as naming what a number is; never sees items or diagnostics.

/// A kind of number that the language knows. All are recognised, so that a wrong one can be called by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `8s`, in milliseconds.
    Duration,
    /// `99.5%`, in basis points.
    Percentage,
    /// `3` or `64k`, in ones.
    Count,
    /// `$0.05`, in billionths of a dollar.
    Money,
    /// `$2.50/M`, in billionths of a dollar for a million tokens.
    Price,
    /// `64KiB`, in bytes.
    Size,
    /// `2.5x`, in thousandths.
    Multiple,
    /// `20/s`; never scaled.
    Rate,
    /// `2026-10-02`; never scaled.
    Date,
}

/// Why a number is not what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No unit where one is due.
    Bare,
    /// Of another kind, or of none.
    Other(Option<Kind>),
    /// Finer than the kind's smallest unit.
    TooFine,
    /// Larger than can be held.
    TooLarge,
}

impl Kind {
    /// With its article, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Duration => "a duration",
            Kind::Percentage => "a percentage",
            Kind::Count => "a count",
            Kind::Money => "an amount of money",
            Kind::Price => "a price per million tokens",
            Kind::Size => "a size",
            Kind::Multiple => "a multiple",
            Kind::Rate => "a rate",
            Kind::Date => "a date",
        }
    }

    /// One of its kind, for help texts.
    pub fn example(self) -> &'static str {
        match self {
            Kind::Duration => "8s",
            Kind::Percentage => "5%",
            Kind::Count => "64k",
            Kind::Money => "$0.05",
            Kind::Price => "$2.50/M",
            Kind::Size => "64KiB",
            Kind::Multiple => "2.5x",
            Kind::Rate => "20/min",
            Kind::Date => "2026-10-02",
        }
    }

    /// Its finest step, for messages.
    pub fn finest(self) -> &'static str {
        match self {
            Kind::Duration => "a whole millisecond",
            Kind::Percentage => "a hundredth of a percent",
            Kind::Count => "one",
            Kind::Money | Kind::Price => "a billionth of a dollar",
            Kind::Size => "one byte",
            Kind::Multiple => "a thousandth",
            Kind::Rate | Kind::Date => "one",
        }
    }

    /// The units of its numbers, with the smallest steps in each.
    fn units(self) -> &'static [(&'static str, u64)] {
        match self {
            Kind::Duration => &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)],
            Kind::Percentage => &[("%", 100)],
            Kind::Count => &[("", 1), ("k", 1_000), ("M", 1_000_000)],
            Kind::Money => &[("", 1_000_000_000)],
            Kind::Price => &[("/M", 1_000_000_000)],
            Kind::Size => &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)],
            Kind::Multiple => &[("x", 1_000)],
            Kind::Rate | Kind::Date => &[],
        }
    }

    fn in_dollars(self) -> bool {
        matches!(self, Kind::Money | Kind::Price)
    }
}

/// A number's text in pieces.
struct Pieces<'a> {
    dollar: bool,
    whole: &'a str,
    fraction: &'a str,
    unit: &'a str,
}

fn split(text: &str) -> Option<Pieces<'_>> {
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let (dollar, rest) = text.strip_prefix('$').map_or((false, text), |rest| (true, rest));
    let (whole, rest) = rest.split_at_checked(digits(rest))?;
    let (fraction, unit) = match rest.strip_prefix('.') {
        Some(after) => after.split_at_checked(digits(after)).filter(|(fraction, _)| !fraction.is_empty())?,
        None => ("", rest),
    };
    (!whole.is_empty()).then_some(Pieces { dollar, whole, fraction, unit })
}

/// What kind of number a text is, if it is one at all.
pub fn kind(text: &str) -> Option<Kind> {
    if date(text) {
        return Some(Kind::Date);
    }
    let pieces = split(text)?;
    let scaled = [Kind::Money, Kind::Price, Kind::Count, Kind::Duration, Kind::Percentage, Kind::Size, Kind::Multiple];
    let fits = |kind: &Kind| kind.in_dollars() == pieces.dollar && kind.units().iter().any(|(u, _)| *u == pieces.unit);
    match scaled.into_iter().find(fits) {
        Some(kind) => Some(kind),
        None => pieces.unit.strip_prefix('/').is_some_and(|per| !per.is_empty()).then_some(Kind::Rate),
    }
}

fn date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|p| p.len()).collect();
    lengths == [4, 2, 2] && parts.iter().all(|p| p.bytes().all(|b| b.is_ascii_digit()))
}

/// The number in smallest steps of `kind`.
pub fn scaled(text: &str, kind: Kind) -> Result<u64, Trouble> {
    let other = Trouble::Other(self::kind(text));
    let pieces = split(text).ok_or(other)?;
    let known = |unit: &str| kind.units().iter().find(|(u, _)| *u == unit).map(|(_, step)| *step);
    let step = match known(pieces.unit).filter(|_| pieces.dollar == kind.in_dollars()) {
        Some(step) => u128::from(step),
        None if pieces.unit.is_empty() && (!pieces.dollar || kind.in_dollars()) => return Err(Trouble::Bare),
        None => return Err(other),
    };
    let whole = pieces.whole.parse::<u128>().ok().and_then(|n| n.checked_mul(step)).ok_or(Trouble::TooLarge)?;
    let fraction = pieces.fraction.trim_end_matches('0');
    let part = match u32::try_from(fraction.len()) {
        Ok(0) => 0,
        Ok(length @ 1..=18) => {
            let numerator = fraction.parse::<u128>().map_err(|_| Trouble::TooFine)? * step;
            let denominator = 10u128.pow(length);
            if !numerator.is_multiple_of(denominator) {
                return Err(Trouble::TooFine);
            }
            numerator / denominator
        }
        Ok(_) | Err(_) => return Err(Trouble::TooFine),
    };
    whole.checked_add(part).and_then(|n| u64::try_from(n).ok()).ok_or(Trouble::TooLarge)
}

/// A duration of several units, as some write it, in the largest one that makes it whole: `1m30s` is `90s`.
fn compound(text: &str) -> Option<String> {
    let (mut rest, mut sum, mut parts) = (text, 0u64, 0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let unit = rest.get(digits..)?;
        let end = digits + unit.find(|c: char| c.is_ascii_digit()).unwrap_or(unit.len());
        let (part, after) = rest.split_at_checked(end)?;
        sum = sum.checked_add(scaled(part, Kind::Duration).ok()?)?;
        (rest, parts) = (after, parts + 1);
    }
    let units = Kind::Duration.units().iter().rev();
    let (unit, step) = units.into_iter().find(|(_, step)| sum > 0 && sum.is_multiple_of(*step))?;
    (parts > 1).then(|| format!("{}{unit}", sum / step))
}

/// How the author may have meant a text that is not of `kind`: `30` for a duration is `30s`, `5min` is `5m`.
pub fn proposal(text: &str, kind: Kind) -> Option<String> {
    if let Some(sum) = compound(text).filter(|_| kind == Kind::Duration) {
        return Some(sum);
    }
    let pieces = split(text).filter(|p| kind.in_dollars() || !p.dollar)?;
    let number = match pieces.fraction {
        "" => pieces.whole.to_owned(),
        fraction => format!("{}.{fraction}", pieces.whole),
    };
    let unit = pieces.unit;
    let proposed = match kind {
        Kind::Duration => {
            let unit = match unit.to_ascii_lowercase().as_str() {
                "" | "s" | "sec" | "secs" | "second" | "seconds" => "s",
                "ms" | "msec" | "millis" => "ms",
                "min" | "mins" | "minute" | "minutes" => "m",
                "h" | "hr" | "hrs" | "hour" | "hours" => "h",
                "d" | "day" | "days" => "d",
                _ => return None,
            };
            format!("{number}{unit}")
        }
        Kind::Percentage if matches!(unit, "" | "pct" | "percent") => format!("{number}%"),
        Kind::Count if matches!(unit, "K" | "kb" | "KB") => format!("{number}k"),
        Kind::Count if unit == "m" => format!("{number}M"),
        Kind::Money if matches!(unit, "" | "/M" | "USD" | "usd") => format!("${number}"),
        Kind::Price if matches!(unit, "" | "/m" | "/M" | "/1M" | "/MTok") => format!("${number}/M"),
        Kind::Size if matches!(unit, "" | "k" | "kb" | "KB" | "kB" | "K") => format!("{number}KiB"),
        Kind::Size if matches!(unit, "M" | "mb" | "MB") => format!("{number}MiB"),
        Kind::Multiple if unit.is_empty() => format!("{number}x"),
        Kind::Percentage
        | Kind::Count
        | Kind::Money
        | Kind::Price
        | Kind::Size
        | Kind::Multiple
        | Kind::Rate
        | Kind::Date => return None,
    };
    (proposed != text && scaled(&proposed, kind).is_ok()).then_some(proposed)
}
