//! The moment at which a restored mirror takes the place of another one.
//!
//! What is made ready lies in `FILE-restoring`, and counts for nothing. Its renaming to `FILE-restored` decides: from then on
//! the files in it are moved to their places one by one, and whoever finds that folder goes on with it. Two files cannot be
//! renamed at once, and a mirror beside another one's inbox would be neither.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use super::{INBOX, MIRROR, failed, make_folder, remove_folder, rename, sync};
use crate::{Error, connect::beside, permissions::folder_of};

/// The file in the folder that says where the files go that were there before.
const KEPT: &str = "kept";

/// Where a restored mirror is made ready.
pub(crate) fn draft(database: &Path) -> PathBuf {
    beside(database, "-restoring")
}

fn decided(database: &Path) -> PathBuf {
    beside(database, "-restored")
}

/// Whether a restore was decided and is not finished.
pub(crate) fn is_decided(database: &Path) -> bool {
    decided(database).exists()
}

/// Decides for what is ready. The files that are there go to the folder `kept`.
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

/// Moves what was decided for to its place. Cut off at any moment, it goes on there when it is called again.
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
        // Where it is gone it is in its place already, and what is there is not old any more.
        if ready.exists() {
            put_aside(&place, &kept, name)?;
            rename(&ready, &place)?;
        }
    }
    sync(folder_of(database))?;
    // The note goes last: without the folder nothing is looked for.
    let done = beside(&decided, "-done");
    // Of one that was cut off right here.
    remove_folder(&done)?;
    rename(&decided, &done)?;
    remove_folder(&done)
}

/// The log goes with its file: beside another one it would be taken for that one's.
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

    /// All that can be there: two files of each mirror, the old one's with its logs.
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
        // The steps of `finish`, of which the first `done` were made.
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
