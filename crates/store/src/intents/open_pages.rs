//! Open work a page at a time: however many rows are open, and whatever their size, reading them costs the memory
//! of one page. Long data of a command is left where it is until its turn comes ([`Commands::read`]).

use chrono::{DateTime, Utc};
use espelho_model::{ContentHash, ProductId, Sku, StoreKey, push::PushState};

use super::{Outcome, commands::Command, prices::PriceIntent, stock::StockIntent};
use crate::{
    Error,
    driver::{Row, Value},
    intents::{Commands, IntentWriter, Intents, commands, stock},
};

/// Rows of a page.
pub const PAGE_ROWS: usize = 500;
/// Data of a command up to this length, in bytes, is read with its row.
pub const SHORT_DATA: i64 = 2048;

/// Data of a command up to this length, in bytes, is carried out.
pub const MOST_DATA: i64 = 1 << 20;

/// The columns of an open command, as [`open_command`] reads them.
macro_rules! command_columns {
    () => {
        "SELECT id, substr(kind, 1, 200) AS kind, substr(key, 1, 1000) AS key, \
         CASE WHEN octet_length(CAST(data AS TEXT)) <= 2048 THEN CAST(data AS TEXT) END AS short_data, \
         CAST(COALESCE(octet_length(CAST(data AS TEXT)), 0) AS BIGINT) AS data_bytes, \
         (length(kind) > 200 OR length(key) > 1000 OR COALESCE(octet_length(CAST(data AS TEXT)), 0) > 1048576) AS \
         is_too_large, state, created_at, error_code FROM commands "
    };
}
/// The columns of an open level, as `stock::intent` reads them. A row with a key or quantity of more than 800 bytes is
/// left out: `fail_too_long` answers it.
macro_rules! levels {
    ($rest:literal) => {
        concat!(
            "SELECT e.sku, e.location_id, CAST(e.quantity AS TEXT) AS written, e.state, e.updated_at, \
             p.id AS product_id, p.base_unit, CAST(s.quantity AS TEXT) AS mirrored, \
             CAST(s.reserved_quantity AS TEXT) AS reserved, \
             CAST(s.available_quantity AS TEXT) AS available, e.error_code, e.revision \
             FROM erp_stock e \
             LEFT JOIN products p ON p.store = e.store AND p.sku = e.sku AND p.gone_at IS NULL \
             LEFT JOIN product_stock s ON s.store = e.store AND s.sku = e.sku AND s.location_id = e.location_id \
             AND s.gone_at IS NULL \
             WHERE e.store = $1 AND e.state IN ('new', 'waiting', 'sending') AND octet_length(e.sku) <= 800 \
             AND octet_length(e.location_id) <= 800 AND octet_length(CAST(e.quantity AS TEXT)) <= 800 ",
            $rest
        )
    };
}

pub(crate) const COMMANDS: &str = concat!(
    command_columns!(),
    "WHERE store = $1 AND id > $2 AND state IN ('new', 'waiting', 'sending') ORDER BY id LIMIT $3"
);
/// The latest statuses that are not waiting, the last first.
pub(crate) const LATEST_STATUSES: &str = concat!(
    command_columns!(),
    "WHERE store = $1 AND kind = 'order.status' AND state IN ('new', 'sending') ORDER BY id DESC LIMIT $2"
);
/// The latest statuses on orders with a SKU, waiting or not, the last first.
pub(crate) const STATUSES_OF_SKU: &str = concat!(
    command_columns!(),
    "WHERE id IN (SELECT id FROM (SELECT id, key FROM commands WHERE store = $1 AND kind = 'order.status' \
     AND state IN ('new', 'waiting', 'sending') ORDER BY id DESC LIMIT $2) c WHERE EXISTS (SELECT 1 FROM order_items i \
     WHERE i.store = $1 AND i.order_number = c.key AND i.sku = $3)) ORDER BY id DESC"
);
/// The first statuses that are not waiting, without those that an earlier command on the same key is ahead of.
pub(crate) const FIRST_STATUSES: &str = concat!(
    command_columns!(),
    "WHERE id IN (SELECT id FROM (SELECT id, key FROM commands WHERE store = $1 AND kind = 'order.status' \
     AND state IN ('new', 'sending') ORDER BY id LIMIT $2) c WHERE NOT EXISTS (SELECT 1 FROM commands e \
     WHERE e.store = $1 AND substr(e.key, 1, 100) = substr(c.key, 1, 100) AND e.key = c.key AND e.id < c.id \
     AND e.state IN ('new', 'waiting', 'sending'))) ORDER BY id"
);
pub(crate) const STOCK: &str =
    levels!("AND e.sku >= $2 AND (e.sku > $2 OR e.location_id > $3) ORDER BY e.sku, e.location_id LIMIT $4");
