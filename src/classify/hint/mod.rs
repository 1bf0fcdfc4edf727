//! Wait hints: the one ordered parser of every place where an answer asks for a wait.
//!
//! In: an answer's headers, what its body says, and our wall clock. Out: the wait it asks for and where it stood. Order of
//! trust: `retry-after-ms`, `Retry-After`, the reset of the bucket whose remaining count is zero, members of the body,
//! prose. A zero is no wait, and the next place is asked. It never shortens a hint: caps belong to holds and waits. This
//! is the only place that reads an HTTP date.

mod bucket;
mod prose;
mod time;

pub use bucket::empty_long_bucket;

use super::Headers;
use super::said::Said;
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
        Bucket "bucket" "the reset of a rate-limit bucket that is empty";
        Body "body" "a member of the body";
        Prose "prose" "the message";
    }
}

/// The wait that an answer's headers ask for, from the first header that yields a value, zero included.
///
/// A date counts from the answer's own `Date` where that can be read, else from `wall_ms`, which is milliseconds since
/// 1970. Whatever is neither a plain number nor a date is as good as absent.
pub fn parse(headers: &dyn Headers, wall_ms: u64) -> Option<Hint> {
    in_milliseconds(headers).or_else(|| retry_after(headers, wall_ms))
}

/// The wait for a decision: a hint of nothing is no hint, and every place is asked; of rate-limit buckets only where
/// `buckets` says so.
pub fn wait(headers: &dyn Headers, said: &Said, wall_ms: u64, buckets: bool) -> Option<Hint> {
    let now = headers.get("date").and_then(date).unwrap_or(wall_ms);
    let real = |hint: &Hint| hint.wait > Millis::ZERO;
    let hint = |source| move |wait| Hint { wait: Millis(wait), source };
    in_milliseconds(headers)
        .filter(real)
        .or_else(|| retry_after(headers, wall_ms).filter(real))
        .or_else(|| bucket::reset(headers, now).filter(|_| buckets).map(hint(HintSource::Bucket)))
        .or_else(|| in_body(said, now).map(hint(HintSource::Body)))
        .or_else(|| prose::wait(&said.text).map(hint(HintSource::Prose)))
}

fn in_milliseconds(headers: &dyn Headers) -> Option<Hint> {
    let ms = headers.get("retry-after-ms").and_then(|v| number(v, 0))?;
    Some(Hint { wait: Millis(ms), source: HintSource::RetryAfterMs })
}

fn retry_after(headers: &dyn Headers, wall_ms: u64) -> Option<Hint> {
    let value = headers.get("retry-after")?;
    let from = headers.get("date").and_then(date).unwrap_or(wall_ms);
    if number(value, 3).is_some() {
        // Some send the instant as a number; a wait of thirty years is none.
        let wait = time::length(value).or_else(|| time::length_until(value, from))?;
        return Some(Hint { wait: Millis(wait), source: HintSource::RetryAfter });
    }
    let until = date(value)?;
    Some(Hint { wait: Millis(until.saturating_sub(from)), source: HintSource::HttpDate })
}

/// A member of the body: lengths of time first, instants after them.
fn in_body(said: &Said, now: u64) -> Option<u64> {
    // A reset says something only where nothing remains.
    let remains = said.waits.iter().any(|(n, v)| n == "xratelimitremaining" && v.trim() != "0");
    let lengths = said.waits.iter().filter_map(|(name, value)| match name.as_str() {
        "retryafterms" => number(value, 0),
        "xratelimitremaining" | "xratelimitreset" => None,
        _ => time::length(value),
    });
    let instants = said.waits.iter().filter_map(|(name, value)| match name.as_str() {
        "xratelimitremaining" => None,
        "xratelimitreset" if remains => None,
        _ => time::until(value, now),
    });
    lengths.chain(instants).find(|ms| *ms > 0)
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
