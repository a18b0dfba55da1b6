//! Copies SQLite's log into the database file while the writer goes on.
//!
//! By default the commit that fills the log copies all of it, and waits twice for the disk meanwhile: a first run stood
//! still for a fifth of its time. Here another connection copies it. SQLite begins the log anew only once a writer finds
//! all of it copied, and nobody reading from it, so what was added meanwhile is copied in the writer's turn: a small part of
//! the log. Where nobody does this, or it fails, the writer copies the log itself ([`WRITER_COPIES`]).

use std::time::Duration;

use espelho_model::Clock;
use sqlx::{
    ConnectOptions as _, Row as _, Sqlite, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

use crate::driver::QueuedPool;

/// How many pages of the log are copied beside the writer: 31 MiB.
const DUE: i64 = 4_000;
/// At how many pages the writer copies the log itself: 62 MiB.
pub(super) const WRITER_COPIES: &str = "8000";
/// How often the log is copied beside the writer before its turn is taken: the second time copies what was added
/// during the first.
const BESIDE: u32 = 2;
/// The shortest time between two looks at the log.
const INTERVAL: Duration = Duration::from_millis(50);
/// The shortest time between two tries to have a log begin anew that has nearly nothing to copy: somebody reads from it.
const TRIES: Duration = Duration::from_secs(1);
/// How long nothing is tried after a failure, such as a full disk.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

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
        // A slow disk makes a copy slow, and nobody waits for it.
        let options = options.disable_statement_logging();
        // Never opened again: by then another file may have the name.
        let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        Self { pool: pool.connect_lazy_with(options), writer: writer.clone(), due: DUE }
    }

    /// Copies the log whenever it has grown long, until this is closed.
    pub(crate) async fn run(&self, clock: &dyn Clock) {
        if let Err(error) = self.log(LOOK).await {
            tracing::debug!(%error, "cannot look at the database's log; the writer copies it");
            return;
        }
        let mut tried = None;
        loop {
            tokio::select! {
                biased;
                () = self.pool.close_event() => return,
                () = self.writer.committed() => (),
            }
            let now = clock.monotonic();
            let is_tried = tried.is_some_and(|at| now.saturating_sub(at) < TRIES);
            match self.copy_if_due(!is_tried).await {
                Ok(true) => tried = Some(now),
                Ok(false) => (),
                Err(error) => {
                    tracing::debug!(%error, "cannot copy the database's log; the writer does it later");
                    clock.sleep(AFTER_FAILURE).await;
                }
            }
            clock.sleep(INTERVAL).await;
        }
    }

    /// Waits for a copy that is under way, and ends.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// Copies the log if that is due; `tries` allows to copy the rest of one that has not begun anew. Returns whether it
    /// did.
    async fn copy_if_due(&self, tries: bool) -> sqlx::Result<bool> {
        match self.log(LOOK).await?.step(self.due, tries) {
            Step::Nothing => return Ok(false),
            Step::Rest => (),
            Step::All => {
                for _ in 0..BESIDE {
                    self.log(COPY).await?;
                }
            }
        }
        let _turn = self.writer.permit().await?;
        self.log(COPY).await?;
        Ok(true)
    }

    /// Runs a checkpoint; says what the log holds after it.
    async fn log(&self, checkpoint: &'static str) -> sqlx::Result<Log> {
        let row = sqlx::raw_sql(checkpoint).fetch_one(&self.pool).await?;
        Ok(Log { pages: row.try_get(1)?, copied: row.try_get(2)? })
    }
}

/// What is done about a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    /// What little is left is copied in the writer's turn.
    Rest,
    /// Most of it is copied before that.
    All,
}

impl Log {
    fn step(self, due: i64, tries: bool) -> Step {
        match self.missing() {
            missing if missing >= due => Step::All,
            1.. if tries && self.pages >= due => Step::Rest,
            _ => Step::Nothing,
        }
    }

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

    #[test]
    fn a_long_log_is_copied_and_one_that_has_not_begun_anew_is_tried_again() {
        for (pages, copied, tries, step) in [
            (0, 0, true, Step::Nothing),
            (99, 0, true, Step::Nothing),
            (100, 0, false, Step::All),
            (350, 250, false, Step::All),
            (150, 100, false, Step::Nothing),
            (150, 100, true, Step::Rest),
            // All is copied: the next writer begins it anew, unless somebody reads from it.
            (150, 150, true, Step::Nothing),
            // Another process copies.
            (-1, -1, true, Step::Nothing),
        ] {
            assert_eq!(Log { pages, copied }.step(100, tries), step, "{pages} {copied} {tries}");
        }
    }

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
        checkpoints.copy_if_due(false).await.unwrap();
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
        let (copied, ()) = tokio::join!(checkpoints.copy_if_due(false), commit);
        assert!(copied.unwrap());
        let long = checkpoints.log(LOOK).await.unwrap();
        assert!(long.pages > 40 && long.missing() == 0, "{long:?}");
        store.close().await;
    }

    #[tokio::test]
    async fn a_log_that_somebody_reads_begins_anew_soon_after() {
        let (store, checkpoints, _folder) = mirror().await;
        let Database::Sqlite { read, .. } = &store.database else { unreachable!() };
        for _ in 0..3 {
            write(&store.database).await;
        }
        let mut reader = read.pool().acquire().await.unwrap();
        sqlx::raw_sql("BEGIN; SELECT count(*) FROM texts").execute(&mut *reader).await.unwrap();
        write(&store.database).await;
        assert!(checkpoints.copy_if_due(false).await.unwrap());
        let held = checkpoints.log(LOOK).await.unwrap();
        assert!((1..20).contains(&held.missing()), "the reader still reads the rest from the log: {held:?}");
        sqlx::raw_sql("ROLLBACK").execute(&mut *reader).await.unwrap();
        drop(reader);
        assert!(!checkpoints.copy_if_due(false).await.unwrap());
        assert!(checkpoints.copy_if_due(true).await.unwrap());
        write(&store.database).await;
        let anew = checkpoints.log(LOOK).await.unwrap();
        assert!(anew.pages < 20, "{anew:?}");
        store.close().await;
    }

    #[tokio::test]
    async fn the_log_begins_anew_once_it_is_copied_and_goes_with_the_store() {
        let (store, checkpoints, folder) = mirror().await;
        let mut longest = 0;
        for _ in 0..50 {
            write(&store.database).await;
            checkpoints.copy_if_due(false).await.unwrap();
            longest = longest.max(checkpoints.log(LOOK).await.unwrap().pages);
        }
        assert!((20..60).contains(&longest), "{longest} pages, of more than 500 that were written");
        store.close().await;
        assert!(checkpoints.run(&*SystemClock::shared()).now_or_never().is_some(), "nothing is left to do");
        let log = folder.path().join("espelho.db-wal");
        assert!(!log.exists(), "the last connection deletes the log");
    }
}
