//! Follows a policy set on disk: an edit that compiles is served, one that does not leaves the policy before it.
//!
//! In: a tick that something may have changed. Out: a `Ready` handed to `apply`, or a rejection told loudly in the log
//! and in [`ReloadStatus`]. The very code of `check` compiles. Never serves anything itself, and never lets a request
//! see half of an edit: `apply` builds what is needed and then exchanges the whole.

mod status;

pub use status::ReloadStatus;

use super::snapshot::Current;
use super::watch::Watch;
use crate::diag::Level;
use crate::diag::render::json::{Finding, finding};
use crate::ready::{self, Prepared, Ready};
use crate::source::{LoadError, Sources, load};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long to wait before looking again at a set that seems to be in the middle of a save.
pub const AGAIN: Duration = Duration::from_millis(50);

/// How often in a row that is done before what is there is taken at its word.
const LOOKS: u32 = 6;

/// What serves a policy: it builds what the policy needs, and makes it current only if all of it is there.
///
/// Its error is a sentence for people, such as that a variable is not set; the policy counts as rejected.
pub type Apply = Box<dyn FnMut(Ready) -> Result<(), String> + Send>;

/// What a look at the disk came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// Nothing that was not known.
    Same,
    /// The set seems to be in the middle of a save: look again after [`AGAIN`].
    Again,
    /// Another policy serves now.
    Applied,
    /// After a rejection the disk holds again what serves.
    Restored,
    /// What is on disk cannot be served; the policy before still does.
    Rejected,
}

/// Follows one policy set.
pub struct Reloader {
    root: PathBuf,
    served: Arc<Sources>,
    rejected: Option<Rejected>,
    looks: u32,
    apply: Apply,
    status: Arc<Current<ReloadStatus>>,
}

/// What was rejected last, so that it is told once.
#[derive(PartialEq, Eq)]
enum Rejected {
    Texts(Vec<(String, Arc<str>)>),
    Unreadable(String),
}

impl Reloader {
    /// Follows the set at `root`, of which `served` serves since `at_ms` of wall time.
    pub fn new(root: &Path, served: Arc<Sources>, at_ms: u64, apply: Apply) -> Reloader {
        let status = Arc::new(Current::new(ReloadStatus::good(at_ms)));
        Reloader { root: root.to_path_buf(), served, rejected: None, looks: 0, apply, status }
    }

    /// Where it stands, for as long as the reloader works.
    pub fn status(&self) -> Arc<Current<ReloadStatus>> {
        Arc::clone(&self.status)
    }

    /// Looks at the disk once, at `at_ms` of wall time, and does what follows from it.
    pub fn tick(&mut self, at_ms: u64) -> Tick {
        let found = load(&self.root);
        if self.seems_unfinished(&found) && self.looks < LOOKS {
            self.looks += 1;
            return Tick::Again;
        }
        self.looks = 0;
        match found {
            Err(error) => {
                let message = error.to_string();
                match Rejected::Unreadable(message.clone()) {
                    known if self.rejected.as_ref() == Some(&known) => Tick::Same,
                    new => self.reject(new, vec![status::plain("unreadable", message, &self.root)], at_ms),
                }
            }
            Ok(sources) if texts(&sources) == texts(&self.served) => self.restore(at_ms),
            Ok(sources) => self.change(sources, at_ms),
        }
    }

    /// Ticks whenever the watch says so, for ever. `wall_ms` tells the wall time in milliseconds since 1970.
    pub async fn follow(mut self, mut watch: Watch, wall_ms: impl Fn() -> u64) {
        loop {
            watch.changed().await;
            loop {
                // Reading and compiling a large set takes longer than a worker of the runtime should be held.
                let at_ms = wall_ms();
                let look = tokio::task::spawn_blocking(move || {
                    let tick = self.tick(at_ms);
                    (self, tick)
                });
                let Ok((back, tick)) = look.await else {
                    tracing::error!("the reload of the policy has died; edits have no effect until a restart");
                    return;
                };
                self = back;
                match tick {
                    Tick::Again => tokio::time::sleep(AGAIN).await,
                    Tick::Same | Tick::Applied | Tick::Restored | Tick::Rejected => break,
                }
            }
        }
    }

    /// Editors save by deleting and creating, or by emptying and writing: for a moment a file is gone or the set is bare.
    fn seems_unfinished(&self, found: &Result<Sources, LoadError>) -> bool {
        let Ok(found) = found else { return true };
        let bare = |set: &Sources| set.iter().all(|f| f.text.trim().is_empty());
        let gone = self.served.iter().any(|old| !found.iter().any(|new| new.name == old.name));
        gone || (bare(found) && !bare(&self.served))
    }

    fn restore(&mut self, at_ms: u64) -> Tick {
        if self.rejected.take().is_none() {
            return Tick::Same;
        }
        self.status.store(Arc::new(ReloadStatus::good(at_ms)));
        tracing::info!(path = %self.root.display(), "the policy on disk is again the one that serves");
        Tick::Restored
    }

    fn change(&mut self, sources: Sources, at_ms: u64) -> Tick {
        let seen = Rejected::Texts(texts(&sources));
        if self.rejected.as_ref() == Some(&seen) {
            return Tick::Same;
        }
        // A compiler that panics on one edit must not end reloading for all later ones.
        let Ok(prepared) = catch_unwind(AssertUnwindSafe(|| ready::prepare(sources))) else {
            let message = "checking this policy failed inside switchback".into();
            return self.reject(seen, vec![status::plain("internal", message, &self.root)], at_ms);
        };
        let Prepared { sources, diagnostics, ready } = prepared;
        let Some(ready) = ready else {
            let errors = diagnostics.iter().filter(|d| d.level() == Level::Error);
            return self.reject(seen, errors.map(|d| finding(d, &sources)).collect(), at_ms);
        };
        let hash = ready.hash().to_string();
        match (self.apply)(ready) {
            Err(message) => self.reject(seen, vec![status::plain("not-applied", message, &self.root)], at_ms),
            Ok(()) => {
                self.served = sources;
                self.rejected = None;
                self.status.store(Arc::new(ReloadStatus::good(at_ms)));
                tracing::info!(path = %self.root.display(), policy = hash, "another policy serves");
                Tick::Applied
            }
        }
    }

    fn reject(&mut self, what: Rejected, findings: Vec<Finding>, at_ms: u64) -> Tick {
        let lines: String = findings.iter().map(|f| format!("\n  {}", status::line(f))).collect();
        tracing::error!(path = %self.root.display(), "the edited policy is rejected, the one before still serves:{lines}");
        self.rejected = Some(what);
        self.status.store(Arc::new(ReloadStatus { ok: false, at_ms, diagnostics: findings }));
        Tick::Rejected
    }
}

/// Names and texts, which is all that makes two sets the same.
fn texts(sources: &Sources) -> Vec<(String, Arc<str>)> {
    sources.iter().map(|f| (f.name.clone(), Arc::clone(&f.text))).collect()
}

#[cfg(test)]
mod tests;
