//! Copies a mirror in use.
//!
//! The mirror is copied first and the inbox last, so that the copy has every delivery acknowledged until the end.
//! The inbox then has handled deliveries that the mirror does not know; the copy reopens those. Handling one twice
//! changes nothing.

use std::{fs::File, path::Path, sync::Arc, time::Duration};

use espelho_model::Clock;
use sqlx::{
    Connection as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use super::{INBOX, MIRROR, ProgressFn, failed, make_folder, refused, remove_folder, rename, sync};
use crate::{
    Error, Store,
    connect::{
        address::{beside, file_of, shown},
        connect,
        permissions::{create_private, create_private_folder, folder_of, hand_over, have_one_owner},
    },
    driver::Database,
};

/// The first unhandled delivery, or the next number.
pub(crate) const FIRST_OPEN: &str = "SELECT COALESCE((SELECT min(id) FROM webhook_inbox WHERE handled_at IS NULL), \
    (SELECT COALESCE(max(id), 0) + 1 FROM webhook_inbox))";
const SIZE: &str = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
/// The interval between two progress reports.
const LOOK: Duration = Duration::from_millis(200);

/// Opens the files of a mirror of any version, to copy them.
///
/// # Errors
/// [`Error::Missing`] when there are none.
pub async fn open_to_copy(url: &str, clock: Arc<dyn Clock>) -> Result<Store, Error> {
    let file = file_of(url)?;
    match [&file, &beside(&file, "-inbox")].into_iter().all(|path| path.exists()) {
        true => connect(url, clock).await,
        false => Err(Error::Missing { url: shown(url) }),
    }
}

/// Copies the mirror into a new folder while others use it. The folder gets its name only when the copy is complete.
///
/// # Errors
/// [`Error::BackupExists`] when the name is taken; when the disk is full.
pub async fn back_up(store: &Store, into: &Path, progress: ProgressFn<'_>) -> Result<(), Error> {
    if into.exists() {
        return Err(Error::BackupExists { path: into.display().to_string() });
    }
    let folder = folder_of(into);
    create_private_folder(folder).map_err(failed("make the folder", folder))?;
    let draft = beside(into, ".partial");
    let _ours = begin_draft(&draft)?;
    let made = fill(store, &draft, progress).await;
    if made.is_err() {
        // This draft may be what fills the disk.
        let _ = std::fs::remove_dir_all(&draft);
    }
    made?;
    // A backup has secrets. It goes to the service's user if the folder does, else it stays with the caller.
    if store.file().is_some_and(|file| have_one_owner(folder, folder_of(file))) {
        for path in [&draft, &draft.join(MIRROR), &draft.join(INBOX)] {
            hand_over(path).map_err(failed("change the owner of", path))?;
        }
    }
    rename(&draft, into)?;
    sync(folder)
}

async fn fill(store: &Store, draft: &Path, progress: ProgressFn<'_>) -> Result<(), Error> {
    let rows = store.inbox.fetch("look at the inbox", FIRST_OPEN, Vec::new()).await?;
    let first_open = rows.first().map_or(Ok(0), |row| row.int(0))?;
    copy(&store.clock, &store.database, &draft.join(MIRROR), "mirror", progress).await?;
    copy(&store.clock, &store.inbox, &draft.join(INBOX), "inbox", progress).await?;
    open_again(&draft.join(INBOX), first_open).await?;
    [draft.join(MIRROR), draft.join(INBOX), draft.to_path_buf()].iter().try_for_each(|path| sync(path))
}

async fn copy(
    clock: &Arc<dyn Clock>,
    database: &Database,
    to: &Path,
    name: &'static str,
    progress: ProgressFn<'_>,
) -> Result<(), Error> {
    let Database::Sqlite { read, .. } = database else { return Ok(()) };
    create_private(to).map_err(failed("make", to))?;
    let all = size_of(database).await?;
    // A snapshot of the file, whoever writes meanwhile; the log cannot restart before it ends.
    let pool = read.pool();
    let copying = sqlx::query("VACUUM INTO ?").bind(to.display().to_string()).execute(&*pool);
    tokio::pin!(copying);
    loop {
        let done = std::fs::metadata(to).map_or(0, |file| file.len());
        progress(name, done.min(all), all);
        tokio::select! {
            copied = &mut copying => {
                copied.map_err(refused("copy the database"))?;
                progress(name, all, all);
                return Ok(());
            }
            () = clock.sleep(LOOK) => {}
        }
    }
}

/// The size of a mirror's two files.
pub(crate) async fn size(store: &Store) -> Result<u64, Error> {
    Ok(size_of(&store.database).await? + size_of(&store.inbox).await?)
}

async fn size_of(database: &Database) -> Result<u64, Error> {
    let rows = database.fetch("measure the database", SIZE, Vec::new()).await?;
    rows.first().map_or(Ok(0), |row| row.count(0))
}

/// Creates an empty draft folder and removes a leftover one. The lock on the open folder excludes every other
/// backup.
pub(crate) fn begin_draft(draft: &Path) -> Result<File, Error> {
    let begin = || -> Result<File, Error> {
        make_folder(draft)?;
        File::open(draft).map_err(failed("open", draft))
    };
    if let Ok(left) = File::open(draft) {
        if left.try_lock().is_err() {
            return Err(Error::InUse { path: draft.display().to_string() });
        }
        remove_folder(draft)?;
    }
    let folder = begin()?;
    match folder.try_lock() {
        Ok(()) => Ok(folder),
        Err(_) => Err(Error::InUse { path: draft.display().to_string() }),
    }
}

async fn open_again(inbox: &Path, first_open: i64) -> Result<(), Error> {
    let options = SqliteConnectOptions::new().filename(inbox);
    let options = options.journal_mode(SqliteJournalMode::Delete).synchronous(SqliteSynchronous::Full);
    let failed = || refused("open deliveries again");
    let mut copy = SqliteConnection::connect_with(&options).await.map_err(failed())?;
    let sql = "UPDATE webhook_inbox SET handled_at = NULL WHERE id >= ? AND handled_at IS NOT NULL";
    sqlx::query(sql).bind(first_open).execute(&mut copy).await.map_err(failed())?;
    copy.close().await.map_err(failed())
}
