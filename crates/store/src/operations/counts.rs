//! Row counts of all mirrored tables.

use std::sync::LazyLock;

use espelho_model::StoreKey;

use crate::{Error, driver::Row, mirror::tables, operations::Overviews};

/// The mirrored tables that have files of their own.
const TUNED: [&str; 6] =
    ["orders", "order_items", "products", "product_prices", "product_stock", "stock_locations"];

pub(crate) static COUNTS: LazyLock<&'static str> = LazyLock::new(|| {
    let count = |table| {
        format!(
            "SELECT '{table}', count(*) FILTER (WHERE gone_at IS NULL), count(*) FILTER (WHERE gone_at IS NOT NULL) \
             FROM {table} WHERE store = $1"
        )
    };
    tables().map(count).collect::<Vec<_>>().join(" UNION ALL ").leak()
});

/// Every mirrored table.
pub(crate) fn tables() -> impl Iterator<Item = &'static str> {
    TUNED.into_iter().chain(tables::TABLES.iter().map(|table| table.name()))
}

/// The row counts of one mirrored table and store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCount {
    /// The table.
    pub table: String,
    /// Rows that are not gone.
    pub live: u64,
    /// Rows that are gone.
    pub gone: u64,
}

impl Overviews<'_> {
    /// The row counts of each mirrored table of a store. Reads all rows: for a page, not for every request.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn table_counts(self, store: &StoreKey) -> Result<Vec<TableCount>, Error> {
        let rows = self.database.fetch("count rows", *COUNTS, vec![store.as_str().into()]).await?;
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        let counted = |row: &Row| {
            Ok(TableCount { table: row.text(0)?, live: count(row.int(1)?), gone: count(row.int(2)?) })
        };
        rows.iter().map(counted).collect()
    }
}
