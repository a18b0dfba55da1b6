//! `espelho demo`: a marketplace, a mirror and their service in one process, for people who are new to espelho. `place`
//! is the demo folder, `questions` the queries on the mirror.

mod place;
mod questions;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use espelho_model::{
    program,
    sync::Resource,
    text,
    text::{Locale, Text},
};
use espelho_sandbox::{Control, Options as SandboxOptions, Sandbox};
use espelho_store::Store;
use espelho_sync_engine::{Options, Progress, Silent, StoreReport, reconcile};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::place::{Files, Place};
use crate::{
    cli::DemoArgs,
    config::{self, Configuration},
    context::{Shared, stop_on_signals},
    exit,
    lifecycle::{Outside, Service},
    progress, report, telemetry,
};

/// How often the demonstration marketplace sells something.
const SALE_EVERY: Duration = Duration::from_secs(5);

pub(super) async fn run(arguments: &DemoArgs, json: bool, locale: Locale) -> u8 {
    match demonstrate(arguments, json, locale).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("espelho demo: {error:#}");
            exit::FAILED
        }
    }
}

async fn demonstrate(arguments: &DemoArgs, json: bool, locale: Locale) -> Result<u8> {
    telemetry::start(config::LogFormat::Text, if arguments.once { "warn" } else { "info" });
    let stop = CancellationToken::new();
    stop_on_signals(&stop)?;
    let sandbox = start_sandbox(arguments).await?;
    let (listener, address) = page_listener().await?;
    let mut place = Place::make(arguments.dir.as_deref())?;
    program::name_configuration(&place.folder().to_string_lossy());
    let configuration = place.configure(&sandbox, address, locale.language)?;
    // A second Ctrl-C ends the process at once.
    tokio::spawn(remove_when_stopped(place.configuration(), stop.clone()));
    say(&text!("demo-marketplace", address = sandbox.base_url()), locale);
    say(&text!("demo-folder", folder = place.folder().display().to_string()), locale);
    let code = match arguments.once {
        true => {
            drop(listener);
            once(&configuration, stop, &place, json, locale).await?
        }
        false => {
            invite(&place, address, locale);
            keep_on(configuration, listener, stop, sandbox.control()).await?
        }
    };
    sandbox.stop().await;
    if arguments.once || arguments.dir.is_some() {
        say(&text!("demo-kept", database = place.keep_database().display().to_string()), locale);
    } else {
        say(&text!("demo-removed", folder = place.folder().display().to_string()), locale);
    }
    Ok(code)
}

/// Prints a message and its next step.
fn say(text: &Text, locale: Locale) {
    eprintln!("{}", text.message(locale));
    if let Some(next) = text.next(locale) {
        eprintln!("  {next}");
    }
}

/// Prints the page's address, and what to see there.
fn invite(place: &Place, address: SocketAddr, locale: Locale) {
    say(&text!("demo-page", address = format!("http://{address}/"), seconds = SALE_EVERY.as_secs()), locale);
    let program =
        std::env::current_exe().map_or_else(|_| "espelho".into(), |path| path.display().to_string());
    let command = format!("{program} --config {} status", place.folder().display());
    say(&text!("demo-terminal", command = command), locale);
    say(&text!("demo-end"), locale);
}

async fn remove_when_stopped(files: Files, stop: CancellationToken) {
    stop.cancelled().await;
    files.remove();
}

async fn start_sandbox(arguments: &DemoArgs) -> Result<Sandbox> {
    let listener = TcpListener::bind("127.0.0.1:0").await.context("no free port for the sandbox")?;
    let options = SandboxOptions {
        orders: arguments.orders,
        products: arguments.products,
        recent_orders: true,
        seed: arguments.seed,
        // The marketplace's rule of five requests a second would bore a newcomer.
        rate: None,
        ..SandboxOptions::default()
    };
    espelho_sandbox::start(listener, options).await.context("the sandbox did not start")
}

