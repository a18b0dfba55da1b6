//! How much is wanted, and where it is: for people and for metrics.

use std::{collections::BTreeMap, sync::LazyLock};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, push::PushState};

use super::release::IntentKind;
use crate::{Error, Store, driver::Row, overview::Both};

/// What is not dealt with, or not as it was wanted: by the partial indexes, however much was ever wanted.
pub(crate) static UNDONE: LazyLock<Both> = LazyLock::new(|| {
    let of = |filter: &str| -> &'static str {
        let table = |(intent, table, since): (IntentKind, &str, &str)| {
            let head =
                format!("SELECT store, '{}', state, count(*), min({since}) FROM {table}", intent.as_str());
            format!(
                "{head} WHERE state IN ('new', 'waiting', 'sending'){filter} GROUP BY store, state UNION ALL \
                 {head} WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful'){filter} GROUP BY store, state"
            )
        };
        TABLES.map(table).join(" UNION ALL ").leak()
    };
    [of(""), of(" AND store = $1")]
});
/// What is done: goes through all rows.
pub(crate) const DONE: &str = "SELECT store, 'stock', count(*) FROM erp_stock WHERE state = 'done' GROUP BY store \
    UNION ALL SELECT store, 'price', count(*) FROM erp_prices WHERE state = 'done' GROUP BY store \
    UNION ALL SELECT store, 'command', count(*) FROM commands WHERE state = 'done' GROUP BY store";

/// The tables that the ERP writes, and since when a row of theirs has been as it is.
const TABLES: [(IntentKind, &str, &str); 3] = [
    (IntentKind::Stock, "erp_stock", "updated_at"),
    (IntentKind::Price, "erp_prices", "updated_at"),
    (IntentKind::Command, "commands", "created_at"),
];

/// How many rows of one table are where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntentCounts {
    /// New, waiting, or being sent.
    pub open: u64,
    /// Since when the oldest of these has been so.
    pub oldest_open: Option<DateTime<Utc>>,
    /// Failed.
    pub failed: u64,
    /// Held by a guard.
    pub held: u64,
    /// Nobody knows.
    pub doubtful: u64,
    /// Since when the oldest of these has been so, or what it asks for is wanted.
    pub oldest_doubtful: Option<DateTime<Utc>>,
}

impl Store {
    /// What is not done of what the ERP of a store wants, or of every one: by store and by `stock`, `price` or `command`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn undone(
        &self,
        of: Option<&StoreKey>,
    ) -> Result<BTreeMap<String, BTreeMap<String, IntentCounts>>, Error> {
        let mut all = BTreeMap::<String, BTreeMap<String, IntentCounts>>::new();
        for row in self.summary(*UNDONE, of).await? {
            let tables = all.entry(row.text(0)?).or_default();
            add(tables.entry(row.text(1)?).or_default(), &row)?;
        }
        Ok(all)
    }

    /// How many rows are done, by store and by `stock`, `price` or `command`. It goes through all of them: not to be asked often.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn done_counts(&self) -> Result<Vec<(String, String, u64)>, Error> {
        let rows = self.database.fetch("count what is done", DONE, Vec::new()).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?, count(row, 2)?))).collect()
    }
}

fn add(counts: &mut IntentCounts, row: &Row) -> Result<(), Error> {
    let rows = count(row, 3)?;
    // An ERP may write a time of its own that nobody can read.
    let since = row.optional_time(4).ok().flatten();
    let older = |than: Option<DateTime<Utc>>| [than, since].into_iter().flatten().min();
    match PushState::parse(&row.text(2)?) {
        Some(PushState::Failed) => counts.failed += rows,
        Some(PushState::Held) => counts.held += rows,
        Some(PushState::Doubtful) => {
            counts.doubtful += rows;
            counts.oldest_doubtful = older(counts.oldest_doubtful);
        }
        _ => {
            counts.open += rows;
            counts.oldest_open = older(counts.oldest_open);
        }
    }
    Ok(())
}

fn count(row: &Row, at: usize) -> Result<u64, Error> {
    Ok(u64::try_from(row.int(at)?).unwrap_or(0))
}
