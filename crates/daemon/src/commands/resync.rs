//! `espelho --resync`: one complete reconciliation.

use std::{net::SocketAddr, time::Duration};

use espelho_model::{clock::SystemClock, text, text::Locale};
use espelho_sync_engine::{Options, Problem, StoreReport, Trouble, reconcile};
use futures_util::{StreamExt as _, stream};
use tokio_util::sync::CancellationToken;

use super::{load, no_signals, reading::unknown_store, say};
use crate::{
    cli::Cli,
    config::{Configuration, StoreConfig},
    context::{Shared, stop_on_signals},
    exit, handover, progress, report,
    status::Counted,
    telemetry,
    traces::Traces,
};

/// The number of stores at once: each has its own budget, and waiting for it costs nothing.
const STORES_AT_ONCE: usize = 16;
/// How long the operator waits for a clean end.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) async fn run(cli: &Cli) -> u8 {
    let mut configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    if let Err(unknown) = select(&mut configuration, &cli.resync.store) {
        return say(&unknown, cli);
    }
    let traces = Traces::of(&configuration.installation.traces);
    telemetry::start_with_traces(configuration.installation.log.format, "warn", traces.as_ref());
    let stop = CancellationToken::new();
    if let Err(error) = stop_on_signals(&stop) {
        eprintln!("espelho: {}", no_signals(&error).message(cli.locale));
        return exit::FAILED;
    }
    let budgets =
        configuration.stores.iter().map(|store| (store.key.clone(), store.requests_per_minute.get()));
    let progress = progress::for_stderr(SystemClock::shared(), cli.locale, budgets.collect());
    let shared = match Shared::open(&configuration, "--resync", progress, stop).await {
        Ok(shared) => shared,
        Err(problem) => return say(&problem, cli),
    };
    let (options, listen) = (options(cli), configuration.installation.http.listen);
    let service = (listen, cli.locale);
    let work = configuration.stores.iter().map(|config| resync_store(&shared, config, &options, service));
    let working = stream::iter(work).buffer_unordered(STORES_AT_ONCE).collect::<Vec<StoreReport>>();
    let mut reports = tokio::select! {
        reports = working => reports,
        () = patience_ended(&shared) => return say(&stopped(), cli),
    };
    reports.sort_by(|a, b| a.store.cmp(&b.store));
    if !cli.resync.dry_run {
        tokio::select! {
            biased;
            () = shared.stop.cancelled() => (),
            () = record_first_counts(&shared) => (),
        }
    }
    shared.store.close().await;
    Traces::end(traces).await;
    print(&reports, cli);
    exit::of_run(&reports)
}

/// Resolves when the operator has asked to stop and has waited long enough: requests under way and a page's write get
/// time, a server's "come back in five minutes" does not. The process ends then, so it is harmless to cut off a
/// database future: the next run reads again what was not committed.
async fn patience_ended(shared: &Shared) {
    shared.stop.cancelled().await;
    shared.clock.sleep(ANSWER_TIMEOUT).await;
}

async fn record_first_counts(shared: &Shared) {
    if let Err(error) = Counted::record_first(&shared.store, &*shared.clock).await {
        tracing::debug!(%error, "cannot count the rows for the first page");
    }
}

fn stopped() -> Problem {
    Problem::of(Trouble::Stopped, "stopped", text!("run-stopped-waiting"))
}

fn options(cli: &Cli) -> Options {
    let arguments = &cli.resync;
    Options {
        only: arguments.only.clone(),
        since: arguments.since,
        restart: arguments.restart,
        deep: arguments.deep,
        dry_run: arguments.dry_run,
        accept_gone: arguments.accept_gone,
        label_files: arguments.only.is_empty() && !arguments.dry_run,
        lane: None,
        kind: "resync",
    }
}

/// Lets the service on this machine do the run, if it holds the store.
async fn hand_over(
    shared: &Shared,
    config: &StoreConfig,
    options: &Options,
    (listen, locale): (SocketAddr, Locale),
) -> Option<StoreReport> {
    let asking = handover::ask(listen, &config.key, options, &*shared.progress, &shared.clock, locale);
    tokio::select! {
        report = asking => report,
        () = shared.stop.cancelled() => Some(StoreReport::not_begun(config.key.clone(), left())),
    }
}

fn left() -> Problem {
    Problem::of(Trouble::Stopped, "stopped", text!("run-left"))
}

async fn resync_store(
    shared: &Shared,
    config: &StoreConfig,
    options: &Options,
    service: (SocketAddr, Locale),
) -> StoreReport {
    let context = match shared.context(config).await {
        Ok(context) => context,
        Err(problem) if problem.trouble == Trouble::Held => {
            let handed_over = hand_over(shared, config, options, service).await;
            return handed_over.unwrap_or_else(|| StoreReport::not_begun(config.key.clone(), problem));
        }
        Err(problem) => return StoreReport::not_begun(config.key.clone(), problem),
    };
    let report = reconcile(&context, options).await;
    if let Err(error) = context.lease.release().await {
        tracing::warn!(store = %config.key, %error, "lease not released; it ends with the connection");
    }
    report
}

/// Keeps only the requested stores.
fn select(configuration: &mut Configuration, asked: &[String]) -> Result<(), Problem> {
    let known: Vec<_> = configuration.stores.iter().map(|store| store.key.clone()).collect();
    if let Some(unknown) = asked.iter().find(|asked| known.iter().all(|key| key.as_str() != asked.as_str())) {
        return Err(unknown_store(unknown, &known));
    }
    if !asked.is_empty() {
        configuration.stores.retain(|store| asked.iter().any(|key| key == store.key.as_str()));
    }
    Ok(())
}

fn print(reports: &[StoreReport], cli: &Cli) {
    let mut text = report::as_text(reports, cli.locale);
    if cli.resync.dry_run {
        text = format!("{text}{}\n", text!("run-dry-run").message(cli.locale));
    }
    if cli.json {
        eprint!("{text}");
        let mut object = report::as_json(reports, cli.locale);
        object["dry_run"] = cli.resync.dry_run.into();
        println!("{object}");
    } else {
        print!("{text}");
    }
}
