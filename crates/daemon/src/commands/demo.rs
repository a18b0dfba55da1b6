//! `espelho demo`: a marketplace, a mirror and their service in one process, for whoever sees espelho for the
//! first time.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use espelho_model::{sync::Resource, text::Locale};
use espelho_sandbox::{Control, Options as SandboxOptions, Sandbox};
use espelho_store::{Store, Table};
use espelho_sync_engine::{Options, Progress, Silent, StoreReport, reconcile};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    cli::DemoArgs,
    config::{self, Configuration},
    context::{Shared, stop_on_signals},
    exit,
    lifecycle::{Outside, Service},
    progress, report, telemetry,
};

/// The demonstration marketplace sells something this often.
const SALE_EVERY: Duration = Duration::from_secs(5);

/// A question worth asking: for people, for the database, and the heads of its columns.
struct Question {
    title: &'static str,
    sql: &'static str,
    heads: &'static [&'static str],
}

const QUESTIONS: [Question; 3] = [
    Question {
        title: "O que está aberto? / What is open, and worth how much?",
        sql: "SELECT status, CAST(count(*) AS TEXT), printf('%.2f', sum(total_order))
  FROM orders
 WHERE status NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') AND gone_at IS NULL
 GROUP BY status ORDER BY count(*) DESC",
        heads: &["status", "orders", "total (R$)"],
    },
    Question {
        title: "O que trava o despacho? / Which lines block dispatch?",
        sql: "SELECT order_number, sku, quantity, stock_status
  FROM order_items
 WHERE is_blocking_stock = 1 AND gone_at IS NULL
 ORDER BY order_number LIMIT 5",
        heads: &["order", "sku", "quantity", "stock status"],
    },
    Question {
        title: "O que está acabando? / What is running out?",
        sql: "SELECT s.sku, l.name, s.available_quantity, p.price
  FROM product_stock s
  JOIN products p ON p.store = s.store AND p.id = s.product_id
  JOIN stock_locations l ON l.store = s.store AND l.location_id = s.location_id
 WHERE s.gone_at IS NULL
 ORDER BY CAST(s.available_quantity AS REAL), s.sku LIMIT 5",
        heads: &["sku", "location", "available", "price (R$)"],
    },
];

pub(super) async fn run(arguments: &DemoArgs, json: bool) -> u8 {
    match demonstrate(arguments, json).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("espelho demo: {error:#}");
            exit::FAILED
        }
    }
}

async fn demonstrate(arguments: &DemoArgs, json: bool) -> Result<u8> {
    telemetry::start(config::LogFormat::Text, if arguments.once { "warn" } else { "info" });
    let sandbox = start_sandbox(arguments).await?;
    let folder = folder(arguments)?;
    let configuration = write_configuration(&folder, &sandbox)?;
    eprintln!("marketplace (sandbox): {}", sandbox.base_url());
    eprintln!("configuration and database: {}", folder.display());
    let stop = CancellationToken::new();
    stop_on_signals(&stop)?;
    let code = match arguments.once {
        true => once(&configuration, stop, &folder, json).await?,
        false => keep_on(configuration, stop, sandbox.control()).await?,
    };
    sandbox.stop().await;
    Ok(code)
}

async fn start_sandbox(arguments: &DemoArgs) -> Result<Sandbox> {
    let listener = TcpListener::bind("127.0.0.1:0").await.context("no free port for the sandbox")?;
    let options = SandboxOptions {
        orders: arguments.orders,
        products: arguments.products,
        seed: arguments.seed,
        // Five requests a second are the marketplace's rule and a newcomer's boredom.
        rate: None,
        ..SandboxOptions::default()
    };
    espelho_sandbox::start(listener, options).await.context("the sandbox did not start")
}

fn folder(arguments: &DemoArgs) -> Result<PathBuf> {
    let folder = match &arguments.dir {
        Some(dir) => dir.clone(),
        None => {
            tempfile::Builder::new().prefix("espelho-demo-").tempdir().context("no temporary folder")?.keep()
        }
    };
    std::fs::create_dir_all(folder.join("stores"))
        .with_context(|| format!("{} cannot be created", folder.display()))?;
    folder.canonicalize().with_context(|| format!("{} cannot be used", folder.display()))
}

