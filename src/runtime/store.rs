//! What outlives the process: named JSON documents in a folder.
//!
//! In: values that their owners describe when asked. Out: a file for each, and at start what the file held. A file is
//! replaced as a whole (written beside, synced, renamed) by a thread of its own, at most once a second and when the
//! gateway ends. Never on a request's path, never waited for by one, and never guesses at what it cannot read. What is
//! handed to it is counts and names of the policy: no prompt, answer or key.

use super::meters::Family;
use crate::policy::{Order, Policy};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often it is looked whether something changed; a crash loses at most what happened since.
const EVERY: Duration = Duration::from_secs(1);
/// The form of the files. Another one is not read, and moved aside as what cannot be read is.
const FORM: u32 = 1;
/// The file that says that a gateway uses the folder.
const LOCK: &str = "lock";

/// Why a folder cannot keep state.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It cannot be made, read or written.
    #[error("the state folder {folder} cannot be used: {error}")]
    Folder {
        /// The folder, as it was given.
        folder: String,
        /// What the system said.
        error: io::Error,
    },
    /// Another gateway writes there.
    #[error("the state folder {folder} is in use by another gateway: give each one a folder of its own")]
    Taken {
        /// The folder, as it was given.
        folder: String,
    },
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    version: u32,
    document: String,
    content: T,
}

type Content = Box<dyn Fn() -> serde_json::Result<Value> + Send + Sync>;

struct Followed {
    name: &'static str,
    changed: Arc<AtomicBool>,
    content: Content,
    /// It is written every so many looks at most.
    every: u32,
    /// Looks since it was written.
    looks: AtomicU32,
}

/// The near end of a document: what its owner tells changes to.
#[derive(Clone, Debug, Default)]
pub struct Document(Arc<AtomicBool>);

impl Document {
    /// The content is not what it was. Costs a store to memory: it may be said for each request.
    pub fn changed(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Named documents, in a folder or in memory alone.
#[derive(Default)]
pub struct Store {
    folder: Option<PathBuf>,
    /// Held for as long as the store is; the system lets go of it however the process ends.
    _lock: Option<File>,
    opened_at_ms: u64,
    followed: Mutex<Vec<Followed>>,
    corrupt: Family<1>,
    failures: AtomicU64,
    failing: AtomicBool,
}

impl Store {
    /// Nothing outlives the process.
    pub fn memory() -> Store {
        Store::default()
    }

    /// Uses a folder, made where it is not there, for this process alone. `at_ms` is wall time since 1970.
    ///
    /// # Errors
    /// When it cannot be made, read, written or locked, or another gateway has it.
    pub fn open(folder: &Path, at_ms: u64) -> Result<Store, Unusable> {
        let named = || folder.display().to_string();
        let unusable = |error| Unusable::Folder { folder: named(), error };
        std::fs::create_dir_all(folder).map_err(unusable)?;
        std::fs::read_dir(folder).map_err(unusable)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK));
        let lock = lock.map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Unusable::Taken { folder: named() }),
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        // That the lock's file could be opened does not say that files can be made and renamed.
        let tried = folder.join("try.json");
        replace(&tried, b"{}").and_then(|()| std::fs::remove_file(&tried)).map_err(unusable)?;
        Ok(Store { folder: Some(folder.to_path_buf()), _lock: Some(lock), opened_at_ms: at_ms, ..Store::default() })
    }

    /// Whether anything outlives the process.
    pub fn keeps(&self) -> bool {
        self.folder.is_some()
    }

    /// What was kept under a name; nothing the first time. What cannot be read is moved aside, said and counted, and it
    /// begins with nothing.
    ///
    /// # Errors
    /// When the file is there and can neither be read nor moved aside.
    pub fn read<T: DeserializeOwned>(&self, name: &'static str) -> Result<Option<T>, Unusable> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let unusable = |error| Unusable::Folder { folder: folder.display().to_string(), error };
        let path = path_of(folder, name);
        match look(&path, name) {
            Ok(content) => Ok(content),
            Err(Unread::Io(error)) => Err(unusable(error)),
            Err(Unread::Corrupt(why)) => {
                let aside = folder.join(format!("{name}.corrupt-{}.json", self.opened_at_ms));
                std::fs::rename(&path, &aside).map_err(unusable)?;
                self.corrupt.count([name]);
                let (document, aside) = (path.display(), aside.display());
                tracing::error!(%document, %aside, why, "state cannot be read: moved aside, and begun anew");
                Ok(None)
            }
        }
    }

    /// Keeps what `content` says under a name from now on, whenever the document is told that it changed. The name is
    /// the file's. Called off the request path, on a thread that may wait for the owner's locks.
    pub fn follow<T: Serialize>(
        &self,
        name: &'static str,
        content: impl Fn() -> T + Send + Sync + 'static,
    ) -> Document {
        self.follow_every(1, name, content)
    }

    /// The same for a large document that may lose a little at a crash: it is written every so many seconds at most.
    pub fn follow_every<T: Serialize>(
        &self,
        every: u32,
        name: &'static str,
        content: impl Fn() -> T + Send + Sync + 'static,
    ) -> Document {
        let document = Document::default();
        let content: Content = Box::new(move || serde_json::to_value(content()));
        let changed = Arc::clone(&document.0);
        // What is there is written at the first look: whoever asks a fresh gateway need not wait.
        let followed = Followed { name, changed, content, every, looks: AtomicU32::new(every) };
        let mut all = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.name != name);
        all.push(followed);
        document
    }

    /// Documents that could not be read at start, by name.
    pub fn corrupt(&self) -> &Family<1> {
        &self.corrupt
    }

    /// Writes that failed since the start.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Whether what is on disk is what it should be, as far as it was tried: false from a failed write to the next good one.
    pub fn is_well(&self) -> bool {
        !self.failing.load(Ordering::Relaxed)
    }

    /// Writes what changed and is due, or at the end all that changed. A document that cannot be written stays changed,
    /// and is tried again the next time.
    fn write(&self, all_of_it: bool) {
        let Some(folder) = &self.folder else { return };
        let all = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tried = false;
        let mut failed = None;
        for followed in all.iter() {
            let looks = followed.looks.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            // Taken back first: what changes while it is written is written once more.
            if !(all_of_it || looks >= followed.every) || !followed.changed.swap(false, Ordering::AcqRel) {
                continue;
            }
            followed.looks.store(0, Ordering::Relaxed);
            tried = true;
            if let Err(error) = write_one(folder, followed) {
                followed.changed.store(true, Ordering::Release);
                followed.looks.store(followed.every, Ordering::Relaxed);
                self.failures.fetch_add(1, Ordering::Relaxed);
                failed.get_or_insert((followed.name, error));
            }
        }
        match failed {
            // Said when it begins and when it ends: a full disk must not fill the log as well.
            Some((document, error)) if !self.failing.swap(true, Ordering::Relaxed) => {
                let folder = folder.display();
                tracing::error!(%folder, document, %error, "state cannot be written; it is tried again, requests go on");
            }
            Some(_) => {}
            None if tried && self.failing.swap(false, Ordering::Relaxed) => {
                tracing::info!(folder = %folder.display(), "state is written again");
            }
            None => {}
        }
    }

    /// Starts the thread that writes. In memory there is nothing to write.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn keeper(store: &Arc<Store>) -> io::Result<Option<Keeper>> {
        if !store.keeps() {
            return Ok(None);
        }
        let store = Arc::clone(store);
        let (stop, stopped) = sync_channel(1);
        let thread = std::thread::Builder::new().name("state".into()).spawn(move || write_all(&store, &stopped))?;
        Ok(Some(Keeper { stop, thread }))
    }
}

