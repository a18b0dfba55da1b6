//! Writes batches of the ERP's rows, all or none, and reads back their state.

use std::collections::HashMap;

use espelho_model::{StoreKey, push::CommandKind};

use super::{
    Api,
    requests::{self, RequestKey, Written},
};
use crate::{
    DesiredPrice, DesiredStock, Error,
    driver::{Insert, Tx, Value},
    intents::write::{COMMAND, PRICES, STOCK, price_values, stock_values},
    mirror::{page::LOCK_TIMEOUT, rows::last_of_each},
};

pub(crate) const STOCK_STATES: Insert = Insert {
    operation: "read the state of levels",
    head: "SELECT store, sku, location_id, state, revision FROM erp_stock WHERE (store, sku, location_id) IN (",
    columns: 3,
    tail: ")",
};
pub(crate) const PRICE_STATES: Insert = Insert {
    operation: "read the state of prices",
    head: "SELECT store, sku, min_quantity, state, revision FROM erp_prices WHERE (store, sku, CAST(min_quantity AS TEXT)) IN (",
    columns: 3,
    tail: ")",
};
pub(crate) const TAKE: Insert = Insert {
    operation: "take orders",
    head: "INSERT INTO erp_orders (store, order_number, erp_id, note)",
    columns: 4,
    tail: "ON CONFLICT (store, order_number) DO UPDATE SET erp_id = COALESCE(excluded.erp_id, erp_orders.erp_id), \
           note = COALESCE(excluded.note, erp_orders.note) RETURNING store, order_number",
};
pub(crate) const CLAIM: Insert = Insert {
    operation: "claim orders",
    head: "INSERT INTO erp_orders (store, order_number, erp_id, note)",
    columns: 4,
    tail: "ON CONFLICT (store, order_number) DO NOTHING RETURNING store, order_number",
};

/// A command to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommand {
    /// Its store.
    pub store: StoreKey,
    /// Its kind.
    pub kind: CommandKind,
    /// Its subject.
    pub key: String,
    /// Its data, as JSON.
    pub data: Option<String>,
}

/// An order that the ERP has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenOrder {
    /// Its store.
    pub store: StoreKey,
    /// Its number.
    pub order_number: String,
    /// Its number in the ERP; without it what was said before stays.
    pub erp_id: Option<String>,
    /// A note; without it what was said before stays.
    pub note: Option<String>,
}

/// Rows of one of the ERP's tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    /// Rows of `erp_stock`; the last one of each key counts.
    Stock(Vec<(StoreKey, DesiredStock)>),
    /// Rows of `erp_prices`; the last one of each key counts.
    Prices(Vec<(StoreKey, DesiredPrice)>),
    /// Rows of `commands`.
    Commands(Vec<NewCommand>),
    /// Rows of `erp_orders`; the last one of each key counts.
    Orders {
        /// The rows.
        rows: Vec<TakenOrder>,
        /// True if an order that somebody has taken stays theirs.
        claims: bool,
    },
}

/// A row as it is after it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRow {
    /// Its state; of an order `taken`, or `already_taken` by an earlier request.
    pub state: String,
    /// Its revision, in the tables that have one.
    pub revision: Option<i64>,
    /// A command's number.
    pub id: Option<i64>,
}

impl Api<'_> {
    /// Writes a batch and the answer to its request in one transaction. `answer` makes the answer of the rows, in the
    /// order of the batch.
    ///
    /// # Errors
    /// When the database does not answer or refuses a row; then nothing is written.
    pub async fn write(
        self,
        batch: Batch,
        request: Option<&RequestKey>,
        answer: impl Fn(&[WrittenRow]) -> String + Send,
    ) -> Result<Written, Error> {
        let mut tx = self.database.begin().await?;
        tx.execute_on_server("bound the wait for locks", LOCK_TIMEOUT, Vec::new()).await?;
        if let Some(request) = request
            && let Some(known) = requests::begin(&mut tx, self, request).await?
        {
            return Ok(known);
        }
        let rows = match batch {
            Batch::Stock(rows) => stock(&mut tx, rows).await?,
            Batch::Prices(rows) => prices(&mut tx, rows).await?,
            Batch::Commands(rows) => commands(&mut tx, rows).await?,
            Batch::Orders { rows, claims } => orders(&mut tx, rows, claims).await?,
        };
        let answer = answer(&rows);
        if let Some(request) = request {
            requests::end(&mut tx, request, &answer).await?;
        }
        tx.commit().await?;
        Ok(Written::Now(answer))
    }
}

