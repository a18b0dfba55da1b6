//! Names the processes that hold the locks: of a store's lease, and of the right to write to a SQLite file. Touches
//! no lock.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

use espelho_model::StoreKey;

use crate::{
    Error,
    connect::address::beside,
    driver::Row,
    ownership::{Leases, lease::WHO, locks::lock_path},
};

pub(crate) const HELD_BY: &str = "SELECT CAST(l.pid AS BIGINT) AS id, a.application_name FROM pg_locks l \
    LEFT JOIN pg_stat_activity a ON a.pid = l.pid \
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND ((CAST(l.classid AS BIGINT) << 32) | CAST(l.objid AS BIGINT)) \
    = hashtextextended('espelho.' || current_schema() || '.' || $1, 0)";
/// Sessions that have blocked writes to a table for a while. Shorter ones are an ERP's transactions; `pg_dump` and
/// readers take weaker locks.
pub(crate) const BLOCKERS: &str = "SELECT DISTINCT CAST(a.pid AS TEXT), COALESCE(a.usename, ''), \
    COALESCE(a.application_name, ''), c.relname \
    FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid \
    WHERE l.granted AND l.locktype = 'relation' AND l.pid <> pg_backend_pid() AND c.relkind = 'r' \
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') \
    AND c.relnamespace = CAST(quote_ident(current_schema()) AS regnamespace) \
    AND a.datname = current_database() AND a.xact_start < now() - interval '10 seconds'";
const KERNEL_LOCKS: &str = "/proc/locks";
/// The byte of the shared-memory file that a SQLite writer locks in WAL mode (SQLite, "WAL-mode File Format").
const WRITE_LOCK: u64 = 120;

/// A process, as far as this system names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number; on PostgreSQL that of its session on the server.
    pub id: u32,
    /// The program's name; on PostgreSQL the session's `application_name`. `None` if unknown.
    pub command: Option<String>,
}

/// The holder of a store's lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockHolder {
    /// The process.
    pub process: Process,
    /// The holder's own entry in `leases`; `None` if another program holds the lock.
    pub owner: Option<String>,
}

/// A session on a PostgreSQL server that keeps a table locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableBlocker {
    /// The number of its process on the server.
    pub session: String,
    /// The user of the database.
    pub user: String,
    /// Its `application_name`; may be empty.
    pub application: String,
    /// The table.
    pub table: String,
}

impl Leases<'_> {
    /// The current holder of a store's lock; `None` if there is none, or this system cannot tell.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lock_holder(self, store: &StoreKey) -> Result<Option<LockHolder>, Error> {
        let key = vec![store.as_str().into()];
        let rows = self.database.fetch("read the lease", WHO, key.clone()).await?;
        let owner = rows.first().map(|row| row.text("owner")).transpose()?;
        if let Some(database) = self.locks.database_file() {
            let holder =
                inode(&lock_path(database, store)).and_then(|inode| whole_file_lock(&table(), inode));
            let named = |process: Process| {
                let is_own = |owner: &String| owner.contains(&format!("(process {} ", process.id));
                LockHolder { owner: owner.filter(is_own), process }
            };
            return Ok(holder.map(process).map(named));
        }
        let rows = self.database.fetch("look at the store's lock", HELD_BY, key).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let command = row.optional_text("application_name")?.filter(|name| !name.is_empty());
        let id = u32::try_from(row.int("id")?).unwrap_or_default();
        Ok(Some(LockHolder { process: Process { id, command }, owner }))
    }

    /// A session of another program that has kept one of the tables locked for ten seconds. Only on PostgreSQL: SQLite
    /// has no table locks.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn table_blocker(self) -> Result<Option<TableBlocker>, Error> {
        if self.locks.database_file().is_some() {
            return Ok(None);
        }
        let rows = self.database.fetch("look for table locks", BLOCKERS, Vec::new()).await?;
        rows.first().map(session).transpose()
    }

    /// The process that is writing to the SQLite file at this moment; `None` on PostgreSQL, and if there is none.
    pub fn database_writer(self) -> Option<Process> {
        let inode = inode(&beside(self.locks.database_file()?, "-shm"))?;
        write_lock(&table(), inode).map(process)
    }
}

fn session(row: &Row) -> Result<TableBlocker, Error> {
    let (session, user, application, table) = (row.text(0)?, row.text(1)?, row.text(2)?, row.text(3)?);
    Ok(TableBlocker { session, user, application, table })
}

fn inode(file: &Path) -> Option<u64> {
    fs::metadata(file).ok().map(|file| file.ino())
}

fn table() -> String {
    fs::read_to_string(KERNEL_LOCKS).unwrap_or_default()
}

fn process(id: u32) -> Process {
    let command = fs::read_to_string(format!("/proc/{id}/comm")).ok();
    Process { id, command: command.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()) }
}

/// A lock in the kernel's table: kind, whether it is a write lock, its process, inode, first and last byte.
struct KernelLock<'t> {
    kind: &'t str,
    writes: bool,
    process: u32,
    inode: u64,
    first: u64,
    last: u64,
}

impl<'t> KernelLock<'t> {
    /// Reads `1: POSIX  ADVISORY  WRITE 812 fe:01:77 120 120`; `None` for a lock that a process only waits for.
    fn of(line: &'t str) -> Option<Self> {
        let columns: Vec<&str> = line.split_whitespace().skip(1).collect();
        let [kind, _, mode, process, file, first, last] = columns[..] else { return None };
        Some(Self {
            kind,
            writes: mode == "WRITE",
            process: process.parse().ok()?,
            inode: file.rsplit(':').next()?.parse().ok()?,
            first: first.parse().ok()?,
            last: last.parse().unwrap_or(u64::MAX),
        })
    }
}

fn whole_file_lock(table: &str, inode: u64) -> Option<u32> {
    let mut locks = table.lines().filter_map(KernelLock::of);
    locks.find(|lock| lock.kind == "FLOCK" && lock.inode == inode).map(|lock| lock.process)
}

fn write_lock(table: &str, inode: u64) -> Option<u32> {
    let is_writer = |lock: &KernelLock<'_>| {
        let covers = (lock.first..=lock.last).contains(&WRITE_LOCK);
        matches!(lock.kind, "POSIX" | "OFDLCK") && lock.writes && lock.inode == inode && covers
    };
    table.lines().filter_map(KernelLock::of).find(is_writer).map(|lock| lock.process)
}

#[cfg(test)]
mod tests {
    use super::{whole_file_lock, write_lock};

    const TABLE: &str = "1: POSIX  ADVISORY  WRITE 812 fe:01:77 120 120\n\
        2: POSIX  ADVISORY  READ 813 fe:01:77 124 124\n\
        3: FLOCK  ADVISORY  WRITE 815 fe:01:4711 0 EOF\n\
        3: -> FLOCK  ADVISORY  WRITE 816 fe:01:9 0 EOF\n\
        4: POSIX  ADVISORY  WRITE 817 fe:01:78 0 EOF\n\
        nonsense\n";

    #[test]
    fn the_holder_of_a_whole_file_is_named_and_who_waits_is_not() {
        assert_eq!(whole_file_lock(TABLE, 4711), Some(815));
        assert_eq!(
            [whole_file_lock(TABLE, 9), whole_file_lock(TABLE, 77), whole_file_lock("", 1)],
            [None; 3]
        );
    }

    #[test]
    fn the_writer_of_a_database_is_whoever_locks_the_byte_for_writers() {
        assert_eq!([write_lock(TABLE, 77), write_lock(TABLE, 78)], [Some(812), Some(817)]);
        assert_eq!(write_lock(TABLE, 4711), None);
    }
}