/// Binds the page's usual port, or another one if that is taken.
async fn page_listener() -> Result<(TcpListener, SocketAddr)> {
    let usual = config::Installation::default().http.listen;
    let listener = match TcpListener::bind(usual).await {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind("127.0.0.1:0").await.context("no free port")?,
    };
    let address = listener.local_addr().context("no address")?;
    Ok((listener, address))
}

async fn once(
    configuration: &Configuration,
    stop: CancellationToken,
    place: &Place,
    json: bool,
    locale: Locale,
) -> Result<u8> {
    let clock = espelho_model::clock::SystemClock::shared();
    let progress = progress::for_stderr(clock, locale, std::collections::HashMap::new());
    let shared = open(configuration, progress, stop).await?;
    let mut reports: Vec<StoreReport> = Vec::new();
    for config in &configuration.stores {
        let context = shared
            .context(config)
            .await
            .map_err(|problem| anyhow::anyhow!("{}", problem.in_one_line(locale)))?;
        reports.push(reconcile(&context, &Options { kind: "demo", ..Options::default() }).await);
    }
    let database = place.database();
    if json {
        let mut object = report::as_json(&reports, locale);
        object["database"] = json!(database);
        println!("{object}");
    } else {
        let database = database.display().to_string();
        print!("{}", report::as_text(&reports, locale));
        println!("\n{}", text!("demo-mirrored", database = database.as_str()).message(locale));
        show_tables(&shared.store, configuration).await?;
        questions::show(&shared.store, locale).await?;
        println!("\n{}", text!("demo-ask", command = format!("sqlite3 {database}")).message(locale));
    }
    shared.store.close().await;
    Ok(exit::of_run(&reports))
}

async fn open(
    configuration: &Configuration,
    progress: Arc<dyn Progress>,
    stop: CancellationToken,
) -> Result<Shared> {
    let locale = configuration.locale();
    let shared = Shared::open(configuration, "demo", progress, stop).await;
    shared.map_err(|problem| anyhow::anyhow!("{}", problem.in_one_line(locale)))
}

async fn show_tables(store: &Store, configuration: &Configuration) -> Result<()> {
    for config in &configuration.stores {
        for resource in Resource::ALL {
            println!(
                "  {:7} {resource} ({})",
                store.mirror().count(&config.key, resource).await?,
                config.key
            );
        }
    }
    for (table, sql) in [
        ("order_items", "SELECT CAST(count(*) AS TEXT) FROM order_items"),
        ("product_prices", "SELECT CAST(count(*) AS TEXT) FROM product_prices"),
        ("product_stock", "SELECT CAST(count(*) AS TEXT) FROM product_stock"),
        ("stock_locations", "SELECT CAST(count(*) AS TEXT) FROM stock_locations"),
    ] {
        let count = store.diagnostics().ask(sql, 1).await?;
        println!("  {:7} {table}", count.first().map_or("0", |row| row[0].as_str()));
    }
    Ok(())
}

/// Runs the service, with a sale now and then whose arrival people can watch.
async fn keep_on(
    configuration: Configuration,
    listener: TcpListener,
    stop: CancellationToken,
    control: Control,
) -> Result<u8> {
    let shared = open(&configuration, Arc::new(Silent), stop.clone()).await?;
    let selling =
        tokio::spawn(sell(control, configuration.stores[0].key.to_string(), Arc::clone(&shared.clock), stop));
    let locale = configuration.locale();
    let served = Service::new(shared, configuration).run(listener, None, Outside::default()).await;
    selling.abort();
    served.map_err(|problem| anyhow::anyhow!("{}", problem.in_one_line(locale)))?;
    Ok(exit::COMPLETE)
}

async fn sell(
    control: Control,
    store: String,
    clock: Arc<dyn espelho_model::Clock>,
    stop: CancellationToken,
) {
    while !stop.is_cancelled() {
        clock.sleep(SALE_EVERY).await;
        control.orders().insert(&store);
    }
}
