//! The subjects of an audit.

use std::{fmt, str::FromStr};

use espelho_model::sync::Resource;
use serde::{Deserialize, Serialize};

/// What an audit compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Orders with their sub-resources.
    Orders,
    /// Products.
    Products,
    /// Campaigns with their enrolled and eligible listings.
    Campaigns,
    /// Images.
    #[serde(rename = "media_images")]
    Media,
    /// Price lists, which no route reads.
    PriceLists,
    /// What the store reports about itself.
    Profile,
}

impl Subject {
    /// All subjects, in the order in which they are compared.
    pub const ALL: [Self; 6] =
        [Self::Orders, Self::Products, Self::Campaigns, Self::Media, Self::PriceLists, Self::Profile];

    /// Returns the name in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Products => "products",
            Self::Campaigns => "campaigns",
            Self::Media => "media_images",
            Self::PriceLists => "price_lists",
            Self::Profile => "profile",
        }
    }
}

impl From<Resource> for Subject {
    fn from(resource: Resource) -> Self {
        match resource {
            Resource::Orders => Self::Orders,
            Resource::Products => Self::Products,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no subject.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "{0:?} is nothing to compare: choose from orders, products, campaigns, media_images, price_lists, profile"
)]
pub struct UnknownSubject(String);

impl FromStr for Subject {
    type Err = UnknownSubject;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|s| s.as_str() == text).ok_or_else(|| UnknownSubject(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_is_found_by_its_name_and_an_unknown_word_lists_them_all() {
        for subject in Subject::ALL {
            assert_eq!(subject.as_str().parse(), Ok(subject));
            assert!("x".parse::<Subject>().unwrap_err().to_string().contains(subject.as_str()));
        }
    }
}
