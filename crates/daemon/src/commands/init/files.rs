//! The files that `espelho init` writes: the annotated examples of `config/` with the answers in their places. The comments
//! are in the installation's language: `config/pt-BR` has the same keys as `config`.

use std::fmt::Write as _;

use espelho_model::{StoreKey, text::Language};

use crate::config::Environment;

/// The annotated examples of one language.
struct Examples {
    installation: &'static str,
    store: &'static str,
    /// The words by which the example asks to be copied, and those of a written file.
    heading: [&'static str; 2],
    /// The line about the address of the example, which a written file does not have.
    placeholder: &'static str,
}

const ENGLISH: Examples = Examples {
    installation: include_str!("../../../../../config/espelho.toml"),
    store: include_str!("../../../../../config/stores/example.toml"),
    heading: ["# One store. Copy this file to DIR/stores/KEY.toml:", "# One store, DIR/stores/KEY.toml:"],
    placeholder: "# This one is nobody's: `espelho check` refuses it.\n",
};

const PORTUGUESE: Examples = Examples {
    installation: include_str!("../../../../../config/pt-BR/espelho.toml"),
    store: include_str!("../../../../../config/pt-BR/stores/example.toml"),
    heading: [
        "# Uma loja. Copie este arquivo para DIR/stores/LOJA.toml:",
        "# Uma loja, DIR/stores/LOJA.toml:",
    ],
    placeholder: "# Este não é de ninguém: `espelho check` o recusa.\n",
};

fn examples(language: Language) -> &'static Examples {
    match language {
        Language::English => &ENGLISH,
        Language::Portuguese => &PORTUGUESE,
    }
}

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
    let example = examples(language).installation;
    let text = replaced(example, "language = \"pt-BR\"", &entry("language", language.tag()));
    replaced(&text, "url = \"sqlite:espelho.db\"", &entry("url", database))
}

/// Returns the text of `stores/KEY.toml`.
pub(super) fn store(language: Language, answers: &StoreAnswers) -> String {
    let example = examples(language);
    let [copied, written] = example.heading;
    let mut text = example.store.replacen(copied, written, 1).replacen(example.placeholder, "", 1);
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

    /// Words of sentences that the other language does not have.
    const WORDS: [(Language, &[&str]); 2] = [
        (
            Language::Portuguese,
            &["o", "os", "que", "de", "da", "não", "para", "uma", "um", "em", "ou", "é", "são"],
        ),
        (
            Language::English,
            &["the", "of", "and", "is", "are", "which", "with", "this", "not", "by", "in", "or", "it"],
        ),
    ];

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

    /// Returns the lines of a file that are for people.
    fn comments(text: &str) -> impl Iterator<Item = &str> {
        text.lines().filter(|line| line.starts_with("# "))
    }

    #[test]
    fn the_answers_stand_in_the_annotated_example() {
        for language in Language::ALL {
            let text = store(language, &answers());
            let parsed: toml::Table = toml::from_str(&text).unwrap();
            assert_eq!(parsed["environment"].as_str(), Some("sandbox"));
            assert_eq!(parsed["base_url"].as_str(), Some("http://127.0.0.1:8799"));
            assert_eq!(parsed["credentials"]["username"].as_str(), Some("loja \"um\"\\@a1"));
            assert_eq!(parsed["credentials"]["password_file"].as_str(), Some("loja-um.password"));
            assert!(!parsed.contains_key("webhook"), "{text}");
            assert!(comments(&text).count() > 40, "{text}");
            let example = examples(language);
            assert!(
                example.store.contains(example.placeholder) && !text.contains(example.placeholder),
                "{text}"
            );
            assert!(text.starts_with(example.heading[1]), "{text}");
        }
    }

    #[test]
    fn a_public_address_opens_the_webhook_section() {
        for language in Language::ALL {
            let url = "https://erp.example.net/webhooks/loja-um";
            let text = store(language, &StoreAnswers { public_url: Some(url.into()), ..answers() });
            let parsed: toml::Table = toml::from_str(&text).unwrap();
            assert_eq!(parsed["webhook"]["public_url"].as_str(), Some(url));
        }
    }

    #[test]
    fn the_installation_has_its_language_and_its_database() {
        for language in Language::ALL {
            let text = installation(language, "postgres://espelho@/db?host=/run/postgresql");
            let parsed: toml::Table = toml::from_str(&text).unwrap();
            assert_eq!(parsed["language"].as_str(), Some(language.tag()));
            let url = "postgres://espelho@/db?host=/run/postgresql";
            assert_eq!(parsed["database"]["url"].as_str(), Some(url));
        }
    }

    #[test]
    fn the_comments_are_in_one_language() {
        for language in Language::ALL {
            let written = installation(language, "sqlite:espelho.db") + &store(language, &answers());
            for (other, words) in WORDS {
                let foreign = comments(&written).flat_map(|line| line.split(|c: char| !c.is_alphabetic()));
                let found: Vec<&str> =
                    foreign.filter(|word| words.contains(&word.to_lowercase().as_str())).collect();
                assert_eq!(found.is_empty(), other != language, "{other} in {language}: {found:?}");
            }
        }
    }

    #[test]
    fn the_examples_have_the_same_keys_and_values_in_both_languages() {
        let entries =
            |text: &'static str| text.lines().filter(|line| !line.starts_with("# ")).collect::<Vec<_>>();
        assert_eq!(entries(ENGLISH.installation), entries(PORTUGUESE.installation));
        assert_eq!(entries(ENGLISH.store), entries(PORTUGUESE.store));
    }
}
