//! What calls took, as this gateway saw it: the baselines of all targets, kept over restarts.
//!
//! In: the ends of calls and probes, with the wall time. Out: what targets are like. One lock for one note or question,
//! never held while anything is awaited. The rules are those of `decide::baselines`.

use super::store::{Document, Store, Unusable};
use crate::decide::baselines::{Baselines, Kind, Percentiles};
use crate::decide::orders::KeptRanking;
use crate::policy::Millis;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of the baselines in the state folder.
pub const NAME: &str = "baselines";
/// The name of the rankings in it.
const RANKINGS: &str = "rankings";
/// Seconds from one write to the next at least: fourteen days of many targets are a large file, and a crash may cost a
/// percentile half a minute of calls.
const EVERY: u32 = 30;

/// The baselines as one gateway sees them.
#[derive(Debug, Default)]
pub struct Seen {
    /// Where the gateway stands; empty where nobody said so.
    region: String,
    all: Arc<Mutex<Baselines>>,
    document: Document,
    /// The rankings of tiers that are ordered anew once in a day or more.
    rankings: Arc<Mutex<Vec<KeptRanking>>>,
    rankings_document: Document,
}

fn lock<T>(all: &Mutex<T>) -> MutexGuard<'_, T> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seen {
    /// Goes on from what a store kept, and is kept by it.
    ///
    /// # Errors
    /// When the store's folder cannot be read.
    pub fn kept(store: &Store, region: Option<&str>) -> Result<Seen, Unusable> {
        let all = Arc::new(Mutex::new(store.read::<Baselines>(NAME)?.unwrap_or_default()));
        let seen = Arc::clone(&all);
        let document = store.follow_every(EVERY, NAME, move || lock(&seen).clone());
        let rankings = Arc::new(Mutex::new(store.read::<Vec<KeptRanking>>(RANKINGS)?.unwrap_or_default()));
        let seen = Arc::clone(&rankings);
        let rankings_document = store.follow(RANKINGS, move || lock(&seen).clone());
        let region = region.unwrap_or_default().to_owned();
        Ok(Seen { region, all, document, rankings, rankings_document })
    }

    /// The rankings that were made last.
    pub fn rankings(&self) -> Vec<KeptRanking> {
        lock(&self.rankings).clone()
    }

    /// Keeps the rankings that were made now.
    pub fn keep_rankings(&self, rankings: Vec<KeptRanking>) {
        *lock(&self.rankings) = rankings;
        self.rankings_document.changed();
    }

    /// A call or a probe of a target took so long.
    pub fn note(&self, target: &str, kind: Kind, latency: Millis, wall_ms: u64) {
        lock(&self.all).note(&self.region, target, kind, latency, wall_ms);
        self.document.changed();
    }

    /// What a target is like, if enough calls say so.
    pub fn typical(&self, target: &str, kind: Kind, wall_ms: u64) -> Option<Millis> {
        lock(&self.all).typical(&self.region, target, kind, wall_ms)
    }

    /// All that is known of a target; nothing where no call counts.
    pub fn percentiles(&self, target: &str, kind: Kind, wall_ms: u64) -> Option<Percentiles> {
        lock(&self.all).percentiles(&self.region, target, kind, wall_ms)
    }

    /// Forgets targets that a policy does not name, once they are too old to count.
    pub fn forget(&self, is_known: impl Fn(&str) -> bool, wall_ms: u64) {
        lock(&self.all).forget(is_known, wall_ms);
        self.document.changed();
    }
}