/// The thread that writes.
pub struct Keeper {
    stop: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Keeper {
    /// Writes what is left to write, once, and ends.
    pub fn finish(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

fn write_all(store: &Store, stop: &Receiver<()>) {
    while stop.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        store.write(false);
    }
    store.write(true);
    if !store.is_well() {
        tracing::error!("state was not written: the next start begins with an older one");
    }
}

/// What a folder keeps under a name, for those who only look: nothing is locked, moved or written.
///
/// # Errors
/// When there is something that cannot be read.
pub fn peek<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Option<T>, String> {
    let path = path_of(folder, name);
    look(&path, name).map_err(|unread| match unread {
        Unread::Io(error) => format!("cannot read {}: {error}", path.display()),
        Unread::Corrupt(why) => format!("cannot read {}: {why}", path.display()),
    })
}

/// What of a policy begins anew at a restart where no folder is given, in words that follow "without `--state`".
pub fn volatile(policy: &Policy) -> Vec<&'static str> {
    let mut all = Vec::new();
    if policy.targets.iter().filter_map(|t| t.probe.as_ref()).any(|probe| probe.spend_per_day.is_some()) {
        all.push("what probes have spent today is forgotten by a restart, and they may spend it again");
    }
    if policy.tiers.iter().filter_map(|tier| tier.order.every()).any(|every| every >= Order::LASTING) {
        all.push("what calls took is forgotten by a restart, and `order … every` a day or more begins anew");
    }
    if policy.budgets.iter().any(|budget| budget.spend_per_day.is_some()) {
        all.push("what routes have spent today is forgotten by a restart, and they may spend it again");
    }
    all
}

enum Unread {
    Io(io::Error),
    Corrupt(String),
}

fn path_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json"))
}

fn look<T: DeserializeOwned>(path: &Path, name: &str) -> Result<Option<T>, Unread> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Unread::Io(error)),
    };
    let corrupt = |error: serde_json::Error| Unread::Corrupt(error.to_string());
    let envelope: Envelope<Value> = serde_json::from_slice(&bytes).map_err(corrupt)?;
    if envelope.version != FORM || envelope.document != name {
        let Envelope { version, document, .. } = envelope;
        return Err(Unread::Corrupt(format!("it is version {version} of `{document}`")));
    }
    serde_json::from_value(envelope.content).map(Some).map_err(corrupt)
}

fn write_one(folder: &Path, followed: &Followed) -> io::Result<()> {
    let content = (followed.content)()?;
    let envelope = Envelope { version: FORM, document: followed.name.to_owned(), content };
    let mut text = serde_json::to_vec(&envelope)?;
    text.push(b'\n');
    replace(&path_of(folder, followed.name), &text)
}

/// Replaces a file as a whole: whoever reads it, and a machine that loses power, finds the old one or the new one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("json.new");
    let written = || {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    if let Err(error) = written() {
        // Half a file is in nobody's way but takes room, which may be what was missing.
        let _ = std::fs::remove_file(&beside);
        return Err(error);
    }
    // The name is in the folder's own data. Where a folder cannot be synced, the file is whole all the same.
    if let Some(folder) = path.parent() {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
