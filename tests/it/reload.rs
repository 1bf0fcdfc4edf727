//! A policy set that is followed on a real disk: what the watch reports and what the poll finds reach `apply`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use switchback::runtime::reload::{ReloadStatus, Reloader};
use switchback::runtime::snapshot::Current;
use switchback::runtime::watch::Watch;
use switchback::source::load;
use tokio::sync::mpsc;

const ONE: &str = "switchback 1\n\nprovider north { api emulated }\n";
const TWO: &str = "switchback 1\n\nprovider north { api emulated }\nprovider south { api emulated }\n";
const BROKEN: &str = "switchback 1\n\nprovider north { api emulated\n";

/// Longest time for an edit to be noticed, far above what it takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A poll that no test lives to see.
const NEVER: Duration = Duration::from_secs(3_600);

struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("switchback-follow-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Dir(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What is seen of a set that is followed.
struct Followed {
    applied: mpsc::UnboundedReceiver<()>,
    status: Arc<Current<ReloadStatus>>,
}

impl Followed {
    fn start(root: &Path, poll: Duration) -> Followed {
        let (report, applied) = mpsc::unbounded_channel();
        let watch = Watch::new(root, poll);
        let apply = Box::new(move |_| report.send(()).map_err(|e| e.to_string()));
        let reloader = Reloader::new(root, Arc::new(load(root).unwrap()), 0, apply);
        let status = reloader.status();
        tokio::spawn(reloader.follow(watch, || 1));
        Followed { applied, status }
    }

    async fn applied(&mut self) {
        tokio::time::timeout(PATIENCE, self.applied.recv()).await.expect("the edit was not noticed").unwrap();
    }

    async fn until_ok_is(&self, ok: bool) {
        let wait = async {
            while self.status.load().ok != ok {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("the status did not change");
    }
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(test);
}

#[test]
fn saves_are_noticed_whichever_way_they_are_made() {
    let dir = Dir::new("saves");
    let path = dir.0.join("a.sbk");
    fs::write(&path, ONE).unwrap();
    run(async {
        let mut followed = Followed::start(&path, NEVER);
        fs::write(&path, TWO).unwrap();
        followed.applied().await;
        fs::write(dir.0.join("a.sbk~"), ONE).unwrap();
        fs::rename(dir.0.join("a.sbk~"), &path).unwrap();
        followed.applied().await;
        fs::remove_file(&path).unwrap();
        fs::write(&path, TWO).unwrap();
        followed.applied().await;
        assert!(followed.status.load().ok);
    });
}

#[test]
fn a_broken_save_leaves_what_serves_and_the_next_one_recovers() {
    let dir = Dir::new("broken");
    let path = dir.0.join("a.sbk");
    fs::write(&path, ONE).unwrap();
    run(async {
        let mut followed = Followed::start(&dir.0, NEVER);
        fs::write(&path, BROKEN).unwrap();
        followed.until_ok_is(false).await;
        assert!(followed.applied.try_recv().is_err());
        assert_eq!(followed.status.load().diagnostics[0].place.line, 3);
        fs::write(&path, TWO).unwrap();
        followed.applied().await;
        followed.until_ok_is(true).await;
    });
}

#[cfg(unix)]
#[test]
fn a_volume_that_exchanges_its_link_is_noticed() {
    use std::os::unix::fs::symlink;
    let dir = Dir::new("volume");
    for (folder, text) in [("..1", ONE), ("..2", TWO)] {
        fs::create_dir(dir.0.join(folder)).unwrap();
        fs::write(dir.0.join(folder).join("a.sbk"), text).unwrap();
    }
    symlink("..1", dir.0.join("..data")).unwrap();
    symlink("..data/a.sbk", dir.0.join("a.sbk")).unwrap();
    run(async {
        for root in [dir.0.clone(), dir.0.join("a.sbk")] {
            let mut followed = Followed::start(&root, NEVER);
            let other = if fs::read_link(dir.0.join("..data")).unwrap() == Path::new("..1") { "..2" } else { "..1" };
            symlink(other, dir.0.join("..data_tmp")).unwrap();
            fs::rename(dir.0.join("..data_tmp"), dir.0.join("..data")).unwrap();
            followed.applied().await;
        }
    });
}

#[test]
fn the_poll_finds_what_nothing_reports() {
    let dir = Dir::new("poll");
    let sets = dir.0.join("sets");
    fs::create_dir(&sets).unwrap();
    fs::write(sets.join("a.sbk"), ONE).unwrap();
    run(async {
        let mut followed = Followed::start(&sets, Duration::from_millis(20));
        // The watched folder itself is exchanged: its successor is another folder, which nothing watches.
        fs::rename(&sets, dir.0.join("old")).unwrap();
        fs::create_dir(&sets).unwrap();
        fs::write(sets.join("a.sbk"), TWO).unwrap();
        followed.applied().await;
    });
}

#[test]
fn reading_a_policy_is_not_a_change_of_it() {
    let dir = Dir::new("reading");
    fs::write(dir.0.join("a.sbk"), ONE).unwrap();
    run(async {
        let mut watch = Watch::new(&dir.0, NEVER);
        load(&dir.0).unwrap();
        let ticked = tokio::time::timeout(Duration::from_millis(200), watch.changed()).await;
        assert!(ticked.is_err(), "a reader that answers its own reads never rests");
        fs::write(dir.0.join("a.sbk"), TWO).unwrap();
        tokio::time::timeout(PATIENCE, watch.changed()).await.expect("a write is a change");
    });
}
