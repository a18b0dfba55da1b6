//! Checkpoints SQLite's write-ahead log (WAL) while the writer goes on.
//!
//! By default the commit that fills the WAL copies all of it into the database file, and waits twice for the disk
//! meanwhile: a first run stood still for a fifth of its time. Here another connection copies it. SQLite begins the WAL
//! anew only once a writer finds all of it copied, and nobody reading from it, so the frames that were added meanwhile are
//! copied in the writer's turn: a small part of the WAL. Where nobody does this, or it fails, the writer checkpoints
//! ([`WRITER_CHECKPOINTS`]).

use std::time::Duration;

use espelho_model::Clock;
use sqlx::{
    ConnectOptions as _, Row as _, Sqlite, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

use crate::driver::QueuedPool;

/// The number of frames that are copied beside the writer: 31 MiB.
const DUE: i64 = 4_000;
/// The number of frames at which the writer checkpoints (`wal_autocheckpoint`): 62 MiB.
pub(super) const WRITER_CHECKPOINTS: &str = "8000";
/// The checkpoints beside the writer before its turn is taken: the second copies the frames that were added during the
/// first.
const BESIDE: u32 = 2;
/// The shortest time between two looks at the WAL.
const INTERVAL: Duration = Duration::from_millis(50);
/// The shortest time between two tries to have a WAL begin anew from which somebody reads.
const RETRY: Duration = Duration::from_secs(1);
/// The pause after a failure, such as a full disk.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// This checkpoint copies as many frames as it can, and makes nobody wait.
const PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";
/// This checkpoint copies nothing, and returns the numbers of frames.
const NOOP: &str = "PRAGMA wal_checkpoint(NOOP)";

/// The connection that checkpoints.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    pool: SqlitePool,
    writer: QueuedPool<Sqlite>,
    due: i64,
}

/// The frames of a WAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wal {
    /// The number of all frames.
    frames: i64,
    /// The number of frames that are in the database file too.
    copied: i64,
}

impl Checkpoints {
    /// Opens nothing yet. `options` are the writer's.
    pub(crate) fn beside(writer: &QueuedPool<Sqlite>, options: SqliteConnectOptions) -> Self {
        let options = options.pragma("wal_autocheckpoint", "0").pragma("cache_size", "-64");
        // A slow disk makes a copy slow, and nobody waits for it.
        let options = options.disable_statement_logging();
        // Not opened again when it is old: by then another file may have the name.
        let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        Self { pool: pool.connect_lazy_with(options), writer: writer.clone(), due: DUE }
    }

    /// Checkpoints whenever the WAL has grown long, until this is closed.
    pub(crate) async fn run(&self, clock: &dyn Clock) {
        if let Err(error) = self.checkpoint(NOOP).await {
            tracing::debug!(%error, "cannot look at the WAL; the writer checkpoints");
            return;
        }
        let mut last = None;
        loop {
            tokio::select! {
                biased;
                () = self.pool.close_event() => return,
                () = self.writer.committed() => (),
            }
            let now = clock.monotonic();
            let is_recent = last.is_some_and(|at| now.saturating_sub(at) < RETRY);
            match self.checkpoint_if_due(!is_recent).await {
                Ok(true) => last = Some(now),
                Ok(false) => (),
                Err(error) => {
                    tracing::debug!(%error, "cannot checkpoint beside the writer; it does so later");
                    clock.sleep(AFTER_FAILURE).await;
                }
            }
            clock.sleep(INTERVAL).await;
        }
    }

    /// Waits for a checkpoint that is under way, and ends.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// Checkpoints if that is due; `retries` allows to copy the rest of a WAL that has not begun anew. Returns `true` if it
    /// did.
    async fn checkpoint_if_due(&self, retries: bool) -> sqlx::Result<bool> {
        match self.checkpoint(NOOP).await?.step(self.due, retries) {
            Step::Nothing => return Ok(false),
            Step::Rest => (),
            Step::All => {
                for _ in 0..BESIDE {
                    self.checkpoint(PASSIVE).await?;
                }
            }
        }
        let _turn = self.writer.permit().await?;
        self.checkpoint(PASSIVE).await?;
        Ok(true)
    }

    /// Runs a checkpoint; returns the frames after it.
    async fn checkpoint(&self, pragma: &'static str) -> sqlx::Result<Wal> {
        let row = sqlx::raw_sql(pragma).fetch_one(&self.pool).await?;
        Ok(Wal { frames: row.try_get(1)?, copied: row.try_get(2)? })
    }
}

/// The next step with a WAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    /// The few frames that are left are copied in the writer's turn.
    Rest,
    /// Most frames are copied before that.
    All,
}

