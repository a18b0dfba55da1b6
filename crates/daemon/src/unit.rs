//! The unit of systemd: where it is installed, people start and stop the service by it.

use std::{env, path::PathBuf};

/// The places of units, the administrator's first.
const PLACES: [&str; 3] = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];

/// Tells whether this machine has the unit of the service, or this process is one of systemd's.
pub(crate) fn is_installed() -> bool {
    // A terminal on a desktop has an invocation too, but no socket for notifications.
    let is_started_by_systemd =
        ["INVOCATION_ID", "NOTIFY_SOCKET"].iter().all(|name| env::var_os(name).is_some());
    is_started_by_systemd || places().iter().any(|place| place.join("espelho.service").exists())
}

/// Returns the places where systemd looks for units: its own variable names others.
fn places() -> Vec<PathBuf> {
    match env::var_os("SYSTEMD_UNIT_PATH") {
        Some(others) => env::split_paths(&others).collect(),
        None => Vec::from(PLACES.map(PathBuf::from)),
    }
}
