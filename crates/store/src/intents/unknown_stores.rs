//! Rows of the ERP whose store is in no configuration. They get an answer here, because no task works on them.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use espelho_model::StoreKey;

use super::outbox::WANTING;
use crate::{
    Error,
    driver::{Database, Value},
    intents::Intents,
    mirror::page::LOCK_TIMEOUT,
};

pub(crate) const FAIL: [&str; 3] = [
    "UPDATE erp_stock SET state = 'failed', error_code = 'unknown_store', error = $1, hint = $2, said = $3, \
        updated_at = $4 \
     WHERE store = $5 AND state IN ('new', 'waiting', 'sending') AND state = 'new'",
    "UPDATE erp_prices SET state = 'failed', error_code = 'unknown_store', error = $1, hint = $2, said = $3, \
        updated_at = $4 \
     WHERE store = $5 AND state IN ('new', 'waiting', 'sending') AND state = 'new'",
    "UPDATE commands SET state = 'failed', error_code = 'unknown_store', error = $1, hint = $2, said = $3, updated_at \
        = $4, \
     done_at = $4 WHERE store = $5 AND state IN ('new', 'waiting', 'sending') AND state = 'new'",
];
/// Uses the partial indexes, which contain only such rows.
pub(crate) const ANSWERED: &str = "SELECT store FROM erp_stock WHERE error_code = 'unknown_store' AND state = 'failed' \
    UNION SELECT store FROM erp_prices WHERE error_code = 'unknown_store' AND state = 'failed' \
    UNION SELECT store FROM commands WHERE error_code = 'unknown_store' AND state = 'failed'";
pub(crate) const REOPEN: [&str; 3] = [
    "UPDATE erp_stock SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL \
     WHERE store = $1 AND error_code = 'unknown_store' AND state = 'failed'",
    "UPDATE erp_prices SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL \
     WHERE store = $1 AND error_code = 'unknown_store' AND state = 'failed'",
    "UPDATE commands SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL, done_at = NULL \
     WHERE store = $1 AND error_code = 'unknown_store' AND state = 'failed'",
];
/// Stores that another machine works on, or did recently: its configuration has them.
pub(crate) const LEASED_LATELY: &str =
    "SELECT store FROM leases WHERE released_at IS NULL OR released_at > $1";
/// A store released within this span belongs to another machine that is restarting.
const LATELY: TimeDelta = TimeDelta::days(1);

/// The words of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowWords {
    /// The cause, in the installation's language.
    pub error: String,
    /// The next step, in the same language.
    pub hint: String,
    /// The same as a serialized text of the catalogue.
    pub message: String,
}

impl Intents<'_> {
    /// Fails the intents of stores that are neither `known` nor held by another process; returns the names of these
    /// stores. Without such rows it reads three small indexes.
    ///
    /// # Errors
    /// When the database does not answer, or the ERP has one of the rows locked.
    pub async fn answer_unknown_stores(
        self,
        known: &BTreeSet<StoreKey>,
        say: &(dyn Fn(&str) -> RowWords + Sync),
    ) -> Result<Vec<String>, Error> {
        let is_known = |name: &String| StoreKey::new(name).is_ok_and(|key| known.contains(&key));
        let rows = self.database.fetch("look for what is wanted", WANTING, Vec::new()).await?;
        let names: Vec<String> = rows.iter().map(|row| row.foreign_text(0)).collect::<Result<_, _>>()?;
        let mut unknown: Vec<String> = names.into_iter().filter(|name| !is_known(name)).collect();
        if !unknown.is_empty() {
            let elsewhere = self.stores_elsewhere().await?;
            unknown.retain(|name| !elsewhere.contains(name));
        }
        for name in &unknown {
            self.fail_new_rows(name, say(name)).await?;
        }
        Ok(unknown)
    }

    /// Reopens the rows that failed before their store was configured.
    ///
    /// # Errors
    /// When the database does not answer, or the ERP has one of the rows locked.
    pub async fn reopen_known_stores(self, known: &BTreeSet<StoreKey>) -> Result<(), Error> {
        let rows = self.database.fetch("look for rows of unknown stores", ANSWERED, Vec::new()).await?;
        for row in &rows {
            let name = row.foreign_text("store")?;
            if StoreKey::new(&name).is_ok_and(|key| known.contains(&key)) {
                let mut tx = self.database.begin().await?;
                tx.execute_on_server("bound the wait for locks", LOCK_TIMEOUT, Vec::new()).await?;
                for reopen in REOPEN {
                    tx.execute("make rows of a store new", reopen, vec![name.as_str().into()]).await?;
                }
                tx.commit().await?;
            }
        }
        Ok(())
    }

    async fn stores_elsewhere(self) -> Result<BTreeSet<String>, Error> {
        if let Database::Sqlite { .. } = self.database {
            return Ok(self.leases.held_stores().await?.unwrap_or_default());
        }
        let since = vec![(self.clock.now() - LATELY).into()];
        let rows = self.database.fetch("read the leases of others", LEASED_LATELY, since).await?;
        rows.iter().map(|row| row.text("store")).collect()
    }

    async fn fail_new_rows(self, store: &str, words: RowWords) -> Result<(), Error> {
        let mut tx = self.database.begin().await?;
        tx.execute_on_server("bound the wait for locks", LOCK_TIMEOUT, Vec::new()).await?;
        for fail in FAIL {
            let RowWords { error, hint, message } = words.clone();
            let values: Vec<Value> =
                vec![error.into(), hint.into(), message.into(), self.clock.now().into(), store.into()];
            tx.execute("answer rows of an unknown store", fail, values).await?;
        }
        tx.commit().await
    }
}
