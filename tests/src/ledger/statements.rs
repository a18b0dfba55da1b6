//! The files of the ledger.

use serde::Deserialize;

/// One file: an area of the API document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// The heading in the generated document.
    #[serde(rename = "area")]
    pub heading: String,
    /// Where the area stands in the API document.
    pub section: String,
    /// Its place in the generated document.
    pub rank: u32,
    /// Its statements.
    #[serde(rename = "statement", default)]
    pub statements: Vec<Statement>,
    /// The file it was read from, below the root.
    #[serde(skip)]
    pub file: String,
}

/// One thing that the API document says, or leaves open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// What tests call it: `ORD-017`.
    pub id: String,
    /// The statement, in one sentence.
    pub says: String,
    /// Who has to prove it.
    pub sides: Vec<Side>,
    /// Why nobody can.
    pub because: Option<String>,
    /// The heading of `docs/ASSUMPTIONS.md` that answers an open question, as an anchor.
    pub assumption: Option<String>,
}

/// Who proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The marketplace in a box behaves as stated.
    Sandbox,
    /// The client asks, reads and understands as stated.
    Client,
}

impl Area {
    /// Reads one file.
    ///
    /// # Panics
    /// When it is no area of the ledger.
    pub fn parse(file: &str, text: &str) -> Self {
        let area: Self = toml::from_str(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        Self { file: file.to_owned(), ..area }
    }
}

impl Side {
    /// Both, in the order of the generated document's columns.
    pub const ALL: [Self; 2] = [Self::Sandbox, Self::Client];

    /// The word that the files use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Client => "client",
        }
    }
}
