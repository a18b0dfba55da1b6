//! The files that `espelho init` writes: the annotated examples of `config/` with the answers in their places.

use std::fmt::Write as _;

use espelho_model::{StoreKey, text::Language};

use crate::config::Environment;

const INSTALLATION: &str = include_str!("../../../../../config/espelho.toml");
const STORE: &str = include_str!("../../../../../config/stores/example.toml");

/// The answers about a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoreAnswers {
    pub(super) key: StoreKey,
    pub(super) environment: Environment,
    pub(super) base_url: String,
    pub(super) username: String,
    /// The password's file, as the store's file names it.
    pub(super) password_file: String,
    /// The public address of the webhook; `None`: polling only.
    pub(super) public_url: Option<String>,
}

/// Returns the text of `espelho.toml`.
pub(super) fn installation(language: Language, database: &str) -> String {
    let text = replaced(INSTALLATION, "language = \"pt-BR\"", &entry("language", language.tag()));
    replaced(&text, "url = \"sqlite:espelho.db\"", &entry("url", database))
}

/// Returns the text of `stores/KEY.toml`.
pub(super) fn store(answers: &StoreAnswers) -> String {
    let mut text = STORE.replacen(
        "# One store. Copy this file to DIR/stores/KEY.toml:",
        "# One store, DIR/stores/KEY.toml:",
        1,
    );
    text = text.replacen("# This one is nobody's: `espelho check` refuses it.\n", "", 1);
    for (line, entry) in [
        ("environment = \"production\"", entry("environment", answers.environment.as_str())),
        ("base_url = \"https://marketplace.example\"", entry("base_url", &answers.base_url)),
        ("username = \"minha-loja@a1b2c3d4\"", entry("username", &answers.username)),
        ("password_file = \"example.password\"", entry("password_file", &answers.password_file)),
    ] {
        text = replaced(&text, line, &entry);
    }
    if let Some(url) = &answers.public_url {
        text = replaced(&text, "#[webhook]", "[webhook]");
        let example = "#public_url = \"https://erp.example/webhooks/minha-loja\"";
        text = replaced(&text, example, &entry("public_url", url));
    }
    text
}

/// Replaces a whole line of an example.
fn replaced(text: &str, line: &str, entry: &str) -> String {
    let mut lines = String::with_capacity(text.len() + entry.len());
    let mut is_open = true;
    for found in text.lines() {
        let is_it = is_open && found == line;
        is_open &= !is_it;
        let _ = writeln!(lines, "{}", if is_it { entry } else { found });
    }
    debug_assert!(!is_open, "the example has no line {line}");
    lines
}

/// Returns an entry of a TOML file. The escapes of a JSON string mean the same there.
fn entry(key: &str, value: &str) -> String {
    format!("{key} = {}", serde_json::Value::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers() -> StoreAnswers {
        StoreAnswers {
            key: StoreKey::new("loja-um").unwrap(),
            environment: Environment::Sandbox,
            base_url: "http://127.0.0.1:8799".into(),
            username: "loja \"um\"\\@a1".into(),
            password_file: "loja-um.password".into(),
            public_url: None,
        }
    }

    #[test]
    fn the_answers_stand_in_the_annotated_example() {
        let text = store(&answers());
        let parsed: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(parsed["environment"].as_str(), Some("sandbox"));
        assert_eq!(parsed["base_url"].as_str(), Some("http://127.0.0.1:8799"));
        assert_eq!(parsed["credentials"]["username"].as_str(), Some("loja \"um\"\\@a1"));
        assert_eq!(parsed["credentials"]["password_file"].as_str(), Some("loja-um.password"));
        assert!(!parsed.contains_key("webhook"), "{text}");
        assert!(text.lines().filter(|line| line.starts_with('#')).count() > 40, "{text}");
        assert!(!text.contains("Copy this file") && !text.contains("nobody's"), "{text}");
    }

    #[test]
    fn a_public_address_opens_the_webhook_section() {
        let url = "https://erp.example.net/webhooks/loja-um";
        let text = store(&StoreAnswers { public_url: Some(url.into()), ..answers() });
        let parsed: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(parsed["webhook"]["public_url"].as_str(), Some(url));
    }

    #[test]
    fn the_installation_has_its_language_and_its_database() {
        let text = installation(Language::English, "postgres://espelho@/db?host=/run/postgresql");
        let parsed: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(parsed["language"].as_str(), Some("en"));
        let url = "postgres://espelho@/db?host=/run/postgresql";
        assert_eq!(parsed["database"]["url"].as_str(), Some(url));
    }
}
