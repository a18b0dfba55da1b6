//! Who wants something, whoever it is: looked for by itself where nobody can tell.

use espelho_model::StoreKey;

use crate::{Error, Store};

/// The partial indexes bear all three states: without them this goes through all that was ever wanted, several times a second.
pub(crate) const WANTING: &str = "SELECT store FROM commands \
    WHERE state IN ('new', 'waiting', 'sending') AND state = 'new' \
    UNION SELECT store FROM erp_stock WHERE state IN ('new', 'waiting', 'sending') AND state = 'new' \
    UNION SELECT store FROM erp_prices WHERE state IN ('new', 'waiting', 'sending') AND state = 'new'";

impl Store {
    /// The stores for which the ERP has written something that nobody has looked at.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn wanting_stores(&self) -> Result<Vec<StoreKey>, Error> {
        let rows = self.database.fetch("look for what is wanted", WANTING, Vec::new()).await?;
        let keys: Result<Vec<String>, Error> = rows.iter().map(|row| row.foreign_text(0)).collect();
        Ok(keys?.iter().filter_map(|key| StoreKey::new(key).ok()).collect())
    }
}
