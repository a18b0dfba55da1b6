//! Finds stores with new intents.

use espelho_model::StoreKey;

use super::release::IntentKind;
use crate::{Error, intents::Intents};

/// One statement for each table, so that one that the ERP keeps locked hides nothing in the others. The partial indexes
/// name all three states: without this condition a statement would read all intents ever written, several times a
/// second.
pub(crate) const WANTING: [&str; 3] = [
    "SELECT DISTINCT store FROM erp_stock WHERE state IN ('new', 'waiting', 'sending') AND state = 'new'",
    "SELECT DISTINCT store FROM erp_prices WHERE state IN ('new', 'waiting', 'sending') AND state = 'new'",
    "SELECT DISTINCT store FROM commands WHERE state IN ('new', 'waiting', 'sending') AND state = 'new'",
];

impl Intents<'_> {
    /// The stores with new intents in a table.
    ///
    /// # Errors
    /// When the database does not answer, or the ERP has the table locked.
    pub async fn wanting_stores(self, table: IntentKind) -> Result<Vec<StoreKey>, Error> {
        let names = self.wanting_names(table).await?;
        Ok(names.iter().filter_map(|key| StoreKey::new(key).ok()).collect())
    }

    /// The same, as the ERP wrote the names.
    pub(crate) async fn wanting_names(self, table: IntentKind) -> Result<Vec<String>, Error> {
        let rows =
            self.database.fetch_erp("look for what is wanted", WANTING[table as usize], Vec::new()).await?;
        rows.iter().map(|row| row.foreign_text("store")).collect()
    }
}
