//! The state directory: what a relative path of the configuration is relative to, decided here and nowhere else (PRODUCT contract 1).
//!
//! `look` asks the system; what follows from its answers is decided by pure functions.

mod look;

use std::{
    ffi::OsString,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use espelho_model::{text, text::Text};
use espelho_store::Store;
use espelho_sync_engine::{Problem, Trouble};

/// The state directory of an installed service.
const INSTALLED: &str = "/var/lib/espelho";

/// Which rule has chosen the state directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// `$STATE_DIRECTORY`, which systemd gives to units.
    Given,
    /// `/var/lib/espelho`, because it exists.
    Installed,
    /// The working directory.
    Working,
}

/// Where relative paths begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateDirectory {
    pub path: PathBuf,
    pub rule: Rule,
}

/// What the choice depends on.
#[derive(Clone, Debug)]
struct Facts {
    given: Option<OsString>,
    is_installed: bool,
    working: PathBuf,
}

impl Facts {
    /// The folders that could be meant, the one that is meant first.
    fn candidates(&self) -> Vec<StateDirectory> {
        let working = self.working.clone();
        // systemd separates several directories by colons, and the first one is ours.
        let given = self.given.as_ref().and_then(|given| given.as_bytes().split(|byte| *byte == b':').next());
        let given = given.filter(|given| !given.is_empty()).map(std::ffi::OsStr::from_bytes);
        let given = given.map(|given| (working.join(given), Rule::Given));
        let installed = self.is_installed.then(|| (PathBuf::from(INSTALLED), Rule::Installed));
        let all = [given, installed, Some((working, Rule::Working))].into_iter().flatten();
        all.map(|(path, rule)| StateDirectory { path, rule }).collect()
    }
}

/// Where the configuration says that the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its address; that of a file with the absolute path.
    pub url: String,
    /// The file, and the rule by which it is there; `None` where the path was absolute.
    file: Option<(PathBuf, Option<Rule>)>,
    /// The other files that could have been meant.
    others: Vec<PathBuf>,
}

/// The place that an address means.
fn place(url: &str, candidates: &[StateDirectory]) -> Place {
    let Some(path) = url.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path)) else {
        return Place { url: url.to_owned(), file: None, others: Vec::new() };
    };
    // An address without a file is refused where it is opened.
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

/// A path as part of an address.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().trim_end_matches('/').replace('%', "%25").replace('?', "%3F")
}

/// What lies where the database should be.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    File,
    Nothing,
    /// This user may not look there.
    Denied(PathBuf),
}

/// Why a database is not opened.
#[derive(Clone, Debug, PartialEq)]
enum Refusal {
    Missing(Text),
    Elsewhere(Text),
    Denied(Text),
}

impl Place {
    /// Whether what lies there may be read.
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

    /// Where the other relative paths of the configuration begin: the state directory; where there is none, the folder of a
    /// database whose path is absolute, so that no command depends on where it is typed.
    fn base_in(&self, state: StateDirectory) -> PathBuf {
        match &self.file {
            Some((file, None)) if state.rule == Rule::Working => {
                file.parent().map_or(state.path, Path::to_owned)
            }
            _ => state.path,
        }
    }

    /// Whether a database may be made there if there is none; `other` is one that could have been meant, and is there.
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
    Refusal::Denied(text!("place-denied", path = path.display().to_string()))
}

/// Why the database is looked for in a folder.
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
