//! One look at a time at a real folder: no watch, no clock, no waiting.

use super::*;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

const ONE: &str = "switchback 1\n\nprovider north { api emulated }\n";
const TWO: &str = "switchback 1\n\nprovider north { api emulated }\nprovider south { api emulated }\n";
const BROKEN: &str = "switchback 1\n\nprovider north { api emulated\n";

/// A folder of its own that goes with the test.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Dir {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("switchback-reload-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A reloader over a path, and how often it applied.
struct Case {
    reloader: Reloader,
    applied: Arc<AtomicU32>,
    refuse: Arc<Current<bool>>,
    at_ms: u64,
}

impl Case {
    fn over(root: &Path) -> Case {
        let (applied, refuse) = (Arc::new(AtomicU32::new(0)), Arc::new(Current::new(false)));
        let (count, no) = (Arc::clone(&applied), Arc::clone(&refuse));
        let apply = Box::new(move |_: Ready| {
            if *no.load() {
                return Err("`NORTH_KEY` is not set".to_string());
            }
            count.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        Case { reloader: Reloader::new(root, Arc::new(load(root).unwrap()), 1, apply), applied, refuse, at_ms: 1 }
    }

    fn tick(&mut self) -> Tick {
        self.at_ms += 1;
        self.reloader.tick(self.at_ms)
    }

    /// Ticks until it no longer asks to look again; how often it asked, and what came of it.
    fn settle(&mut self) -> (u32, Tick) {
        let mut looks = 0;
        loop {
            match self.tick() {
                Tick::Again => looks += 1,
                other => return (looks, other),
            }
        }
    }

    fn applied(&self) -> u32 {
        self.applied.load(Ordering::Relaxed)
    }

    fn status(&self) -> ReloadStatus {
        (*self.reloader.status().load()).clone()
    }
}

#[test]
fn identical_content_does_nothing() {
    let dir = Dir::new();
    fs::write(dir.file("a.sbk"), ONE).unwrap();
    let mut case = Case::over(&dir.file("a.sbk"));
    fs::write(dir.file("a.sbk"), ONE).unwrap();
    assert_eq!(case.tick(), Tick::Same);
    assert_eq!((case.applied(), case.status()), (0, ReloadStatus::good(1)));
}

#[test]
fn a_file_written_in_place_is_applied_once() {
    let dir = Dir::new();
    fs::write(dir.file("a.sbk"), ONE).unwrap();
    let mut case = Case::over(&dir.file("a.sbk"));
    fs::write(dir.file("a.sbk"), TWO).unwrap();
    assert_eq!(case.tick(), Tick::Applied);
    assert_eq!(case.tick(), Tick::Same);
    assert_eq!((case.applied(), case.status()), (1, ReloadStatus::good(2)));
}

#[test]
fn a_file_renamed_over_is_applied() {
    let dir = Dir::new();
    fs::write(dir.file("a.sbk"), ONE).unwrap();
    let mut case = Case::over(&dir.file("a.sbk"));
    fs::write(dir.file(".a.sbk.swp"), TWO).unwrap();
    fs::rename(dir.file(".a.sbk.swp"), dir.file("a.sbk")).unwrap();
    assert_eq!(case.tick(), Tick::Applied);
}

#[cfg(unix)]
#[test]
fn a_volume_exchanged_by_its_link_is_applied() {
    use std::os::unix::fs::symlink;
    let dir = Dir::new();
    for (folder, text) in [("..1", ONE), ("..2", TWO)] {
        fs::create_dir(dir.file(folder)).unwrap();
        fs::write(dir.file(folder).join("a.sbk"), text).unwrap();
    }
    symlink("..1", dir.file("..data")).unwrap();
    symlink("..data/a.sbk", dir.file("a.sbk")).unwrap();
    let mut case = Case::over(&dir.0);
    assert_eq!(case.tick(), Tick::Same);
    symlink("..2", dir.file("..data_tmp")).unwrap();
    fs::rename(dir.file("..data_tmp"), dir.file("..data")).unwrap();
    assert_eq!(case.tick(), Tick::Applied);
    assert_eq!(case.tick(), Tick::Same);
}

#[test]
fn a_broken_edit_is_told_once_and_the_next_good_one_recovers() {
    let dir = Dir::new();
    let path = dir.file("a.sbk");
    fs::write(&path, ONE).unwrap();
    let mut case = Case::over(&path);
    fs::write(&path, BROKEN).unwrap();
    assert_eq!(case.tick(), Tick::Rejected);
    assert_eq!(case.tick(), Tick::Same);
    let status = case.status();
    assert_eq!((status.ok, status.at_ms, case.applied()), (false, 2, 0));
    let finding = &status.diagnostics[0];
    assert_eq!((finding.place.line, finding.place.file.as_str()), (3, path.to_str().unwrap()));
    assert!(finding.code.starts_with("SB"), "{finding:?}");
    fs::write(&path, TWO).unwrap();
    assert_eq!(case.tick(), Tick::Applied);
    assert_eq!((case.applied(), case.status()), (1, ReloadStatus::good(4)));
}

#[test]
fn a_broken_edit_taken_back_recovers_without_applying() {
    let dir = Dir::new();
    fs::write(dir.file("a.sbk"), ONE).unwrap();
    let mut case = Case::over(&dir.0);
    fs::write(dir.file("a.sbk"), BROKEN).unwrap();
    assert_eq!(case.tick(), Tick::Rejected);
    fs::write(dir.file("a.sbk"), ONE).unwrap();
    assert_eq!(case.tick(), Tick::Restored);
    assert_eq!((case.applied(), case.status()), (0, ReloadStatus::good(3)));
}

#[test]
fn what_cannot_be_applied_is_rejected() {
    let dir = Dir::new();
    fs::write(dir.file("a.sbk"), ONE).unwrap();
    let mut case = Case::over(&dir.0);
    case.refuse.store(Arc::new(true));
    fs::write(dir.file("a.sbk"), TWO).unwrap();
    assert_eq!(case.tick(), Tick::Rejected);
    let status = case.status();
    assert_eq!(status.diagnostics[0].code, "not-applied");
    assert_eq!(status.diagnostics[0].message, "`NORTH_KEY` is not set");
    fs::write(dir.file("a.sbk"), ONE).unwrap();
    assert_eq!(case.tick(), Tick::Restored);
}

#[test]
fn a_file_that_is_away_for_a_moment_is_not_a_rejection() {
    let dir = Dir::new();
    let path = dir.file("a.sbk");
    fs::write(&path, ONE).unwrap();
    let mut case = Case::over(&path);
    fs::remove_file(&path).unwrap();
    assert_eq!(case.tick(), Tick::Again);
    fs::write(&path, TWO).unwrap();
    assert_eq!(case.tick(), Tick::Applied);
    // Emptied, then written: for a moment the set is bare.
    fs::write(&path, "").unwrap();
    assert_eq!(case.tick(), Tick::Again);
    fs::write(&path, ONE).unwrap();
    assert_eq!(case.tick(), Tick::Applied);
}

#[test]
fn a_file_that_stays_away_is_rejected_and_may_come_back() {
    let dir = Dir::new();
    let path = dir.file("a.sbk");
    fs::write(&path, ONE).unwrap();
    let mut case = Case::over(&path);
    fs::remove_file(&path).unwrap();
    assert_eq!(case.settle(), (LOOKS, Tick::Rejected));
    assert_eq!(case.settle().1, Tick::Same);
    let status = case.status();
    assert!(!status.ok && status.diagnostics[0].message.contains("cannot read"), "{status:?}");
    fs::write(&path, ONE).unwrap();
    assert_eq!(case.tick(), Tick::Restored);
    assert_eq!(case.applied(), 0);
}

#[test]
fn a_file_of_a_set_may_be_deleted_for_good() {
    let dir = Dir::new();
    fs::write(dir.file("a.sbk"), ONE).unwrap();
    fs::write(dir.file("b.sbk"), "switchback 1\nprovider west { api emulated }\n").unwrap();
    let mut case = Case::over(&dir.0);
    fs::remove_file(dir.file("b.sbk")).unwrap();
    assert_eq!(case.settle(), (LOOKS, Tick::Applied));
    assert_eq!(case.settle(), (0, Tick::Same));
}

#[test]
fn an_added_file_is_part_of_the_set() {
    let dir = Dir::new();
    fs::write(dir.file("a.sbk"), ONE).unwrap();
    let mut case = Case::over(&dir.0);
    fs::write(dir.file("b.sbk"), "switchback 1\nprovider west { api emulated }\n").unwrap();
    assert_eq!(case.tick(), Tick::Applied);
}
