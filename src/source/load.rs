//! Reads a policy set from disk: one file, or every `.sbk` file below a directory, sorted by path.
//!
//! Symbolic links are followed, since a Kubernetes volume is made of them; `..data`-style hidden folders are passed over
//! so that no file is seen twice. Never parses.

use super::Sources;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Why a policy set could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A path that cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// The path as given.
        path: String,
        /// What the system said.
        #[source]
        error: std::io::Error,
    },
    /// A file that is not UTF-8.
    #[error("{path} is not UTF-8 text (first bad byte at offset {offset}); save it as UTF-8")]
    NotText {
        /// The path as given.
        path: String,
        /// First byte that is not UTF-8.
        offset: usize,
    },
    /// A directory without any policy file.
    #[error("there is no .sbk file in {path}")]
    Empty {
        /// The path as given.
        path: String,
    },
}

/// Largest policy file that is read whole, in bytes. A set of 1 MiB is the design size; this leaves room for generated ones.
/// Of a larger one so much is read that whoever parses it sees that it is too large.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;

/// What of a set could be read, and why the rest could not.
#[derive(Debug)]
pub struct Loaded {
    /// The files that could be read; partial if there were others.
    pub sources: Sources,
    /// One for each path that could not.
    pub failures: Vec<LoadError>,
}

/// Reads the set at `root`, all of it.
///
/// # Errors
/// When the path, or a file below it, cannot be read as text, or a directory holds no `.sbk` file.
pub fn load(root: &Path) -> Result<Sources, LoadError> {
    let Loaded { sources, failures } = load_all(root);
    failures.into_iter().next().map_or(Ok(sources), Err)
}

/// Reads what can be read of the set at `root`.
pub fn load_all(root: &Path) -> Loaded {
    let (mut paths, mut failures) = (Vec::new(), Vec::new());
    match std::fs::metadata(root) {
        Ok(meta) if meta.is_dir() => {
            collect(root, &mut paths, &mut failures, 0);
            paths.sort();
            if paths.is_empty() && failures.is_empty() {
                failures.push(LoadError::Empty { path: root.display().to_string() });
            }
        }
        Ok(_) => paths.push(root.to_path_buf()),
        Err(error) => failures.push(unreadable(root, error)),
    }
    let mut texts = Vec::with_capacity(paths.len());
    for path in paths {
        match read(&path) {
            Ok(text) => texts.push((shown(&path), text)),
            Err(error) => failures.push(error),
        }
    }
    let sources = Sources::from_texts(texts);
    Loaded { sources: if failures.is_empty() { sources } else { sources.partial() }, failures }
}

/// A path as people and programs write it: what lies in the present folder has its name alone.
fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

fn unreadable(path: &Path, error: std::io::Error) -> LoadError {
    LoadError::Unreadable { path: shown(path), error }
}

fn read(path: &Path) -> Result<String, LoadError> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_BYTES + 1).unwrap_or(u64::MAX);
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, error))?;
    file.take(most).read_to_end(&mut bytes).map_err(|error| unreadable(path, error))?;
    if bytes.len() > MAX_BYTES {
        // Cut anywhere, and longer than what is parsed all the same.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes)
        .map_err(|error| LoadError::NotText { path: shown(path), offset: error.utf8_error().valid_up_to() })
}

/// Folders nest at most this deep, so that a link loop ends.
const MAX_DEPTH: usize = 16;

fn collect(dir: &Path, into: &mut Vec<PathBuf>, failures: &mut Vec<LoadError>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => return failures.push(unreadable(dir, error)),
    };
    for entry in entries {
        let path = match entry {
            Ok(entry) if entry.file_name().to_string_lossy().starts_with('.') => continue,
            Ok(entry) => entry.path(),
            Err(error) => {
                failures.push(unreadable(dir, error));
                continue;
            }
        };
        match std::fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => collect(&path, into, failures, depth + 1),
            Ok(_) if is_policy(&path) => into.push(path),
            // A link to nowhere that is no policy concerns nobody.
            Err(error) if is_policy(&path) => failures.push(unreadable(&path, error)),
            Ok(_) | Err(_) => {}
        }
    }
}

fn is_policy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "sbk")
}
