//! Row counts of the mirrored tables. Counting reads all rows of a store; the last counts stand in a table of their own.

use std::{collections::BTreeMap, sync::LazyLock};

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;
use serde::{Deserialize, Serialize};

use crate::{
    Error,
    driver::{Insert, Row, Value},
    mirror::tables,
    operations::{
        Overviews,
        overview::{Both, both, chosen, summary},
    },
};

/// The mirrored tables that have files of their own.
const TUNED: [&str; 6] =
    ["orders", "order_items", "products", "product_prices", "product_stock", "stock_locations"];

/// For each table, the only statements for people that read all rows; of orders SQLite reads indexes alone.
pub(crate) static TABLES: LazyLock<Vec<Both>> = LazyLock::new(|| {
    let rows = |table, of: &str, at: &str| {
        format!(
            "SELECT store, {at} AS mirrored_at, count(*) FILTER (WHERE gone_at IS NULL) AS live, \
             count(*) FILTER (WHERE gone_at IS NOT NULL) AS gone FROM {table} {of} GROUP BY store"
        )
    };
    let count = |table, of: &str| -> &'static str {
        let (rows, at) = match table {
            "orders" => (
                rows(table, of, "NULL"),
                "(SELECT max(mirrored_at) FROM orders AS o WHERE o.store = counted.store)",
            ),
            _ => (rows(table, of, "max(mirrored_at)"), "mirrored_at"),
        };
        format!("SELECT store, '{table}', live, gone, {at} FROM ({rows}) AS counted").leak()
    };
    counted_tables().map(|table| ["", "WHERE store = $1"].map(|of| count(table, of))).collect()
});
pub(crate) const RECORDED: Both =
    both!("SELECT store, table_name, live, gone, last_mirrored, counted_at FROM row_counts", "");
pub(crate) const FORGET: Both = both!("DELETE FROM row_counts", "");
pub(crate) const RECORD: Insert = Insert {
    operation: "record row counts",
    head: "INSERT INTO row_counts (store, table_name, live, gone, last_mirrored, counted_at)",
    columns: 6,
    tail: "ON CONFLICT (store, table_name) DO UPDATE SET live = excluded.live, gone = excluded.gone, \
           last_mirrored = excluded.last_mirrored, counted_at = excluded.counted_at",
};

/// The rows of a mirrored table and store.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct TableState {
    /// The table.
    pub table: String,
    /// Rows that are not gone.
    pub live: u64,
    /// Rows that are gone.
    pub gone: u64,
    /// When one of them was last written.
    pub last_mirrored: Option<DateTime<Utc>>,
}

/// The mirrored tables by store, without empty ones, and when they were counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableStates {
    /// The tables, by the store's key.
    pub tables: BTreeMap<String, Vec<TableState>>,
    /// The time of the oldest of these counts; `None`: nothing was counted.
    pub counted_at: Option<DateTime<Utc>>,
}

impl Overviews<'_> {
    /// Counts the rows of a store, or of all. Reads all their rows: for people, rarely.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn table_states(self, of: Option<&StoreKey>) -> Result<TableStates, Error> {
        let _turn = self.turn_to_count().await;
        let mut all = TableStates { counted_at: Some(self.clock.now()), ..TableStates::default() };
        for &sql in TABLES.iter() {
            summary(self.database, sql, of, |row| {
                all.tables.entry(row.text(0)?).or_default().push(state(row)?);
                Ok(())
            })
            .await?;
        }
        Ok(all)
    }

    /// Returns the recorded counts of a store, or of all.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn recorded_table_states(self, of: Option<&StoreKey>) -> Result<TableStates, Error> {
        let mut all = TableStates::default();
        summary(self.database, RECORDED, of, |row| {
            let counted_at = row.time(5)?;
            all.counted_at = Some(all.counted_at.map_or(counted_at, |oldest| oldest.min(counted_at)));
            all.tables.entry(row.text(0)?).or_default().push(state(row)?);
            Ok(())
        })
        .await?;
        for tables in all.tables.values_mut() {
            tables.sort_by_key(|table| counted_tables().position(|name| name == table.table));
        }
        Ok(all)
    }

    /// Records the counts of a store, or of all, in place of the recorded ones.
    ///
    /// # Errors
    /// When the database does not answer; then the earlier counts stand.
    pub async fn record_table_states(self, of: Option<&StoreKey>, states: &TableStates) -> Result<(), Error> {
        let Some(counted_at) = states.counted_at else { return Ok(()) };
        let rows =
            states.tables.iter().flat_map(|(store, tables)| tables.iter().map(move |table| (store, table)));
        let values = rows.flat_map(|(store, table)| values(store, table, counted_at)).collect();
        let (forget, arguments) = chosen(FORGET, of);
        let mut tx = self.database.begin().await?;
        tx.execute("forget row counts", forget, arguments).await?;
        tx.insert(&RECORD, values).await?;
        tx.commit().await
    }
}

/// Every mirrored table, in the order in which people see them.
pub fn counted_tables() -> impl Iterator<Item = &'static str> {
    TUNED.into_iter().chain(tables::TABLES.iter().map(|table| table.name()))
}

fn values(store: &str, table: &TableState, counted_at: DateTime<Utc>) -> [Value; 6] {
    let number = |n: u64| -> Value { i64::try_from(n).unwrap_or(i64::MAX).into() };
    let (live, gone) = (number(table.live), number(table.gone));
    [store.into(), table.table.as_str().into(), live, gone, table.last_mirrored.into(), counted_at.into()]
}

fn state(row: &Row) -> Result<TableState, Error> {
    Ok(TableState {
        table: row.text(1)?,
        live: row.count(2)?,
        gone: row.count(3)?,
        last_mirrored: row.optional_time(4)?,
    })
}
