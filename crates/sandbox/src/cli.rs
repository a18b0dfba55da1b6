//! `espelho sandbox`: the command line. The words for people are the caller's, which knows their language.

use std::{net::SocketAddr, path::PathBuf};

use serde::Serialize;
use tokio::net::TcpListener;

use crate::{Error, ListShape, Olist, OlistSplit, Options, Sandbox, StoreAccess, Window, start};

/// What `--help` says below the options.
const GUIDE: &str = "\
Examples:
  espelho sandbox                              one store, 200 orders, 60 products, until Ctrl-C
  espelho sandbox --control                    the same, and everything about it can be changed while it runs
  espelho sandbox --stores 3 --orders 5000     three stores of 5,000 orders each
  espelho sandbox --olist DIR                  99,441 real orders
  espelho sandbox --rate off --json            no request limit; the credentials as JSON on stdout

Where to look:
  http://127.0.0.1:8799/                a page with the credentials, first commands and every control endpoint
  http://127.0.0.1:8799/openapi.json    the description of every route, for tools
  http://127.0.0.1:8799/_sandbox/       the list of control endpoints, with --control

Logging in:
  curl -s http://127.0.0.1:8799/api/integration/auth -H 'Content-Type: application/json' \\
       -d '{\"username\":\"loja-1@…\",\"password\":\"…\"}'
  Every other route takes the token as `Authorization: Bearer sk_live_…`. Each login ends the previous token.

Control endpoints (with --control, no token needed):
  curl -X POST …/_sandbox/orders/loja-1                                     a buyer places and pays an order
  curl -X POST …/_sandbox/clock -d '{\"seconds\":3600}'                       an hour passes
  curl -X POST …/_sandbox/faults -d '{\"kind\":\"html\",\"code\":503,\"times\":3}'  three answers of a proxy
  curl …/_sandbox/journal                                                   what was asked of the API, and answered
  curl …/_sandbox/deliveries/loja-1                                         what was delivered to webhooks";

const SERVING: &str = "Serving";
const CONTENT: &str = "What there is";
const LIMIT: &str = "Request limit";
const BEHAVIOUR: &str = "Where the API document leaves a choice";

/// The marketplace in a box: serves the Seller Integration API with generated or real data.
///
/// It is strict: what the API document refuses, it refuses, with the documented codes. Nothing is kept: the same seed
/// and counts give the same stores, credentials, products and orders at every start.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = GUIDE)]
pub struct Args {
    /// Address and port to serve on; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8799", help_heading = SERVING)]
    pub listen: SocketAddr,
    /// Address and port of the object storage; a free port beside the API where it is not given.
    #[arg(long, value_name = "ADDR", help_heading = SERVING)]
    pub storage_listen: Option<SocketAddr>,
    /// Serves /_sandbox/ too: statistics, the journal, faults and changes, without a token.
    ///
    /// They need no token: everybody who reaches the address can change everything. The page at `/` lists them with commands to
    /// copy.
    #[arg(long, help_heading = SERVING)]
    pub control: bool,
    /// Opens the store page routes, which are in BETA and otherwise answer 403.
    #[arg(long, help_heading = BEHAVIOUR)]
    pub open_store_page: bool,
    /// Prints one JSON object with the address and every credential on stdout.
    #[arg(long, help_heading = SERVING)]
    pub json: bool,
    /// Serves the Olist data set: the folder with its seven .csv.gz files.
    #[arg(long, value_name = "DIR", help_heading = CONTENT)]
    pub olist: Option<PathBuf>,
    /// Whose the Olist orders are: all of one store, or each of its seller, without those that have no items.
    #[arg(long, value_enum, default_value_t, requires = "olist", help_heading = CONTENT)]
    pub olist_split: OlistSplit,
    /// Stores to generate.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "olist", help_heading = CONTENT)]
    pub stores: usize,
    /// Orders to generate for each store.
    #[arg(long, value_name = "N", default_value_t = 200, conflicts_with = "olist", help_heading = CONTENT)]
    pub orders: usize,
    /// Products to generate for each store.
    #[arg(long, value_name = "N", default_value_t = 60, conflicts_with = "olist", help_heading = CONTENT)]
    pub products: usize,
    /// Dates the orders up to 31 March 2026 in place of the day of the start: byte-identical answers on any day.
    #[arg(long, conflicts_with = "olist", help_heading = CONTENT)]
    pub fixed_dates: bool,
    /// The same seed and counts give the same stores, credentials and orders.
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = CONTENT)]
    pub seed: u64,
    /// Requests a minute that each token may make, or `off`.
    #[arg(long, value_name = "N|off", default_value = "300", value_parser = rate, help_heading = LIMIT)]
    pub rate: Rate,
    /// How the minute of the limit is counted.
    #[arg(long, value_enum, default_value_t, help_heading = LIMIT)]
    pub rate_window: Window,
    /// The shape of `meta` in listings, which the API document leaves open.
    #[arg(long, value_enum, default_value_t, help_heading = BEHAVIOUR)]
    pub list_shape: ListShape,
    /// Writes decimals and counts as JSON strings.
    #[arg(long, help_heading = BEHAVIOUR)]
    pub numbers_as_strings: bool,
    /// Answers page 1 whatever page is asked for.
    #[arg(long, help_heading = BEHAVIOUR)]
    pub ignore_page: bool,
    /// Asks for the read and write abilities on the product routes too, for which the document names none.
    #[arg(long, help_heading = BEHAVIOUR)]
    pub strict_scopes: bool,
    /// Refuses webhooks that are not public HTTPS, as the marketplace does; without it, local receivers are welcome.
    #[arg(long, help_heading = BEHAVIOUR)]
    pub public_webhooks: bool,
}

