//! The policy for people's data: which fields of a person the mirror keeps, keeps as a fingerprint, or leaves out.
//!
//! [`crate::person`] tells which member of an object is which field. The policy applies before anything reaches the
//! disk. City apart, state and country are no fields: taxes and freight need them.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::ContentHash;

/// A kind of data of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The marketplace's number of the customer.
    CustomerId,
    /// Names of people and recipients.
    Name,
    /// CPF, CNPJ and other documents.
    Document,
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// Street, number, complement, neighbourhood, postcode.
    Address,
    /// City.
    City,
    /// Notes, comments, reasons and descriptions.
    Notes,
    /// The texts of conversations and occurrences.
    Messages,
    /// Any other member of an object about a person.
    Other,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 10] = [
        Self::CustomerId,
        Self::Name,
        Self::Document,
        Self::Email,
        Self::Phone,
        Self::Address,
        Self::City,
        Self::Notes,
        Self::Messages,
        Self::Other,
    ];
}

/// The treatment of a field, the mildest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    /// It is kept as the marketplace sends it.
    #[default]
    Keep,
    /// A keyed fingerprint is kept: equal values stay equal.
    Hash,
    /// It is null.
    LeaveOut,
}

/// The treatment of each field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of `Field`")]
pub struct Policy {
    pub customer_id: Treatment,
    pub name: Treatment,
    pub document: Treatment,
    pub email: Treatment,
    pub phone: Treatment,
    pub address: Treatment,
    pub city: Treatment,
    pub notes: Treatment,
    pub messages: Treatment,
    pub other: Treatment,
}

impl Policy {
    /// Returns the policy with one treatment for everything.
    pub fn of_all(treatment: Treatment) -> Self {
        Self {
            customer_id: treatment,
            name: treatment,
            document: treatment,
            email: treatment,
            phone: treatment,
            address: treatment,
            city: treatment,
            notes: treatment,
            messages: treatment,
            other: treatment,
        }
    }

    /// Returns the treatment of a field.
    pub fn of(&self, field: Field) -> Treatment {
        match field {
            Field::CustomerId => self.customer_id,
            Field::Name => self.name,
            Field::Document => self.document,
            Field::Email => self.email,
            Field::Phone => self.phone,
            Field::Address => self.address,
            Field::City => self.city,
            Field::Notes => self.notes,
            Field::Messages => self.messages,
            Field::Other => self.other,
        }
    }

    /// Tells whether everything is kept as it is.
    pub fn keeps_all(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether any field is hashed.
    pub fn hashes(&self) -> bool {
        Field::ALL.iter().any(|field| self.of(*field) == Treatment::Hash)
    }

    /// Returns the strictest treatment of all: that of an object that may contain any field.
    pub fn strictest(&self) -> Treatment {
        Field::ALL.iter().map(|field| self.of(*field)).max().unwrap_or_default()
    }
}

/// A fingerprint in place of a value begins with this.
const PREFIX: &str = "hash:";

/// A policy with the installation's key.
#[derive(Clone, Default)]
pub struct Privacy {
    policy: Policy,
    key: String,
    /// Rows that were written under another policy have another fingerprint.
    policy_hash: i64,
}

/// A log must not show the key.
impl fmt::Debug for Privacy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Privacy").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl Privacy {
    /// Returns a policy with the key of its fingerprints.
    pub fn new(policy: Policy, key: String) -> Self {
        let words = Field::ALL.map(|field| format!("{field:?}={:?}", policy.of(field))).join(";");
        let policy_hash = if policy.keeps_all() { 0 } else { ContentHash::of(words.as_bytes()).as_i64() };
        Self { policy, key, policy_hash }
    }

    /// Returns the policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the fingerprint that a row with a person has in the database, from that of the object as it was
    /// received; and back. Under another policy it differs, so the next read writes the row again.
    pub fn marked(&self, hash: ContentHash) -> ContentHash {
        ContentHash::from_i64(hash.as_i64() ^ self.policy_hash)
    }

    /// Returns what stands in place of a hashed value, from its canonical text.
    pub(crate) fn replacement(&self, canonical: &str) -> String {
        replacement(&self.key, canonical)
    }
}

/// Returns what stands in place of a hashed value, from its canonical text.
pub(crate) fn replacement(key: &str, canonical: &str) -> String {
    format!("{PREFIX}{}", keyed_fingerprint(key, canonical))
}

/// Returns the fingerprint in a text that stands in place of a hashed value.
pub(crate) fn fingerprint_in(text: &str) -> Option<&str> {
    let print = text.strip_prefix(PREFIX)?;
    (print.len() == 64 && print.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(print)
}

/// Returns the SHA-256 fingerprint of a text under a key, in hex.
pub fn keyed_fingerprint(key: &str, text: &str) -> String {
    hex::encode(Sha256::new().chain_update(key).chain_update([0]).chain_update(text).finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_own_treatment_and_all_are_kept_by_default() {
        assert!(Policy::default().keeps_all() && !Policy::default().hashes());
        assert_eq!(Policy::default().strictest(), Treatment::Keep);
        let all = Policy::of_all(Treatment::LeaveOut);
        for field in Field::ALL {
            assert_eq!((Policy::default().of(field), all.of(field)), (Treatment::Keep, Treatment::LeaveOut));
        }
        let some = Policy { city: Treatment::Hash, ..Policy::default() };
        assert!(some.hashes() && !some.keeps_all());
        assert_eq!((some.of(Field::City), some.strictest()), (Treatment::Hash, Treatment::Hash));
    }

    #[test]
    fn the_fingerprint_of_a_row_is_that_of_the_object_unless_something_is_not_kept() {
        let hash = ContentHash::of(b"x");
        assert_eq!(Privacy::default().marked(hash), hash);
        assert_eq!(Privacy::new(Policy::default(), "key".into()).marked(hash), hash);
        let of = |treatment| Privacy::new(Policy::of_all(treatment), String::new());
        let (hashed, left_out) = (of(Treatment::Hash), of(Treatment::LeaveOut));
        assert!(hashed.marked(hash) != hash && hashed.marked(hash) != left_out.marked(hash));
        assert_eq!(hashed.marked(hashed.marked(hash)), hash, "and back");
    }

    #[test]
    fn a_replacement_is_known_as_one_and_tells_nothing_without_the_key() {
        let (one, other) = (replacement("k", "document:1"), replacement("l", "document:1"));
        assert_eq!(fingerprint_in(&one), Some(keyed_fingerprint("k", "document:1").as_str()));
        assert!(one != other && one == replacement("k", "document:1"));
        for text in ["hash:", "hash:1234", "Ana", "", &one[1..], &format!("{one}0")] {
            assert_eq!(fingerprint_in(text), None, "{text}");
        }
    }
}
