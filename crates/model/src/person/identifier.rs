//! The identifiers of a person: what an operator types, and what leads from one order to another of the same person.

use std::fmt;

use super::document;
use crate::privacy::{fingerprint_in, keyed_fingerprint, replacement};

/// An identifier of a person, in the one form in which it is compared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identifier {
    /// The marketplace's `customer_id`.
    Customer(String),
    /// A CPF or CNPJ: digits and capital letters alone.
    Document(String),
    /// An e-mail address in small letters.
    Email(String),
}

/// Logs must not show a person.
impl fmt::Debug for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Customer(_) => "Customer(…)",
            Self::Document(_) => "Document(…)",
            Self::Email(_) => "Email(…)",
        })
    }
}

impl Identifier {
    /// Returns what a text that an operator typed may identify.
    pub fn of_text(text: &str) -> Vec<Self> {
        let text = text.trim();
        let mut all = vec![Self::Customer(text.to_owned())];
        if text.contains('@') {
            all.push(Self::Email(text.to_lowercase()));
        }
        all.extend(document(text).map(Self::Document));
        all
    }

    /// Tells whether it stands for one person alone. An e-mail address may stand for many who have none, and so do an id of
    /// zero and a document of one repeated digit.
    pub fn is_of_one_person(&self) -> bool {
        match self {
            Self::Email(_) => false,
            Self::Customer(id) => id.bytes().any(|byte| byte != b'0' && byte != b'-'),
            Self::Document(id) => !id.bytes().all(|byte| id.starts_with(char::from(byte))),
        }
    }

    /// Returns its fingerprint under the installation's key. Of what is kept as a fingerprint it is that one.
    pub fn fingerprint(&self, key: &str) -> String {
        let (Self::Customer(text) | Self::Document(text) | Self::Email(text)) = self;
        fingerprint_in(text).map_or_else(|| keyed_fingerprint(key, &self.canonical()), str::to_owned)
    }

    /// Returns the same identifier as the mirror has it where the policy hashes it.
    pub fn hashed(&self, key: &str) -> Self {
        let text = replacement(key, &self.canonical());
        match self {
            Self::Customer(_) => Self::Customer(text),
            Self::Document(_) => Self::Document(text),
            Self::Email(_) => Self::Email(text),
        }
    }

    /// Returns the text of which a fingerprint is kept.
    pub(super) fn canonical(&self) -> String {
        match self {
            Self::Customer(id) => format!("customer:{id}"),
            Self::Document(id) => format!("document:{id}"),
            Self::Email(address) => format!("email:{address}"),
        }
    }
}
