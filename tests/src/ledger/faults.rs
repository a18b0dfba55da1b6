//! Finds disagreements between statements and claims.

use std::collections::BTreeMap;

use super::{Below, Claim, ConformanceLedger, Side, Statement};

impl ConformanceLedger {
    /// Returns every fault, one sentence each; empty if the ledger is in order.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.duplicates();
        for statement in self.statements() {
            faults.extend(self.unproven(statement));
            faults.extend(self.unexplained(statement));
        }
        faults.extend(self.claims.iter().flat_map(|claim| self.misplaced(claim)));
        faults
    }

    /// Returns every statement, area by area.
    pub(super) fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.areas.iter().flat_map(|area| &area.statements)
    }

    fn duplicates(&self) -> Vec<String> {
        let mut files = BTreeMap::new();
        let mut faults = Vec::new();
        for area in &self.areas {
            for statement in &area.statements {
                if let Some(first) = files.insert(&statement.id, &area.file) {
                    faults.push(format!(
                        "{} names two statements, in {first} and in {}",
                        statement.id, area.file
                    ));
                }
            }
        }
        faults
    }

    /// Returns a fault for each side that lacks a proof of a statement.
    fn unproven(&self, statement: &Statement) -> Vec<String> {
        let Statement { id, says, sides, .. } = statement;
        let lacking = sides.iter().filter(|side| self.proofs(id, **side).next().is_none());
        lacking.map(|side| format!("{id} has no proof on the {} side: {says}", side.word())).collect()
    }

    /// Checks that a statement without a side gives a reason, and that no test proves it.
    fn unexplained(&self, statement: &Statement) -> Option<String> {
        let Statement { id, sides, because, assumption, .. } = statement;
        let explained = because.is_some() || assumption.is_some();
        if let Some(slug) = assumption.as_ref().filter(|slug| !self.anchors.contains(*slug)) {
            return Some(format!(
                "{id} is answered by docs/ASSUMPTIONS.md#{slug}, which is no heading there"
            ));
        }
        if sides.is_empty() && !explained {
            return Some(format!("{id} has no side and does not say why: give it `because` or `assumption`"));
        }
        if !sides.is_empty() && explained {
            return Some(format!("{id} has sides that prove it and a reason why nobody can: keep one"));
        }
        let proof = Side::ALL.into_iter().find_map(|side| self.proofs(id, side).next());
        let proof = proof.filter(|_| because.is_some())?;
        Some(format!("{id} says that nobody can prove it, and {proof} does"))
    }

    /// Checks that a claim names known statements and belongs to a running test.
    fn misplaced(&self, claim: &Claim) -> Vec<String> {
        let Claim { file, line, ids, below } = claim;
        let place = format!("{file}:{line}");
        let said = ids.join(", ");
        let mut faults = match below {
            Below::Test(_) => Vec::new(),
            Below::Ignored(name) => {
                vec![format!("{place}: {said} would be proved by {name}, which is ignored")]
            }
            Below::Other(name) => {
                vec![format!("{place}: {said} would be proved by {name}, which is no test")]
            }
            Below::Nothing => vec![format!("{place}: the claim to prove {said} stands above no test")],
        };
        let unknown = ids.iter().filter(|id| !self.statements().any(|statement| statement.id == **id));
        faults.extend(unknown.map(|id| format!("{place}: no statement is called {id}")));
        if ids.is_empty() {
            faults.push(format!("{place}: the claim names no statement"));
        }
        faults
    }
}

/// Returns the anchor of a Markdown heading, or `None` for any other line.
pub fn anchor(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    Some(kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect())
}
