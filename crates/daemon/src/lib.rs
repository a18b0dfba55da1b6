//! The wiring of espelho: command line, configuration, service. What it does is in the other crates.
//!
//! Reading order: `cli` parses, `commands` has a file for each command, `config` reads DIR, `context` opens
//! what a store needs, `exit` turns what happened into an exit code, `lifecycle` (with
//! `stores`, a `store_task` for each, `reload`, `watchdog` and `panics`) and `http` are the service, `alarms` says what is wrong, `status` how everything is, `handover` lets one
//! process do another's run, and `local` asks the service here.

mod alarms;
pub mod cli;
mod commands;
mod config;
mod context;
mod counted;
mod exit;
mod files;
mod folder;
mod handover;
mod health;
mod http;
mod import;
mod lifecycle;
mod local;
mod locale;
mod measure;
mod panics;
mod progress;
mod reload;
mod report;
mod status;
mod store_task;
mod stores;
mod telemetry;
mod usage;
mod vacancy;
mod watchdog;

use std::process::ExitCode;

use clap::Parser as _;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    // reqwest and sqlx share one TLS provider; installing it twice (in tests) is harmless.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut cli = cli::Cli::parse();
    cli.locale = locale::of(cli.lang, cli.config.as_deref());
    let runtime = match runtime(&cli) {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("espelho: no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(commands::run(cli));
    // A blocking task that still reads a terminal or a file must not hold the process.
    runtime.shutdown_background();
    ExitCode::from(code)
}

/// A one-shot run does its work in one thread: measured, it costs half the CPU of handing each answer to
/// another one. Services and the sandbox use the machine's cores.
fn runtime(cli: &cli::Cli) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = match cli.resync.resync {
        true => tokio::runtime::Builder::new_current_thread(),
        false => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.enable_all().build()
}
