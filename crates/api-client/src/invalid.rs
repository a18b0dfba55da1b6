//! Why a request cannot be built.

use espelho_model::{text, text::Text};

/// What the document says of a value that it must not be. Constructors give it back, so that nothing is sent that the
/// marketplace would refuse, or worse, obey.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// A value that must be there is not, or is blank.
    #[error("{field} is missing")]
    Missing {
        /// The field, as the document names it.
        field: &'static str,
    },
    /// A text with more characters than the marketplace takes.
    #[error("{field} has {length} characters, and {limit} are the most")]
    TooLong {
        /// The field, as the document names it.
        field: &'static str,
        /// Its length in characters.
        length: usize,
        /// The most that is taken.
        limit: usize,
    },
    /// A value outside what the document allows.
    #[error("{field} is {value}; it must be {rule}")]
    Value {
        /// The field, as the document names it.
        field: &'static str,
        /// What it is.
        value: String,
        /// What it must be.
        rule: Text,
    },
    /// An update that would change nothing.
    #[error("the update has no field to change")]
    NothingToChange,
    /// Price tiers that cannot stand together.
    #[error("tier {min_quantity}: {rule}")]
    Tier {
        /// The tier.
        min_quantity: u32,
        /// The rule that it breaks.
        rule: Text,
    },
}

impl Invalid {
    /// A value outside what the document allows.
    pub(crate) fn value(field: &'static str, value: impl std::fmt::Display, rule: Text) -> Self {
        Self::Value { field, value: value.to_string(), rule }
    }

    /// The same for people.
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
