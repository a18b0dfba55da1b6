//! Records of the service and its operators beside the mirror: alarms, runs, sweeps, tokens, overviews, backups.

pub(crate) mod actions;
pub(crate) mod alarms;
pub(crate) mod ask;
pub(crate) mod audits;
pub(crate) mod backup;
pub(crate) mod erasures;
pub(crate) mod explain;
pub(crate) mod figures;
pub(crate) mod grants;
pub(crate) mod installation;
pub(crate) mod lists;
pub(crate) mod mirrored_order;
pub(crate) mod mirrored_product;
pub(crate) mod notices;
pub(crate) mod overview;
pub(crate) mod pauses;
pub(crate) mod quarantine;
pub(crate) mod rate;
pub(crate) mod rehearsal;
pub(crate) mod row_counts;
pub(crate) mod rows_in_trouble;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod shared_skus;
pub(crate) mod story;
pub(crate) mod sweeps;
pub(crate) mod tokens;
pub(crate) mod write_proof;
pub(crate) mod zero_prices;

use std::sync::Arc;

use espelho_model::{Clock, text::Locale, watch};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{driver::Database, journal::Journal, mirror::page::LeaseTx, notifications::Notifications};

/// Heartbeats of the service's processes, and their alarms.
#[derive(Clone, Copy)]
pub struct Alarms<'s> {
    pub(crate) database: &'s Database,
}

/// Acts of operators on the page.
#[derive(Clone, Copy)]
pub struct Actions<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
}

/// Messages to people about alarms.
#[derive(Clone, Copy)]
pub struct Notices<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
}

/// Pauses: the work that operators have stopped for a while.
#[derive(Clone, Copy)]
pub struct Pauses<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
}

/// Runs and sweeps: their last results, and the marketplace's counts.
#[derive(Clone, Copy)]
pub struct Runs<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
}

/// Tokens, logins, and the spent request budget.
#[derive(Clone, Copy)]
pub struct Tokens<'s> {
    pub(crate) database: &'s Database,
    /// The database that the ERP cannot open.
    pub(crate) private: &'s Database,
}

/// Summaries of one store or of all, for people and metrics.
#[derive(Clone, Copy)]
pub struct Overviews<'s> {
    pub(crate) database: &'s Database,
    pub(crate) inbox: &'s Database,
    /// The database that the ERP cannot open.
    pub(crate) private: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
    /// The language in which the words on rows are read.
    pub(crate) reader: Option<Locale>,
    /// The turns of those that count many rows.
    pub(crate) counting: &'s Semaphore,
}

impl<'s> Overviews<'s> {
    /// Waits in order of arrival for a turn to count many rows. The caller keeps it while it counts.
    pub(crate) async fn turn_to_count(self) -> Option<SemaphorePermit<'s>> {
        let _waiting = watch::idle();
        // The semaphore is never closed.
        self.counting.acquire().await.ok()
    }
}

/// Everything on record about one thing.
#[derive(Clone, Copy)]
pub struct History<'s> {
    pub(crate) database: &'s Database,
    pub(crate) inbox: &'s Database,
    pub(crate) journal: Journal<'s>,
    /// The language in which the words on rows are read.
    pub(crate) reader: Option<Locale>,
}

/// Inputs whose work ended in a panic, or with the process.
#[derive(Clone, Copy)]
pub struct Quarantine<'s> {
    pub(crate) database: &'s Database,
    pub(crate) inbox: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
}

/// Erasures of people.
#[derive(Clone, Copy)]
pub struct Erasures<'s> {
    pub(crate) database: &'s Database,
    pub(crate) inbox: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
    pub(crate) notifications: &'s Notifications,
}

/// Checks of the database itself.
#[derive(Clone, Copy)]
pub struct Diagnostics<'s> {
    pub(crate) database: &'s Database,
    pub(crate) inbox: &'s Database,
}

/// Records sweeps, counts and audits.
pub struct SweepWriter<'p, 'l> {
    pub(crate) page: &'p mut LeaseTx<'l>,
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use espelho_model::{StoreKey, clock::SystemClock};

    use crate::Store;

    #[tokio::test]
    async fn while_two_count_the_next_waits_and_who_looks_something_up_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("espelho.db").display());
        let store = Store::open(&url, SystemClock::shared()).await.unwrap();
        let (overview, mirror, key) = (store.overview(), store.mirror(), StoreKey::new("loja").unwrap());
        let turns = [overview.turn_to_count().await, overview.turn_to_count().await];
        assert!(turns.iter().all(Option::is_some));
        let mut counting = pin!(overview.table_states(None));
        tokio::select! {
            biased;
            _ = &mut counting => panic!("it counts without a turn"),
            names = mirror.location_names(&key) => assert!(names.unwrap().is_empty()),
        }
        drop(turns);
        assert!(counting.await.unwrap().tables.is_empty());
    }
}
