//! A day of a store, at high speed: any alarm without a cause is a false one.
//!
//! `cargo bench -p espelho-tests --bench day -- [--hours 24] [--speed 30] [--orders 1000] [--seed 1] [--binary
//! FILE]`.
//!
//! Buyers place `--orders` orders a day, few at night and many in the evening. An ERP writes stock, prices and the
//! transitions of each order. One delivery in a hundred is lost and one comes twice. The marketplace is unavailable
//! now and then for 5 to 40 seconds. At noon the service is restarted. Every ten seconds `/status` is read, every ten
//! minutes `espelho status` is run. An alarm may be raised while its cause lasts, and 60 s longer. Exits with 1 if an
//! alarm was raised without a cause.
//!
//! All programs of the run use one clock, which runs `--speed` times as fast. Time-outs, limits and schedules keep
//! their values, but the machine's own delays count that many times as long. So the database is kept in memory if
//! there is such a folder, and on a machine with other work the clock should run slower. On SQLite only: a database
//! server has a clock of its own.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]

#[path = "day/alarms.rs"]
mod alarms;
#[path = "day/life.rs"]
mod life;
#[path = "day/store.rs"]
mod store;
mod support;

use std::{
    path::Path,
    process::{Command, ExitCode},
};

use espelho_tests::ClockSkew;
use support::argument;

/// Writes to files here never wait for a disk.
const MEMORY: &str = "/dev/shm";

/// The parameters of the day.
pub(crate) struct Plan {
    pub(crate) hours: f64,
    pub(crate) orders_a_day: f64,
    pub(crate) seed: u64,
}

fn number(name: &str, default: f64) -> f64 {
    argument(name).map_or(default, |text| text.parse().unwrap())
}

fn main() -> ExitCode {
    if std::env::var_os("CLOCK_SKEW").is_none() {
        return live_faster(number("--speed", 30.0));
    }
    let plan = Plan {
        hours: number("--hours", 24.0),
        orders_a_day: number("--orders", 1_000.0),
        seed: number("--seed", 1.0) as u64,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let is_well = runtime.block_on(life::live(&plan));
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs this program again, with everything that it starts, on a faster clock.
fn live_faster(speed: f64) -> ExitCode {
    let folder = tempfile::tempdir().unwrap();
    let clock = ClockSkew::of(folder.path(), speed);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(std::env::args_os().skip(1)).arg("--binary").arg(support::espelho());
    if Path::new(MEMORY).is_dir() {
        command.env("TMPDIR", MEMORY);
    }
    let status = command.envs(clock.environment()).status().unwrap();
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
