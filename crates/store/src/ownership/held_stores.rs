//! The stores held now, found without touching a lock: this must not block a starting service.

use std::{collections::BTreeSet, os::unix::fs::MetadataExt as _};

use espelho_model::StoreKey;

use crate::{
    Error,
    ownership::{Leases, locks::lock_path},
};

pub(crate) const LEASED: &str = "SELECT store FROM leases";
pub(crate) const HELD_ON_SERVER: &str = "SELECT store FROM leases WHERE EXISTS (SELECT 1 FROM pg_locks \
    WHERE locktype = 'advisory' AND granted AND objsubid = 1 \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND ((CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT)) \
    = hashtextextended('espelho.' || current_schema() || '.' || store, 0))";
const KERNEL_LOCKS: &str = "/proc/locks";

impl Leases<'_> {
    /// The stores that a process holds; `None` if this system cannot tell. Beside SQLite it sees the locks of this
    /// machine, and within a container only that container's.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn held_stores(self) -> Result<Option<BTreeSet<String>>, Error> {
        let Some(database) = self.locks.database_file() else {
            let rows = self.database.fetch("look at the stores' locks", HELD_ON_SERVER, Vec::new()).await?;
            return rows.iter().map(|row| row.text("store")).collect::<Result<_, _>>().map(Some);
        };
        let Ok(table) = std::fs::read_to_string(KERNEL_LOCKS) else { return Ok(None) };
        let locked = locked_inodes(&table);
        let is_held = |store: &String| {
            let file = StoreKey::new(store).map(|store| std::fs::metadata(lock_path(database, &store)));
            matches!(file, Ok(Ok(file)) if locked.contains(&file.ino()))
        };
        let rows = self.database.fetch("read the leases", LEASED, Vec::new()).await?;
        let leased: Vec<String> = rows.iter().map(|row| row.text("store")).collect::<Result<_, _>>()?;
        Ok(Some(leased.into_iter().filter(is_held).collect()))
    }
}

/// The inodes with whole-file locks in the kernel's table. Devices are not compared: some file systems show another
/// one there.
fn locked_inodes(table: &str) -> BTreeSet<u64> {
    let locked = |line: &str| {
        let mut columns = line.split_whitespace().skip(1).filter(|column| *column != "->");
        let is_whole = columns.next() == Some("FLOCK");
        let inode = columns.nth(3)?.rsplit(':').next()?.parse().ok()?;
        (is_whole && !line.contains("->")).then_some(inode)
    };
    table.lines().filter_map(locked).collect()
}

#[cfg(test)]
mod tests {
    use super::locked_inodes;

    #[test]
    fn a_whole_file_lock_is_found_by_its_inode() {
        let table = "1: POSIX  ADVISORY  WRITE 812 fe:01:77 0 EOF\n\
            2: FLOCK  ADVISORY  WRITE 815 fe:01:4711 0 EOF\n\
            2: -> FLOCK  ADVISORY  WRITE 816 fe:01:9 0 EOF\n\
            nonsense\n";
        assert_eq!(locked_inodes(table), [4711].into(), "neither locks of a range nor those that wait");
        assert!(locked_inodes("").is_empty());
    }
}
