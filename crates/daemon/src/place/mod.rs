//! The state directory: the base of the configuration's relative paths, decided only here (PRODUCT contract 1).
//!
//! `look` asks the system; pure functions decide from its answers.

mod look;

use std::{
    ffi::OsString,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use espelho_model::{program, text, text::Text};
use espelho_store::Store;
use espelho_sync_engine::{Problem, Trouble};

pub(crate) use self::look::address_in;
use crate::{
    config::{self, INSTALLED},
    users,
};

/// The rule that chose the state directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// `$STATE_DIRECTORY`, which systemd sets for units.
    Given,
    /// `/var/lib/espelho`, because it exists.
    Installed,
    /// The working directory.
    Working,
}

/// The base of relative paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateDirectory {
    pub path: PathBuf,
    pub rule: Rule,
}

/// The facts that the choice depends on.
#[derive(Clone, Debug)]
struct Facts {
    given: Option<OsString>,
    is_installed: bool,
    working: PathBuf,
}

impl Facts {
    /// Returns the possible folders, by precedence.
    fn candidates(&self) -> Vec<StateDirectory> {
        let working = self.working.clone();
        // systemd separates several directories by colons; the first one is ours.
        let given = self.given.as_ref().and_then(|given| given.as_bytes().split(|byte| *byte == b':').next());
        let given = given.filter(|given| !given.is_empty()).map(std::ffi::OsStr::from_bytes);
        let given = given.map(|given| (working.join(given), Rule::Given));
        let installed = self.is_installed.then(|| (PathBuf::from(INSTALLED), Rule::Installed));
        let all = [given, installed, Some((working, Rule::Working))].into_iter().flatten();
        all.map(|(path, rule)| StateDirectory { path, rule }).collect()
    }
}

/// The place of the database according to the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its address; for a file with the absolute path.
    pub url: String,
    /// The file, and the rule that chose its folder; `None` for an absolute path.
    file: Option<(PathBuf, Option<Rule>)>,
    /// The other candidate files.
    others: Vec<PathBuf>,
}

/// Returns the place that an address means.
fn place(url: &str, candidates: &[StateDirectory]) -> Place {
    let Some(path) = url.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path)) else {
        return Place { url: url.to_owned(), file: None, others: Vec::new() };
    };
    // Opening refuses an address without a file.
    let Some(named) = Store::file_named_by(url) else {
        return Place { url: url.to_owned(), file: None, others: Vec::new() };
    };
    if named.is_absolute() {
        return Place { url: url.to_owned(), file: Some((named, None)), others: Vec::new() };
    }
    let mut seen: Vec<PathBuf> = Vec::new();
    let distinct = candidates.iter().filter(|candidate| {
        let is_new = !seen.contains(&candidate.path);
        seen.push(candidate.path.clone());
        is_new
    });
    let mut files = distinct.map(|candidate| (candidate, candidate.path.join(&named)));
    let Some((chosen, file)) = files.next() else {
        return Place { url: url.to_owned(), file: Some((named, None)), others: Vec::new() };
    };
    let others = files.map(|(_, file)| file).collect();
    let url = format!("sqlite:{}/{path}", escaped(&chosen.path));
    Place { url, file: Some((file, Some(chosen.rule))), others }
}

/// Returns the address that a new configuration in `folder` names. Without a state directory a relative file lies in that
/// folder, as the configuration's other files do, so that no command depends on its working directory. So does that of a
/// second configuration beside an installed one, whose database it must not use.
fn settled(url: &str, folder: &Path, rule: Rule) -> String {
    match rule {
        Rule::Installed if folder == Path::new(config::SYSTEM) => url.to_owned(),
        Rule::Working | Rule::Installed => {
            place(url, &[StateDirectory { path: folder.to_owned(), rule }]).url
        }
        Rule::Given => url.to_owned(),
    }
}

/// Escapes a path as part of an address.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().trim_end_matches('/').replace('%', "%25").replace('?', "%3F")
}

/// What is at the place of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    File,
    Nothing,
    /// This user may not read this path.
    Denied(PathBuf),
}

/// The reason why a database is not opened.
#[derive(Clone, Debug, PartialEq)]
enum Refusal {
    Missing(Text),
    Elsewhere(Text),
    Denied(Text),
}

impl Place {
    /// Checks whether the database at the place may be read.
    fn readable(&self, found: &Found) -> Result<(), Refusal> {
        let Some((file, rule)) = &self.file else { return Ok(()) };
        match found {
            Found::File => Ok(()),
            Found::Denied(path) => Err(denied(path)),
            Found::Nothing => {
                let path = file.display().to_string();
                Err(Refusal::Missing(text!("place-no-database", path = path, why = why(*rule))))
            }
        }
    }

    /// Returns the base of the other relative paths: the state directory; without one, the folder of a database with an
    /// absolute path, so that no command depends on its working directory.
    fn base_in(&self, state: StateDirectory) -> PathBuf {
        match &self.file {
            Some((file, None)) if state.rule == Rule::Working => {
                file.parent().map_or(state.path, Path::to_owned)
            }
            _ => state.path,
        }
    }

    /// Checks whether a missing database may be created here; `other` is another candidate that exists.
    fn usable(&self, found: &Found, other: Option<&Path>) -> Result<(), Refusal> {
        let Some((file, rule)) = &self.file else { return Ok(()) };
        match (found, other) {
            (Found::Denied(path), _) => Err(denied(path)),
            (Found::Nothing, Some(other)) => {
                let (path, other) = (file.display().to_string(), other.display().to_string());
                Err(Refusal::Elsewhere(text!(
                    "place-other-database",
                    path = path,
                    why = why(*rule),
                    other = other
                )))
            }
            (Found::File | Found::Nothing, _) => Ok(()),
        }
    }
}

fn denied(path: &Path) -> Refusal {
    if config::is_service() {
        return Refusal::Denied(text!("place-denied-to-service", path = path.display().to_string()));
    }
    let (user, command) = (users::owner_of(path), program::typed());
    Refusal::Denied(text!("place-denied", path = path.display().to_string(), user = user, command = command))
}

/// Explains why the database is expected in a folder.
fn why(rule: Option<Rule>) -> Text {
    match rule {
        Some(Rule::Given) => text!("place-why-given"),
        Some(Rule::Installed) => text!("place-why-installed", folder = INSTALLED),
        Some(Rule::Working) => text!("place-why-working", folder = INSTALLED),
        None => text!("place-why-absolute"),
    }
}

impl Refusal {
    fn problem(&self) -> Problem {
        let (trouble, code, said) = match self {
            Self::Missing(said) => (Trouble::Failure, "no_database", said),
            Self::Elsewhere(said) => (Trouble::Configuration, "other_database", said),
            Self::Denied(said) => (Trouble::Failure, "permission_denied", said),
        };
        Problem::of(trouble, code, said.clone())
    }
}

#[cfg(test)]
mod tests;
