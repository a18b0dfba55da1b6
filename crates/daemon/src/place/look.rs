//! Reads the system's facts about the places where the database could be.

use std::{
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use espelho_model::{program, text};
use espelho_sync_engine::{Problem, Trouble};
use rustix::fs::Access;

use super::{Facts, Found, INSTALLED, Place, Rule, StateDirectory, place, settled, why};
use crate::config::Configuration;

impl Facts {
    fn of_this_process() -> Self {
        Self {
            given: std::env::var_os("STATE_DIRECTORY"),
            // Not `exists`: a link exists even for a user who may not follow it.
            is_installed: fs::symlink_metadata(INSTALLED).is_ok(),
            working: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        }
    }
}

/// Returns the base of relative paths.
fn state_directory() -> StateDirectory {
    let facts = Facts::of_this_process();
    let chosen = facts.candidates().into_iter().next();
    chosen.unwrap_or(StateDirectory { path: facts.working, rule: Rule::Working })
}

/// Returns the address that a new configuration in `folder` names for a database.
pub(crate) fn address_in(folder: &Path, url: &str) -> String {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    settled(url, &folder, state_directory().rule)
}

impl Place {
    /// Returns the place that the configuration means, whatever is there.
    pub(crate) fn meant(configuration: &Configuration) -> Self {
        place(&configuration.installation.database.url, &Facts::of_this_process().candidates())
    }

    /// Returns the place of a database that is created if it does not exist, unless another candidate has a database
    /// and no second one may be created beside it.
    pub(crate) fn to_open(configuration: &Configuration, may_be_second: bool) -> Result<Self, Problem> {
        Self::unless_meant(configuration, |_| !may_be_second)
    }

    /// Returns the place to which a backup is restored: the backup itself does not count as another candidate.
    pub(crate) fn to_restore(configuration: &Configuration, copy: &Path) -> Result<Self, Problem> {
        let copy = copy.canonicalize().unwrap_or_else(|_| copy.to_owned());
        let lies_there = |other: &Path| other.canonicalize().is_ok_and(|other| other.starts_with(&copy));
        Self::unless_meant(configuration, |other| !lies_there(other))
    }

    fn unless_meant(configuration: &Configuration, counts: impl Fn(&Path) -> bool) -> Result<Self, Problem> {
        let place = place(&configuration.installation.database.url, &Facts::of_this_process().candidates());
        let other = place.others.iter().find(|other| other.exists() && counts(other));
        let usable = place.usable(&place.found_to_make(), other.map(PathBuf::as_path));
        usable.map_err(|refusal| refusal.problem())?;
        Ok(place)
    }

    /// Returns the place of a database that must exist.
    pub(crate) fn to_read(configuration: &Configuration) -> Result<Self, Problem> {
        let place = place(&configuration.installation.database.url, &Facts::of_this_process().candidates());
        let readable = place.readable(&place.found());
        readable.map_err(|refusal| refusal.problem())?;
        Ok(place)
    }

    /// Returns the base of the other relative paths of the configuration.
    pub(crate) fn base(&self) -> PathBuf {
        self.base_in(state_directory())
    }

    /// Whether opening would create a file at a relative path: another folder or user would create another one.
    pub(crate) fn is_new_and_relative(&self) -> bool {
        matches!(self.file, Some((_, Some(_)))) && self.found() == Found::Nothing
    }

    /// Returns the refusal to create a database beside the one that a service on `address` uses.
    pub(crate) fn beside_service(&self, address: SocketAddr) -> Problem {
        let (path, rule) = self.file.as_ref().map(|(file, rule)| (file.display().to_string(), *rule)).unzip();
        let (path, rule) = (path.unwrap_or_default(), rule.flatten());
        let text = text!(
            "place-beside-service",
            path = path,
            why = why(rule),
            address = address.to_string(),
            command = program::typed()
        );
        Problem::of(Trouble::Held, "other_database", text)
    }

    /// Returns the file, if the address names its whole path.
    pub(crate) fn fixed_file(&self) -> Option<&Path> {
        self.file.as_ref().filter(|(_, rule)| rule.is_none()).map(|(file, _)| file.as_path())
    }

    /// Returns the file, if the database is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_ref().map(|(file, _)| file.as_path())
    }

    /// Returns what is there, for a caller that creates a missing database.
    fn found_to_make(&self) -> Found {
        let folder = self.file().and_then(Path::parent);
        match (self.found(), folder) {
            (Found::Nothing, Some(folder)) if is_denied(folder) => Found::Denied(folder.to_owned()),
            (found, _) => found,
        }
    }

    /// Returns the file that this user may not read and write, or not even see.
    pub(crate) fn denied(&self) -> Option<PathBuf> {
        match self.found() {
            Found::Denied(path) => Some(path),
            Found::File | Found::Nothing => None,
        }
    }

    /// Returns the files of the database: its tables, and the inbox of deliveries.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let Some(file) = self.file() else { return Vec::new() };
        let mut inbox = file.as_os_str().to_owned();
        inbox.push("-inbox");
        vec![file.to_owned(), inbox.into()]
    }

    fn found(&self) -> Found {
        let Some(file) = self.file() else { return Found::Nothing };
        match fs::metadata(file) {
            Ok(_) => self.files().into_iter().find(|file| is_denied(file)).map_or(Found::File, Found::Denied),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Found::Denied(file.to_owned()),
            Err(_) => Found::Nothing,
        }
    }
}

/// Whether something is there that this user may not read and write. It does not open the file: closing a database
/// again would end the locks that this process has on it.
fn is_denied(path: &Path) -> bool {
    rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK) == Err(rustix::io::Errno::ACCESS)
}
