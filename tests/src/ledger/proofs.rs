//! The claims in the sources: which test claims to prove which statements.

use std::collections::BTreeSet;

use super::Side;

/// The prefix of a line that claims to prove statements.
const TAG: &str = "// proves:";

/// A source line with a claim about the test below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The source, below the root.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The claimed statements or failures.
    pub ids: Vec<String>,
    /// The item below the line.
    pub below: Below,
}

/// The item below a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Below {
    /// A test that runs.
    Test(String),
    /// A test that is ignored.
    Ignored(String),
    /// A function that is not a test.
    Other(String),
    /// No function at all.
    Nothing,
}

impl Claim {
    /// Returns whether the claim is for this statement and this side. End-to-end tests, and the engine's component
    /// tests, have both sides.
    pub(super) fn proves(&self, id: &str, side: Side) -> bool {
        let folder = match side {
            Side::Sandbox => "crates/sandbox/",
            Side::Client => "crates/api-client/",
        };
        let both = ["tests/", "crates/sync-engine/tests/"];
        let of_side =
            self.file.starts_with(folder) || both.iter().any(|folder| self.file.starts_with(folder));
        of_side && self.ids.iter().any(|claimed| claimed == id)
    }
}

/// Returns the claims of one source to prove statements.
pub fn claims(file: &str, text: &str) -> Vec<Claim> {
    tagged(TAG, file, text)
}

/// Returns the lines of one source with a tag, and the item below each.
pub fn tagged(tag: &str, file: &str, text: &str) -> Vec<Claim> {
    let lines: Vec<&str> = text.lines().collect();
    let listed = listed(text);
    let claim = |(at, line): (usize, &&str)| {
        let ids = line.trim().strip_prefix(tag)?.split(',').map(|id| id.trim().to_owned());
        Some(Claim {
            file: file.to_owned(),
            line: at + 1,
            ids: ids.filter(|id| !id.is_empty()).collect(),
            below: below(&lines[at + 1..], &listed),
        })
    };
    lines.iter().enumerate().filter_map(claim).collect()
}

/// Finds the item below a claim, past other comments and attributes (which may take several lines).
fn below(lines: &[&str], listed: &BTreeSet<&str>) -> Below {
    let mut attributes = String::new();
    let mut open = 0;
    for line in lines.iter().map(|line| line.trim()) {
        if open > 0 || line.starts_with("#[") {
            attributes.push_str(line);
            open += line.matches('[').count();
            open = open.saturating_sub(line.matches(']').count());
        } else if let Some(name) = function(line) {
            return kind(&attributes, name, listed);
        } else if !line.starts_with("//") {
            break;
        }
    }
    Below::Nothing
}

fn kind(attributes: &str, name: &str, listed: &BTreeSet<&str>) -> Below {
    let test =
        attributes.contains("#[test]") || attributes.contains("#[tokio::test") || listed.contains(name);
    let ignored = attributes.contains("#[ignore")
        || attributes.split("#[cfg_attr(").skip(1).any(|rest| rest.contains("ignore"));
    match (test, ignored) {
        (true, false) => Below::Test(name.to_owned()),
        (true, true) => Below::Ignored(name.to_owned()),
        (false, _) => Below::Other(name.to_owned()),
    }
}

/// Returns the name of the function that begins on a line.
fn function(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let words = ["pub", "pub(crate)", "pub(super)", "async", "const"];
    if !before.split_whitespace().all(|word| words.contains(&word)) {
        return None;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(&rest[..end])
}

/// Returns the functions that `on_both_databases!` turns into tests; they have no attribute themselves.
fn listed(text: &str) -> BTreeSet<&str> {
    let lists = text.split("on_both_databases!").skip(1);
    let names = lists.flat_map(|list| {
        let list = list.trim_start().trim_start_matches(['{', '(', '[']);
        list.split(['}', ')', ']']).next().unwrap_or_default().split(',')
    });
    names.map(str::trim).filter(|name| !name.is_empty()).collect()
}
