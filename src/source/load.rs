//! Reads a policy set from disk: one file, or every `.sbk` file below a directory, sorted by path.
//!
//! Symbolic links are followed, since a Kubernetes volume is made of them; `..data`-style hidden folders are passed over
//! so that no file is seen twice. Never parses.

use super::Sources;
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
    /// A file larger than the limit.
    #[error("{path} is {bytes} bytes long; a policy file may have at most {limit}")]
    TooLarge {
        /// The path as given.
        path: String,
        /// Its size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A directory without any policy file.
    #[error("there is no .sbk file in {path}")]
    Empty {
        /// The path as given.
        path: String,
    },
}

/// Largest policy file that is read, in bytes. A set of 1 MiB is the design size; this leaves room for generated ones.
pub const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// Reads the set at `root`.
///
/// # Errors
/// When the path, or a file below it, cannot be read as text, or a directory holds no `.sbk` file.
pub fn load(root: &Path) -> Result<Sources, LoadError> {
    let meta = std::fs::metadata(root).map_err(|error| unreadable(root, error))?;
    let mut paths = Vec::new();
    if meta.is_dir() {
        collect(root, &mut paths, 0)?;
        paths.sort();
        if paths.is_empty() {
            return Err(LoadError::Empty { path: root.display().to_string() });
        }
    } else {
        paths.push(root.to_path_buf());
    }
    let mut texts = Vec::with_capacity(paths.len());
    for path in paths {
        texts.push((path.display().to_string(), read(&path)?));
    }
    Ok(Sources::from_texts(texts))
}

fn unreadable(path: &Path, error: std::io::Error) -> LoadError {
    LoadError::Unreadable { path: path.display().to_string(), error }
}

fn read(path: &Path) -> Result<String, LoadError> {
    let meta = std::fs::metadata(path).map_err(|error| unreadable(path, error))?;
    if meta.len() > MAX_FILE_BYTES {
        return Err(LoadError::TooLarge { path: path.display().to_string(), bytes: meta.len(), limit: MAX_FILE_BYTES });
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, error))?;
    String::from_utf8(bytes).map_err(|error| LoadError::NotText {
        path: path.display().to_string(),
        offset: error.utf8_error().valid_up_to(),
    })
}

/// Folders nest at most this deep, so that a link loop ends.
const MAX_DEPTH: usize = 16;

fn collect(dir: &Path, into: &mut Vec<PathBuf>, depth: usize) -> Result<(), LoadError> {
    if depth > MAX_DEPTH {
        return Ok(());
    }
    let entries = std::fs::read_dir(dir).map_err(|error| unreadable(dir, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(dir, error))?;
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let meta = std::fs::metadata(&path).map_err(|error| unreadable(&path, error))?;
        if meta.is_dir() {
            collect(&path, into, depth + 1)?;
        } else if path.extension().is_some_and(|e| e == "sbk") {
            into.push(path);
        }
    }
    Ok(())
}
