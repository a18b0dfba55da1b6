//! The installation's language and time zone.

use std::path::Path;

use espelho_model::{
    text,
    text::{Language, Text, Tz},
};
use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Parses `language`, by its exact tag.
pub(super) fn language<'de, D: Deserializer<'de>>(from: D) -> Result<Language, D::Error> {
    let tag = String::deserialize(from)?;
    exact(&tag).ok_or_else(|| refused(&text!("config-language", tag = &tag)))
}

/// Parses `timezone`, by its IANA name.
pub(super) fn timezone<'de, D: Deserializer<'de>>(from: D) -> Result<Tz, D::Error> {
    let name = String::deserialize(from)?;
    name.parse().map_err(|_| refused(&text!("config-timezone", name = &name)))
}

/// Marks a catalogue message on its way through the parser, which carries only strings.
const CARRIED: &str = "\u{1}";

/// Returns a parser error that carries a catalogue message.
pub(super) fn refused<E: Error>(text: &Text) -> E {
    E::custom(format!("{CARRIED}{}{CARRIED}", serde_json::to_string(text).unwrap_or_default()))
}

/// Returns the catalogue message that a parser error carries.
pub(super) fn carried(message: &str) -> Option<Text> {
    serde_json::from_str(message.split(CARRIED).nth(1)?).ok()
}

/// Writes a time zone by its IANA name.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn write_timezone<S: Serializer>(timezone: &Tz, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(timezone.name())
}

fn exact(tag: &str) -> Option<Language> {
    Language::ALL.into_iter().find(|language| language.tag() == tag)
}

/// Returns the installation's language and time zone, even if the rest of its configuration is unusable.
pub(crate) fn of_installation(dir: &Path) -> (Option<Language>, Option<Tz>) {
    let text = std::fs::read_to_string(dir.join("espelho.toml")).unwrap_or_default();
    let file: toml::Table = toml::from_str(&text).unwrap_or_default();
    let named = |key: &str| {
        let overriding = std::env::var(format!("ESPELHO__{}", key.to_uppercase())).ok();
        overriding.or_else(|| Some(file.get(key)?.as_str()?.to_owned()))
    };
    (named("language").and_then(|tag| exact(&tag)), named("timezone").and_then(|name| name.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Installation;

    #[test]
    fn the_language_and_the_zone_are_refused_with_what_is_possible() {
        let read = |text: &str| super::super::file::parse::<Installation>(Path::new("espelho.toml"), text);
        let mistake = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            mistake("\nlanguage = \"fr\"\n"),
            "espelho.toml:2: there is no language \"fr\"; write \"pt-BR\" or \"en\""
        );
        assert!(mistake("timezone = \"Brasília\"\n").contains("\"America/Sao_Paulo\""));
        let own = read("language = \"en\"\ntimezone = \"America/Manaus\"\n").unwrap();
        assert_eq!((own.language, own.timezone), (Language::English, Tz::America__Manaus));
        assert_eq!(Installation::default().language, Language::Portuguese);
    }
}
