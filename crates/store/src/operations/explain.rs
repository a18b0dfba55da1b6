//! The mirrored row of one entity, with its errors and changes, for support.

use std::{collections::BTreeMap, sync::LazyLock};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, time::serialize_fixed_width};
use serde::Serialize;

use crate::{
    Error,
    mirror::tables,
    operations::History,
    words::{all_words, message_id},
};

pub(crate) const PARTS: &str =
    "SELECT part, read_at FROM order_parts WHERE store = $1 AND order_number = $2 ORDER BY part";
pub(crate) const CHANGES: &str = "SELECT seq, op, at FROM changes WHERE store = $1 AND entity = $2 AND key = $3 \
    ORDER BY seq DESC LIMIT 20";
pub(crate) const ERRORS_OF: &str =
    "SELECT code, error, hint, at, said FROM v_errors WHERE store = $1 AND entity = $2 AND key = $3";
/// With the subject of commands and labels: nobody knows command 8 by its number.
/// Long texts of an ERP are cut: people read the rest in the table.
pub(crate) const ERRORS: &str = "SELECT substr(v.store, 1, 200), v.entity, \
    CASE WHEN octet_length(v.key) <= 1000 THEN v.key ELSE substr(v.key, 1, 200) || '… (' || octet_length(v.key) \
    || ' bytes)' END, substr(v.code, 1, 200), substr(v.error, 1, 2000) AS error, substr(v.hint, 1, 2000) AS hint, v.at, \
    substr(c.kind, 1, 200), substr(COALESCE(c.key, l.order_number), 1, 1000), \
    CASE WHEN octet_length(v.said) <= 10000 THEN v.said END AS said \
    FROM v_errors v LEFT JOIN commands c ON c.id = CASE WHEN v.entity = 'command' THEN CAST(v.key AS BIGINT) END \
    LEFT JOIN shipment_labels l ON v.entity = 'shipment_label' AND l.store = v.store AND l.id = v.key \
    WHERE $1 = '' OR v.store = $1 ORDER BY v.store, v.at DESC, v.entity, v.key LIMIT $2";
/// Tables that depend on an order.
const SUBRESOURCE_TABLES: [&str; 6] =
    ["order_items", "order_invoices", "order_events", "order_splits", "shipments", "shipment_labels"];

/// A mirrored row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Its table.
    pub table: &'static str,
    /// When it was last written.
    pub mirrored_at: DateTime<Utc>,
    /// When it went.
    pub gone_at: Option<DateTime<Utc>>,
    /// The object as received.
    pub raw: String,
    /// Live dependent rows, by table.
    pub sides: BTreeMap<&'static str, u64>,
    /// When each sub-resource of an order was last read.
    pub parts: Vec<(String, DateTime<Utc>)>,
}

/// A row of `v_errors`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorRow {
    /// The store.
    pub store: String,
    /// The entity.
    pub entity: String,
    /// Its key.
    pub key: String,
    /// The cause's code.
    pub code: String,
    /// The cause, for people.
    pub error: String,
    /// The next step.
    pub hint: String,
    /// Since when, if the row has a readable time.
    #[serde(serialize_with = "serialize_fixed_width")]
    pub at: Option<DateTime<Utc>>,
    /// The kind, of a command.
    pub kind: Option<String>,
    /// The subject of a command or a label: an order, a SKU or another key.
    pub subject: Option<String>,
    /// The identifier of its message in the catalogue: rows with the same one have the same next step.
    #[serde(skip)]
    pub message_id: Option<String>,
}

/// An entity that can be explained.
struct Kind {
    /// Its name in the change feed.
    entity: &'static str,
    table: &'static str,
    /// Key columns beside the store.
    columns: usize,
    sql: String,
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    kinds()
        .map(|(entity, table, key)| Kind { entity, table, columns: key.len(), sql: row_of(table, &key) })
        .collect()
});
/// Repeats every row in the change feed with its last state; the key of a dependent row is `PARENT/ID`.
pub(crate) static RETELLINGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let retelling = |(entity, table, key): (&str, &str, Vec<&str>)| {
        format!(
            "INSERT INTO changes (store, entity, key, op, at) SELECT store, '{entity}', {}, \
             CASE WHEN gone_at IS NULL THEN 'update' ELSE 'gone' END, $1 FROM {table}",
            key.join(" || '/' || ")
        )
    };
    kinds().map(retelling).collect()
});

/// The entities: name in the change feed, table, and key columns.
fn kinds() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    let tuned = [("order", "orders", vec!["order_number"]), ("product", "products", vec!["id"])];
    tuned.into_iter().chain(tables::TABLES.iter().map(|table| table.explained()))
}

static COUNTS: LazyLock<[(&str, String); 6]> = LazyLock::new(|| {
    SUBRESOURCE_TABLES.map(|table| {
        let whose = "store = $1 AND order_number = $2 AND gone_at IS NULL";
        (table, format!("SELECT count(*) AS rows FROM {table} WHERE {whose}"))
    })
});

