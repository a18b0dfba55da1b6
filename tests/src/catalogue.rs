//! The catalogue of failures: what goes wrong, how espelho must respond, and which test shows it.
//!
//! The failures are in `tests/failures/*.toml`. A test claims to show some of them with a comment directly above its
//! attribute: `withstands:` and their ids. [`Catalogue::faults`] compares the two, and [`Catalogue::page`] is
//! `docs/FAILURES.md`.

use std::{fmt::Write as _, path::Path};

use serde::Deserialize;

use crate::{
    ledger::{Below, Claim, files, name, tagged, text},
    markdown::item,
};

/// The prefix of a line that claims to show a failure.
const TAG: &str = "// withstands:";

/// Folders whose sources may contain claims.
const FOLDERS: [&str; 2] = ["crates", "tests"];

/// The text above the lists.
const INTRO: &str = "\
# Failures

What goes wrong, **what espelho does then**, and the tests that show it. The numbers are those of the catalogue of
failures that the project is built against.

This page is made of `tests/failures/*.toml` and of the `withstands:` comments above the tests. `tests/run failures`
holds the three against each other; `ESPELHO_BLESS=1 tests/run failures` writes this page anew.
";

/// The failures and the claims.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Failures by area.
    pub areas: Vec<Area>,
    /// Every claim found in a source.
    pub claims: Vec<Claim>,
}

/// One file: failures of one kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// The heading in the generated document.
    #[serde(rename = "area")]
    pub heading: String,
    /// Its position in the generated document.
    pub rank: u32,
    /// Its failures.
    #[serde(rename = "failure")]
    pub failures: Vec<Failure>,
}

/// One failure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Its id in tests: `F031`.
    pub id: String,
    /// What happens.
    pub happens: String,
    /// How espelho responds.
    pub response: String,
    /// The check that shows it if no test of this workspace can: a file below the root, and what it does.
    pub shown_by: Option<Shown>,
    /// What it waits for, while nothing shows it.
    pub waits: Option<String>,
}

/// A check outside of this workspace's tests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The file, below the root.
    pub file: String,
    /// What it checks.
    pub how: String,
}

impl Catalogue {
    /// Reads the catalogue of the repository at `root`.
    ///
    /// # Panics
    /// When one of its files cannot be read or parsed.
    pub fn read(root: &Path) -> Self {
        let mut catalogue = Self::default();
        for path in files(&root.join("tests/failures"), "toml") {
            catalogue.areas.push(Area::parse(&text(&path)));
        }
        catalogue.areas.sort_by_key(|area| area.rank);
        for path in FOLDERS.iter().flat_map(|folder| files(&root.join(folder), "rs")) {
            let mut claims = tagged(TAG, &name(root, &path), &text(&path));
            claims.iter_mut().for_each(|claim| run_by_a_list(claim, &path));
            catalogue.claims.extend(claims);
        }
        catalogue
    }

    /// Returns every fault, one sentence each; empty if the catalogue is in order. `exists` says whether the
    /// repository has a file.
    pub fn faults(&self, exists: impl Fn(&str) -> bool) -> Vec<String> {
        let mut faults = Vec::new();
        let mut before = "";
        for failure in self.failures() {
            if failure.id.as_str() <= before {
                faults.push(format!("{} does not come after {before}", failure.id));
            }
            before = &failure.id;
            faults.extend(self.fault(failure, &exists));
        }
        for claim in &self.claims {
            faults.extend(self.misplaced(claim));
        }
        faults
    }

    fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.areas.iter().flat_map(|area| &area.failures)
    }

    fn fault(&self, failure: &Failure, exists: impl Fn(&str) -> bool) -> Option<String> {
        let Failure { id, happens, shown_by, waits, .. } = failure;
        let shown = shown_by.is_some() || self.tests(id).next().is_some();
        match (shown, waits) {
            (false, None) => Some(format!("{id} is shown by no test: {happens}")),
            (true, Some(waits)) => Some(format!("{id} is shown, and yet waits for {waits}: keep one")),
            _ => {
                let lost = shown_by.as_ref().filter(|shown| !exists(&shown.file))?;
                Some(format!("{id} is shown by {}, which is no file", lost.file))
            }
        }
    }

    /// Checks that a claim names known failures and belongs to a running test.
    fn misplaced(&self, claim: &Claim) -> Vec<String> {
        let place = format!("{}:{}", claim.file, claim.line);
        let mut faults = Vec::new();
        if !matches!(claim.below, Below::Test(_)) {
            faults.push(format!("{place}: the claim stands above no running test"));
        }
        let unknown = claim.ids.iter().filter(|id| !self.failures().any(|failure| failure.id == **id));
        faults.extend(unknown.map(|id| format!("{place}: no failure is called {id}")));
        if claim.ids.is_empty() {
            faults.push(format!("{place}: the claim names no failure"));
        }
        faults
    }

    /// Returns the tests that show a failure, as `file: test`.
    fn tests<'a>(&'a self, id: &'a str) -> impl Iterator<Item = String> + 'a {
        let claims = self.claims.iter().filter(move |claim| claim.ids.iter().any(|claimed| claimed == id));
        claims.filter_map(|claim| match &claim.below {
            Below::Test(test) => Some(format!("{}: {test}", claim.file)),
            Below::Ignored(_) | Below::Other(_) | Below::Nothing => None,
        })
    }

    /// Returns the whole page.
    pub fn page(&self) -> String {
        let mut page = INTRO.to_owned();
        let waiting = self.failures().filter(|failure| failure.waits.is_some()).count();
        let all = self.failures().count();
        // Writing to a String cannot fail.
        let _ =
            writeln!(page, "\n{} of {all} are shown; {waiting} wait for what is said there.", all - waiting);
        for area in &self.areas {
            let _ = writeln!(page, "\n## {}\n", area.heading);
            for failure in &area.failures {
                let Failure { id, happens, response, .. } = failure;
                page.push_str(&item(0, &format!("**{id}** {happens}")));
                page.push_str(&item(1, &format!("**{response}**")));
                page.push_str(&self.shown(failure));
            }
        }
        page
    }

    fn shown(&self, failure: &Failure) -> String {
        let mut shown: Vec<String> = self.tests(&failure.id).collect();
        shown.extend(failure.shown_by.as_ref().map(|Shown { file, how }| format!("{file}: {how}")));
        shown.extend(failure.waits.as_ref().map(|waits| format!("waits for {waits}")));
        shown.iter().map(|proof| item(1, proof)).collect()
    }
}

/// Marks the functions of a folder `suite` as tests. They have no attribute: the `main.rs` above the folder lists
/// those that become tests.
fn run_by_a_list(claim: &mut Claim, path: &Path) {
    let Below::Other(function) = &claim.below else { return };
    let Some(folder) = path.parent().filter(|folder| folder.ends_with("suite")) else { return };
    let list = text(&folder.with_file_name("main.rs"));
    let mut listed = list.split([',', ';', ':', '{']).map(str::trim);
    if listed.any(|name| name == function) {
        claim.below = Below::Test(function.clone());
    }
}

impl Area {
    /// Reads one file.
    ///
    /// # Panics
    /// When it is invalid.
    pub fn parse(text: &str) -> Self {
        toml::from_str(text).unwrap_or_else(|error| panic!("a file of failures: {error}"))
    }
}
