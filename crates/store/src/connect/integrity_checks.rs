//! Checks before a SQLite file is used: the library, the disk, and the file itself.

use std::path::Path;

use crate::{Error, connect::address::shown, driver::Database};

/// In an older version two connections can damage a file while its log restarts.
const LEAST_LIBRARY: [u32; 3] = [3, 51, 3];
/// Every open checks a file up to this size, which takes less than a second. It checks a larger file only after an
/// unclean shutdown, because that is when files get damaged.
const SMALL: u64 = 256 << 20;

/// Refuses a file on a disk of another machine: locks and shared memory do not work there.
pub(crate) fn refuse_network(url: &str, file: &Path) -> Result<(), Error> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match network(folder) {
        Some(kind) => Err(Error::Network { url: shown(url), kind }),
        None => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn network(folder: &Path) -> Option<&'static str> {
    let disk = rustix::fs::statfs(folder).ok()?;
    // The number has 32 bits; the type of the field has another size on each platform.
    name_of_network(disk.f_type as u32)
}

#[cfg(not(target_os = "linux"))]
fn network(_: &Path) -> Option<&'static str> {
    None
}

/// The network file system that Linux numbers so (`statfs(2)`).
#[cfg(target_os = "linux")]
fn name_of_network(number: u32) -> Option<&'static str> {
    match number {
        0x6969 => Some("NFS"),
        0x517B | 0xFF53_4D42 | 0xFE53_4D42 => Some("SMB"),
        0x564C => Some("NCP"),
        0x5346_414F | 0x6B41_4653 => Some("AFS"),
        0x00C3_6400 => Some("Ceph"),
        0x0102_1997 => Some("9P"),
        _ => None,
    }
}

/// Refuses a SQLite library that can damage its files.
pub(crate) async fn refuse_old_library(database: &Database) -> Result<(), Error> {
    let rows = database.fetch("ask for the version of SQLite", "SELECT sqlite_version()", Vec::new()).await?;
    let found = rows.first().map(|row| row.text(0)).transpose()?.unwrap_or_default();
    if is_new_enough(&found) { Ok(()) } else { Err(Error::OldLibrary { found }) }
}

fn is_new_enough(version: &str) -> bool {
    let numbers: Vec<u32> = version.split('.').map_while(|number| number.parse().ok()).collect();
    numbers.as_slice() >= LEAST_LIBRARY.as_slice()
}

/// Refuses a damaged file while most of its content is still readable.
pub(crate) async fn refuse_damage(file: &Path, uncleanly: bool, database: &Database) -> Result<(), Error> {
    let size = std::fs::metadata(file).map_or(0, |file| file.len());
    if size > SMALL && !uncleanly {
        return Ok(());
    }
    refuse(file, database, "PRAGMA quick_check(1)").await
}

/// Refuses a file with any damage, in its indexes too, however long the check takes.
pub(crate) async fn refuse_any_damage(file: &Path, database: &Database) -> Result<(), Error> {
    refuse(file, database, "PRAGMA integrity_check(1)").await
}

async fn refuse(file: &Path, database: &Database, look: &'static str) -> Result<(), Error> {
    let said = database.fetch("check the database file", look, Vec::new()).await;
    let what = match said {
        Ok(rows) => rows.first().map(|row| row.text(0)).transpose()?.unwrap_or_default(),
        Err(Error::Statement { source, operation }) => {
            return Err(damage(file, &source).unwrap_or(Error::Statement { operation, source }));
        }
        Err(error) => return Err(error),
    };
    if what == "ok" { Ok(()) } else { Err(Error::Damaged { file: file.display().to_string(), what }) }
}

/// [`Error::Damaged`], if SQLite reports a corrupt file. A file that never was a database is another error: a wrong
/// path.
pub(crate) fn damage(file: &Path, source: &sqlx::Error) -> Option<Error> {
    let code: u32 = source.as_database_error()?.code()?.parse().ok()?;
    // CORRUPT; the higher bits hold details.
    let what = source.to_string();
    (code & 0xFF == 11).then(|| Error::Damaged { file: file.display().to_string(), what })
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F099
    #[test]
    fn a_library_that_can_damage_its_own_log_is_refused() {
        for (version, is_fine) in [
            ("3.51.3", true),
            ("3.51.4", true),
            ("3.52.0", true),
            ("4.0.0", true),
            ("3.51.2", false),
            ("3.9.99", false),
            ("3.51", false),
            ("", false),
        ] {
            assert_eq!(is_new_enough(version), is_fine, "{version}");
        }
    }

    // withstands: F103
    #[cfg(target_os = "linux")]
    #[test]
    fn disks_of_other_machines_are_known_by_their_numbers() {
        for (number, name) in [(0x6969, "NFS"), (0xFF53_4D42, "SMB"), (0xFE53_4D42, "SMB")] {
            assert_eq!(name_of_network(number), Some(name));
        }
        // ext4, XFS, Btrfs, tmpfs, ZFS, overlay.
        for number in [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x2FC1_2FC1, 0x794C_7630] {
            assert_eq!(name_of_network(number), None, "{number:x}");
        }
        let error = Error::Network { url: "sqlite:/srv/espelho.db".into(), kind: "NFS" };
        assert!(
            error.to_string().contains("/srv/espelho.db") && error.to_string().contains("NFS"),
            "{error}"
        );
        assert!(error.hint().contains("local disk"), "{}", error.hint());
        assert!(refuse_network("sqlite:espelho.db", &std::env::temp_dir().join("espelho.db")).is_ok());
    }
}
