//! Wait hints: the one ordered parser of `retry-after-ms` and `Retry-After`.
//!
//! In: an answer's headers and our wall clock. Out: the wait it asks for and where it stood, zero included; `wait` is
//! the same for decisions, where a zero is no wait. It never shortens a hint: caps belong to holds and waits. This is
//! the only place that reads an HTTP date.

use super::Headers;
use crate::policy::Millis;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A wait that an answer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// How long.
    pub wait: Millis,
    /// Where it stood.
    pub source: HintSource,
}

crate::policy::class::words! {
    /// Where a hint stood.
    HintSource {
        RetryAfterMs "retry-after-ms" "the header of that name, in milliseconds";
        RetryAfter "retry-after" "the header of that name, in seconds";
        HttpDate "http-date" "the header `Retry-After`, as a date";
    }
}

/// The wait that an answer asks for, from the first header that yields a value.
///
/// A date counts from the answer's own `Date` where that can be read, else from `wall_ms`, which is milliseconds since
/// 1970. Whatever is neither a plain number nor a date is as good as absent.
pub fn parse(headers: &dyn Headers, wall_ms: u64) -> Option<Hint> {
    let hint = |wait, source| Hint { wait: Millis(wait), source };
    if let Some(ms) = headers.get("retry-after-ms").and_then(|v| number(v, 0)) {
        return Some(hint(ms, HintSource::RetryAfterMs));
    }
    let value = headers.get("retry-after")?;
    if let Some(ms) = number(value, 3) {
        return Some(hint(ms, HintSource::RetryAfter));
    }
    let until = date(value)?;
    let from = headers.get("date").and_then(date).unwrap_or(wall_ms);
    Some(hint(until.saturating_sub(from), HintSource::HttpDate))
}

/// The wait for a decision: a hint of nothing is no hint.
pub fn wait(headers: &dyn Headers, wall_ms: u64) -> Option<Millis> {
    parse(headers, wall_ms).map(|h| h.wait).filter(|w| *w > Millis::ZERO)
}

/// Digits with an optional fraction, as a whole number of units that are `10^-decimals` of what is written; rounded up,
/// at most `u64::MAX`.
fn number(text: &str, decimals: usize) -> Option<u64> {
    let text = text.trim_matches([' ', '\t']);
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || fraction.is_some_and(|f| !digits(f)) {
        return None;
    }
    let fraction = fraction.unwrap_or_default();
    let kept = fraction.bytes().chain(std::iter::repeat(b'0')).take(decimals);
    let value = whole
        .bytes()
        .chain(kept)
        .fold(0u64, |n, b| n.saturating_mul(10).saturating_add(u64::from(b.wrapping_sub(b'0'))));
    let rest = fraction.bytes().skip(decimals).any(|b| b != b'0');
    Some(value.saturating_add(u64::from(rest)))
}

/// A date of the one form that senders may use today, in milliseconds since 1970.
fn date(text: &str) -> Option<u64> {
    let text = text.trim_matches([' ', '\t']);
    // The crate also reads two obsolete forms, which count as absent here.
    if text.as_bytes().get(3) != Some(&b',') || !text.ends_with(" GMT") {
        return None;
    }
    let since: Duration = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

/// An instant as an HTTP date, for answers that carry one. `ms` is milliseconds since 1970.
pub fn http_date(ms: u64) -> String {
    let instant = UNIX_EPOCH.checked_add(Duration::from_millis(ms)).unwrap_or(SystemTime::UNIX_EPOCH);
    httpdate::fmt_http_date(instant)
}