pub(crate) fn statements() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.sql.as_str()).chain(COUNTS.iter().map(|(_, sql)| sql.as_str()))
}

fn row_of(table: &str, key: &[&str]) -> String {
    let is = |(at, column): (usize, &&str)| format!("{column} = ${}", at + 2);
    let places: Vec<String> = key.iter().enumerate().map(is).collect();
    let places = places.join(" AND ");
    format!("SELECT mirrored_at, gone_at, CAST(raw AS TEXT) FROM {table} WHERE store = $1 AND {places}")
}

/// The entities that [`History::explain`] knows, by their names in the change feed.
pub fn explainable() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.entity).collect()
}

impl History<'_> {
    /// A mirrored row by its entity and key; the key of a dependent row is `PARENT/ID`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn explain(
        self,
        store: &StoreKey,
        entity: &str,
        key: &str,
    ) -> Result<Option<Explained>, Error> {
        let Some(kind) = KINDS.iter().find(|kind| kind.entity == entity) else { return Ok(None) };
        let parts: Vec<&str> = key.splitn(kind.columns, '/').collect();
        if parts.len() != kind.columns {
            return Ok(None);
        }
        let mut values = vec![store.as_str().into()];
        values.extend(parts.into_iter().map(Into::into));
        let rows = self.database.fetch("explain a row", &kind.sql, values).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let (mut sides, mut parts) = (BTreeMap::new(), Vec::new());
        if entity == "order" {
            (sides, parts) = self.around_order(store, key).await?;
        }
        let (mirrored_at, gone_at, raw) = (row.time(0)?, row.optional_time(1)?, row.text(2)?);
        Ok(Some(Explained { table: kind.table, mirrored_at, gone_at, raw, sides, parts }))
    }

    async fn around_order(self, store: &StoreKey, number: &str) -> Result<Around, Error> {
        let values = || vec![store.as_str().into(), number.into()];
        let mut sides = BTreeMap::new();
        for (table, sql) in COUNTS.iter() {
            let rows = self.database.fetch("count an order's rows", sql, values()).await?;
            let count = rows.first().map_or(Ok(0), |row| row.int("rows"))?;
            sides.insert(*table, u64::try_from(count).unwrap_or(0));
        }
        let rows = self.database.fetch("read an order's sides", PARTS, values()).await?;
        let parts = rows.iter().map(|row| Ok((row.text("part")?, row.time("read_at")?)));
        Ok((sides, parts.collect::<Result<_, Error>>()?))
    }

    /// The newest changes of one row: number, operation, time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn changes_of(
        self,
        store: &StoreKey,
        entity: &str,
        key: &str,
    ) -> Result<Vec<(i64, String, DateTime<Utc>)>, Error> {
        let values = vec![store.as_str().into(), entity.into(), key.into()];
        let rows = self.database.fetch("read a row's changes", CHANGES, values).await?;
        rows.iter().map(|row| Ok((row.int("seq")?, row.text("op")?, row.time("at")?))).collect()
    }

    /// The errors of one row.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn errors_of(self, store: &StoreKey, entity: &str, key: &str) -> Result<Vec<ErrorRow>, Error> {
        let values = vec![store.as_str().into(), entity.into(), key.into()];
        let rows = self.database.fetch_erp("read a row's errors", ERRORS_OF, values).await?;
        let read = |row: &crate::driver::Row| {
            let (store, entity, key) = (store.to_string(), entity.to_owned(), key.to_owned());
            let code = row.foreign_text("code")?;
            let [error, hint] = all_words(row, self.reader)?;
            let (kind, subject) = (None, None);
            // An ERP may write an unreadable time.
            let at = row.optional_time("at").ok().flatten();
            let message_id = message_id(row)?;
            Ok(ErrorRow { store, entity, key, code, error, hint, at, kind, subject, message_id })
        };
        rows.iter().map(read).collect()
    }

    /// Up to `limit` rows of `v_errors`, of one store or of all, the newest of each store first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn errors(self, store: Option<&StoreKey>, limit: u32) -> Result<Vec<ErrorRow>, Error> {
        let values = vec![store.map_or("", StoreKey::as_str).into(), i64::from(limit).into()];
        let rows = self.database.fetch_erp("read the errors", ERRORS, values).await?;
        let read = |row: &crate::driver::Row| {
            let [store, entity, key] = [row.foreign_text(0)?, row.text(1)?, row.foreign_text(2)?];
            let code = row.foreign_text(3)?;
            let [error, hint] = all_words(row, self.reader)?;
            let (kind, subject) = (row.optional_foreign_text(7)?, row.optional_foreign_text(8)?);
            let at = row.optional_time(6).ok().flatten();
            let message_id = message_id(row)?;
            Ok(ErrorRow { store, entity, key, code, error, hint, at, kind, subject, message_id })
        };
        rows.iter().map(read).collect()
    }
}

/// Row counts by table, and when each sub-resource was read.
type Around = (BTreeMap<&'static str, u64>, Vec<(String, DateTime<Utc>)>);
