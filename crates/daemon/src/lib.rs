//! The wiring of espelho: command line, configuration, service. The work itself is in the other crates.
//!
//! Reading order: `cli` parses (`help` has its texts, `locale` chooses the language), `commands` has a file for each
//! command, `config` reads DIR, `place` resolves its paths, `context` opens what a store needs, `exit` turns results
//! into exit codes, `lifecycle` (with `stores`, a `store_task` for each, `reload`, `watchdog` and `panics`) and `http`
//! are the service, `alarms` reports what is wrong, `notices` tells people of it, `status` reports the state of everything, `page` renders the pages
//! (their templates are in `templates`), `acts` with `decisions`, `replay` and `pauses` is what operators do, `actions`
//! records it, `operators` and `sessions` say who they are, `knowledge` with `causes` and `mirrored_order` is what is on
//! record, `metric` describes every metric, `handover` lets one process do another's run, `local` asks the service on
//! this machine, `ports` finds who has a port, and `lock_table` refuses more stores than the database has locks for.
//! `output` is standard output, `number` parses numbers as people write them.

#[macro_use]
mod output;

mod actions;
mod acts;
mod alarms;
mod causes;
pub mod cli;
mod commands;
mod config;
mod context;
mod decisions;
mod exit;
mod files;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
mod handover;
mod health;
mod help;
mod http;
mod import;
mod intent_rules;
mod knowledge;
mod lease_watcher;
mod lifecycle;
mod local;
mod locale;
mod lock_table;
mod measure;
mod metric;
mod mirrored_order;
mod notices;
mod number;
mod operators;
mod outgoing;
mod page;
mod panics;
mod password_proof;
mod passwords;
mod pause_watch;
mod pauses;
mod place;
mod ports;
mod progress;
mod refused_arguments;
mod reload;
mod reload_state;
mod replay;
mod report;
mod sessions;
mod status;
mod store_metrics;
mod store_task;
mod stores;
mod telemetry;
mod terminal;
mod traces;
mod unit;
mod unknown_stores;
mod upgrade;
mod usage;
mod users;
mod watchdog;

use std::process::ExitCode;

use espelho_model::{program, text};

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    // reqwest and sqlx share one TLS provider; installing it twice (in tests) is harmless.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let cli = help::parse();
    let folder = config::folder_to_name(cli.config.as_deref());
    if let Some(folder) = folder.filter(|_| cli.reads_configuration()) {
        program::name_configuration(&folder.to_string_lossy());
    }
    if !unit::is_installed() {
        program::name_no_unit();
    }
    let runtime = match runtime(&cli) {
        Ok(runtime) => runtime,
        Err(error) => {
            let text = text!("run-no-runtime", problem = error.to_string());
            eprintln!("espelho: {}", text.message(cli.locale));
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(commands::run(cli));
    // A blocking task that still reads a terminal or a file must not hold the process.
    runtime.shutdown_background();
    ExitCode::from(code)
}

/// Returns the runtime. A one-shot run does its work in one thread: measured, it costs half the CPU of passing each
/// answer to another thread. Services and the sandbox use the machine's cores.
fn runtime(cli: &cli::Cli) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = match cli.resync.resync {
        true => tokio::runtime::Builder::new_current_thread(),
        false => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.enable_all().build()
}
