//! The command line (PRODUCT contract 1). The texts of `--help` are in the catalogue, area `help`.

mod backup;
mod decide;
mod forget;
mod get;
mod init;
mod migrate;
mod notice;
mod pause;
mod prune;
mod token;
mod webhook;

use std::path::PathBuf;

use chrono::{Datelike as _, NaiveDate};
use clap::{Args, Parser, Subcommand};
use espelho_model::{
    sync::Target,
    text::{Language, Locale},
};
use espelho_sync_engine::{Input, SERVICE, Subject};

pub use self::{
    backup::{BackupArgs, BackupCommand, BackupPlan},
    decide::{DecideArgs, EndedStateArg, IgnoreArgs, RetryArgs},
    forget::ForgetArgs,
    get::{GetCommand, GetOrderArgs},
    init::InitArgs,
    migrate::MigrateArgs,
    notice::NoticeCommand,
    pause::{PauseArg, PauseArgs, ResumeArgs},
    prune::PruneArgs,
    token::TokenCommand,
    webhook::{MoveArgs, ReplayArgs, Since, WebhookCommand},
};

/// Keeps a seller's ERP tables and a Brazilian marketplace in step.
#[derive(Debug, Parser)]
#[command(name = "espelho", version, max_term_width = 100)]
pub struct Cli {
    /// The configuration: DIR/espelho.toml and DIR/stores/KEY.toml [default: $ESPELHO_CONFIG, else
    /// /etc/espelho if it exists, else ./config].
    #[arg(long, global = true, value_name = "DIR")]
    pub config: Option<PathBuf>,
    /// Report as one JSON object on stdout.
    #[arg(long, global = true)]
    pub json: bool,
    /// Speak this language: pt-BR or en [default: what LC_ALL, LC_MESSAGES or LANG name, else the installation's].
    #[arg(long, global = true, value_name = "LANG")]
    pub lang: Option<Language>,
    /// How people read what is said: follows from `lang`, the environment and the installation.
    #[arg(skip)]
    pub locale: Locale,
    /// The one-shot run.
    #[command(flatten)]
    pub resync: ResyncArgs,
    /// The command; none is `run`.
    #[command(subcommand)]
    pub command: Option<Command>,
}

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
    /// Only these, separated by commas: orders, products (both, where none is named), shipments, tracking, invoices, events,
    /// financial, labels, campaigns, media_images, profile.
    #[arg(long, value_name = "RESOURCE", value_delimiter = ',', requires = "resync")]
    pub only: Vec<Target>,
    /// Only orders created since this day (2026-01-31 or 31/01/2026); nothing is marked as gone then.
    #[arg(long, value_name = "DATE", requires = "resync", value_parser = day)]
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

/// Parses a day, in ISO 8601 or in Brazilian notation.
fn day(text: &str) -> Result<NaiveDate, String> {
    ["%Y-%m-%d", "%d/%m/%Y"]
        .iter()
        .find_map(|form| NaiveDate::parse_from_str(text, form).ok())
        .filter(|day| day.year() >= 2000)
        .ok_or_else(|| format!("{text:?}: 2026-01-31 / 31/01/2026"))
}

