//! Copies SQLite's log into the database file while the writer goes on.
//!
//! By default the commit that fills the log copies all of it, and waits twice for the disk meanwhile: a first run stood
//! still for a fifth of its time. Here another connection copies it. SQLite begins the log anew only once a writer finds
//! all of it copied, so what was added meanwhile is copied in the writer's turn: a hundredth of the log, while the writer
//! waits. Where nobody does this, or it fails, the writer copies the log itself ([`WRITER_COPIES`]).

use std::time::Duration;

use espelho_model::Clock;
use sqlx::{
    Row as _, Sqlite, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

use crate::driver::QueuedPool;

/// How many pages of the log are copied beside the writer: 35 MiB.
const DUE: i64 = 4_500;
/// At how many pages the writer copies the log itself: 96 MiB.
pub(super) const WRITER_COPIES: &str = "12000";
/// How often the log is copied beside the writer before its turn is taken: the second time copies what was added
/// during the first.
const BESIDE: u32 = 2;
/// The shortest time between two looks at the log.
const INTERVAL: Duration = Duration::from_millis(50);

/// The checkpoint that copies what it can without making anybody wait.
const COPY: &str = "PRAGMA wal_checkpoint(PASSIVE)";
/// The one that copies nothing, and says what there is.
const LOOK: &str = "PRAGMA wal_checkpoint(NOOP)";

/// The connection that copies the log.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoints {
    pool: SqlitePool,
    writer: QueuedPool<Sqlite>,
    due: i64,
}

/// What the log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Log {
    /// The number of its pages.
    pages: i64,
    /// How many of them are in the file.
    copied: i64,
}

impl Checkpoints {
    /// Opens nothing yet. `options` are the writer's.
    pub(crate) fn beside(writer: &QueuedPool<Sqlite>, options: SqliteConnectOptions) -> Self {
        let options = options.pragma("wal_autocheckpoint", "0").pragma("cache_size", "-64");
        let pool = SqlitePoolOptions::new().max_connections(1).min_connections(0).connect_lazy_with(options);
        Self { pool, writer: writer.clone(), due: DUE }
    }

    /// Copies the log whenever it has grown long, until this is closed.
    pub(crate) async fn run(&self, clock: &dyn Clock) {
        loop {
            tokio::select! {
                biased;
                () = self.pool.close_event() => return,
                () = self.writer.committed() => (),
            }
            if let Err(error) = self.copy_if_due().await {
                tracing::debug!(%error, "cannot copy the database's log; the writer does it later");
            }
            clock.sleep(INTERVAL).await;
        }
    }

    /// Waits for a copy that is under way, and ends.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    async fn copy_if_due(&self) -> sqlx::Result<()> {
        if self.log(LOOK).await?.missing() < self.due {
            return Ok(());
        }
        for _ in 0..BESIDE {
            self.log(COPY).await?;
        }
        let _turn = self.writer.permit().await?;
        self.log(COPY).await.map(drop)
    }

    /// Runs a checkpoint; says what the log holds after it.
    async fn log(&self, checkpoint: &'static str) -> sqlx::Result<Log> {
        let row = sqlx::raw_sql(checkpoint).fetch_one(&self.pool).await?;
        Ok(Log { pages: row.try_get(1)?, copied: row.try_get(2)? })
    }
}

impl Log {
    /// Returns how many pages are not in the file yet.
    fn missing(self) -> i64 {
        self.pages - self.copied
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::clock::SystemClock;
    use futures_util::FutureExt as _;

    use super::*;
    use crate::{Store, driver::Database};

    /// A new mirror of which even a short log is copied, and its folder.
    async fn mirror() -> (Store, Checkpoints, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("espelho.db").display());
        let store = Store::open(&url, SystemClock::shared()).await.unwrap();
        store.database.execute("create", "CREATE TABLE texts (text TEXT)", Vec::new()).await.unwrap();
        let checkpoints = Checkpoints { due: 20, ..Checkpoints::clone(store.checkpoints.as_ref().unwrap()) };
        checkpoints.log(COPY).await.unwrap();
        (store, checkpoints, folder)
    }

    /// Writes a text of about ten pages.
    async fn write(database: &Database) {
        let text = "a".repeat(80_000);
        database.execute("write", "INSERT INTO texts VALUES ($1)", vec![text.into()]).await.unwrap();
    }

    #[tokio::test]
    async fn a_long_log_is_copied_while_a_transaction_is_open_and_a_short_one_is_left() {
        let (store, checkpoints, _folder) = mirror().await;
        write(&store.database).await;
        checkpoints.copy_if_due().await.unwrap();
        let short = checkpoints.log(LOOK).await.unwrap();
        assert!((10..20).contains(&short.missing()), "{short:?}");
        for _ in 0..3 {
            write(&store.database).await;
        }
        let mut open = store.database.begin().await.unwrap();
        open.execute("write", "INSERT INTO texts VALUES ('b')", Vec::new()).await.unwrap();
        let commit = async {
            while checkpoints.log(LOOK).await.unwrap().missing() > 0 {}
            open.commit().await.unwrap();
        };
        let (copied, ()) = tokio::join!(checkpoints.copy_if_due(), commit);
        copied.unwrap();
        let long = checkpoints.log(LOOK).await.unwrap();
        assert!(long.pages > 40 && long.missing() == 0, "{long:?}");
        store.close().await;
    }

    #[tokio::test]
    async fn the_log_begins_anew_once_it_is_copied_and_goes_with_the_store() {
        let (store, checkpoints, folder) = mirror().await;
        let mut longest = 0;
        for _ in 0..50 {
            write(&store.database).await;
            checkpoints.copy_if_due().await.unwrap();
            longest = longest.max(checkpoints.log(LOOK).await.unwrap().pages);
        }
        assert!((20..60).contains(&longest), "{longest} pages, of more than 500 that were written");
        store.close().await;
        assert!(checkpoints.run(&*SystemClock::shared()).now_or_never().is_some(), "nothing is left to do");
        let log = folder.path().join("espelho.db-wal");
        assert!(!log.exists(), "the last connection deletes the log");
    }
}
