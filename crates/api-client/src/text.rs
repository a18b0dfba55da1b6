//! Text with a maximum length (API document, "Limits").

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use crate::Invalid;

/// Text that is not blank and has at most `MAX` characters. Characters, not bytes: `ç` is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    /// Takes the text for `field`.
    ///
    /// # Errors
    /// When it is blank or too long.
    pub fn new(field: &'static str, text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        if text.trim().is_empty() {
            return Err(Invalid::Missing { field });
        }
        match text.chars().count() {
            length if length > MAX => Err(Invalid::TooLong { field, length, limit: MAX }),
            _ => Ok(Self(text)),
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Deserializes a stored draft. The error does not name the field; its position does.
impl<'de, const MAX: usize> Deserialize<'de> for Text<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new("the text", String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_limit_counts_characters_and_not_bytes() {
        assert!(Text::<5>::new("name", "ação!").is_ok());
        assert_eq!(
            Text::<5>::new("name", "ações!").unwrap_err().to_string(),
            "name has 6 characters, and 5 are the most"
        );
        for blank in ["", " ", "\n\t"] {
            assert_eq!(Text::<5>::new("name", blank), Err(Invalid::Missing { field: "name" }));
        }
    }

    proptest! {
        #[test]
        fn what_is_taken_is_within_the_limit_and_unchanged(text in "\\PC{0,12}") {
            match Text::<6>::new("name", text.clone()) {
                Ok(taken) => {
                    prop_assert!(text.chars().count() <= 6);
                    prop_assert_eq!(taken.as_str(), &text);
                }
                Err(_) => prop_assert!(text.trim().is_empty() || text.chars().count() > 6),
            }
        }
    }
}
