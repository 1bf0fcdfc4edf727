//! Rate-limit headers: buckets with a count of what remains and a time at which they are full again.
//!
//! In: headers. Out: how long until all empty buckets are full again. A bucket is any pair of headers that are called
//! the same but for `remaining` and `reset`, whoever sends it. One that is not empty says nothing.

use super::Headers;
use super::time;

/// Most buckets that are looked at.
const BUCKETS: usize = 16;

/// How long until every empty bucket is full again. `now` is milliseconds since 1970.
pub(super) fn reset(headers: &dyn Headers, now: u64) -> Option<u64> {
    let waits = empty(headers).into_iter().filter_map(|name| {
        let value = headers.get(&name.replace("remaining", "reset"))?;
        time::length(value).or_else(|| time::until(value, now))
    });
    waits.chain(combined(headers)).max().filter(|ms| *ms > 0)
}

/// Whether a bucket of a day, a week or a month is empty.
pub fn empty_long_bucket(headers: &dyn Headers) -> bool {
    empty(headers).iter().any(|name| ["day", "daily", "week", "month"].iter().any(|long| name.contains(long)))
}

fn empty(headers: &dyn Headers) -> Vec<String> {
    let mut names = Vec::new();
    headers.each(&mut |name, value| {
        // A count below zero is a placeholder.
        if names.len() < BUCKETS && value.trim() == "0" {
            let name = name.to_ascii_lowercase();
            if name.contains("remaining") {
                names.push(name);
            }
        }
    });
    names
}

/// The single header of the IETF's drafts: `limit=10, remaining=0, reset=50`, or `"name";r=0;t=50`.
fn combined(headers: &dyn Headers) -> Option<u64> {
    let value = headers.get("ratelimit")?;
    let field = |names: [&str; 2]| {
        let parts = value.split([',', ';']).filter_map(|part| part.trim().split_once('='));
        parts.filter(|(name, _)| names.contains(name)).map(|(_, value)| value).next()
    };
    (field(["remaining", "r"])? == "0").then(|| time::length(field(["reset", "t"])?)).flatten()
}
