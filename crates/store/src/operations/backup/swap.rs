//! The swap: a restored mirror replaces another one.
//!
//! The prepared files lie in `FILE-restoring`, which has no effect. Renaming it to `FILE-restored` decides: from
//! then on its files move to their places one by one, and any opener that finds this folder continues. Two files
//! cannot be renamed at once, and a mirror beside another one's inbox would be useless.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use super::{INBOX, MIRROR, failed, make_folder, remove_folder, rename, sync};
use crate::{
    Error,
    connect::{address::beside, permissions::folder_of},
};

/// The note with the folder for the replaced files.
const KEPT: &str = "kept";

/// The folder of a prepared restore.
pub(crate) fn draft(database: &Path) -> PathBuf {
    beside(database, "-restoring")
}

fn decided(database: &Path) -> PathBuf {
    beside(database, "-restored")
}

/// Whether a decided restore is unfinished.
pub(crate) fn is_decided(database: &Path) -> bool {
    decided(database).exists()
}

/// Decides the restore. The replaced files go to the folder `kept`.
pub(crate) fn decide(database: &Path, kept: &str) -> Result<(), Error> {
    let draft = draft(database);
    for name in [MIRROR, INBOX] {
        sync(&draft.join(name))?;
    }
    let note = draft.join(KEPT);
    let written = fs::File::create(&note).and_then(|mut file| {
        file.write_all(kept.as_bytes())?;
        file.sync_all()
    });
    written.map_err(failed("write", &note))?;
    sync(&draft)?;
    rename(&draft, &decided(database))?;
    sync(folder_of(database))
}

/// Moves the decided files to their places. Interrupted at any moment, the next call continues.
pub(crate) fn finish(database: &Path) -> Result<(), Error> {
    let decided = decided(database);
    if !decided.exists() {
        return Ok(());
    }
    let note = decided.join(KEPT);
    let kept = fs::read_to_string(&note).map_err(failed("read", &note))?;
    let kept = folder_of(database).join(kept);
    for (name, place) in [(MIRROR, database.to_path_buf()), (INBOX, beside(database, "-inbox"))] {
        let ready = decided.join(name);
        // A missing file is in its place already; the file there is the new one.
        if ready.exists() {
            put_aside(&place, &kept, name)?;
            rename(&ready, &place)?;
        }
    }
    sync(folder_of(database))?;
    // The note goes last: without the folder there is nothing to finish.
    let done = beside(&decided, "-done");
    // Left by an interruption right here.
    remove_folder(&done)?;
    rename(&decided, &done)?;
    remove_folder(&done)
}

/// The log moves with its file: beside another file SQLite would take it for that one's.
fn put_aside(place: &Path, kept: &Path, name: &str) -> Result<(), Error> {
    for suffix in ["", "-wal", "-shm"] {
        let old = beside(place, suffix);
        if old.exists() {
            if !kept.exists() {
                make_folder(kept)?;
            }
            rename(&old, &kept.join(format!("{name}{suffix}")))?;
        }
    }
    if kept.exists() { sync(kept) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All possible files: two of each mirror, and the logs of the old one.
    fn ready(database: &Path) {
        for (suffix, text) in [("", "old"), ("-wal", "old log"), ("-inbox", "old inbox")] {
            fs::write(beside(database, suffix), text).unwrap();
        }
        make_folder(&draft(database)).unwrap();
        fs::write(draft(database).join(MIRROR), "new").unwrap();
        fs::write(draft(database).join(INBOX), "new inbox").unwrap();
    }

    fn read(path: &Path) -> Option<String> {
        fs::read_to_string(path).ok()
    }

    fn is_swapped(database: &Path) {
        let folder = folder_of(database);
        assert_eq!(read(database).as_deref(), Some("new"));
        assert_eq!(read(&beside(database, "-inbox")).as_deref(), Some("new inbox"));
        assert_eq!(read(&beside(database, "-wal")), None, "a log of another file");
        let kept = folder.join("before");
        assert_eq!(read(&kept.join(MIRROR)).as_deref(), Some("old"));
        assert_eq!(read(&kept.join("espelho.db-wal")).as_deref(), Some("old log"));
        assert_eq!(read(&kept.join(INBOX)).as_deref(), Some("old inbox"));
        assert!(!is_decided(database) && !draft(database).exists());
    }

    #[test]
    fn what_is_not_decided_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("m.db");
        ready(&database);
        finish(&database).unwrap();
        assert_eq!(read(&database).as_deref(), Some("old"));
        assert_eq!(read(&beside(&database, "-wal")).as_deref(), Some("old log"));
    }

    #[test]
    fn what_is_decided_is_finished_from_wherever_it_was_cut_off() {
        // The steps of `finish`; the first `done` of them are made.
        let steps: [fn(&Path); 5] = [
            |database| make_folder(&folder_of(database).join("before")).unwrap(),
            |database| fs::rename(database, folder_of(database).join("before").join(MIRROR)).unwrap(),
            |database| {
                let kept = folder_of(database).join("before").join("espelho.db-wal");
                fs::rename(beside(database, "-wal"), kept).unwrap();
            },
            |database| fs::rename(decided(database).join(MIRROR), database).unwrap(),
            |database| {
                let kept = folder_of(database).join("before").join(INBOX);
                fs::rename(beside(database, "-inbox"), kept).unwrap();
            },
        ];
        for done in 0..=steps.len() {
            let dir = tempfile::tempdir().unwrap();
            let database = dir.path().join("m.db");
            ready(&database);
            decide(&database, "before").unwrap();
            assert!(is_decided(&database));
            steps[..done].iter().for_each(|step| step(&database));
            finish(&database).unwrap();
            is_swapped(&database);
            finish(&database).unwrap();
            is_swapped(&database);
        }
    }
}
