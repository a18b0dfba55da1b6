//! The unit of systemd: where it is installed, people start and stop the service by it.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::config::INSTALLED;

/// The places of units, the administrator's first.
const PLACES: [&str; 3] = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];

/// Tells whether this machine has the unit of the service, or this process is one of systemd's.
pub(crate) fn is_installed() -> bool {
    // A terminal on a desktop has an invocation too, but no socket for notifications.
    let is_started_by_systemd =
        ["INVOCATION_ID", "NOTIFY_SOCKET"].iter().all(|name| env::var_os(name).is_some());
    is_started_by_systemd || places().iter().any(|place| place.join("espelho.service").exists())
}

/// Tells if the unit keeps the service from writing in a folder: it may write in its state directory (`ProtectSystem=strict`,
/// systemd.exec(5)), and where an addition to the unit lets it.
pub(crate) fn forbids_writing(folder: &Path) -> bool {
    if !is_installed() || folder.starts_with(INSTALLED) {
        return false;
    }
    let folders = places().into_iter().map(|place| place.join("espelho.service.d"));
    let additions = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let texts: Vec<String> = additions.filter_map(|file| fs::read_to_string(file.path()).ok()).collect();
    !texts.iter().any(|text| allows_writing(text, folder))
}

/// Tells if an addition to the unit lets the service write in a folder.
fn allows_writing(addition: &str, folder: &Path) -> bool {
    let mut settings = addition.lines().filter_map(|line| line.trim().split_once('='));
    settings.any(|(name, value)| match name.trim() {
        "ReadWritePaths" => {
            value.split_whitespace().any(|path| folder.starts_with(path.trim_start_matches(['-', '+'])))
        }
        "ProtectSystem" => value.trim() != "strict",
        _ => false,
    })
}

/// Returns the places where systemd looks for units: its own variable names others.
fn places() -> Vec<PathBuf> {
    match env::var_os("SYSTEMD_UNIT_PATH") {
        Some(others) => env::split_paths(&others).collect(),
        None => Vec::from(PLACES.map(PathBuf::from)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_addition_to_the_unit_lets_the_service_write_elsewhere() {
        for (addition, expected) in [
            ("[Service]\nReadWritePaths=/srv/dados\n", true),
            ("[Service]\nReadWritePaths = /home -/srv\n", true),
            ("[Service]\nReadWritePaths=/srv/dados2\n", false),
            ("[Service]\nProtectSystem=full\n", true),
            ("[Service]\nProtectSystem=strict\nMemoryMax=1G\n", false),
            ("", false),
        ] {
            assert_eq!(allows_writing(addition, Path::new("/srv/dados")), expected, "{addition}");
        }
    }
}
