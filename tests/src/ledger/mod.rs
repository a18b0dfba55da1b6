//! The conformance ledger: what the API document says, statement by statement, and which test proves it.
//!
//! The statements are in `tests/conformance/*.toml`. A test claims to prove some of them with a comment directly
//! above its attribute, which says `proves:` and then their ids. Here both are read and held against each other, so
//! that a statement cannot lose its proof, nor a proof its statement, without somebody being told.
//!
//! Reading order: `statements` (the ledger's files), `proofs` (the claims in the sources), `faults` (where the
//! two disagree), `page` (both as `docs/CONFORMANCE.md`).

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

/// Folders whose sources may hold claims; `proofs` knows which side each of them proves.
const FOLDERS: [&str; 3] = ["crates/sandbox", "crates/api-client", "tests"];

/// The statements, the claims, and the headings that open questions point at.
#[derive(Debug, Default)]
pub struct QuotaStore {
    /// Statements by area, in the order of the document.
    pub areas: Vec<Area>,
    /// Every claim found in a source.
    pub claims: Vec<Claim>,
    /// The anchors of `docs/ASSUMPTIONS.md`.
    pub anchors: BTreeSet<String>,
}

impl QuotaStore {
    /// Reads the ledger of the repository at `root`.
    ///
    /// # Panics
    /// When a file of it cannot be read or understood.
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

    /// The tests that prove a statement for one side, as `file: test`.
    fn proofs<'a>(&'a self, id: &'a str, side: Side) -> impl Iterator<Item = String> + 'a {
        let claims = self.claims.iter().filter(move |claim| claim.proves(id, side));
        claims.filter_map(|claim| match &claim.below {
            Below::Test(test) => Some(format!("{}: {test}", claim.file)),
            Below::Ignored(_) | Below::Other(_) | Below::Nothing => None,
        })
    }
}

/// Every file below a folder with that extension, in the order of their names.
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

/// A file's path below the root, with `/` on every system.
pub(crate) fn name(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
