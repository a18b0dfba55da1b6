//! The catalogue of failures: what goes wrong, what espelho owes then, and which test shows it.
//!
//! The failures are in `tests/failures/*.toml`. A test claims to show some of them with a comment directly above its
//! attribute, which says `withstands:` and then their ids. [`Catalogue::faults`] holds both against each other, and
//! [`Catalogue::page`] is `docs/FAILURES.md`.

use std::{fmt::Write as _, path::Path};

use serde::Deserialize;

use crate::ledger::{Below, Claim, files, name, tagged, text};

/// How a line begins that claims to show a failure.
const TAG: &str = "// withstands:";

/// Folders whose sources may hold claims.
const FOLDERS: [&str; 2] = ["crates", "tests"];

/// What stands above the tables.
const INTRO: &str = "\
# Failures

What goes wrong, what espelho does then, and the tests that show it. The numbers are those of the catalogue of failures that the
project is built against.

This page is made of `tests/failures/*.toml` and of the `withstands:` comments above the tests. `tests/run failures` holds
the three against each other; `ESPELHO_BLESS=1 tests/run failures` writes this page anew.
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
    /// Its place in the generated document.
    pub rank: u32,
    /// Its failures.
    #[serde(rename = "failure")]
    pub failures: Vec<Failure>,
}

/// One way to fail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// What tests call it: `F031`.
    pub id: String,
    /// What happens.
    pub happens: String,
    /// What espelho does then.
    pub response: String,
    /// What shows it where no test of this workspace can: a file below the root, and what it does.
    pub shown_by: Option<Shown>,
    /// What it waits for, as long as nothing shows it.
    pub waits: Option<String>,
}

/// A check that is no test of this workspace.
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
    /// When a file of it cannot be read or understood.
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

    /// Everything that is wrong, a sentence each; empty when the catalogue is in order. `exists` tells whether the
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

    /// A claim that names no failure, or that no running test makes.
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

    /// The tests that show a failure, as `file: test`.
    fn tests<'a>(&'a self, id: &'a str) -> impl Iterator<Item = String> + 'a {
        let claims = self.claims.iter().filter(move |claim| claim.ids.iter().any(|claimed| claimed == id));
        claims.filter_map(|claim| match &claim.below {
            Below::Test(test) => Some(format!("{}: {test}", claim.file)),
            Below::Ignored(_) | Below::Other(_) | Below::Nothing => None,
        })
    }

    /// The whole page.
    pub fn page(&self) -> String {
        let mut page = INTRO.to_owned();
        let waiting = self.failures().filter(|failure| failure.waits.is_some()).count();
        let all = self.failures().count();
        // Writing to a String cannot fail.
        let _ =
            writeln!(page, "\n{} of {all} are shown; {waiting} wait for what their rows say.", all - waiting);
        for area in &self.areas {
            let _ = writeln!(
                page,
                "\n## {}\n\n| | what happens | what espelho does | shown by |\n|---|---|---|---|",
                area.heading
            );
            for failure in &area.failures {
                let Failure { id, happens, response, .. } = failure;
                let _ = writeln!(page, "| {id} | {happens} | {response} | {} |", self.shown(failure));
            }
        }
        page
    }

    fn shown(&self, failure: &Failure) -> String {
        let mut shown: Vec<String> = self.tests(&failure.id).collect();
        shown.extend(failure.shown_by.as_ref().map(|Shown { file, how }| format!("{file}: {how}")));
        shown.extend(failure.waits.as_ref().map(|waits| format!("waits for {waits}")));
        shown.join("<br>")
    }
}

/// The functions in a folder `suite` bear no attribute: the `main.rs` above it lists those that it makes tests of.
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
    /// When it is not as it should be.
    pub fn parse(text: &str) -> Self {
        toml::from_str(text).unwrap_or_else(|error| panic!("a file of failures: {error}"))
    }
}
