//! Says that something about a policy set may have changed on disk.
//!
//! In: the set's path. Out: ticks, several changes at once being one tick. Folders are watched, not files, since an
//! editor replaces a file by renaming another over it and a Kubernetes volume exchanges a symbolic link beside it. A
//! slow poll stands behind that for file systems that report nothing. Never reads a policy file; a tick is only a reason
//! to look.

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long it must be quiet after a change before a tick: a save is several events.
const QUIET: Duration = Duration::from_millis(50);

/// How many quiet spells a tick is put off at most, so that a busy folder cannot put it off for ever.
const MOST_QUIET_SPELLS: u32 = 10;

/// A watch over the folders of a policy set.
#[derive(Debug)]
pub struct Watch {
    changes: mpsc::Receiver<()>,
    poll: Duration,
    /// Held for what its drop ends; absent where the system watches nothing and only the poll works.
    watcher: Option<RecommendedWatcher>,
}

impl Watch {
    /// Watches the set at `root`: a directory with all below it, or the folder that a single file stands in. Where the
    /// system cannot watch, the log says so and the poll is left.
    pub fn new(root: &Path, poll: Duration) -> Watch {
        let (report, changes) = mpsc::channel(1);
        let watcher = match watcher(root, report) {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                tracing::warn!(path = %root.display(), %error, poll = ?poll, "cannot watch the policy's folder; polling only");
                None
            }
        };
        Watch { changes, poll, watcher }
    }

    /// Whether the system reports changes; without it only the poll does.
    pub fn is_watching(&self) -> bool {
        self.watcher.is_some()
    }

    /// Returns when something may have changed: shortly after a report, or when the poll is due.
    pub async fn changed(&mut self) {
        tokio::select! {
            () = tokio::time::sleep(self.poll) => {}
            () = reported(&mut self.changes) => {}
        }
        for _ in 0..MOST_QUIET_SPELLS {
            if tokio::time::timeout(QUIET, reported(&mut self.changes)).await.is_err() {
                break;
            }
        }
    }
}

/// The next report. A watcher that has gone reports nothing more, which leaves the poll.
async fn reported(changes: &mut mpsc::Receiver<()>) {
    if changes.recv().await.is_none() {
        std::future::pending::<()>().await;
    }
}

fn watcher(root: &Path, report: mpsc::Sender<()>) -> notify::Result<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // WHY: reading a policy is itself an event of kind access; to answer it would never end. A lost event or an
        // error is a reason to look.
        if event.is_ok_and(|e| e.kind.is_access()) {
            return;
        }
        // A full channel holds a report that is not taken yet: it stands for this one too.
        let _ = report.try_send(());
    })?;
    for (folder, mode) in folders(root) {
        watcher.watch(&folder, mode)?;
    }
    Ok(watcher)
}

/// The folders to watch. For a file that is a link, also the folder that the link leads to.
fn folders(root: &Path) -> Vec<(PathBuf, RecursiveMode)> {
    if root.is_dir() {
        return vec![(root.to_path_buf(), RecursiveMode::Recursive)];
    }
    let parent = |path: &Path| match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_path_buf(),
        Some(_) | None => PathBuf::from("."),
    };
    let mut folders = vec![(parent(root), RecursiveMode::NonRecursive)];
    if let (Ok(real), Ok(known)) = (root.canonicalize(), parent(root).canonicalize()) {
        let real = parent(&real);
        if real != known {
            folders.push((real, RecursiveMode::NonRecursive));
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_file_is_watched_through_its_folder() {
        assert_eq!(folders(Path::new("no-such.sbk")), [(PathBuf::from("."), RecursiveMode::NonRecursive)]);
        assert_eq!(folders(Path::new("a/no-such.sbk")), [(PathBuf::from("a"), RecursiveMode::NonRecursive)]);
    }

    #[test]
    fn a_directory_is_watched_with_all_below_it() {
        let dir = std::env::temp_dir();
        assert_eq!(folders(&dir), [(dir.clone(), RecursiveMode::Recursive)]);
    }

    #[test]
    fn what_cannot_be_watched_leaves_the_poll() {
        let watch = Watch::new(Path::new("/no/such/folder/at/all.sbk"), Duration::from_secs(5));
        assert!(!watch.is_watching());
    }
}
