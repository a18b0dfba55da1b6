//! Permissions of the files of a SQLite mirror.
//!
//! The ERP may open the mirror's own file if the folder is setgid and open to its group. SQLite gives `-wal` and
//! `-shm` the mode of the main file, and such a folder gives every new file its group. All other files belong to
//! their owner alone.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown},
    path::Path,
};

use crate::{Error, connect::address::beside};

const PRIVATE: u32 = 0o600;
const WITH_GROUP: u32 = 0o660;
/// The mode bits of a folder that passes its group on to new files and lets the group create files.
const SHARED_FOLDER: u32 = 0o2070;
const ROOT: u32 = 0;

/// The mode of the mirror's file in a folder of this mode.
fn mirror_mode(folder: u32) -> u32 {
    if folder & SHARED_FOLDER == SHARED_FOLDER { WITH_GROUP } else { PRIVATE }
}

/// Creates an empty file for its owner alone, unless the file exists.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    // Never opens an existing file: closing it would end the locks that SQLite holds on it in this process.
    if path.exists() {
        return Ok(());
    }
    OpenOptions::new().write(true).create(true).truncate(false).mode(PRIVATE).open(path)?;
    hand_over(path)
}

/// Creates a folder for its owner alone, unless the folder exists.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    hand_over(path)
}

/// Gives a file that root created to the owner of its folder: the service has a user of its own.
pub(crate) fn hand_over(path: &Path) -> io::Result<()> {
    match rustix::process::geteuid().as_raw() {
        ROOT => give_to_owner_of(folder_of(path), path),
        _ => Ok(()),
    }
}

/// Opens a file that exists only to be locked.
pub(crate) fn open_lock_file(path: &Path) -> io::Result<File> {
    create_private(path)?;
    OpenOptions::new().write(true).open(path)
}

/// Gives a file to the owner of a folder.
pub(crate) fn give_to_owner_of(folder: &Path, path: &Path) -> io::Result<()> {
    let owners = |path: &Path| fs::metadata(path).map(|file| (file.uid(), file.gid()));
    let owner = owners(folder)?;
    if owners(path)? == owner {
        return Ok(());
    }
    match chown(path, Some(owner.0), Some(owner.1)) {
        // Only root or a member of the group may change the group. The owner is correct already.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && owners(path)?.0 == owner.0 => Ok(()),
        given => given,
    }
}

/// Whether two folders have the same owner.
pub(crate) fn have_one_owner(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|folder| fs::metadata(folder).ok().map(|folder| folder.uid()));
    one.is_some() && one == other
}

/// Removes access to the second file for everybody but its owner, and to the mirror for strangers, before either
/// file is opened.
///
/// # Errors
/// [`Error::Foreign`] when another user has put a file in place of the second one, to read our writes.
pub(crate) fn keep_private(database: &Path) -> Result<(), Error> {
    let folder = fs::metadata(folder_of(database)).ok();
    for suffix in ["-inbox", "-inbox-wal", "-inbox-shm"] {
        let path = beside(database, suffix);
        let Some(file) = regular(&path) else { continue };
        let others_write = folder.as_ref().is_some_and(|folder| folder.mode() & 0o022 != 0);
        match is_ours(&file, database, folder.as_ref()) {
            true => set_mode(&path, &file, PRIVATE),
            // Root reads everything: while it opens a database, its files are its own for a moment.
            false if others_write && file.uid() != 0 => {
                return Err(Error::Foreign { path: path.display().to_string() });
            }
            false => (),
        }
    }
    for suffix in ["", "-wal", "-shm"] {
        let path = beside(database, suffix);
        if let Some(file) = regular(&path).filter(|file| is_ours(file, database, folder.as_ref())) {
            let most = folder.as_ref().map_or(WITH_GROUP, |folder| mirror_mode(folder.mode()));
            set_mode(&path, &file, file.mode() & most);
        }
    }
    Ok(())
}

/// Whether the folder's group still lacks access to the mirror's file.
pub(crate) fn group_waits(database: &Path) -> bool {
    let mode = |path: &Path| fs::metadata(path).ok().map(|file| file.mode());
    let required = mode(folder_of(database)).map(mirror_mode);
    required == Some(WITH_GROUP) && mode(database).is_some_and(|mode| mode & WITH_GROUP != WITH_GROUP)
}

/// Gives the mirror's file and its log the mode that the folder asks for.
pub(crate) fn share(database: &Path) {
    let Ok(folder) = fs::metadata(folder_of(database)) else { return };
    let mode = mirror_mode(folder.mode());
    for suffix in ["", "-wal", "-shm"] {
        let path = beside(database, suffix);
        let Some(file) = regular(&path).filter(|file| is_ours(file, database, Some(&folder))) else {
            continue;
        };
        if mode == WITH_GROUP
            && file.gid() != folder.gid()
            && let Err(error) = chown(&path, None, Some(folder.gid()))
        {
            tracing::warn!(file = %path.display(), %error, "the file cannot be given to the group of its folder");
        }
        set_mode(&path, &file, mode);
    }
}

fn regular(path: &Path) -> Option<Metadata> {
    fs::metadata(path).ok().filter(Metadata::is_file)
}

/// Whether this process's user owns a file. For root: or the service's user does.
fn is_ours(file: &Metadata, database: &Path, folder: Option<&Metadata>) -> bool {
    let mirror = regular(database);
    let services: Vec<u32> = [mirror.as_ref(), folder].into_iter().flatten().map(Metadata::uid).collect();
    is_of(file.uid(), rustix::process::geteuid().as_raw(), &services)
}

fn is_of(owner: u32, us: u32, services: &[u32]) -> bool {
    owner == us || (us == ROOT && services.contains(&owner))
}

/// Some file systems have no modes; the file then keeps its own.
fn set_mode(path: &Path, file: &Metadata, mode: u32) {
    if file.mode() & 0o777 == mode {
        return;
    }
    if let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(mode)) {
        tracing::warn!(file = %path.display(), %error, "who may read the file cannot be changed");
    }
}

/// The folder of a path.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F127
    #[test]
    fn the_group_of_a_folder_has_the_mirror_only_where_the_folder_is_made_for_it() {
        for (folder, mirror) in [
            (0o2770, 0o660),
            (0o2775, 0o660),
            (0o3770, 0o660),
            (0o770, 0o600),
            (0o2750, 0o600),
            (0o2700, 0o600),
            (0o700, 0o600),
            (0o755, 0o600),
            (0o1777, 0o600),
        ] {
            assert_eq!(mirror_mode(folder), mirror, "{folder:o}");
        }
    }

    #[test]
    fn a_file_is_ours_or_roots_for_the_service_and_nobody_elses() {
        for (owner, us, services, ours) in [
            (900, 900, &[900, 900][..], true),
            (901, 900, &[900, 900], false),
            (900, ROOT, &[900, 900], true),
            (ROOT, ROOT, &[900, 900], true),
            (901, ROOT, &[900, 900], false),
            (ROOT, 900, &[ROOT, ROOT], false),
        ] {
            assert_eq!(is_of(owner, us, services), ours, "{owner} {us} {services:?}");
        }
    }
}
