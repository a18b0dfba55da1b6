//! A wrong or faster clock: a library between a program and the C library gives the program another time.
//!
//! Programs that share one [`ClockSkew`] agree on the time: their sleeps, time-outs and dates all follow it.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

const SOURCE: &str = include_str!("clock_skew.c");
/// The position of the offset in the library's file.
const OFFSET_AT: u64 = 8;

/// A separate clock for the programs that are started with it.
#[derive(Debug)]
pub struct ClockSkew {
    library: PathBuf,
    file: PathBuf,
}

impl ClockSkew {
    /// Builds the library in a folder. The clock starts at the machine's time and runs `speed` times as fast.
    ///
    /// # Panics
    /// When there is no C compiler, which Rust needs for linking anyway.
    pub fn of(folder: &Path, speed: f64) -> Self {
        let (source, library) = (folder.join("clock_skew.c"), folder.join("clock_skew.so"));
        fs::write(&source, SOURCE).expect("the folder can be written");
        let arguments = ["-O2", "-shared", "-fPIC", "-o"];
        let built = Command::new("cc").args(arguments).args([&library, &source]).arg("-ldl").output();
        let built = built.expect("a C compiler");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let file = folder.join("clock_skew");
        let numbers = [speed.to_le_bytes(), 0i64.to_le_bytes(), since_1970(), since_boot()].concat();
        fs::write(&file, numbers).expect("the folder can be written");
        Self { library, file }
    }

    /// Shifts the date by this many seconds, for running programs too. The monotonic clock is not affected.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn set_offset(&self, seconds: i64) {
        let file = File::options().write(true).open(&self.file).expect("the file is there");
        let nanos = (seconds * 1_000_000_000).to_le_bytes();
        file.write_all_at(&nanos, OFFSET_AT).expect("the file can be written");
    }

    /// Returns the environment variables for a program that uses this clock.
    pub fn environment(&self) -> [(&'static str, &Path); 2] {
        [("LD_PRELOAD", &self.library), ("CLOCK_SKEW", &self.file)]
    }
}

#[expect(clippy::disallowed_methods, reason = "the other clock starts where the machine's is")]
fn since_1970() -> [u8; 8] {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    nanos(since)
}

fn since_boot() -> [u8; 8] {
    let uptime = fs::read_to_string("/proc/uptime").expect("Linux tells its uptime");
    let seconds = uptime.split_whitespace().next().and_then(|text| text.parse().ok()).expect("a number");
    nanos(Duration::from_secs_f64(seconds))
}

fn nanos(span: Duration) -> [u8; 8] {
    i64::try_from(span.as_nanos()).expect("nanoseconds of some centuries").to_le_bytes()
}
