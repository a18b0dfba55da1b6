//! The conformance ledger: the API document's statements, and the test that proves each.
//!
//! The statements are in `tests/conformance/*.toml`. A test claims to prove some of them with a comment directly
//! above its attribute: `proves:` and their ids. This module reads and compares both, so that a missing proof or a
//! missing statement is always reported.
//!
//! Reading order: `statements` (the ledger's files), `proofs` (the claims in the sources), `faults` (the
//! disagreements of the two), `page` (both as `docs/CONFORMANCE.md`).

mod faults;
mod page;
mod proofs;
mod statements;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

pub use faults::anchor;
pub use proofs::{Below, Claim, claims, tagged};
pub use statements::{Area, Side, Statement};

/// Folders whose sources may contain claims; `proofs` knows which side each of them proves.
const FOLDERS: [&str; 3] = ["crates/sandbox", "crates/api-client", "tests"];

/// The statements, the claims, and the headings that answer open questions.
#[derive(Debug, Default)]
pub struct ConformanceLedger {
    /// Statements by area, in the order of the document.
    pub areas: Vec<Area>,
    /// Every claim found in a source.
    pub claims: Vec<Claim>,
    /// The anchors of `docs/ASSUMPTIONS.md`.
    pub anchors: BTreeSet<String>,
}

impl ConformanceLedger {
    /// Reads the ledger of the repository at `root`.
    ///
    /// # Panics
    /// When one of its files cannot be read or parsed.
    pub fn read(root: &Path) -> Self {
        let mut ledger = Self::default();
        for path in files(&root.join("tests/conformance"), "toml") {
            ledger.areas.push(Area::parse(&name(root, &path), &text(&path)));
        }
        ledger.areas.sort_by_key(|area| area.rank);
        for path in FOLDERS.iter().flat_map(|folder| files(&root.join(folder), "rs")) {
            ledger.claims.extend(claims(&name(root, &path), &text(&path)));
        }
        let assumptions = text(&root.join("docs/ASSUMPTIONS.md"));
        ledger.anchors = assumptions.lines().filter_map(anchor).collect();
        ledger
    }

    /// Returns the tests that prove a statement for one side, as `file: test`.
    fn proofs<'a>(&'a self, id: &'a str, side: Side) -> impl Iterator<Item = String> + 'a {
        let claims = self.claims.iter().filter(move |claim| claim.proves(id, side));
        claims.filter_map(|claim| match &claim.below {
            Below::Test(test) => Some(format!("{}: {test}", claim.file)),
            Below::Ignored(_) | Below::Other(_) | Below::Nothing => None,
        })
    }
}

/// Returns every file below a folder with that extension, sorted by name.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            files.extend(self::files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    files
}

pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a file's path below the root, with `/` on every system.
pub(crate) fn name(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
