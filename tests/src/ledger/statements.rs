//! Reads the files of the ledger.

use serde::Deserialize;

/// One file: an area of the API document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// The heading in the generated document.
    #[serde(rename = "area")]
    pub heading: String,
    /// The section of the API document.
    pub section: String,
    /// Its position in the generated document.
    pub rank: u32,
    /// Its statements.
    #[serde(rename = "statement", default)]
    pub statements: Vec<Statement>,
    /// Its file, below the root.
    #[serde(skip)]
    pub file: String,
}

/// A statement of the API document, or a question that it leaves open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Its id in tests: `ORD-017`.
    pub id: String,
    /// The statement, in one sentence.
    pub says: String,
    /// The sides that must prove it.
    pub sides: Vec<Side>,
    /// Why no side can prove it.
    pub because: Option<String>,
    /// The heading of `docs/ASSUMPTIONS.md` that answers an open question, as an anchor.
    pub assumption: Option<String>,
}

/// A side that proves statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The sandbox behaves as stated.
    Sandbox,
    /// The client sends, reads and understands as stated.
    Client,
}

impl Area {
    /// Reads one file.
    ///
    /// # Panics
    /// When it is not a valid area.
    pub fn parse(file: &str, text: &str) -> Self {
        let area: Self = toml::from_str(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        Self { file: file.to_owned(), ..area }
    }
}

impl Side {
    /// Both sides, in the order of the generated document's columns.
    pub const ALL: [Self; 2] = [Self::Sandbox, Self::Client];

    /// Returns the word used in the files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Client => "client",
        }
    }
}
