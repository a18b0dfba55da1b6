//! The installation's language and time zone.

use std::path::Path;

use espelho_model::text::{Language, Tz};
use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// `language`, by its exact tag.
pub(super) fn language<'de, D: Deserializer<'de>>(from: D) -> Result<Language, D::Error> {
    let tag = String::deserialize(from)?;
    exact(&tag)
        .ok_or_else(|| D::Error::custom(format!("there is no language {tag:?}; write \"pt-BR\" or \"en\"")))
}

/// `timezone`, by its IANA name.
pub(super) fn timezone<'de, D: Deserializer<'de>>(from: D) -> Result<Tz, D::Error> {
    let name = String::deserialize(from)?;
    name.parse().map_err(|_| {
        D::Error::custom(format!(
            "there is no time zone {name:?}; write an IANA name: \"America/Sao_Paulo\", \"America/Manaus\", \"UTC\""
        ))
    })
}

/// Writes a time zone by its IANA name.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn write_timezone<S: Serializer>(timezone: &Tz, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(timezone.name())
}

fn exact(tag: &str) -> Option<Language> {
    Language::ALL.into_iter().find(|language| language.tag() == tag)
}

/// The language and time zone that an installation names, also where the rest of its configuration cannot be used.
pub(crate) fn of_installation(dir: &Path) -> (Option<Language>, Option<Tz>) {
    let text = std::fs::read_to_string(dir.join("espelho.toml")).unwrap_or_default();
    let file: toml::Table = toml::from_str(&text).unwrap_or_default();
    let named = |key: &str| {
        let overriding = std::env::var(format!("ESPELHO__{}", key.to_uppercase())).ok();
        overriding.or_else(|| Some(file.get(key)?.as_str()?.to_owned()))
    };
    (named("language").and_then(|tag| exact(&tag)), named("timezone").and_then(|name| name.parse().ok()))
}
