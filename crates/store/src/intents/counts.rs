//! Counts of intents by state, for people and for metrics.

use std::{collections::BTreeMap, sync::LazyLock};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, push::PushState};

use super::kind::IntentKind;
use crate::{
    Error,
    driver::Row,
    intents::Intents,
    operations::overview::{Both, summary},
};

/// Rows that are open or ended without success. Uses the partial indexes, so its cost does not grow with the
/// finished rows.
pub(crate) static UNDONE: LazyLock<Both> = LazyLock::new(|| {
    let of = |filter: &str| -> &'static str {
        let table = |(intent, table, since): (IntentKind, &str, &str)| {
            let head =
                format!("SELECT store, '{}', state, count(*), min({since}) FROM {table}", intent.as_str());
            format!(
                "{head} WHERE state IN ('new', 'waiting', 'sending'){filter} GROUP BY store, state UNION ALL \
                 {head} WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful'){filter} GROUP BY \
                 store, state"
            )
        };
        TABLES.map(table).join(" UNION ALL ").leak()
    };
    [of(""), of(" AND store = $1")]
});

/// Finished rows: reads all rows.
pub(crate) const DONE: &str = "SELECT store, 'stock', count(*) FROM erp_stock WHERE state = 'done' GROUP BY store \
    UNION ALL SELECT store, 'price', count(*) FROM erp_prices WHERE state = 'done' GROUP BY store \
    UNION ALL SELECT store, 'command', count(*) FROM commands WHERE state = 'done' GROUP BY store";
/// The tables that the ERP writes, each with the time of the last change of state.
const TABLES: [(IntentKind, &str, &str); 3] = [
    (IntentKind::Stock, "erp_stock", "updated_at"),
    (IntentKind::Price, "erp_prices", "updated_at"),
    (IntentKind::Command, "commands", "created_at"),
];

/// The rows of one table, counted by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntentCounts {
    /// New, waiting, or being sent.
    pub open: u64,
    /// When the oldest open row entered its state.
    pub oldest_open: Option<DateTime<Utc>>,
    /// Failed.
    pub failed: u64,
    /// Held by a guard.
    pub held: u64,
    /// Doubtful: nothing proves the result.
    pub doubtful: u64,
    /// When the oldest doubtful row entered its state, or was written.
    pub oldest_doubtful: Option<DateTime<Utc>>,
}

impl Intents<'_> {
    /// The unfinished rows of a store, or of all stores: by store and by `stock`, `price` or `command`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn undone(
        self,
        of: Option<&StoreKey>,
    ) -> Result<BTreeMap<String, BTreeMap<String, IntentCounts>>, Error> {
        let mut all = BTreeMap::<String, BTreeMap<String, IntentCounts>>::new();
        summary(self.database, *UNDONE, of, |row| {
            let tables = all.entry(row.foreign_text(0)?).or_default();
            add(tables.entry(row.text(1)?).or_default(), row)?;
            Ok(())
        })
        .await?;
        Ok(all)
    }

    /// The number of finished rows, by store and by `stock`, `price` or `command`. Reads all of them: call it
    /// rarely.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn done_counts(self) -> Result<Vec<(String, String, u64)>, Error> {
        let rows = self.database.fetch_erp("count what is done", DONE, Vec::new()).await?;
        rows.iter().map(|row| Ok((row.foreign_text(0)?, row.text(1)?, row.count(2)?))).collect()
    }
}

fn add(counts: &mut IntentCounts, row: &Row) -> Result<(), Error> {
    let rows = row.count(3)?;
    // An ERP may write an unreadable time.
    let since = row.optional_time(4).ok().flatten();
    let older = |than: Option<DateTime<Utc>>| [than, since].into_iter().flatten().min();
    match row.text(2)?.parse().ok() {
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
