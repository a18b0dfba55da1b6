//! Finds stores with new intents.

use espelho_model::StoreKey;

use crate::{Error, intents::Intents};

/// The partial indexes name all three states: without this condition the statement would read all intents ever
/// written, several times a second.
pub(crate) const WANTING: &str = "SELECT store FROM commands \
    WHERE state IN ('new', 'waiting', 'sending') AND state = 'new' \
    UNION SELECT store FROM erp_stock WHERE state IN ('new', 'waiting', 'sending') AND state = 'new' \
    UNION SELECT store FROM erp_prices WHERE state IN ('new', 'waiting', 'sending') AND state = 'new'";

impl Intents<'_> {
    /// The stores with new intents.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn wanting_stores(self) -> Result<Vec<StoreKey>, Error> {
        let rows = self.database.fetch("look for what is wanted", WANTING, Vec::new()).await?;
        let keys: Result<Vec<String>, Error> = rows.iter().map(|row| row.foreign_text("store")).collect();
        Ok(keys?.iter().filter_map(|key| StoreKey::new(key).ok()).collect())
    }
}
