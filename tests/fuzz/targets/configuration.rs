#![no_main]

use std::{path::PathBuf, process, sync::LazyLock};

/// In memory where the system has such a folder: each input is two files.
static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
    parent.join(format!("espelho-fuzz-{}", process::id()))
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| espelho_daemon::fuzzing::configuration(&DIR, input));