impl Cli {
    /// Tells whether the command reads a configuration. A demonstration makes one, and names its folder itself.
    pub(crate) fn reads_configuration(&self) -> bool {
        !matches!(
            self.command,
            Some(
                Command::Demo(_)
                    | Command::Sandbox(_)
                    | Command::Grants { .. }
                    | Command::Completions { .. }
                    | Command::Man(_)
            )
        )
    }
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
    /// Asks six questions, writes the configuration, makes the database and tries everything.
    Init(InitArgs),
    /// Checks the configuration, and nothing else.
    Check,
    /// Makes the running service read its configuration again, and says what became of it.
    Reload,
    /// Looks at everything that has to work, also before the first start, and says for each what to do: ✓ GREEN, ! YELLOW,
    /// ✗ RED, – UNKNOWN. Ends with 1 when something is red, 4 when only credentials are, 3 when something could not be
    /// looked at.
    Doctor(DoctorArgs),
    /// The webhooks.
    #[command(subcommand)]
    Webhook(WebhookCommand),
    /// The tokens.
    #[command(subcommand)]
    Token(TokenCommand),
    /// The messages to people about alarms.
    #[command(subcommand)]
    Notice(NoticeCommand),
    /// Creates or migrates the database, and ends.
    Migrate(MigrateArgs),
    /// Copies the database while the service runs, into a new folder (SQLite).
    Backup(BackupArgs),
    /// Puts a backup in the place of the database, or where there is none (SQLite). The service must not run.
    Restore {
        /// The folder that `espelho backup` has made.
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// Also where there is a database; its files are kept beside it.
        #[arg(long)]
        replace: bool,
    },
    /// Deletes the old records that the service deletes by itself, now, and says how much goes.
    Prune(PruneArgs),
    /// How everything is: what is late, what failed, why, and what to do. Ends with 3 when something fails.
    Status(StatusArgs),
    /// What failed, is held, in doubt or waits, by cause, with the next step.
    Errors(ErrorsArgs),
    /// The story of one thing in order of time: deliveries, mirror, what the ERP wants, each call with its proof.
    Explain(ExplainArgs),
    /// Shows a mirrored row with everything that belongs to it.
    #[command(subcommand)]
    Get(GetCommand),
    /// What guards hold, with the reason.
    Held {
        /// Only this store.
        #[arg(long, value_name = "KEY")]
        store: Option<String>,
    },
    /// Lets what guards hold pass, once.
    Release(DecideArgs),
    /// Looks at what failed, is in doubt or was ignored, anew.
    Retry(RetryArgs),
    /// Does not look at it again, until `espelho retry`.
    Ignore(IgnoreArgs),
    /// Stops the service's own work for a while: all of it, or a part. Deliveries are received and kept meanwhile, and
    /// everything is made up afterwards.
    Pause(PauseArgs),
    /// Ends pauses.
    Resume(ResumeArgs),
    /// Erases a person from everything that the mirror keeps, and remembers it, so that no later reading brings the
    /// person back. Amounts, lines and fiscal numbers stay.
    Forget(ForgetArgs),
    /// What would be sent to the marketplace now: every call, with its cost.
    Plan {
        /// Only this store.
        #[arg(long, value_name = "KEY")]
        store: Option<String>,
        /// Do it, and end. The service must not run.
        #[arg(long)]
        apply: bool,
    },
    /// Writes a stock that is wanted, or a movement.
    #[command(subcommand)]
    Stock(StockCommand),
    /// Writes a price that is wanted.
    #[command(subcommand)]
    Price(PriceCommand),
    /// Gives a command about an order.
    #[command(subcommand)]
    Orders(OrdersCommand),
    /// Gives a command about labels.
    #[command(subcommand)]
    Labels(LabelsCommand),
    /// Gives a command about a campaign.
    #[command(subcommand)]
    Campaigns(CampaignsCommand),
    /// Writes what a CSV file says: all of it, or nothing.
    Import(ImportArgs),
    /// Prints the SQL that lets a PostgreSQL role of the ERP read the mirror and write what it wants, and nothing else.
    Grants {
        /// The role.
        #[arg(long, value_name = "NAME", default_value = "erp")]
        role: String,
    },
    /// The change feed, one JSON object a line.
    Feed(FeedArgs),
    /// Compares mirror and marketplace, and changes neither. Ends with 3 when something differs.
    Audit(AuditArgs),
    /// Prints completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Shows the manual page of espelho, or of a command.
    Man(ManArgs),
}

/// `espelho status`.
#[derive(Args, Clone, Debug)]
pub struct StatusArgs {
    /// Only this store, with its data, budget and sweeps.
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
    /// Show it anew every two seconds, until Ctrl-C.
    #[arg(long)]
    pub watch: bool,
    /// Ask only whether the service answers and nothing in it hangs, as a health check does: ends with 0 or 1, whatever the
    /// alarms are.
    #[arg(long, conflicts_with_all = ["store", "watch"])]
    pub alive: bool,
}