/// Levels that go to zero and were not sent.
pub(crate) const ZEROES: &str = levels!(
    "AND e.quantity = 0 AND e.state <> 'sending' AND e.sku >= $2 AND (e.sku > $2 OR e.location_id > $3) \
     ORDER BY e.sku, e.location_id LIMIT $4"
);
/// A level as it is now, where it is still wanted as it was read.
pub(crate) const LEVEL: &str =
    levels!("AND e.sku = $2 AND e.location_id = $3 AND CAST(e.quantity AS TEXT) = $4 AND e.revision = $5");
pub(crate) const PRICES: &str = "SELECT e.sku, min(p.id) AS id, max(e.revision) AS revision FROM erp_prices e \
    LEFT JOIN products p ON p.store = e.store AND p.sku = e.sku AND p.gone_at IS NULL \
    WHERE e.store = $1 AND e.sku > $2 AND e.state IN ('new', 'waiting', 'sending') AND octet_length(e.sku) <= 800 \
    GROUP BY e.sku ORDER BY e.sku LIMIT $3";
/// Answers a command by its number alone.
pub(crate) const REFUSE: &str = "UPDATE commands SET state = $1, error_code = $2, error = $3, hint = $4, said = $5, \
    updated_at = $6, done_at = $6 WHERE store = $7 AND id = $8 AND state IN ('new', 'waiting', 'sending')";
/// Open rows that take a level of a known product to zero, where the mirror does not show zero already.
pub(crate) const EMPTIES: &str = "SELECT CAST(count(*) AS BIGINT) AS zeroes FROM erp_stock e \
    JOIN products p ON p.store = e.store AND p.sku = e.sku AND p.gone_at IS NULL \
    LEFT JOIN product_stock s ON s.store = e.store AND s.sku = e.sku AND s.location_id = e.location_id AND s.gone_at \
    IS NULL \
    WHERE e.store = $1 AND e.state IN ('new', 'waiting', 'sending') AND e.state <> 'sending' AND e.quantity = 0 \
    AND (s.quantity IS NULL OR s.quantity <> 0)";

/// An open command without long data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCommand {
    /// Its number.
    pub id: i64,
    /// Its kind, as the ERP wrote it.
    pub kind: String,
    /// Its subject.
    pub key: String,
    /// Its data, as the ERP wrote it, empty if there is none; `None` where it is longer than [`SHORT_DATA`].
    pub short_data: Option<String>,
    /// The length of its data in bytes.
    pub data_bytes: i64,
    /// Whether its data is longer than [`MOST_DATA`], or its kind or key longer than any can be: those are cut off.
    pub is_too_large: bool,
    /// The state; `None` for an unknown word.
    pub state: Option<PushState>,
    /// When the ERP wrote it.
    pub created_at: Option<DateTime<Utc>>,
    /// The answer that its row already has.
    pub code: Option<String>,
}

