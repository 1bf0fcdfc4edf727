//! Baselines: what targets are like over fourteen days, seen from one region of gateways.
//!
//! In: how long calls took to their first output (or whole answers to their end, or probes), and the wall time. Out:
//! percentiles with their numbers of calls and their age. A histogram a day for each target, region and kind, so what is
//! old leaves a day at a time and the room is bounded. Ranks and reports only: nothing here decides a state. No clock,
//! no lock.

use super::histogram::{self, BUCKETS, Histogram};
use super::vitals::Latency;
use crate::policy::Millis;
use crate::policy::class::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Days that count, the present one included.
pub const DAYS: u64 = 14;
/// A UTC calendar day, in milliseconds.
const DAY_MS: u64 = 86_400_000;
/// Fewer calls than these say nothing about the order of targets.
pub const MIN_CALLS: u64 = 20;

words! {
    /// What was measured. The three are never compared with each other.
    Kind {
        Stream "stream" "a stream, to its first output";
        Whole "whole" "a whole answer, to its end";
        Probe "probe" "a probe, to its end";
    }
}

impl Kind {
    /// What a request waits for.
    pub fn of_request(stream: bool) -> Kind {
        if stream { Kind::Stream } else { Kind::Whole }
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Kind, D::Error> {
        let word = String::deserialize(from)?;
        Kind::from_word(&word).ok_or_else(|| serde::de::Error::custom(format!("`{word}` is no kind of call")))
    }
}

impl From<Latency> for Kind {
    fn from(latency: Latency) -> Kind {
        match latency {
            Latency::FirstOutput(_) => Kind::Stream,
            Latency::Whole(_) => Kind::Whole,
        }
    }
}

/// What some target is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentiles {
    /// Half of the calls were at least as fast.
    pub p50: Millis,
    /// Nineteen of twenty were.
    pub p95: Millis,
    /// Ninety-nine of a hundred were.
    pub p99: Millis,
    /// How many calls these are.
    pub calls: u64,
    /// When the oldest day that counts began, in milliseconds since 1970.
    pub since_ms: u64,
    /// When the latest call ended, in milliseconds since 1970.
    pub latest_ms: u64,
}

/// One kind of one target, seen from one region.
#[derive(Clone, Debug, Default)]
struct Series {
    /// Oldest first, each day once.
    days: Vec<(u64, Histogram)>,
    latest_ms: u64,
}

fn counts(day: u64, today: u64) -> bool {
    day <= today && today - day < DAYS
}

impl Series {
    fn note(&mut self, latency: Millis, wall_ms: u64) {
        let today = wall_ms / DAY_MS;
        self.latest_ms = wall_ms;
        let at = match self.days.binary_search_by_key(&today, |(day, _)| *day) {
            Ok(at) => at,
            Err(_) => {
                // Once a day. What is too old goes, and what a clock that was wrong put into the future; tomorrow stays,
                // since a clock may be set back at midnight.
                self.days.retain(|(day, _)| counts(*day, today) || *day == today + 1);
                let at = self.days.partition_point(|(day, _)| *day < today);
                self.days.insert(at, (today, Histogram::default()));
                at
            }
        };
        if let Some((_, histogram)) = self.days.get_mut(at) {
            histogram.note(latency);
        }
    }

    fn percentile(&self, percent: u8, wall_ms: u64) -> Option<Millis> {
        histogram::percentile(self.young(wall_ms).map(|(_, histogram)| histogram), percent)
    }

    fn calls(&self, wall_ms: u64) -> u64 {
        histogram::calls(self.young(wall_ms).map(|(_, histogram)| histogram))
    }

    fn young(&self, wall_ms: u64) -> impl Iterator<Item = &(u64, Histogram)> + Clone {
        let today = wall_ms / DAY_MS;
        self.days.iter().filter(move |(day, _)| counts(*day, today))
    }
}

/// All kinds of one target, seen from one region.
type Target = [Series; Kind::ALL.len()];

/// What all targets are like, by the region of the gateway and the target's name.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Kept", into = "Kept")]
pub struct Baselines(BTreeMap<String, BTreeMap<String, Target>>);

