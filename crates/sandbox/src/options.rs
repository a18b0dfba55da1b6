//! The options of a sandbox.

use std::{fmt, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};

use crate::limit::Window;

/// The time source of a sandbox; see [`Options::now`].
pub type Now = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// The content and the behaviour of a sandbox.
///
/// The default is one store with 200 orders and 60 products, seed 1, and the documented limit of 300 requests a minute.
#[derive(Clone)]
pub struct Options {
    /// How many stores are generated.
    pub stores: usize,
    /// How many orders each generated store has.
    pub orders: usize,
    /// How many products each generated store has.
    pub products: usize,
    /// Dates the generated orders up to the day of the start, in place of 31 March 2026.
    ///
    /// Without it the same seed and counts give the same dates on any day, and every open order is long past its
    /// deadlines.
    pub recent_orders: bool,
    /// The seed: the same seed and counts give byte-identical bodies, at any time (except with
    /// [`Self::recent_orders`]).
    ///
    /// The addresses of images begin with the origin of the object storage, which [`Options::storage`] can fix.
    pub seed: u64,
    /// Requests a minute and token; `None` switches the limit and its headers off.
    pub rate: Option<u32>,
    /// How the minute of the limit is counted.
    pub window: Window,
    /// Loads the Olist data set in place of generated stores.
    pub olist: Option<Olist>,
    /// The shape of the listings' `meta`, which the document leaves open.
    pub list_shape: ListShape,
    /// Writes decimals and counts as JSON strings.
    pub numbers_as_strings: bool,
    /// Answers page 1 to every page number.
    pub ignore_page: bool,
    /// Answers in the default order to every `sort`.
    pub ignore_sort: bool,
    /// Serves the `/_sandbox/` routes, which change the world without a token.
    pub control: bool,
    /// Asks for the abilities `store_products_read` and `store_products_write` on the product routes too.
    ///
    /// The document names scopes only for the campaign and price-list routes, so this is off by default.
    pub strict_scopes: bool,
    /// Opens the store page routes, which are in BETA and otherwise answer 403 to integration tokens.
    pub store_page: bool,
    /// Accepts `http://` and loopback addresses for webhooks, as a test needs; the document asks for public HTTPS.
    pub local_webhooks: bool,
    /// Where the object storage is served, an origin of its own; `None` takes a free port of the address of the API.
    pub storage: Option<SocketAddr>,
    /// How long a receiver of webhooks may take to answer, in real time: 30 s as documented.
    pub webhook_timeout: Duration,
    /// The time source; `None` is the system clock.
    pub now: Option<Now>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            stores: 1,
            orders: 200,
            products: 60,
            recent_orders: false,
            seed: 1,
            rate: Some(300),
            window: Window::Fixed,
            olist: None,
            list_shape: ListShape::Flat,
            numbers_as_strings: false,
            ignore_page: false,
            ignore_sort: false,
            control: false,
            strict_scopes: false,
            store_page: false,
            local_webhooks: true,
            storage: None,
            webhook_timeout: Duration::from_secs(30),
            now: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("stores", &self.stores)
            .field("orders", &self.orders)
            .field("products", &self.products)
            .field("seed", &self.seed)
            .field("rate", &self.rate)
            .field("window", &self.window)
            .field("olist", &self.olist)
            .field("list_shape", &self.list_shape)
            .field("control", &self.control)
            .field("now", &self.now.as_ref().map(|_| "injected"))
            .finish_non_exhaustive()
    }
}

/// The Olist data set as the content of the sandbox.
#[derive(Clone, Debug)]
pub struct Olist {
    /// The folder with the seven `.csv.gz` files.
    pub dir: PathBuf,
    /// How the orders are divided among stores.
    pub split: OlistSplit,
}

/// How the Olist orders are given to stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OlistSplit {
    /// One store, `olist`, has every order, also those without items.
    #[default]
    OneStore,
    /// Each seller is a store; an order of several sellers becomes one order for each.
    PerSeller,
}

/// The shape of a listing's answer, which the document leaves open for orders and products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ListShape {
    /// `data[]` and `meta{page, limit, last_page, total}`.
    #[default]
    Flat,
    /// The paginated envelope of the campaign routes: `data.data[]` and `data.meta.pagination`.
    Envelope,
    /// `data[]` and `meta{current_page, per_page, last_page, total}`.
    Laravel,
}
