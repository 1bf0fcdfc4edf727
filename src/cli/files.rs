//! How many files and connections this process may have open.
//!
//! In: what the system allows. Out: all of it taken. Many systems start programs with 1,024 and allow a thousand times
//! as many; a gateway that has none left cannot reach its targets, and would blame them.

/// Raises the limit of open files to the most that is allowed. Where that fails, the limit stays as it was.
#[cfg(unix)]
pub fn as_many_as_allowed() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum }) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

/// Does nothing: this system has no such limit.
#[cfg(not(unix))]
pub fn as_many_as_allowed() {}