/// The value of `--rate`: requests a minute, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub Option<u32>);

fn rate(text: &str) -> Result<Rate, String> {
    match text {
        "off" => Ok(Rate(None)),
        _ => match text.parse() {
            Ok(rate @ 1..) => Ok(Rate(Some(rate))),
            _ => Err("a whole number from 1, or `off`".to_owned()),
        },
    }
}

impl From<&Args> for Options {
    fn from(args: &Args) -> Self {
        Self {
            stores: args.stores,
            orders: args.orders,
            products: args.products,
            recent_orders: !args.fixed_dates,
            seed: args.seed,
            rate: args.rate.0,
            window: args.rate_window,
            olist: args.olist.clone().map(|dir| Olist { dir, split: args.olist_split }),
            list_shape: args.list_shape,
            numbers_as_strings: args.numbers_as_strings,
            ignore_page: args.ignore_page,
            control: args.control,
            store_page: args.open_store_page,
            storage: args.storage_listen,
            strict_scopes: args.strict_scopes,
            local_webhooks: !args.public_webhooks,
            ..Self::default()
        }
    }
}

/// Binds the address and serves what the arguments say.
///
/// # Errors
///
/// When an address cannot be bound, or the data set cannot be read.
pub async fn open(args: &Args) -> Result<Sandbox, Error> {
    let listener = TcpListener::bind(args.listen)
        .await
        .map_err(|source| Error::Listen { address: args.listen.to_string(), source })?;
    start(listener, Options::from(args)).await
}

#[derive(Serialize)]
struct Announcement<'a> {
    base_url: String,
    stores: Vec<Access<'a>>,
}

#[derive(Serialize)]
struct Access<'a> {
    store: &'a str,
    username: &'a str,
    password: &'a str,
}

/// Returns the object of `--json`: the address and every credential.
pub fn announcement(base_url: String, stores: &[StoreAccess]) -> String {
    let stores = stores
        .iter()
        .map(|store| Access { store: &store.key, username: &store.username, password: &store.password })
        .collect();
    serde_json::to_string(&Announcement { base_url, stores }).unwrap_or_default()
}

/// Waits for SIGINT or, where there is one, SIGTERM.
///
/// # Errors
///
/// When the signals cannot be waited for.
pub async fn interrupted() -> Result<(), Error> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).map_err(|source| Error::Signal { source })?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            interrupted = tokio::signal::ctrl_c() => interrupted.map_err(|source| Error::Signal { source }),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.map_err(|source| Error::Signal { source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_from_one_or_off() {
        assert_eq!(rate("off"), Ok(Rate(None)));
        assert_eq!(rate("300"), Ok(Rate(Some(300))));
        assert!(rate("0").is_err() && rate("-1").is_err() && rate("fast").is_err());
    }

    #[test]
    fn the_announcement_names_every_store() {
        let store = StoreAccess {
            key: "loja-1".into(),
            name: "Casa".into(),
            username: "loja-1@abc".into(),
            password: "secret".into(),
        };
        let text = announcement("http://127.0.0.1:1".into(), &[store]);
        let expected = concat!(
            r#"{"base_url":"http://127.0.0.1:1","#,
            r#""stores":[{"store":"loja-1","username":"loja-1@abc","password":"secret"}]}"#
        );
        assert_eq!(text, expected);
    }
}
