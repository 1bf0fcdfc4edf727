//! Lengths of time and instants, as vendors write them in headers and bodies.
//!
//! In: text. Out: milliseconds. Lengths: plain numbers of seconds, and numbers with units (`1m30s`, `539.5ms`, `2
//! minutes`). Instants: RFC 3339 with a zone, and seconds or milliseconds since 1970. What has neither unit nor zone
//! where one is due is no time.

use super::number;

/// Longest run of numbers with units that is read.
const PARTS: usize = 6;

/// A number from which on a plain number of seconds can only be an instant: in 2001.
const INSTANT_S: u64 = 1_000_000_000;

/// The same for milliseconds.
const INSTANT_MS: u64 = 1_000_000_000_000;

/// A length: a plain number of seconds, or numbers with units and nothing else.
pub(super) fn length(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some(ms) = number(text, 3) {
        return (ms / 1_000 < INSTANT_S).then_some(ms);
    }
    let text = text.to_lowercase();
    let (ms, rest) = with_units(&text)?;
    rest.trim().is_empty().then_some(ms)
}

/// How long it is until an instant; nothing where it has passed. `now` is milliseconds since 1970.
pub(super) fn until(text: &str, now: u64) -> Option<u64> {
    let text = text.trim();
    let at = match number(text, 0) {
        Some(n) if n >= INSTANT_MS => n,
        Some(n) if n >= INSTANT_S => n.saturating_mul(1_000),
        Some(_) => return None,
        None => rfc3339(text)?,
    };
    Some(at.saturating_sub(now))
}

/// The same, where what is left is a length that anybody may mean.
pub(super) fn length_until(text: &str, now: u64) -> Option<u64> {
    until(text, now).filter(|ms| ms / 1_000 < INSTANT_S)
}

/// Numbers with units at the beginning of a text in lower case, and what follows them.
pub(super) fn with_units(text: &str) -> Option<(u64, &str)> {
    let mut rest = text;
    let mut sum: Option<u64> = None;
    for _ in 0..PARTS {
        let begin = rest.trim_start_matches([' ', ',']);
        let begin = begin.strip_prefix("and ").unwrap_or(begin).trim_start();
        let digits = begin.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(begin.len());
        let (Some(count), Some(tail)) = (begin.get(..digits), begin.get(digits..)) else { break };
        let Some((unit, after)) = unit(tail.trim_start_matches([' ', '-', '\u{a0}'])) else { break };
        // Thousandths of a unit of milliseconds are dropped; all else is exact.
        let Some(thousandths) = number(count.trim_end_matches('.'), 3) else { break };
        let ms = thousandths.saturating_mul(unit) / 1_000;
        sum = Some(sum.unwrap_or(0).saturating_add(ms));
        rest = after;
    }
    sum.map(|ms| (ms, rest))
}

/// Units and their lengths in milliseconds; longer names first.
const UNITS: &[(&str, u64)] = &[
    ("milliseconds", 1),
    ("millisecond", 1),
    ("msec", 1),
    ("ms", 1),
    ("毫秒", 1),
    ("seconds", 1_000),
    ("second", 1_000),
    ("secs", 1_000),
    ("sec", 1_000),
    ("s", 1_000),
    ("秒钟", 1_000),
    ("秒", 1_000),
    ("minutes", 60_000),
    ("minute", 60_000),
    ("mins", 60_000),
    ("min", 60_000),
    ("m", 60_000),
    ("分钟", 60_000),
    ("hours", 3_600_000),
    ("hour", 3_600_000),
    ("hrs", 3_600_000),
    ("hr", 3_600_000),
    ("h", 3_600_000),
    ("小时", 3_600_000),
    ("days", 86_400_000),
    ("day", 86_400_000),
    ("d", 86_400_000),
    ("天", 86_400_000),
];

fn unit(text: &str) -> Option<(u64, &str)> {
    UNITS.iter().find_map(|(name, ms)| {
        let after = text.strip_prefix(name)?;
        // `2 models` is no wait of two minutes.
        let ended = !name.is_ascii() || !after.starts_with(|c: char| c.is_alphabetic());
        ended.then_some((*ms, after))
    })
}

/// `2025-06-11T08:13:00[.5](Z|+02:00)`, in milliseconds since 1970. A time without a zone is none.
fn rfc3339(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let mark = |at: usize, marks: &[u8]| text.as_bytes().get(at).is_some_and(|b| marks.contains(b));
    if !(mark(4, b"-") && mark(7, b"-") && mark(10, b"Tt ") && mark(13, b":") && mark(16, b":")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let fits = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    let tail = text.get(19..).filter(|_| fits)?;
    let (fraction, zone) = match tail.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?),
        None => ("", tail),
    };
    let thousandths =
        fraction.bytes().chain(*b"000").take(3).fold(0i64, |n, b| n * 10 + i64::from(b.wrapping_sub(b'0')));
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let sign = match zone.as_bytes().first()? {
                b'+' => 1,
                b'-' => -1,
                _ => return None,
            };
            let (hours, minutes) = zone.get(1..6).filter(|_| zone.len() == 6)?.split_once(':')?;
            sign * (hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?)
        }
    };
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + (minute - offset) * 60 + second;
    u64::try_from(seconds * 1_000 + thousandths).ok()
}

/// Days from 1970 to a date of our calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that a leap day is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - 719_468
}
