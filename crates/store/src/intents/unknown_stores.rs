//! Rows of the ERP whose store is in no configuration. They get an answer here, because no task works on them.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use espelho_model::StoreKey;

use super::kind::IntentKind;
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
/// The same on SQLite for a name that is bytes, or no UTF-8: it equals no text.
const FAIL_BYTES: [&str; 3] = [
    "UPDATE erp_stock SET state = 'failed', error_code = 'unknown_store', error = $1, hint = $2, said = $3, \
        updated_at = $4 \
     WHERE CAST(store AS BLOB) = $5 AND state = 'new'",
    "UPDATE erp_prices SET state = 'failed', error_code = 'unknown_store', error = $1, hint = $2, said = $3, \
        updated_at = $4 \
     WHERE CAST(store AS BLOB) = $5 AND state = 'new'",
    "UPDATE commands SET state = 'failed', error_code = 'unknown_store', error = $1, hint = $2, said = $3, updated_at \
        = $4, \
     done_at = $4 WHERE CAST(store AS BLOB) = $5 AND state = 'new'",
];
/// Uses the partial indexes, which contain only such rows.
pub(crate) const ANSWERED: [&str; 3] = [
    "SELECT DISTINCT store FROM erp_stock WHERE error_code = 'unknown_store' AND state = 'failed'",
    "SELECT DISTINCT store FROM erp_prices WHERE error_code = 'unknown_store' AND state = 'failed'",
    "SELECT DISTINCT store FROM commands WHERE error_code = 'unknown_store' AND state = 'failed'",
];
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
    /// When the database does not answer, or the ERP has a table or one of the rows locked; the other tables' rows are
    /// answered.
    pub async fn answer_unknown_stores(
        self,
        known: &BTreeSet<StoreKey>,
        say: &(dyn Fn(&str) -> RowWords + Sync),
    ) -> Result<Vec<String>, Error> {
        let (mut unknown, mut refused) = (BTreeSet::new(), None);
        for table in IntentKind::ALL {
            match self.answer_table(*table, known, say).await {
                Ok(names) => unknown.extend(names),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        refused.map_or(Ok(unknown.into_iter().collect()), Err)
    }

    async fn answer_table(
        self,
        table: IntentKind,
        known: &BTreeSet<StoreKey>,
        say: &(dyn Fn(&str) -> RowWords + Sync),
    ) -> Result<Vec<String>, Error> {
        let is_known = |name: &String| StoreKey::new(name).is_ok_and(|key| known.contains(&key));
        let mut unknown = self.wanting_names(table).await?;
        unknown.retain(|(name, _)| !is_known(name));
        if !unknown.is_empty() {
            let elsewhere = self.stores_elsewhere().await?;
            unknown.retain(|(name, _)| !elsewhere.contains(name));
        }
        for (name, bytes) in &unknown {
            let RowWords { error, hint, message } = say(name);
            let (sql, written): ([&str; 3], Value) = match bytes {
                Some(bytes) => (FAIL_BYTES, bytes.clone().into()),
                None => (FAIL, name.as_str().into()),
            };
            let values: Vec<Value> =
                vec![error.into(), hint.into(), message.into(), self.clock.now().into(), written];
            self.write("answer rows of an unknown store", sql[table as usize], values).await?;
        }
        Ok(unknown.into_iter().map(|(name, _)| name).collect())
    }

    /// Reopens the rows that failed before their store was configured.
    ///
    /// # Errors
    /// When the database does not answer, or the ERP has a table or one of the rows locked; the other tables' rows are
    /// reopened.
    pub async fn reopen_known_stores(self, known: &BTreeSet<StoreKey>) -> Result<(), Error> {
        let mut done = Ok(());
        for table in IntentKind::ALL {
            done = done.and(self.reopen_table(*table, known).await);
        }
        done
    }

    async fn reopen_table(self, table: IntentKind, known: &BTreeSet<StoreKey>) -> Result<(), Error> {
        let sql = ANSWERED[table as usize];
        let rows = self.database.fetch_erp("look for rows of unknown stores", sql, Vec::new()).await?;
        for row in &rows {
            let name = row.foreign_text("store")?;
            if StoreKey::new(&name).is_ok_and(|key| known.contains(&key)) {
                self.write("make rows of a store new", REOPEN[table as usize], vec![name.into()]).await?;
            }
        }
        Ok(())
    }

    /// The stores that other processes work on, or did within a day: their configuration has them.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn stores_elsewhere(self) -> Result<BTreeSet<String>, Error> {
        if let Database::Sqlite { .. } = self.database {
            return Ok(self.leases.held_stores().await?.unwrap_or_default());
        }
        let since = vec![(self.clock.now() - LATELY).into()];
        let rows = self.database.fetch("read the leases of others", LEASED_LATELY, since).await?;
        rows.iter().map(|row| row.text("store")).collect()
    }

    /// Writes rows of one table, and waits for its locks for a moment only.
    async fn write(
        self,
        operation: &'static str,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<(), Error> {
        let mut tx = self.database.begin().await?;
        tx.execute_on_server("bound the wait for locks", LOCK_TIMEOUT, Vec::new()).await?;
        tx.execute(operation, sql, values).await?;
        tx.commit().await
    }
}
