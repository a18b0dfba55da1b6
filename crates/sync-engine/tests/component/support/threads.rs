//! The threads beside a test's own: each SQLite connection has one, and so has work on files.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Returns whether every other thread of this process waits for something to do.
///
/// A thread that sleeps until a lock is free is at work: SQLite sleeps so while another connection writes.
pub(crate) fn all_wait() -> bool {
    others().all(|thread| waits(&thread))
}

/// Returns how often the other threads of this process got to run.
///
/// On a machine under load a statement begins and ends between two looks, and all threads wait at each of them.
pub(crate) fn turns() -> u64 {
    others().map(|thread| turns_of(&thread)).sum()
}

fn others() -> impl Iterator<Item = PathBuf> {
    let own = fs::read_link("/proc/thread-self").expect("a thread may see itself");
    let threads = fs::read_dir("/proc/self/task").expect("a process may see its threads");
    threads
        .flatten()
        .filter(move |thread| Some(&*thread.file_name()) != own.file_name())
        .map(|thread| thread.path())
}

fn waits(thread: &Path) -> bool {
    // A thread that ends meanwhile is not at work, and a kernel that does not tell is not asked.
    let Ok(call) = fs::read_to_string(thread.join("syscall")) else { return true };
    call.split(' ').next() == Some(&libc::SYS_futex.to_string())
}

/// The third number of `schedstat`: the time slices of the thread so far.
fn turns_of(thread: &Path) -> u64 {
    let statistics = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
    statistics.split_whitespace().nth(2).and_then(|slices| slices.parse().ok()).unwrap_or(0)
}
