//! Texts for people, separate from the logic: one catalogue, keyed by code, in Brazilian Portuguese and English
//! (PRODUCT contract 4: one language at a time).
//!
//! Logic creates a [`Text`]: a message's identifier and its arguments, no words. The user interface renders it with a
//! [`Locale`]. The messages are Fluent files, `texts/LANGUAGE/AREA.ftl`; a message's attribute `.next` is the next
//! step. Logs do not come from here: they are English, for engineers.

mod catalogue;
mod folding;
mod format;
pub mod words;

use std::{borrow::Cow, collections::BTreeMap, fmt, str::FromStr};

use chrono::{DateTime, Utc};
pub use chrono_tz::Tz;
pub use folding::folded;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// A language of the catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Language {
    /// Brazilian Portuguese.
    #[default]
    #[serde(rename = "pt-BR")]
    Portuguese,
    /// English.
    #[serde(rename = "en")]
    English,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Portuguese, Self::English];

    /// Returns the BCP 47 tag, as in `language` of `espelho.toml`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Portuguese => "pt-BR",
            Self::English => "en",
        }
    }

    /// Reads a tag or a POSIX locale (`pt-BR`, `pt_BR.UTF-8`, `en`, `en_US`); `None` for other languages.
    pub fn parse(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_', '.', '@']).next().unwrap_or_default();
        match primary.to_ascii_lowercase().as_str() {
            "pt" => Some(Self::Portuguese),
            "en" => Some(Self::English),
            _ => None,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(tag: &str) -> Result<Self, Self::Err> {
        Self::parse(tag).ok_or_else(|| format!("{tag:?} is not a language of espelho: pt-BR or en"))
    }
}

/// The language and time zone for texts, numbers and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locale {
    /// The language.
    pub language: Language,
    /// The zone in which times are shown.
    pub timezone: Tz,
}

impl Default for Locale {
    fn default() -> Self {
        Self { language: Language::default(), timezone: Tz::America__Sao_Paulo }
    }
}

impl Locale {
    /// Returns a locale with a language and the default zone.
    pub fn of(language: Language) -> Self {
        Self { language, ..Self::default() }
    }
}

/// An argument of a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    /// A count: it selects the singular or plural of a message, and is shown with thousands separators.
    Number(i64),
    /// A word that is the same in all languages: a code, a key, a command, a number that is a name (a port, a version),
    /// or the marketplace's own words.
    Word(String),
    /// An amount in reais.
    Money(Decimal),
    /// A quantity of goods.
    Quantity(Decimal),
    /// An instant.
    Time(DateTime<Utc>),
    /// An instant of today, to the second.
    TimeOfDay(DateTime<Utc>),
    /// A duration, in seconds.
    Seconds(i64),
    /// Another message, rendered in the same language.
    Text(Box<Text>),
    /// The next step of another message.
    Next(Box<Text>),
    /// Several messages, joined with commas.
    List(Vec<Text>),
}

/// A message for people: its identifier and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Text {
    id: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    args: BTreeMap<Cow<'static, str>, Arg>,
}

impl Text {
    /// Creates the message of this identifier. Prefer [`text!`](crate::text!), whose identifiers a test checks
    /// against the catalogue.
    pub fn new(id: impl Into<Cow<'static, str>>) -> Self {
        Self { id: id.into(), args: BTreeMap::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Arg>) -> Self {
        self.args.insert(name.into(), value.into());
        self
    }

    /// Returns the message's identifier.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns an argument that is an amount in reais.
    pub fn money(&self, name: &str) -> Option<Decimal> {
        match self.args.get(name)? {
            Arg::Money(amount) => Some(*amount),
            _ => None,
        }
    }

    /// Returns an argument that is a number.
    pub fn number(&self, name: &str) -> Option<i64> {
        match self.args.get(name)? {
            Arg::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns whether the catalogue has the message.
    pub fn is_known(&self) -> bool {
        catalogue::has(&self.id)
    }

    /// Returns whether the message has a next step.
    pub fn has_next(&self) -> bool {
        self.next(Locale::default()).is_some()
    }

    /// Returns the message without the words of others: an argument called `words`, in which the marketplace may name a
    /// person. Logs and messages to people get this one; rows and what explains them keep the words.
    #[must_use]
    pub fn without_quotes(&self) -> Self {
        let quiet = |(name, arg): (&Cow<'static, str>, &Arg)| {
            let arg = match arg {
                Arg::Word(_) if name == "words" => Arg::Word("none".to_owned()),
                Arg::Text(text) => Arg::Text(Box::new(text.without_quotes())),
                Arg::Next(text) => Arg::Next(Box::new(text.without_quotes())),
                Arg::List(texts) => Arg::List(texts.iter().map(Self::without_quotes).collect()),
                other => other.clone(),
            };
            (name.clone(), arg)
        };
        Self { id: self.id.clone(), args: self.args.iter().map(quiet).collect() }
    }

    /// Returns the sentence. An identifier that the catalogue lacks is shown unchanged.
    pub fn message(&self, locale: Locale) -> String {
        catalogue::render(&self.id, None, &self.args, locale).unwrap_or_else(|| self.id.clone().into_owned())
    }

    /// Returns the next step, if the message has one.
    pub fn next(&self, locale: Locale) -> Option<String> {
        catalogue::render(&self.id, Some("next"), &self.args, locale)
    }
}

impl fmt::Display for Text {
    /// Formats in English, for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(Locale::of(Language::English)))
    }
}

impl From<&str> for Arg {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl From<String> for Arg {
    fn from(word: String) -> Self {
        Self::Word(word)
    }
}

impl From<&String> for Arg {
    fn from(word: &String) -> Self {
        Self::Word(word.clone())
    }
}

impl From<DateTime<Utc>> for Arg {
    fn from(time: DateTime<Utc>) -> Self {
        Self::Time(time)
    }
}

impl From<Text> for Arg {
    fn from(text: Text) -> Self {
        Self::Text(Box::new(text))
    }
}

impl From<Vec<Text>> for Arg {
    fn from(texts: Vec<Text>) -> Self {
        Self::List(texts)
    }
}

/// Declares the conversions of whole numbers.
macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl From<$number> for Arg {
            fn from(number: $number) -> Self {
                Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
            }
        }
    )+};
}

numbers!(i32, i64, u8, u16, u32, u64, usize);

/// Creates a [`Text`] of the catalogue: `text!("unknown-sku", sku = "CAN-01")`.
#[macro_export]
macro_rules! text {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::text::Text::new($id)$(.with(stringify!($name), $value))*
    };
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod snapshots;