async fn stock(tx: &mut Tx, rows: Vec<(StoreKey, DesiredStock)>) -> Result<Vec<WrittenRow>, Error> {
    type Key = (String, String, String);
    let key = |(store, row): &(StoreKey, DesiredStock)| -> Key {
        (store.as_str().to_owned(), row.sku.clone(), row.location.clone())
    };
    let keys: Vec<Key> = rows.iter().map(key).collect();
    let last = in_order_of_keys(rows, key);
    let named = last
        .iter()
        .map(key)
        .flat_map(|(store, sku, location)| -> [Value; 3] { [store.into(), sku.into(), location.into()] });
    let named = named.collect();
    tx.insert(&STOCK, last.into_iter().flat_map(|(store, row)| stock_values(&store, row)).collect()).await?;
    let read = tx.fetch_listed(&STOCK_STATES, named).await?;
    let mut states = HashMap::new();
    for row in &read {
        states.insert((row.text(0)?, row.text(1)?, row.text(2)?), (row.text(3)?, row.int(4)?));
    }
    keys.iter().map(|key| written(states.get(key))).collect()
}

async fn prices(tx: &mut Tx, rows: Vec<(StoreKey, DesiredPrice)>) -> Result<Vec<WrittenRow>, Error> {
    type Key = (String, String, i64);
    let key = |(store, row): &(StoreKey, DesiredPrice)| -> Key {
        (store.as_str().to_owned(), row.sku.clone(), row.min_quantity)
    };
    let keys: Vec<Key> = rows.iter().map(key).collect();
    let last = in_order_of_keys(rows, key);
    let named = last.iter().map(key).flat_map(|(store, sku, quantity)| -> [Value; 3] {
        [store.into(), sku.into(), quantity.to_string().into()]
    });
    let named = named.collect();
    tx.insert(&PRICES, last.into_iter().flat_map(|(store, row)| price_values(&store, row)).collect()).await?;
    let read = tx.fetch_listed(&PRICE_STATES, named).await?;
    let mut states = HashMap::new();
    for row in &read {
        states.insert((row.text(0)?, row.text(1)?, row.int(2)?), (row.text(3)?, row.int(4)?));
    }
    keys.iter().map(|key| written(states.get(key))).collect()
}

async fn commands(tx: &mut Tx, rows: Vec<NewCommand>) -> Result<Vec<WrittenRow>, Error> {
    let mut written = Vec::with_capacity(rows.len());
    for NewCommand { store, kind, key, data } in rows {
        let values = vec![store.as_str().into(), kind.as_str().into(), key.into(), Value::Json(data)];
        let rows = tx.fetch("give a command", COMMAND.to_owned(), values).await?;
        let id = rows.first().map(|row| row.int(0)).transpose()?;
        written.push(WrittenRow { state: "new".to_owned(), revision: None, id });
    }
    Ok(written)
}

async fn orders(tx: &mut Tx, rows: Vec<TakenOrder>, claims: bool) -> Result<Vec<WrittenRow>, Error> {
    let key = |row: &TakenOrder| (row.store.as_str().to_owned(), row.order_number.clone());
    let keys: Vec<(String, String)> = rows.iter().map(key).collect();
    let last = in_order_of_keys(rows, key);
    let values = last.into_iter().flat_map(|row| -> [Value; 4] {
        [row.store.as_str().into(), row.order_number.into(), row.erp_id.into(), row.note.into()]
    });
    let values = values.collect();
    let read = tx.fetch_listed(if claims { &CLAIM } else { &TAKE }, values).await?;
    let taken = read.iter().map(|row| Ok((row.text(0)?, row.text(1)?)));
    let taken = taken.collect::<Result<std::collections::HashSet<_>, Error>>()?;
    let state = |key| if taken.contains(key) { "taken" } else { "already_taken" };
    let row = |key| WrittenRow { state: state(key).to_owned(), revision: None, id: None };
    Ok(keys.iter().map(row).collect())
}

/// Keeps the last row of each key, in the order of the keys: two batches that meet wait for each other and do not block
/// each other.
fn in_order_of_keys<T, K: std::hash::Hash + Ord>(rows: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut last = last_of_each(rows, &key);
    last.sort_by_cached_key(&key);
    last
}

fn written(found: Option<&(String, i64)>) -> Result<WrittenRow, Error> {
    let missing = || Error::Corrupt { column: 0, why: "a row that was just written is not there".to_owned() };
    let (state, revision) = found.ok_or_else(missing)?;
    Ok(WrittenRow { state: state.clone(), revision: Some(*revision), id: None })
}
