//! Generates `docs/CONFORMANCE.md` from the ledger.

use super::{Area, ConformanceLedger, Side, Statement};
use crate::markdown::item;

/// The text above the lists.
const INTRO: &str = "\
# Conformance

What the API document says, statement by statement, and the tests that prove it: for the sandbox, that it behaves as
stated; for the client, that it asks, reads and understands as stated. The end-to-end tests prove both sides.

This page is made of `tests/conformance/*.toml` and of the `proves:` comments above the tests. `tests/run conformance`
holds the three against each other; `ESPELHO_BLESS=1 tests/run conformance` writes this page anew.

A number such as 12 of 14 counts the statements with a proof among those that need one.
";

impl ConformanceLedger {
    /// Returns the whole page.
    pub fn page(&self) -> String {
        let mut page = INTRO.to_owned();
        page.push_str("\n| area | statements | sandbox | client |\n|---|---|---|---|\n");
        for area in &self.areas {
            page.push_str(&self.totals(&format!("[{0}](#{1})", area.heading, slug(area)), &area.statements));
        }
        let all: Vec<Statement> = self.statements().cloned().collect();
        page.push_str(&self.totals("all", &all));
        for area in &self.areas {
            page.push_str(&self.table(area));
        }
        page
    }

    fn totals(&self, name: &str, statements: &[Statement]) -> String {
        let [sandbox, client] = Side::ALL.map(|side| {
            let needed: Vec<_> = statements.iter().filter(|s| s.sides.contains(&side)).collect();
            let proved = needed.iter().filter(|s| self.proofs(&s.id, side).next().is_some()).count();
            format!("{proved} of {}", needed.len())
        });
        format!("| {name} | {} | {sandbox} | {client} |\n", statements.len())
    }

    fn table(&self, area: &Area) -> String {
        let mut list = format!("\n## {}\n\nIn the document: {}.\n\n", area.heading, area.section);
        for statement in &area.statements {
            list.push_str(&item(0, &format!("**{}** {}", statement.id, statement.says)));
            for side in Side::ALL {
                list.push_str(&self.proof(statement, side));
            }
        }
        list
    }

    /// Returns one side's items: its tests, or the reason why there are none. A side that the statement does not
    /// concern has no item.
    fn proof(&self, statement: &Statement, side: Side) -> String {
        let tests: Vec<String> = self.proofs(&statement.id, side).collect();
        let name = side.word();
        if !tests.is_empty() {
            let tests: String = tests.iter().map(|test| item(2, test)).collect();
            return item(1, &format!("{name}:")) + &tests;
        }
        match (&statement.assumption, &statement.because) {
            (Some(slug), _) => item(1, &format!("{name}: [assumed](ASSUMPTIONS.md#{slug})")),
            (None, Some(because)) => item(1, &format!("{name}: {because}")),
            (None, None) if statement.sides.contains(&side) => item(1, &format!("{name}: **none**")),
            (None, None) => String::new(),
        }
    }
}

fn slug(area: &Area) -> String {
    super::anchor(&format!("# {}", area.heading)).unwrap_or_default()
}