impl OpenCommand {
    /// Returns what tells this wording of the command from another, as far as its row was read: for pauses, not for
    /// evidence.
    pub fn wording(&self) -> String {
        let created = self.created_at.map(|at| at.timestamp_micros()).unwrap_or_default();
        let data = self.short_data.as_deref().unwrap_or_default();
        let text = format!("{}\n{}\n{data}\n{}\n{created}", self.kind, self.key, self.data_bytes);
        format!("{:016x}", ContentHash::of(text.as_bytes()).as_i64())
    }

    /// Returns the command; without its data where that is long.
    pub fn without_long_data(&self) -> Command {
        let Self { id, kind, key, short_data, state, created_at, code, .. } = self.clone();
        Command { id, kind, key, data: short_data.unwrap_or_default(), state, created_at, code }
    }

    /// Whether a command says what this row said, as far as the row was read.
    pub fn is_same_wording(&self, command: &Command) -> bool {
        let has_same_data = match &self.short_data {
            Some(data) => *data == command.data,
            None => i64::try_from(command.data.len()).is_ok_and(|bytes| bytes > SHORT_DATA),
        };
        has_same_data && (&self.kind, &self.key) == (&command.kind, &command.key)
    }

    /// Returns the fingerprint of the whole command; `None` where long data was not read.
    pub fn fingerprint(&self) -> Option<String> {
        self.short_data.is_some().then(|| self.without_long_data().fingerprint())
    }
}

impl Commands<'_> {
    /// The open commands with numbers above `after`, oldest first: at most [`PAGE_ROWS`].
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_page(self, store: &StoreKey, after: i64) -> Result<Vec<OpenCommand>, Error> {
        let values = vec![store.as_str().into(), after.into(), rows()];
        let rows = self.database.fetch_erp("read a page of commands", COMMANDS, values).await?;
        rows.iter().map(open_command).collect()
    }

    /// The latest open statuses that do not wait, the last first: at most [`PAGE_ROWS`].
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn latest_statuses(self, store: &StoreKey) -> Result<Vec<OpenCommand>, Error> {
        self.statuses("read the latest statuses", LATEST_STATUSES, store).await
    }

    /// Of the latest [`PAGE_ROWS`] open statuses, waiting or not, those on orders with a SKU, the last first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn statuses_of_sku(self, store: &StoreKey, sku: &Sku) -> Result<Vec<OpenCommand>, Error> {
        let values = vec![store.as_str().into(), rows(), sku.as_str().into()];
        let rows = self.database.fetch_erp("read statuses of a SKU", STATUSES_OF_SKU, values).await?;
        rows.iter().map(open_command).collect()
    }

    /// Of the first [`PAGE_ROWS`] open statuses that do not wait those that no open command on the same key is ahead
    /// of, the oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn first_statuses(self, store: &StoreKey) -> Result<Vec<OpenCommand>, Error> {
        self.statuses("read the first statuses", FIRST_STATUSES, store).await
    }

    async fn statuses(
        self,
        operation: &'static str,
        sql: &'static str,
        store: &StoreKey,
    ) -> Result<Vec<OpenCommand>, Error> {
        let rows = self.database.fetch_erp(operation, sql, vec![store.as_str().into(), rows()]).await?;
        rows.iter().map(open_command).collect()
    }

    /// A command with all of its data, if it is still open.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn read(self, store: &StoreKey, id: i64) -> Result<Option<Command>, Error> {
        let values = vec![store.as_str().into(), id.into()];
        let rows = self.database.fetch_erp("read a command", commands::OPEN_BY_ID, values).await?;
        rows.first().map(commands::command).transpose()
    }
}

impl IntentWriter<'_, '_> {
    /// Ends an open command whose text is not read: it is too large, or no text.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn refuse_command(&mut self, id: i64, outcome: &Outcome) -> Result<(), Error> {
        let at = self.page.at();
        let values: Vec<Value> = vec![
            outcome.state.as_str().into(),
            outcome.code.clone().into(),
            outcome.error.clone().into(),
            outcome.hint.clone().into(),
            outcome.message_as_json().into(),
            at.into(),
            self.page.store_key().as_str().to_owned().into(),
            id.into(),
        ];
        self.page.tx.execute("refuse a command", REFUSE, values).await.map(drop)
    }
}