impl Baselines {
    /// A call of a target took so long. Without a region of its own a gateway's is the empty one.
    pub fn note(&mut self, region: &str, target: &str, kind: Kind, latency: Millis, wall_ms: u64) {
        // Names are copied for the first call alone.
        if !self.0.get(region).is_some_and(|targets| targets.contains_key(target)) {
            self.0.entry(region.to_owned()).or_default().insert(target.to_owned(), Target::default());
        }
        let series = self.0.get_mut(region).and_then(|targets| targets.get_mut(target));
        if let Some(series) = series.and_then(|all| all.get_mut(kind as usize)) {
            series.note(latency, wall_ms);
        }
    }

    /// Forgets targets that a policy does not name, once nothing of them counts any more.
    pub fn forget(&mut self, is_known: impl Fn(&str) -> bool, wall_ms: u64) {
        for targets in self.0.values_mut() {
            targets.retain(|name, kinds| is_known(name) || kinds.iter().any(|series| series.calls(wall_ms) > 0));
        }
        self.0.retain(|_, targets| !targets.is_empty());
    }

    /// What a target is like: the p50 of its calls, if there are enough to say so.
    pub fn typical(&self, region: &str, target: &str, kind: Kind, wall_ms: u64) -> Option<Millis> {
        let series = self.series(region, target, kind)?;
        (series.calls(wall_ms) >= MIN_CALLS).then(|| series.percentile(50, wall_ms)).flatten()
    }

    /// All that is known of a target; nothing where no call counts.
    pub fn percentiles(&self, region: &str, target: &str, kind: Kind, wall_ms: u64) -> Option<Percentiles> {
        let series = self.series(region, target, kind)?;
        Some(Percentiles {
            p50: series.percentile(50, wall_ms)?,
            p95: series.percentile(95, wall_ms)?,
            p99: series.percentile(99, wall_ms)?,
            calls: series.calls(wall_ms),
            since_ms: series.young(wall_ms).map(|(day, _)| day * DAY_MS).next()?,
            latest_ms: series.latest_ms,
        })
    }

    /// The regions that gateways looked from.
    pub fn regions(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The targets that are known from a region, by name.
    pub fn targets(&self, region: &str) -> impl Iterator<Item = &str> {
        self.0.get(region).into_iter().flat_map(|targets| targets.keys().map(String::as_str))
    }

    fn series(&self, region: &str, target: &str, kind: Kind) -> Option<&Series> {
        self.0.get(region)?.get(target)?.get(kind as usize)
    }
}

/// The form on disk.
#[derive(Serialize, Deserialize)]
struct Kept(Vec<KeptSeries>);

#[derive(Serialize, Deserialize)]
struct KeptSeries {
    region: String,
    target: String,
    kind: Kind,
    latest_ms: u64,
    days: Vec<KeptDay>,
}

#[derive(Serialize, Deserialize)]
struct KeptDay {
    /// Days since 1970, UTC.
    day: u64,
    /// Buckets and the calls in them.
    counts: Vec<(usize, u32)>,
}

impl From<Baselines> for Kept {
    fn from(baselines: Baselines) -> Kept {
        let mut all = Vec::new();
        for (region, targets) in baselines.0 {
            for (target, kinds) in targets {
                for (kind, series) in Kind::ALL.iter().zip(kinds).filter(|(_, series)| !series.days.is_empty()) {
                    let days = series.days.iter();
                    let days = days.map(|(day, histogram)| KeptDay { day: *day, counts: histogram.counts().collect() });
                    let (region, target, latest_ms) = (region.clone(), target.clone(), series.latest_ms);
                    all.push(KeptSeries { region, target, kind: *kind, latest_ms, days: days.collect() });
                }
            }
        }
        Kept(all)
    }
}

impl TryFrom<Kept> for Baselines {
    type Error = String;