/// `espelho man`.
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// The command.
    #[arg(value_name = "COMMAND")]
    pub topic: Option<String>,
    /// Write all pages into this folder, as packages want them.
    #[arg(long, value_name = "DIR", conflicts_with = "topic")]
    pub dir: Option<PathBuf>,
}

/// `espelho doctor`.
#[derive(Args, Clone, Debug)]
pub struct DoctorArgs {
    /// Prove the passwords too: one login for each store, which ends its token and gives it a new one.
    #[arg(long)]
    pub login: bool,
}

/// The kinds of rows that the ERP writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum IntentArg {
    /// `erp_stock`; keys are SKU/LOCATION.
    Stock,
    /// `erp_prices`; keys are SKU/MIN_QUANTITY.
    Price,
    /// `commands`; keys are their numbers.
    Command,
    /// Orders that were set aside.
    Order,
    /// Products that were set aside.
    Product,
    /// Deliveries that were set aside.
    Webhooks,
    /// Labels that were set aside.
    #[value(name = "shipment_label")]
    ShipmentLabel,
    /// Pages of listings that were set aside.
    Pages,
    /// Sweeps that were set aside.
    Sweeps,
    /// Parts of the service that were started again.
    Service,
}

impl IntentArg {
    /// Returns the kind of intent; `None` for what is read from the marketplace.
    pub fn intent(self) -> Option<espelho_store::IntentKind> {
        match self {
            Self::Stock => Some(espelho_store::IntentKind::Stock),
            Self::Price => Some(espelho_store::IntentKind::Price),
            Self::Command => Some(espelho_store::IntentKind::Command),
            _ => None,
        }
    }

    /// Returns the word of what was set aside, as in the table `quarantine`; `None` for intents.
    pub fn quarantined(self) -> Option<&'static str> {
        match self {
            Self::Order => Some(Input::Order.as_str()),
            Self::Product => Some(Input::Product.as_str()),
            Self::Webhooks => Some(Input::Delivery.as_str()),
            Self::ShipmentLabel => Some(Input::Label.as_str()),
            Self::Pages => Some(Input::Page.as_str()),
            Self::Sweeps => Some(Input::Sweep.as_str()),
            Self::Service => Some(SERVICE),
            Self::Stock | Self::Price | Self::Command => None,
        }
    }
}

/// The arguments that all commands that write an intent share.
#[derive(Args, Clone, Debug)]
pub struct WriteArgs {
    /// The store, where there are several.
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
    /// Wait for what becomes of it, also where stdout is no terminal: up to so many seconds, or 5.
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "5",
        value_parser = clap::value_parser!(u16).range(1..=3_600),
        conflicts_with = "no_wait"
    )]
    pub wait: Option<u16>,
    /// Do not wait, also on a terminal.
    #[arg(long)]
    pub no_wait: bool,
}

