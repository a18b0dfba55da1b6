//! Why a request cannot be built.

use espelho_model::{text, text::Text};

/// A value that the document forbids. Constructors return it, so the client never sends what the marketplace would
/// refuse, or worse, apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// A required value is missing or blank.
    #[error("{field} is missing")]
    Missing {
        /// The field, as the document names it.
        field: &'static str,
    },
    /// A text is longer than the marketplace accepts.
    #[error("{field} has {length} characters, and {limit} are the most")]
    TooLong {
        /// The field, as the document names it.
        field: &'static str,
        /// Its length in characters.
        length: usize,
        /// The longest accepted length.
        limit: usize,
    },
    /// A value is outside of what the document allows.
    #[error("{field} is {value}; it must be {rule}")]
    Value {
        /// The field, as the document names it.
        field: &'static str,
        /// The value.
        value: String,
        /// The rule that it breaks.
        rule: Text,
    },
    /// The update changes nothing.
    #[error("the update has no field to change")]
    NothingToChange,
    /// The price tiers contradict each other.
    #[error("tier {min_quantity}: {rule}")]
    Tier {
        /// The tier.
        min_quantity: u32,
        /// The rule that it breaks.
        rule: Text,
    },
}

impl Invalid {
    /// Creates [`Invalid::Value`].
    pub(crate) fn value(field: &'static str, value: impl std::fmt::Display, rule: Text) -> Self {
        Self::Value { field, value: value.to_string(), rule }
    }

    /// Returns the text for people.
    pub fn text(&self) -> Text {
        match self {
            Self::Missing { field } => text!("value-missing-field", field = *field),
            Self::TooLong { field, length, limit } => {
                text!("value-too-long", field = *field, length = *length, limit = *limit)
            }
            Self::Value { field, value, rule } => {
                text!("value-rule", field = *field, value = value, rule = rule.clone())
            }
            Self::NothingToChange => text!("value-nothing-to-change"),
            Self::Tier { min_quantity, rule } => {
                text!("value-tier", tier = *min_quantity, rule = rule.clone())
            }
        }
    }
}
