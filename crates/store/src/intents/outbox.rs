//! Finds stores with new intents.

use espelho_model::StoreKey;

use super::kind::IntentKind;
use crate::{Error, intents::Intents};

/// A loose index scan over the index on new rows: one look-up for each store, however many of its rows are new.
macro_rules! wanting {
    ($table:literal) => {
        concat!(
            "WITH RECURSIVE wanting (store) AS (SELECT min(store) FROM ",
            $table,
            " WHERE state = 'new' UNION ALL SELECT (SELECT min(e.store) FROM ",
            $table,
            " e WHERE e.state = 'new' AND e.store > wanting.store) FROM wanting WHERE wanting.store IS NOT NULL) \
             SELECT store FROM wanting WHERE store IS NOT NULL"
        )
    };
}

/// One statement for each table, so that one that the ERP keeps locked hides nothing in the others.
pub(crate) const WANTING: [&str; 3] = [wanting!("erp_stock"), wanting!("erp_prices"), wanting!("commands")];

impl Intents<'_> {
    /// The stores with new intents in a table.
    ///
    /// # Errors
    /// When the database does not answer, or the ERP has the table locked.
    pub async fn wanting_stores(self, table: IntentKind) -> Result<Vec<StoreKey>, Error> {
        let names = self.wanting_names(table).await?;
        Ok(names.iter().filter_map(|(key, _)| StoreKey::new(key).ok()).collect())
    }

    /// The same, as the ERP wrote the names; with their bytes where they are no text.
    pub(crate) async fn wanting_names(
        self,
        table: IntentKind,
    ) -> Result<Vec<(String, Option<Vec<u8>>)>, Error> {
        let rows =
            self.database.fetch_erp("look for what is wanted", WANTING[table as usize], Vec::new()).await?;
        rows.iter().map(|row| Ok((row.foreign_text("store")?, row.foreign_bytes("store")?))).collect()
    }
}