/// `espelho stock`.
#[derive(Clone, Debug, Subcommand)]
pub enum StockCommand {
    /// The stock is so much (erp_stock).
    #[command(allow_negative_numbers = true)]
    Set {
        /// Whose stock.
        sku: String,
        /// Where: the location's id or name.
        location: String,
        /// How much.
        quantity: String,
        /// Where it is written, and whether its answer is waited for.
        #[command(flatten)]
        write: WriteArgs,
    },
    /// The stock is so much more, or less (command stock.adjust).
    #[command(allow_negative_numbers = true)]
    Adjust {
        /// Whose stock.
        sku: String,
        /// Where: the location's id or name.
        location: String,
        /// How much more; below zero, less.
        delta: String,
        /// Where it is written, and whether its answer is waited for.
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// `espelho price`.
#[derive(Clone, Debug, Subcommand)]
pub enum PriceCommand {
    /// A unit costs so much (erp_prices).
    #[command(allow_negative_numbers = true)]
    Set {
        /// Whose price.
        sku: String,
        /// How much.
        price: String,
        /// From this quantity on.
        #[arg(long, value_name = "N", default_value_t = 1)]
        min_quantity: u32,
        /// Where it is written, and whether its answer is waited for.
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// `espelho orders`.
#[derive(Clone, Debug, Subcommand)]
pub enum OrdersCommand {
    /// Moves an order to another status (command order.status).
    Advance {
        /// The order's number.
        number: String,
        /// The status to move it to.
        status: String,
        /// What the status wants, as JSON: {"tracking_code": "…"}.
        #[arg(long, value_name = "JSON")]
        data: Option<String>,
        /// Where it is written, and whether its answer is waited for.
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Replaces an order's notes (command order.notes).
    Notes {
        /// The order's number.
        number: String,
        /// The text; an empty one clears them.
        text: String,
        /// Where it is written, and whether its answer is waited for.
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// `espelho labels`.
#[derive(Clone, Debug, Subcommand)]
pub enum LabelsCommand {
    /// Has an order's labels made (command labels.generate).
    Generate {
        /// The order's number.
        number: String,
        /// a4, zebra, thermal or zebra_pdf.
        #[arg(long)]
        format: Option<String>,
        /// Also where there are some, which are discarded.
        #[arg(long)]
        regenerate: bool,
        /// Where it is written, and whether its answer is waited for.
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// `espelho campaigns`.
#[derive(Clone, Debug, Subcommand)]
pub enum CampaignsCommand {
    /// Joins a campaign with listings (command campaign.opt_in).
    Join {
        /// campaigns.id
        campaign: String,
        /// campaign_listings.item_id
        #[arg(required = true)]
        listings: Vec<String>,
        /// Where it is written, and whether its answer is waited for.
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// The kinds of rows that a CSV file can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ImportKind {
    /// Columns sku, location_id, quantity.
    Stock,
    /// Columns sku, price or discount_percent, min_quantity, package_*.
    Prices,
}

/// `espelho import`.
#[derive(Args, Clone, Debug)]
pub struct ImportArgs {
    /// What it holds.
    pub kind: ImportKind,
    /// The file; its first line names the columns.
    pub file: PathBuf,
    /// Where it is written, and whether its answer is waited for.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// `espelho errors`.
#[derive(Args, Clone, Debug)]
pub struct ErrorsArgs {
    /// Only this store.
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
    /// Only this cause.
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
    /// Every row, not only the causes.
    #[arg(long)]
    pub all: bool,
}

/// `espelho explain`.
#[derive(Args, Clone, Debug)]
#[command(override_usage = "espelho explain [OPTIONS] [ENTITY] <KEY>")]
pub struct ExplainArgs {
    /// What kind of thing, as in the change feed: order, product, shipment… Left out, everything that bears the KEY is told.
    #[arg(value_name = "ENTITY")]
    pub first: String,
    /// Which one: an order's number, a SKU, a command's number, a shipment's id.
    #[arg(value_name = "KEY")]
    pub second: Option<String>,
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
    /// Only these, separated by commas: orders (with their sub-resources), products, campaigns (with their listings),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_reads_a_configuration_is_one_that_may_have_to_name_it() {
        use clap::CommandFactory as _;
        let without = ["demo", "sandbox", "grants", "completions", "man"];
        let command = Cli::command();
        let all =
            command.get_subcommands().map(clap::Command::get_name).filter(|name| !without.contains(name));
        let missing: Vec<&str> =
            all.filter(|name| !espelho_model::program::CONFIGURED.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_day_is_read_in_both_forms() {
        let day_of = |text| day(text).ok().map(|day| day.to_string());
        for (text, expected) in [
            ("2026-01-31", Some("2026-01-31")),
            ("31/01/2026", Some("2026-01-31")),
            ("01/31/2026", None),
            ("31/01/26", None),
            ("ontem", None),
        ] {
            assert_eq!(day_of(text).as_deref(), expected, "{text}");
        }
    }
}
