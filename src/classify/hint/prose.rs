//! Waits in prose: `Please try again in 4.77s`.
//!
//! In: text in lower case. Out: the first wait it asks for that is more than nothing. A number counts only with a unit
//! right behind it and words right before it that speak of waiting, so that limits, ages and windows are no waits.

use super::time;

/// What stands right before a wait.
const LEADS: &[&str] = &[
    "try again in ",
    "try again after ",
    "retry in ",
    "retry after ",
    "retry your request after ",
    "retry your request in ",
    "retrying in ",
    "retrying after ",
    "retry the request after ",
    "please wait ",
    "wait for ",
    "wait at least ",
    "and wait ",
    "must wait ",
    "reset after ",
    "resets after ",
    "reset in ",
    "resets in ",
    "available in ",
    "available again in ",
    "back in ",
    "ready in ",
    "come back in ",
    "retry-after: ",
    "retry_after: ",
    "请在",
    "请等待",
    "请于",
    "等待",
];

/// Words that may stand between a lead and the number.
const BETWEEN: &[&str] = &["about ", "approximately ", "at least ", "another ", "~"];

/// The first wait that a text asks for.
pub(super) fn wait(text: &str) -> Option<u64> {
    let found = LEADS.iter().filter_map(|lead| {
        text.match_indices(lead).take(4).find_map(|(at, _)| {
            let mut rest = text.get(at + lead.len()..)?.trim_start();
            for word in BETWEEN {
                rest = rest.strip_prefix(word).unwrap_or(rest);
            }
            let (ms, _) = time::with_units(rest)?;
            (ms > 0).then_some((at, ms))
        })
    });
    found.min_by_key(|(at, _)| *at).map(|(_, ms)| ms)
}
