//! The threads beside a test's own: each SQLite connection has one, and so has work on files.

use std::{fs, path::Path};

/// Returns whether every other thread of this process waits for something to do.
///
/// A thread that sleeps until a lock is free is at work: SQLite sleeps so while another connection writes.
pub(crate) fn all_wait() -> bool {
    let own = fs::read_link("/proc/thread-self").expect("a thread may see itself");
    let threads = fs::read_dir("/proc/self/task").expect("a process may see its threads");
    threads
        .flatten()
        .filter(|thread| Some(&*thread.file_name()) != own.file_name())
        .all(|thread| waits(&thread.path()))
}

fn waits(thread: &Path) -> bool {
    // A thread that ends meanwhile is not at work, and a kernel that does not tell is not asked.
    let Ok(call) = fs::read_to_string(thread.join("syscall")) else { return true };
    call.split(' ').next() == Some(&libc::SYS_futex.to_string())
}
