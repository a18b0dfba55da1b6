//! `espelho demo`: a marketplace, a mirror and their service in one process, for people who are new to espelho. `place`
//! is the demo folder, `questions` the queries on the mirror.

mod place;
mod questions;

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use espelho_model::{
    program,
    sync::Resource,
    text,
    text::{Locale, Text},
};
use espelho_sandbox::{Control, Options as SandboxOptions, Sandbox};
use espelho_store::Store;
use espelho_sync_engine::{Options, Problem, Silent, StoreReport, Trouble, reconcile};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::place::{Files, Place};
use super::sandbox;
use crate::{
    cli::{Cli, DemoArgs},
    config::{self, Configuration},
    context::{Shared, stop_on_signals},
    exit,
    lifecycle::{Outside, Service},
    progress, report, telemetry,
};

/// How often the demonstration marketplace sells something.
const SALE_EVERY: Duration = Duration::from_secs(5);

/// The result of a step, or why the demonstration ends.
type Result<T> = std::result::Result<T, Problem>;

pub(super) async fn run(cli: &Cli, arguments: &DemoArgs) -> u8 {
    match demonstrate(arguments, cli.json, cli.locale).await {
        Ok(code) => code,
        Err(problem) => super::say(&problem, cli),
    }
}

async fn demonstrate(arguments: &DemoArgs, json: bool, locale: Locale) -> Result<u8> {
    telemetry::start(config::LogFormat::Text, if arguments.once { "warn" } else { "info" });
    let stop = CancellationToken::new();
    stop_on_signals(&stop).map_err(|error| {
        let text = text!("sandbox-not-started", problem = format!("{error:#}"));
        Problem::of(Trouble::Failure, "not_started", text)
    })?;
    let sandbox = start_sandbox(arguments).await?;
    let (listener, address) = page_listener().await?;
    let mut place = Place::make(arguments.dir.as_deref())?;
    program::name_configuration(&place.folder().to_string_lossy());
    let configuration = place.configure(&sandbox, address, locale.language)?;
    // A second Ctrl-C ends the process at once.
    tokio::spawn(remove_when_stopped(place.configuration(), stop.clone()));
    let marketplace = sandbox.base_url();
    for text in invitation(place.folder(), &marketplace, (!arguments.once).then_some(address)) {
        say(&text, locale);
    }
    let code = match arguments.once {
        true => {
            drop(listener);
            once(&configuration, stop, &place, json, locale).await?
        }
        false => keep_on(configuration, listener, stop, sandbox.control()).await?,
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

/// Returns what people are told at the start: first the page that they open, if there is one, then the addresses that
/// they need not open.
fn invitation(folder: &Path, marketplace: &str, page: Option<SocketAddr>) -> Vec<Text> {
    let places = [
        text!("demo-marketplace", address = marketplace),
        text!("demo-folder", folder = folder.display().to_string()),
    ];
    let Some(page) = page else { return places.into() };
    let program =
        std::env::current_exe().map_or_else(|_| "espelho".into(), |path| path.display().to_string());
    let command = format!("{program} --config {} status", folder.display());
    let mut texts =
        vec![text!("demo-page", address = format!("http://{page}/"), seconds = SALE_EVERY.as_secs())];
    texts.extend(places);
    texts.extend([text!("demo-terminal", command = command), text!("demo-end")]);
    texts
}

async fn remove_when_stopped(files: Files, stop: CancellationToken) {
    stop.cancelled().await;
    files.remove();
}

async fn start_sandbox(arguments: &DemoArgs) -> Result<Sandbox> {
    let listener = any_port().await?;
    let options = SandboxOptions {
        orders: arguments.orders,
        products: arguments.products,
        recent_orders: true,
        seed: arguments.seed,
        // The marketplace's rule of five requests a second would bore a newcomer.
        rate: None,
        ..SandboxOptions::default()
    };
    espelho_sandbox::start(listener, options).await.map_err(|error| sandbox::not_started(&error))
}

/// Binds a free port of this machine.
async fn any_port() -> Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0").await.map_err(|error| no_port(&error))
}

fn no_port(error: &std::io::Error) -> Problem {
    let text = text!("demo-no-port", problem = error.to_string());
    Problem::new(Trouble::Failure, "port_refused", error, text)
}

/// Binds the page's usual port, or another one if that is taken.
async fn page_listener() -> Result<(TcpListener, SocketAddr)> {
    let usual = config::Installation::default().http.listen;
    let listener = match TcpListener::bind(usual).await {
        Ok(listener) => listener,
        Err(_) => any_port().await?,
    };
    let address = listener.local_addr().map_err(|error| no_port(&error))?;
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
    let shared = Shared::open(configuration, "demo", progress, stop).await?;
    let mut reports: Vec<StoreReport> = Vec::new();
    for config in &configuration.stores {
        let context = shared.context(config).await?;
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
        show_tables(&shared.store, configuration, locale).await?;
        questions::show(&shared.store, locale).await?;
        println!("\n{}", text!("demo-ask", command = format!("sqlite3 {database}")).message(locale));
    }
    shared.store.close().await;
    Ok(exit::of_run(&reports))
}

async fn show_tables(store: &Store, configuration: &Configuration, locale: Locale) -> Result<()> {
    for config in &configuration.stores {
        for resource in Resource::ALL {
            let count = locale.number(store.mirror().count(&config.key, resource).await?);
            println!("  {count:>7} {resource} ({})", config.key);
        }
    }
    for (table, sql) in [
        ("order_items", "SELECT CAST(count(*) AS TEXT) FROM order_items"),
        ("product_prices", "SELECT CAST(count(*) AS TEXT) FROM product_prices"),
        ("product_stock", "SELECT CAST(count(*) AS TEXT) FROM product_stock"),
        ("stock_locations", "SELECT CAST(count(*) AS TEXT) FROM stock_locations"),
    ] {
        let count = store.diagnostics().ask(sql, 1).await?;
        let count = count.first().and_then(|row| row[0].parse().ok()).unwrap_or_default();
        println!("  {:>7} {table}", locale.number(count));
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
    let shared = Shared::open(&configuration, "demo", Arc::new(Silent), stop.clone()).await?;
    let selling =
        tokio::spawn(sell(control, configuration.stores[0].key.to_string(), Arc::clone(&shared.clock), stop));
    let served = Service::new(shared, configuration).run(listener, None, Outside::default()).await;
    selling.abort();
    served.map(|()| exit::COMPLETE)
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

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;

    #[test]
    fn the_page_to_open_is_named_first_and_the_marketplace_as_one_that_need_not_be_opened() {
        let page = "127.0.0.1:8787".parse().unwrap();
        let ids = |texts: &[Text]| texts.iter().map(|text| text.id().to_owned()).collect::<Vec<_>>();
        let texts = invitation(Path::new("/tmp/demo"), "http://127.0.0.1:4000", Some(page));
        let all = ["demo-page", "demo-marketplace", "demo-folder", "demo-terminal", "demo-end"];
        assert_eq!(ids(&texts), all);
        for (language, words) in [
            (Language::Portuguese, ["Abra no navegador", "não precisa ser aberto"]),
            (Language::English, ["Open the mirror's page in a browser", "need not be opened"]),
        ] {
            let [page, marketplace] = [&texts[0], &texts[1]].map(|text| text.message(Locale::of(language)));
            assert!(page.contains(words[0]) && page.ends_with("http://127.0.0.1:8787/"), "{page}");
            assert!(marketplace.contains(words[1]), "{marketplace}");
            assert!(marketplace.ends_with("http://127.0.0.1:4000"), "{marketplace}");
        }
        let once = invitation(Path::new("/tmp/demo"), "http://127.0.0.1:4000", None);
        assert_eq!(ids(&once), ["demo-marketplace", "demo-folder"]);
    }
}
