//! The name of a store in the configuration, the database and the command line.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The KEY of `stores/KEY.toml`: the store's name everywhere.
///
/// 1 to 64 characters of `a-z`, `A-Z`, `0-9`, `-`, `_` and `.`, not beginning with a dot, so that it is
/// safe as a file name and as a URL segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub struct StoreKey(String);

/// The text cannot name a store.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} cannot name a store: use 1 to 64 letters, digits, '-', '_' or '.', not beginning with a dot")]
pub struct InvalidStoreKey(String);

impl StoreKey {
    /// Checks and wraps a store's name.
    ///
    /// # Errors
    /// When the text is empty, longer than 64 characters, or has a character outside the set above.
    pub fn new(text: &str) -> Result<Self, InvalidStoreKey> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.is_empty() || text.len() > 64 || text.starts_with('.') || !text.chars().all(legal) {
            return Err(InvalidStoreKey(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for StoreKey {
    type Error = InvalidStoreKey;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl fmt::Display for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::StoreKey;

    // withstands: F121
    #[test]
    fn a_store_key_is_safe_as_a_file_name_and_as_a_url_segment() {
        for good in ["minha-loja", "s_1", "Loja.2", "a"] {
            assert!(StoreKey::new(good).is_ok(), "{good}");
        }
        for bad in ["", ".hidden", "../up", "a/b", "a b", "ção", &"x".repeat(65)] {
            assert!(StoreKey::new(bad).is_err(), "{bad}");
        }
    }
}