    fn try_from(Kept(all): Kept) -> Result<Baselines, String> {
        let mut baselines = Baselines::default();
        for KeptSeries { region, target, kind, latest_ms, days } in all {
            let mut series = Series { days: Vec::new(), latest_ms };
            for KeptDay { day, counts } in days {
                if series.days.last().is_some_and(|(last, _)| *last >= day) {
                    return Err(format!("the days of `{target}` are not in order"));
                }
                let mut histogram = Histogram::default();
                for (bucket, calls) in counts {
                    if bucket >= BUCKETS {
                        return Err(format!("there is no bucket {bucket}"));
                    }
                    histogram.add(bucket, calls);
                }
                series.days.push((day, histogram));
            }
            let targets = baselines.0.entry(region).or_default();
            if let Some(kept) = targets.entry(target).or_default().get_mut(kind as usize) {
                *kept = series;
            }
        }
        Ok(baselines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(all: &mut Baselines, target: &str, kind: Kind, latency: u64, day: u64, times: u32) {
        (0..times).for_each(|_| all.note("eu", target, kind, Millis(latency), day * DAY_MS + 5));
    }

    fn p50(all: &Baselines, kind: Kind, day: u64) -> Option<u64> {
        all.typical("eu", "a", kind, day * DAY_MS).map(|m| m.0)
    }

    #[test]
    fn streams_whole_answers_and_probes_are_kept_apart() {
        let mut all = Baselines::default();
        note(&mut all, "a", Kind::Stream, 10, 0, 20);
        note(&mut all, "a", Kind::Whole, 20, 0, 20);
        note(&mut all, "a", Kind::Probe, 30, 0, 19);
        assert_eq!(Kind::ALL.iter().map(|k| p50(&all, *k, 0)).collect::<Vec<_>>(), [Some(10), Some(20), None]);
        assert_eq!(all.typical("us", "a", Kind::Stream, 0), None);
        assert_eq!(all.percentiles("eu", "a", Kind::Probe, 0).unwrap().calls, 19);
    }

    #[test]
    fn what_is_fourteen_days_old_counts_no_more() {
        let mut all = Baselines::default();
        note(&mut all, "a", Kind::Stream, 10, 100, 60);
        note(&mut all, "a", Kind::Stream, 30, 113, 40);
        assert_eq!(p50(&all, Kind::Stream, 113), Some(10));
        assert_eq!(p50(&all, Kind::Stream, 114), Some(30));
        assert_eq!(p50(&all, Kind::Stream, 127), None);
        let told = all.percentiles("eu", "a", Kind::Stream, 114 * DAY_MS).unwrap();
        assert_eq!((told.calls, told.since_ms, told.latest_ms), (40, 113 * DAY_MS, 113 * DAY_MS + 5));
    }

    #[test]
    fn the_room_is_bounded_whatever_the_clock_says() {
        let mut all = Baselines::default();
        for day in (0..400).chain([90_000, 5, 4, 3]).chain(0..400) {
            note(&mut all, "a", Kind::Stream, 10, day, 1);
            assert!(all.series("eu", "a", Kind::Stream).unwrap().days.len() <= DAYS as usize + 1);
        }
        assert_eq!(all.series("eu", "a", Kind::Stream).unwrap().calls(399 * DAY_MS), DAYS);
    }

    #[test]
    fn a_clock_that_is_set_back_at_midnight_loses_nothing() {
        let mut all = Baselines::default();
        note(&mut all, "a", Kind::Stream, 10, 50, 20);
        note(&mut all, "a", Kind::Stream, 10, 49, 20);
        let calls = |day: u64| all.percentiles("eu", "a", Kind::Stream, day * DAY_MS).unwrap().calls;
        assert_eq!([calls(49), calls(50)], [20, 40]);
    }

    #[test]
    fn targets_that_left_the_policy_go_when_they_are_too_old() {
        let mut all = Baselines::default();
        note(&mut all, "gone", Kind::Stream, 10, 100, 1);
        note(&mut all, "here", Kind::Stream, 10, 100, 1);
        all.forget(|name| name == "here", 113 * DAY_MS);
        assert_eq!(all.targets("eu").collect::<Vec<_>>(), ["gone", "here"]);
        all.forget(|name| name == "here", 114 * DAY_MS);
        assert_eq!(all.targets("eu").collect::<Vec<_>>(), ["here"]);
    }

    #[test]
    fn the_form_on_disk_holds_all_of_it() {
        let mut all = Baselines::default();
        note(&mut all, "a", Kind::Stream, 1_000, 100, 20);
        note(&mut all, "a", Kind::Stream, 3_000, 101, 7);
        note(&mut all, "b", Kind::Probe, 5, 101, 1);
        let text = serde_json::to_string(&all).unwrap();
        let again: Baselines = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        for (target, kind) in [("a", Kind::Stream), ("b", Kind::Probe), ("b", Kind::Whole)] {
            let told = |all: &Baselines| all.percentiles("eu", target, kind, 101 * DAY_MS);
            assert_eq!(told(&all), told(&again));
        }
        for damaged in ["\"day\":100", "[111,20]"] {
            assert!(text.contains(damaged), "{text}");
            let text = text.replace(damaged, if damaged.starts_with('[') { "[304,20]" } else { "\"day\":101" });
            assert!(serde_json::from_str::<Baselines>(&text).is_err());
        }
    }
}