/// The demonstration uses the same files as everybody, so they are an example too.
fn write_configuration(folder: &std::path::Path, sandbox: &Sandbox) -> Result<Configuration> {
    let installation = format!(
        "[database]\nurl = \"sqlite:{}\"\n\n[http]\nlisten = \"127.0.0.1:8787\"\n\n[labels]\ndirectory = \"{}\"\n\n[schedule]\nreconcile = \"*/10 * * * * *\"\n",
        folder.join("espelho.db").display(),
        folder.join("labels").display()
    );
    std::fs::write(folder.join("espelho.toml"), installation).context("espelho.toml cannot be written")?;
    for access in sandbox.stores() {
        let store = format!(
            "environment = \"sandbox\"\nbase_url = \"{}\"\n\n[credentials]\nusername = \"{}\"\npassword = \"{}\"\n\n\
             [limits]\nrequests_per_minute = 1000000\n",
            sandbox.base_url(),
            access.username,
            access.password
        );
        let path = folder.join("stores").join(format!("{}.toml", access.key));
        std::fs::write(&path, store).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    config::load(folder).map_err(|errors| anyhow::anyhow!("{}", errors[0]))
}

async fn once(
    configuration: &Configuration,
    stop: CancellationToken,
    folder: &std::path::Path,
    json: bool,
) -> Result<u8> {
    let progress = progress::for_stderr(
        espelho_model::clock::SystemClock::shared(),
        Locale::default(),
        std::collections::HashMap::new(),
    );
    let shared = open(configuration, progress, stop).await?;
    let mut reports: Vec<StoreReport> = Vec::new();
    for config in &configuration.stores {
        let context = shared.context(config).await.map_err(|problem| anyhow::anyhow!("{}", problem.error))?;
        reports.push(reconcile(&context, &Options { kind: "demo", ..Options::default() }).await);
    }
    let database = folder.join("espelho.db");
    if json {
        let mut object = report::as_json(&reports);
        object["database"] = json!(database);
        println!("{object}");
    } else {
        print!("{}", report::as_text(&reports));
        println!("\nmirrored into {}", database.display());
        show_tables(&shared.store, configuration).await?;
        show_questions(&shared.store).await?;
        println!("\nAsk your own: sqlite3 {}", database.display());
    }
    shared.store.close().await;
    Ok(exit::of_run(&reports))
}

async fn open(
    configuration: &Configuration,
    progress: Arc<dyn Progress>,
    stop: CancellationToken,
) -> Result<Shared> {
    let shared = Shared::open(configuration, "demo", progress, stop).await;
    shared.map_err(|problem| anyhow::anyhow!("{}; {}", problem.error, problem.hint))
}

async fn show_tables(store: &Store, configuration: &Configuration) -> Result<()> {
    for config in &configuration.stores {
        for resource in Resource::ALL {
            println!("  {:7} {resource} of {}", store.count(&config.key, resource).await?, config.key);
        }
    }
    for (table, sql) in [
        ("order_items", "SELECT CAST(count(*) AS TEXT) FROM order_items"),
        ("product_prices", "SELECT CAST(count(*) AS TEXT) FROM product_prices"),
        ("product_stock", "SELECT CAST(count(*) AS TEXT) FROM product_stock"),
        ("stock_locations", "SELECT CAST(count(*) AS TEXT) FROM stock_locations"),
    ] {
        let count = store.ask(sql, 1).await?;
        println!("  {:7} {table}", count.first().map_or("0", |row| row[0].as_str()));
    }
    Ok(())
}

async fn show_questions(store: &Store) -> Result<()> {
    for Question { title, sql, heads } in QUESTIONS {
        println!("\n{title}\n\n{sql};\n");
        print_table(heads, &store.ask(sql, heads.len()).await?);
    }
    Ok(())
}

fn print_table(heads: &[&str], rows: &Table) {
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.chain([heads[at].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        println!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
    };
    line(heads.to_vec());
    rows.iter().for_each(|row| line(row.iter().map(String::as_str).collect()));
    if rows.is_empty() {
        println!("  (nothing)");
    }
}

/// The service, with a sale now and then to watch arriving.
async fn keep_on(mut configuration: Configuration, stop: CancellationToken, control: Control) -> Result<u8> {
    let wanted = configuration.installation.http.listen;
    let listener = match TcpListener::bind(wanted).await {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind("127.0.0.1:0").await.context("no free port")?,
    };
    let address = listener.local_addr().context("no address")?;
    configuration.installation.http.listen = address;
    eprintln!("health and metrics: http://{address}/readyz?verbose and http://{address}/metrics");
    eprintln!("the marketplace sells something every {} s; Ctrl-C ends it all", SALE_EVERY.as_secs());
    let shared = open(&configuration, Arc::new(Silent), stop.clone()).await?;
    let selling =
        tokio::spawn(sell(control, configuration.stores[0].key.to_string(), Arc::clone(&shared.clock), stop));
    let served = Service::new(shared, configuration).run(listener, None, Outside::default()).await;
    selling.abort();
    served.map_err(|problem| anyhow::anyhow!("{}; {}", problem.error, problem.hint))?;
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
        control.insert_order(&store);
    }
}