impl Wal {
    fn step(self, due: i64, retries: bool) -> Step {
        match self.missing() {
            missing if missing >= due => Step::All,
            1.. if retries && self.frames >= due => Step::Rest,
            _ => Step::Nothing,
        }
    }

    /// Returns the number of frames that are not in the database file yet.
    fn missing(self) -> i64 {
        self.frames - self.copied
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::clock::SystemClock;
    use futures_util::FutureExt as _;

    use super::*;
    use crate::{Store, driver::Database};

    #[test]
    fn a_long_wal_is_copied_and_one_that_has_not_begun_anew_is_tried_again() {
        for (frames, copied, retries, step) in [
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
            assert_eq!(Wal { frames, copied }.step(100, retries), step, "{frames} {copied} {retries}");
        }
    }

    /// A new mirror of which even a short WAL is copied, and its folder.
    async fn mirror() -> (Store, Checkpoints, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("espelho.db").display());
        let store = Store::open(&url, SystemClock::shared()).await.unwrap();
        store.database.execute("create", "CREATE TABLE texts (text TEXT)", Vec::new()).await.unwrap();
        let Checkpoints { pool, writer, .. } = &**store.checkpoints.as_ref().unwrap();
        let checkpoints = Checkpoints { pool: pool.clone(), writer: writer.clone(), due: 20 };
        checkpoints.checkpoint(PASSIVE).await.unwrap();
        (store, checkpoints, folder)
    }

    /// Writes a text of about ten pages.
    async fn write(database: &Database) {
        let text = "a".repeat(80_000);
        database.execute("write", "INSERT INTO texts VALUES ($1)", vec![text.into()]).await.unwrap();
    }

    #[tokio::test]
    async fn a_long_wal_is_copied_while_a_transaction_is_open_and_a_short_one_is_left() {
        let (store, checkpoints, _folder) = mirror().await;
        write(&store.database).await;
        checkpoints.checkpoint_if_due(false).await.unwrap();
        let short = checkpoints.checkpoint(NOOP).await.unwrap();
        assert!((10..20).contains(&short.missing()), "{short:?}");
        for _ in 0..3 {
            write(&store.database).await;
        }
        let mut open = store.database.begin().await.unwrap();
        open.execute("write", "INSERT INTO texts VALUES ('b')", Vec::new()).await.unwrap();
        let commit = async {
            while checkpoints.checkpoint(NOOP).await.unwrap().missing() > 0 {}
            open.commit().await.unwrap();
        };
        let (copied, ()) = tokio::join!(checkpoints.checkpoint_if_due(false), commit);
        assert!(copied.unwrap());
        let long = checkpoints.checkpoint(NOOP).await.unwrap();
        assert!(long.frames > 40 && long.missing() == 0, "{long:?}");
        store.close().await;
    }

    #[tokio::test]
    async fn a_wal_that_somebody_reads_begins_anew_soon_after() {
        let (store, checkpoints, _folder) = mirror().await;
        let Database::Sqlite { read, .. } = &store.database else { unreachable!() };
        for _ in 0..3 {
            write(&store.database).await;
        }
        let mut reader = read.pool().acquire().await.unwrap();
        sqlx::raw_sql("BEGIN; SELECT count(*) FROM texts").execute(&mut *reader).await.unwrap();
        write(&store.database).await;
        assert!(checkpoints.checkpoint_if_due(false).await.unwrap());
        let held = checkpoints.checkpoint(NOOP).await.unwrap();
        assert!((1..20).contains(&held.missing()), "the reader still reads the rest from the WAL: {held:?}");
        sqlx::raw_sql("ROLLBACK").execute(&mut *reader).await.unwrap();
        drop(reader);
        assert!(!checkpoints.checkpoint_if_due(false).await.unwrap());
        assert!(checkpoints.checkpoint_if_due(true).await.unwrap());
        write(&store.database).await;
        let anew = checkpoints.checkpoint(NOOP).await.unwrap();
        assert!(anew.frames < 20, "{anew:?}");
        store.close().await;
    }

    #[tokio::test]
    async fn the_wal_begins_anew_once_it_is_copied_and_goes_with_the_store() {
        let (store, checkpoints, folder) = mirror().await;
        let mut longest = 0;
        for _ in 0..50 {
            write(&store.database).await;
            checkpoints.checkpoint_if_due(false).await.unwrap();
            longest = longest.max(checkpoints.checkpoint(NOOP).await.unwrap().frames);
        }
        assert!((20..60).contains(&longest), "{longest} frames, of more than 500 that were written");
        store.close().await;
        assert!(checkpoints.run(&*SystemClock::shared()).now_or_never().is_some(), "nothing is left to do");
        let wal = folder.path().join("espelho.db-wal");
        assert!(!wal.exists(), "the last connection deletes the WAL");
    }
}
