//! Reading one TOML file so that a mistake is answered with file, line and the nearest valid key.

use std::{ops::Range, path::Path};

use serde::de::DeserializeOwned;

use super::ConfigError;

/// Reads a file's text.
pub(super) fn read(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|e| ConfigError {
        place: path.display().to_string(),
        problem: format!("cannot be read: {e}"),
    })
}

/// Reads TOML into a type that knows all its keys.
pub(super) fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| ConfigError {
        problem: match error.span().is_some_and(|span| concerns_password(text, span.start)) {
            // The message would quote the value.
            true => "the password must be text in quotes".to_owned(),
            false => in_words(error.message()),
        },
        place: place(path, text, error.span()),
    })
}

fn concerns_password(text: &str, at: usize) -> bool {
    let at = at.min(text.len());
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    text[line..].trim_start().strip_prefix("password").is_some_and(|rest| rest.trim_start().starts_with('='))
}

fn place(path: &Path, text: &str, span: Option<Range<usize>>) -> String {
    match span {
        Some(span) => {
            let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
            format!("{}:{line}", path.display())
        }
        None => path.display().to_string(),
    }
}

/// serde's message, with the nearest key instead of a list of all.
pub(super) fn in_words(message: &str) -> String {
    let Some((unknown, expected)) = unknown_key(message) else { return message.replace('\n', " ") };
    let nearest = expected.iter().max_by(|a, b| {
        let likeness = |key: &str| strsim::jaro_winkler(key, unknown);
        likeness(a).total_cmp(&likeness(b))
    });
    match nearest {
        Some(nearest) => format!(
            "unknown key {unknown:?}; did you mean {nearest:?}? (valid here: {})",
            expected.join(", ")
        ),
        None => format!("unknown key {unknown:?}; no key is valid here"),
    }
}

/// Takes "unknown field `x`, expected one of `a`, `b`" apart.
fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (unknown, rest) = rest.split_once('`')?;
    let expected = rest.split('`').skip(1).step_by(2).collect();
    Some((unknown, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the keys matter here")]
    struct Sample {
        #[serde(default)]
        listen: String,
        #[serde(default)]
        format: u32,
    }

    fn mistake(text: &str) -> String {
        parse::<Sample>(Path::new("espelho.toml"), text).unwrap_err().to_string()
    }

    // withstands: F118
    #[test]
    fn an_unknown_key_is_named_with_file_line_and_the_nearest_one() {
        assert_eq!(
            mistake("# first line\nlissten = \"x\"\n"),
            "espelho.toml:2: unknown key \"lissten\"; did you mean \"listen\"? (valid here: listen, format)"
        );
    }

    #[test]
    fn a_password_without_quotes_is_not_quoted_in_the_message() {
        #[derive(Debug, serde::Deserialize)]
        #[expect(dead_code, reason = "only its mistake matters")]
        struct Credentials {
            password: String,
        }
        let error =
            parse::<Credentials>(Path::new("loja.toml"), "\npassword = 98765432109876\n").unwrap_err();
        assert_eq!(error.to_string(), "loja.toml:2: the password must be text in quotes");
    }

    #[test]
    fn a_wrong_type_and_broken_syntax_are_named_with_their_line() {
        assert!(mistake("listen = 5\n").starts_with("espelho.toml:1: invalid type: integer"));
        assert!(mistake("\nformat = 1.5\n").starts_with("espelho.toml:2: invalid type: floating point"));
        assert!(mistake("\n\nlisten = \n").starts_with("espelho.toml:3: "));
    }
}
