//! The command line (PRODUCT contract 1).

use std::path::PathBuf;

use chrono::NaiveDate;
use clap::{Args, Parser, Subcommand};
use espelho_model::sync::Resource;
use espelho_sync_engine::Subject;

/// Keeps a seller's ERP tables and a Brazilian marketplace in step.
#[derive(Debug, Parser)]
#[command(name = "espelho", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// The configuration: DIR/espelho.toml and DIR/stores/KEY.toml [default: $ESPELHO_CONFIG, else
    /// /etc/espelho if it exists, else ./config].
    #[arg(long, global = true, value_name = "DIR")]
    pub config: Option<PathBuf>,
    /// Report as one JSON object on stdout.
    #[arg(long, global = true)]
    pub json: bool,
    /// The one-shot run.
    #[command(flatten)]
    pub resync: ResyncArgs,
    /// The command; none is `run`.
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXIT_CODES: &str = "Exit codes: 0 complete, 1 failed, 2 bad usage or configuration, 3 partial, \
4 authentication, 5 refused by a guard, 6 another instance holds the store.";

/// `espelho --resync` and its options.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "One-shot reconciliation")]
pub struct ResyncArgs {
    /// Reconcile once, completely, and end. A run that was killed is resumed.
    #[arg(long)]
    pub resync: bool,
    /// Only this store (repeatable).
    #[arg(long, value_name = "KEY", requires = "resync")]
    pub store: Vec<String>,
    /// Only these, separated by commas: orders, products.
    #[arg(long, value_name = "RESOURCE", value_delimiter = ',', requires = "resync")]
    pub only: Vec<Resource>,
    /// Only orders created since this day (YYYY-MM-DD); nothing is marked as gone then.
    #[arg(long, value_name = "DATE", requires = "resync")]
    pub since: Option<NaiveDate>,
    /// Begin anew instead of resuming.
    #[arg(long, requires = "resync")]
    pub restart: bool,
    /// Read every detail, also of rows that are listed as they were.
    #[arg(long, requires = "resync")]
    pub deep: bool,
    /// Read the listings and say what would be done; change nothing.
    #[arg(long, requires = "resync")]
    pub dry_run: bool,
    /// Mark rows as gone however many the marketplace no longer lists.
    #[arg(long, requires = "resync")]
    pub accept_gone: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The service: migrates, takes the stores' leases, reconciles on schedule, serves health and metrics.
    Run,
    /// A whole marketplace, a mirror and their service in one process, without any configuration.
    Demo(DemoArgs),
    /// The marketplace in a box, stand-alone.
    Sandbox(espelho_sandbox::cli::Args),
    /// Checks the configuration, and nothing else.
    Check,
    /// Looks at everything that has to work, and says for each what to do: GREEN, YELLOW or RED.
    Doctor,
    /// The webhooks.
    #[command(subcommand)]
    Webhook(WebhookCommand),
    /// Creates or migrates the database, and ends.
    Migrate,
    /// Copies the database while the service runs, into a new folder (SQLite).
    Backup {
        /// The folder, which must not exist [default: backups/espelho-TIME beside the database].
        #[arg(value_name = "PATH")]
        path: Option<PathBuf>,
    },
    /// Puts a backup in the place of the database, or where there is none (SQLite). The service must not run.
    Restore {
        /// The folder that `espelho backup` has made.
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// Also where there is a database; its files are kept beside it.
        #[arg(long)]
        replace: bool,
    },
    /// How everything is: what is late, what failed, why, and what to do. Ends with 3 when something fails.
    Status {
        /// Only this store, with its data, budget and sweeps.
        #[arg(long, value_name = "KEY")]
        store: Option<String>,
    },
    /// Every row that is not mirrored, with its cause and the next step.
    Errors {
        /// Only this store.
        #[arg(long, value_name = "KEY")]
        store: Option<String>,
    },
    /// What the mirror knows about one thing: its row, its changes, its failures, deliveries that wait.
    Explain(ExplainArgs),
    /// The change feed, one JSON object a line.
    Feed(FeedArgs),
    /// Compares mirror and marketplace, and changes neither. Ends with 3 when something differs.
    Audit(AuditArgs),
    /// Prints completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// `espelho webhook`.
#[derive(Clone, Debug, Subcommand)]
pub enum WebhookCommand {
    /// Lets the next login give a store's webhook the address that is configured now. Whoever receives at the address of
    /// before receives nothing any more.
    Move {
        /// The store.
        #[arg(value_name = "KEY")]
        store: String,
    },
}

/// `espelho explain`.
#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    /// What kind of thing, as in the change feed: order, product, shipment…
    #[arg(value_name = "ENTITY")]
    pub entity: String,
    /// Which one, as in the change feed.
    #[arg(value_name = "KEY")]
    pub key: String,
    /// Only in this store.
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
}

/// `espelho feed`.
#[derive(Args, Clone, Debug)]
pub struct FeedArgs {
    /// Tell what this reader has not acknowledged; without it, everything that there is.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub consumer: Option<String>,
    /// Wait for more.
    #[arg(long)]
    pub follow: bool,
    /// Note that everything up to this number is dealt with, and tell nothing.
    #[arg(long, value_name = "SEQ", requires = "consumer", conflicts_with_all = ["follow", "limit"],
        value_parser = clap::value_parser!(i64).range(1..))]
    pub ack: Option<i64>,
    /// Tell so many at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
}

/// `espelho audit`.
#[derive(Args, Clone, Debug)]
pub struct AuditArgs {
    /// Only this store.
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
    /// Only these, separated by commas: orders (with their sides), products, campaigns (with their listings),
    /// media_images, price_lists, profile.
    #[arg(long, value_name = "RESOURCE", value_delimiter = ',')]
    pub only: Vec<Subject>,
    /// Details of each resource that are read and compared; the listings are compared in full.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub sample: usize,
}

/// `espelho demo`.
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// End after the first complete reconciliation, and print what was mirrored.
    #[arg(long)]
    pub once: bool,
    /// Where to put the database [default: a new folder among the temporary files].
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Orders of the demonstration store.
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub orders: usize,
    /// Products of the demonstration store.
    #[arg(long, value_name = "N", default_value_t = 80)]
    pub products: usize,
    /// Another number, another store.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
}
