//! Restores a backup, over a mirror or where there is none.

use std::{
    fs::{File, OpenOptions},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use espelho_model::{
    Clock,
    symptom::{DatabaseRefusal, Symptom},
    text::Locale,
};
use sqlx::{
    Connection as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use super::{
    INBOX, MIRROR, ProgressFn, failed, make_folder, open_lock, refused, remove_folder,
    sanitize::{self, Replaced},
    swap, sync,
};
use crate::{
    Error,
    connect::{
        address::{beside, file_of},
        connect_file, integrity_checks, migrate,
        permissions::{create_private, folder_of, give_to_owner_of},
        schema_version,
    },
    migrations::{SQLITE, SQLITE_INBOX},
    ownership::locks::lock_beside,
};

/// The interval between two progress reports.
const LOOK: Duration = Duration::from_millis(200);
/// How often a checkpoint of the log is tried, and the interval: two seconds together.
const FOLDINGS: u32 = 100;
const BETWEEN_FOLDINGS: Duration = Duration::from_millis(20);

/// The result of a restore.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The new folder of the replaced files.
    pub kept: Option<PathBuf>,
    /// What was taken over from them; `None` without replaced files.
    pub replaced: Option<Replaced>,
    /// The change feed continues above this number.
    pub feed_from: i64,
}

/// Restores the backup `from` to the SQLite mirror at `url`.
///
/// # Errors
/// [`Error::InUse`] while a process has the mirror open, [`Error::Occupied`] when there is a mirror and `replace` is
/// false, [`Error::NoBackup`], [`Error::Damaged`], [`Error::Newer`]. The existing mirror is then untouched.
pub async fn restore(
    url: &str,
    from: &Path,
    replace: bool,
    (clock, locale): (Arc<dyn Clock>, Locale),
    progress: ProgressFn<'_>,
) -> Result<Restored, Error> {
    let database = file_of(url)?;
    integrity_checks::refuse_network(url, &database)?;
    let _alone = open_lock::alone(&database)?;
    let _stores = lock_stores(&database)?;
    // Finishes an earlier interrupted restore.
    swap::finish(&database)?;
    for name in [MIRROR, INBOX] {
        let file = from.join(name);
        match std::fs::metadata(&file) {
            Ok(about) if about.is_file() => (),
            // Root's backups are closed to the service's user.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(failed("open", &file)(error));
            }
            _ => {
                return Err(Error::NoBackup { path: from.display().to_string(), name, defect: "missing" });
            }
        }
    }
    let inbox = beside(&database, "-inbox");
    let occupied = database.exists() || inbox.exists();
    if occupied && !replace {
        return Err(Error::Occupied { path: database.display().to_string() });
    }
    for file in [&database, &inbox] {
        refuse_readers(file).await?;
    }
    let draft = swap::draft(&database);
    remove_folder(&draft)?;
    make_folder(&draft)?;
    let made = async {
        for name in [MIRROR, INBOX] {
            copy(&from.join(name), &draft.join(name), name, &clock, progress).await?;
        }
        let [mirror, inbox] = [&database, &inbox].map(|file| file.exists().then_some(file.as_path()));
        make_ready(&draft.join(MIRROR), from, sanitize::Old { mirror, inbox }, (&clock, locale)).await
    };
    let made = made.await;
    if made.is_err() {
        // This draft may be what fills the disk.
        let _ = remove_folder(&draft);
    }
    let (replaced, feed_from) = made.map_err(|error| of_backup(error, from))?;
    for file in [&database, &inbox] {
        refuse_readers(file).await?;
    }
    // Another process, often of another user, may have to finish this restore.
    for path in [draft.join(MIRROR), draft.join(INBOX), draft.clone(), open_lock::path(&database)] {
        give_to_owner_of(folder_of(&database), &path).map_err(failed("change the owner of", &path))?;
    }
    let kept = free_name(&database, &clock);
    swap::decide(&database, &kept)?;
    swap::finish(&database)?;
    let kept = occupied.then(|| folder_of(&database).join(kept));
    Ok(Restored { kept, replaced: occupied.then_some(replaced), feed_from })
}

/// Turns an error about the copy into one about the backup: nobody knows the copy by its name.
fn of_backup(error: Error, from: &Path) -> Error {
    let is_no_database = matches!(error.symptom(), Symptom::Database(DatabaseRefusal::Damaged, _));
    let what = match error {
        Error::Damaged { what, .. } => what,
        // Its first page is no database's any more.
        Error::Connect { source, .. } if is_no_database => source.to_string(),
        other => return other,
    };
    // SQLite lists what it finds, a line each.
    let what = what.lines().find(|line| !line.starts_with("***")).unwrap_or_default().to_owned();
    Error::DamagedBackup { path: from.display().to_string(), what }
}

