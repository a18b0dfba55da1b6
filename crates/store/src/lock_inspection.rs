//! Who holds the database's locks, found out without touching a lock.

use std::{os::unix::fs::MetadataExt as _, path::Path};

use crate::{Error, Store, driver::Row};

/// Sessions that have kept a table from being written for a while. Short ones are an ERP's transactions; `pg_dump` and readers
/// take weaker locks.
pub(crate) const BLOCKERS: &str = "SELECT DISTINCT CAST(a.pid AS TEXT), COALESCE(a.usename, ''), \
    COALESCE(a.application_name, ''), c.relname \
    FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid \
    WHERE l.granted AND l.locktype = 'relation' AND l.pid <> pg_backend_pid() AND c.relkind = 'r' \
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') \
    AND c.relnamespace = CAST(quote_ident(current_schema()) AS regnamespace) \
    AND a.datname = current_database() AND a.xact_start < now() - interval '10 seconds'";
const KERNEL_LOCKS: &str = "/proc/locks";
/// The byte of `-shm` that SQLite's writer locks (wal.c, `WAL_WRITE_LOCK`).
const WRITE_LOCK: u64 = 120;

impl Store {
    /// A session of another program that has kept one of the tables locked for ten seconds, in words: PostgreSQL. On SQLite
    /// nobody can lock a table.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn table_blocker(&self) -> Result<Option<String>, Error> {
        if self.file().is_some() {
            return Ok(None);
        }
        let rows = self.database.fetch("look for table locks", BLOCKERS, Vec::new()).await?;
        rows.first().map(session).transpose()
    }

    /// The program that holds SQLite's write lock, in words; `None` where this system does not say.
    pub fn write_lock_holder(&self) -> Option<String> {
        let mut shared = self.file()?.as_os_str().to_owned();
        shared.push("-shm");
        let inode = std::fs::metadata(Path::new(&shared)).ok()?.ino();
        let table = std::fs::read_to_string(KERNEL_LOCKS).ok()?;
        let pid = writer(&table, inode, std::process::id())?;
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        Some(format!("{} (pid {pid})", name.trim()))
    }
}

fn session(row: &Row) -> Result<String, Error> {
    let (pid, user, application, table) = (row.text(0)?, row.text(1)?, row.text(2)?, row.text(3)?);
    let name = if application.is_empty() { user.clone() } else { format!("{application}, {user}") };
    Ok(format!("{name} (pid {pid}, {table})"))
}

/// The process that holds the write lock of a `-shm` file, in the kernel's table of locks.
fn writer(table: &str, inode: u64, own: u32) -> Option<u32> {
    table.lines().find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [_, "POSIX" | "OFDLCK", _, "WRITE", pid, place, from, to] = columns[..] else { return None };
        let covers =
            from.parse::<u64>().ok()? <= WRITE_LOCK && (to == "EOF" || to.parse::<u64>().ok()? >= WRITE_LOCK);
        let is_here = place.rsplit(':').next()?.parse::<u64>().ok()? == inode;
        let pid = pid.parse::<u32>().ok()?;
        (covers && is_here && pid != own).then_some(pid)
    })
}

#[cfg(test)]
mod tests {
    use super::writer;

    #[test]
    fn the_writer_is_found_by_its_byte_of_the_shared_memory_file() {
        let table = "1: POSIX  ADVISORY  READ  9 fe:01:77 128 128\n\
            2: POSIX  ADVISORY  WRITE 812 fe:01:77 120 120\n\
            3: POSIX  ADVISORY  WRITE 813 fe:01:78 120 120\n\
            4: FLOCK  ADVISORY  WRITE 815 fe:01:77 0 EOF\n\
            nonsense\n";
        assert_eq!(writer(table, 77, 1), Some(812));
        assert_eq!(writer(table, 77, 812), None, "our own writing blocks nobody else");
        assert_eq!((writer(table, 78, 1), writer(table, 79, 1)), (Some(813), None));
    }
}
