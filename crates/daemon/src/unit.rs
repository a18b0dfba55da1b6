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

/// How the unit keeps the service from a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forbidden {
    /// It may not write there.
    ReadOnly,
    /// It does not see the homes of people.
    Hidden,
}

/// Returns how the unit, with its additions, keeps the service from writing in a folder; `None` where it does not, or is not
/// installed.
pub(crate) fn forbids_writing(folder: &Path) -> Option<Forbidden> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real(folder);
    if folder.starts_with(real(Path::new(INSTALLED))) {
        return None;
    }
    let places = places();
    let unit = places.iter().find_map(|place| fs::read_to_string(place.join("espelho.service")).ok())?;
    let folders = places.iter().map(|place| place.join("espelho.service.d"));
    let entries = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut additions: Vec<_> = entries.map(|entry| entry.path()).filter(|path| is_addition(path)).collect();
    additions.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
    let texts = additions.iter().filter_map(|path| fs::read_to_string(path).ok());
    Sandbox::of(texts.fold(unit, |unit, addition| unit + "\n" + &addition).as_str()).forbids(&folder)
}

fn is_addition(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "conf")
}

/// The part of a unit that limits where it may write (systemd.exec(5)).
#[derive(Default)]
struct Sandbox {
    is_strict: bool,
    hides_homes: bool,
    writable: Vec<PathBuf>,
}

impl Sandbox {
    /// Reads the settings of a unit; later ones count, and an empty list forgets those before.
    fn of(unit: &str) -> Self {
        let mut sandbox = Self::default();
        for (name, value) in unit.lines().filter_map(|line| line.trim().split_once('=')) {
            let value = value.trim();
            match name.trim() {
                "ProtectSystem" => sandbox.is_strict = value == "strict",
                "ProtectHome" => sandbox.hides_homes = !["", "no", "false", "off", "0"].contains(&value),
                "ReadWritePaths" if value.is_empty() => sandbox.writable.clear(),
                "ReadWritePaths" | "BindPaths" => {
                    let paths = value.split_whitespace().map(|path| path.trim_matches('"'));
                    let paths = paths.map(|path| path.trim_start_matches(['-', '+']));
                    sandbox
                        .writable
                        .extend(paths.filter_map(|path| path.split(':').next_back()).map(PathBuf::from));
                }
                _ => {}
            }
        }
        sandbox
    }

    fn forbids(&self, folder: &Path) -> Option<Forbidden> {
        let is_home = ["/home", "/root", "/run/user"].iter().any(|home| folder.starts_with(home));
        match (self.hides_homes && is_home, self.is_strict) {
            (true, _) => Some(Forbidden::Hidden),
            (false, true) if !self.writable.iter().any(|path| folder.starts_with(path)) => {
                Some(Forbidden::ReadOnly)
            }
            (false, _) => None,
        }
    }
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
    fn the_unit_with_its_additions_says_where_the_service_may_write() {
        let unit = include_str!("../../../systemd/espelho.service");
        let (read_only, hidden) = (Some(Forbidden::ReadOnly), Some(Forbidden::Hidden));
        for (addition, folder, expected) in [
            ("", "/srv/dados", read_only),
            ("ReadWritePaths=/srv/dados", "/srv/dados", None),
            ("ReadWritePaths = /opt -/srv", "/srv/dados", None),
            ("ReadWritePaths=\"/srv/dados\"", "/srv/dados/loja", None),
            ("ReadWritePaths=/srv/dados2", "/srv/dados", read_only),
            ("ReadWritePaths=/srv\nReadWritePaths=", "/srv/dados", read_only),
            ("BindPaths=/disco:/srv/dados", "/srv/dados", None),
            ("ProtectSystem=full", "/srv/dados", None),
            ("ProtectSystem=full\nProtectSystem=strict", "/srv/dados", read_only),
            ("ReadWritePaths=/home/ana/erp", "/home/ana/erp", hidden),
            ("ProtectHome=no", "/home/ana/erp", read_only),
            ("ProtectHome=no\nReadWritePaths=/home/ana/erp", "/home/ana/erp", None),
        ] {
            let found = Sandbox::of(&format!("{unit}\n{addition}")).forbids(Path::new(folder));
            assert_eq!(found, expected, "{addition} {folder}");
        }
    }
}