/// Checks the copy, migrates it, and sanitizes it.
async fn make_ready(
    file: &Path,
    from: &Path,
    old: sanitize::Old<'_>,
    (clock, locale): (&Arc<dyn Clock>, Locale),
) -> Result<(Replaced, i64), Error> {
    let copy = connect_file(file, Arc::clone(clock)).await?;
    let done = async {
        integrity_checks::refuse_old_library(&copy.database).await?;
        for (database, name, migrator) in
            [(&copy.database, MIRROR, &SQLITE), (&copy.inbox, INBOX, &SQLITE_INBOX)]
        {
            integrity_checks::refuse_any_damage(&from.join(name), database).await?;
            if schema_version::version(database).await? == 0 {
                return Err(Error::NoBackup { path: from.display().to_string(), name, defect: "foreign" });
            }
            migrate(database, migrator).await?;
        }
        sanitize::sanitize(&copy, old, locale).await
    };
    let done = done.await;
    copy.close().await;
    let done = done?;
    for path in [file.to_path_buf(), beside(file, "-inbox")] {
        fold(&path, clock).await?;
    }
    Ok(done)
}

/// Copies a file, and its log if there is one.
async fn copy(
    from: &Path,
    to: &Path,
    name: &'static str,
    clock: &Arc<dyn Clock>,
    progress: ProgressFn<'_>,
) -> Result<(), Error> {
    let log = beside(from, "-wal");
    if log.exists() {
        let to = beside(to, "-wal");
        std::fs::copy(&log, &to).map_err(failed("copy", &log))?;
    }
    create_private(to).map_err(failed("make", to))?;
    let all = std::fs::metadata(from).map_err(failed("read", from))?.len();
    let (source, target) = (from.to_path_buf(), to.to_path_buf());
    let copying = tokio::task::spawn_blocking(move || {
        // Not `fs::copy`, which copies the permissions too.
        let copied = File::open(&source).and_then(|mut source| {
            std::io::copy(&mut source, &mut OpenOptions::new().write(true).open(&target)?)
        });
        copied.map_err(failed("copy", &source))?;
        sync(&target)
    });
    tokio::pin!(copying);
    loop {
        progress(name, std::fs::metadata(to).map_or(0, |file| file.len()).min(all), all);
        tokio::select! {
            copied = &mut copying => {
                copied.map_err(|gone| failed("copy", from)(std::io::Error::other(gone)))??;
                progress(name, all, all);
                return Ok(());
            }
            () = clock.sleep(LOOK) => {}
        }
    }
}

/// Takes the locks of all stores ever held beside this file: an earlier version knows only those.
fn lock_stores(database: &Path) -> Result<Vec<File>, Error> {
    let folder = folder_of(database);
    let prefix = format!("{}.", database.file_name().unwrap_or_default().to_string_lossy());
    let entries = std::fs::read_dir(folder).map_err(failed("read", folder))?;
    let mut held = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&prefix) && name.ends_with(".lock") {
            match lock_beside(&entry.path())? {
                Some(file) => held.push(file),
                None => return Err(Error::InUse { path: database.display().to_string() }),
            }
        }
    }
    Ok(held)
}

/// Checkpoints the log of our own file. A reader of the pool may still be closing, and only the last close would do
/// it.
async fn fold(file: &Path, clock: &Arc<dyn Clock>) -> Result<(), Error> {
    for _ in 0..FOLDINGS {
        match without_log(file).await {
            Err(error) if is_busy(&error) => clock.sleep(BETWEEN_FOLDINGS).await,
            done => return done.map_err(refused("finish the restored database")),
        }
    }
    Err(Error::InUse { path: file.display().to_string() })
}

/// Refuses while other programs have the file open: closing a replaced file would delete the log of its replacement.
/// A file with an empty log after this is open nowhere. An unreadable file may be replaced.
async fn refuse_readers(file: &Path) -> Result<(), Error> {
    if !file.exists() {
        return Ok(());
    }
    match without_log(file).await {
        Err(error) if is_busy(&error) => Err(Error::InUse { path: file.display().to_string() }),
        _ => Ok(()),
    }
}

/// Checkpoints the log and switches it off; SQLite refuses while another process has the file open.
async fn without_log(file: &Path) -> Result<(), sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(1));
    let options = options.journal_mode(SqliteJournalMode::Delete).synchronous(SqliteSynchronous::Full);
    SqliteConnection::connect_with(&options).await?.close().await
}

fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    // BUSY; the higher bits hold details.
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| code & 0xFF == 5)
}

/// A free name beside the mirror.
fn free_name(database: &Path, clock: &Arc<dyn Clock>) -> String {
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{name}-before-{}", clock.now().format("%Y%m%dT%H%M%SZ"));
    let folder = folder_of(database);
    let numbered = (2..).map(|n: u32| format!("{name}-{n}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !folder.join(name).exists()).unwrap_or(name)
}
