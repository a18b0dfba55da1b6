//! The system limits that the process raises before it starts.

/// Lets the process open as many files as it may at all: each store of a SQLite installation has a lock file, and
/// shells and some containers allow 1,024 unless a process asks for more.
pub(crate) fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return;
    }
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "cannot raise the limit of open files");
    }
}