impl Intents<'_> {
    /// The open desired levels behind a SKU and location, in their order: at most [`PAGE_ROWS`].
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_stock_page(
        self,
        store: &StoreKey,
        after: Option<&StockIntent>,
    ) -> Result<Vec<StockIntent>, Error> {
        self.levels("read a page of wanted stock", STOCK, store, after).await
    }

    /// The open desired levels of zero that were not sent, behind a SKU and location: at most [`PAGE_ROWS`].
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_zeroes_page(
        self,
        store: &StoreKey,
        after: Option<&StockIntent>,
    ) -> Result<Vec<StockIntent>, Error> {
        self.levels("read a page of wanted zeroes", ZEROES, store, after).await
    }

    /// A desired level beside what the mirror has by now, once for each product of its SKU; nothing where it is no
    /// longer wanted as it was read.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn current_level(
        self,
        store: &StoreKey,
        level: &StockIntent,
    ) -> Result<Vec<StockIntent>, Error> {
        let values = vec![
            store.as_str().into(),
            level.sku.as_str().into(),
            level.location.as_str().into(),
            level.written.as_str().into(),
            level.revision.into(),
        ];
        let rows = self.database.fetch_erp("read a wanted level again", LEVEL, values).await?;
        rows.iter().map(stock::intent).collect()
    }

    async fn levels(
        self,
        operation: &'static str,
        sql: &'static str,
        store: &StoreKey,
        after: Option<&StockIntent>,
    ) -> Result<Vec<StockIntent>, Error> {
        let (sku, location) = after.map_or(("", ""), |level| (level.sku.as_str(), level.location.as_str()));
        let values = vec![store.as_str().into(), sku.into(), location.into(), rows()];
        let rows = self.database.fetch_erp(operation, sql, values).await?;
        rows.iter().map(stock::intent).collect()
    }

    /// The products with open desired prices behind a SKU, by SKU: at most [`PAGE_ROWS`].
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_prices_page(
        self,
        store: &StoreKey,
        after: Option<&Sku>,
    ) -> Result<Vec<PriceIntent>, Error> {
        let values = vec![store.as_str().into(), after.map_or("", Sku::as_str).into(), rows()];
        let rows = self.database.fetch_erp("read a page of wanted prices", PRICES, values).await?;
        rows.iter().map(price).collect()
    }

    /// How many open rows take a level to zero, where the mirror does not show zero already.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_zeroes(self, store: &StoreKey) -> Result<usize, Error> {
        let rows =
            self.database.fetch_erp("count wanted zeroes", EMPTIES, vec![store.as_str().into()]).await?;
        let count = rows.first().map_or(Ok(0), |row| row.int("zeroes"))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

fn rows() -> Value {
    i64::try_from(PAGE_ROWS).unwrap_or(i64::MAX).into()
}

fn open_command(row: &Row) -> Result<OpenCommand, Error> {
    let data_bytes = row.int("data_bytes")?;
    let short_data = match data_bytes <= SHORT_DATA {
        true => Some(row.foreign_text("short_data")?),
        false => None,
    };
    Ok(OpenCommand {
        id: row.int("id")?,
        kind: row.foreign_text("kind")?,
        key: row.foreign_text("key")?,
        short_data,
        data_bytes,
        is_too_large: row.truth("is_too_large")?,
        state: row.foreign_text("state")?.parse().ok(),
        // An ERP may write an unreadable time.
        created_at: row.optional_time("created_at").ok().flatten(),
        code: row.optional_foreign_text("error_code")?,
    })
}

fn price(row: &Row) -> Result<PriceIntent, Error> {
    Ok(PriceIntent {
        sku: Sku::new(row.foreign_text("sku")?),
        product: row.optional_text("id")?.map(ProductId::new),
        revision: row.int("revision")?,
    })
}
