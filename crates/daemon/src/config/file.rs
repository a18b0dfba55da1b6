//! Reads one TOML file; an error names the file, the line and the nearest valid key.

use std::{ops::Range, path::Path};

use espelho_model::{
    text,
    text::{Arg, Text},
};
use serde::de::DeserializeOwned;

use super::{ConfigError, people};

/// Reads a file's text. A pipe or a device would keep the reader waiting for ever.
pub(super) fn read(path: &Path) -> Result<String, ConfigError> {
    let is_odd = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if is_odd {
        let problem = text!("config-no-file");
        return Err(ConfigError { place: path.display().to_string(), problem });
    }
    std::fs::read_to_string(path).map_err(|e| ConfigError {
        place: path.display().to_string(),
        problem: text!("config-unreadable", problem = e.to_string()),
    })
}

/// Parses TOML into a type that knows all its keys.
pub(super) fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| ConfigError {
        problem: match error.span().is_some_and(|span| concerns_secret(text, span.start)) {
            // The message would quote the value; of a key in the wrong section it quotes the key alone.
            true if !error.message().starts_with(UNKNOWN_KEY) => text!("config-password-quotes"),
            _ => {
                let section = error.span().and_then(|span| section(text, span.start));
                in_words(error.message(), section, |key| home_of(key, path))
            }
        },
        place: place(path, text, error.span()),
    })
}

/// How serde's message about a key begins that the section does not have.
const UNKNOWN_KEY: &str = "unknown field `";
/// Mistakes beyond these make a file unreadable as a whole.
const MOST_MISTAKES: usize = 20;

/// Parses what can be parsed of TOML: lines with mistakes are left out.
pub(super) fn parse_readable<T: DeserializeOwned + Default>(text: &str) -> T {
    let mut lines: Vec<&str> = text.lines().collect();
    for _ in 0..MOST_MISTAKES {
        let left = lines.join("\n");
        let error: toml::de::Error = match toml::from_str(&left) {
            Ok(parsed) => return parsed,
            Err(error) => error,
        };
        let before = error.span().map(|span| left.get(..span.start).unwrap_or(&left));
        let at = before.map(|before| before.matches('\n').count());
        match at.and_then(|at| lines.get_mut(at)) {
            Some(line) => *line = "",
            None => break,
        }
    }
    T::default()
}

/// Tells whether the line has a secret.
fn concerns_secret(text: &str, at: usize) -> bool {
    let at = at.min(text.len());
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = ["password", "token"].iter().find_map(|key| text[line..].trim_start().strip_prefix(key));
    rest.is_some_and(|rest| rest.trim_start().starts_with('='))
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

/// Returns file and line of a key, for mistakes that only its value shows.
pub(super) fn place_of(path: &Path, text: &str, name: &str) -> String {
    let is_it = |line: &str| {
        let line = line.trim_start().trim_start_matches('[');
        line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', ']']))
    };
    match text.lines().position(is_it) {
        Some(at) => format!("{}:{}", path.display(), at + 1),
        None => path.display().to_string(),
    }
}

/// Returns serde's message for people: the nearest key instead of a list of all; a message of our own stays unchanged.
pub(super) fn in_words(
    message: &str,
    section: Option<&str>,
    home_of: impl Fn(&str) -> Option<&'static str>,
) -> Text {
    if let Some(text) = people::carried(message) {
        return text;
    }
    if let Some(key) = message.strip_prefix("missing field `") {
        return text!("config-missing-key", key = key.trim_end_matches('`'));
    }
    if let Some((value, known)) = listed(message, "unknown variant `") {
        return text!("config-unknown-value", value = value, known = known.join(", "));
    }
    if let Some((found, expected)) = wrong_type(message) {
        return text!("config-wrong-type", found = found, expected = expected);
    }
    let Some((unknown, expected)) = listed(message, UNKNOWN_KEY) else {
        return text!("config-not-toml", problem = message.replace('\n', " "));
    };
    let section = section.unwrap_or("none");
    let text = match nearest(unknown, expected.iter().copied()) {
        Some(nearest) => {
            let known = expected.join(", ");
            let nearest = if is_like(nearest, unknown) { nearest } else { "none" };
            text!("config-unknown-key", key = unknown, nearest = nearest, known = known)
        }
        None => text!("config-unknown-key-nowhere", key = unknown),
    };
    text.with("section", section).with("home", home_of(unknown).unwrap_or("none"))
}

/// The examples of `espelho.toml` and of a store's file, which have every key in its section.
const EXAMPLES: [&str; 2] =
    [include_str!("../../../../config/espelho.toml"), include_str!("../../../../config/stores/example.toml")];

/// Returns the section that a key belongs to; `None` for one that no section has, or more than one.
fn home_of(key: &str, file: &Path) -> Option<&'static str> {
    let is_stores = file.parent().is_some_and(|folder| folder.ends_with("stores"));
    let (mut section, mut homes) = (None, Vec::new());
    for line in EXAMPLES[usize::from(is_stores)].lines().map(|line| line.trim_start_matches('#')) {
        match header(line) {
            Some(name) => section = Some(name),
            None if line.split_once('=').is_some_and(|(name, _)| name.trim() == key) => homes.push(section),
            None => {}
        }
    }
    homes.dedup();
    if let [home] = homes[..] { home } else { None }
}

/// Returns the name of the section that a key of a file stands in; `None` before the first one, and of a section itself.
fn section(text: &str, at: usize) -> Option<&str> {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let mut lines = text[..end].lines().rev();
    match lines.next() {
        Some(line) if header(line).is_none() => lines.find_map(header),
        _ => None,
    }
}

/// Returns the name in a line that begins a section; an array of several lines has none.
fn header(line: &str) -> Option<&str> {
    let line = line.split('#').next()?.trim();
    let name = line.trim_start_matches('[').trim_end_matches(']').trim();
    let brackets = |end: char| line.chars().filter(|letter| *letter == end).count();
    let is_key = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let is_whole = line.starts_with('[') && line.ends_with(']') && brackets('[') == brackets(']');
    (is_whole && !name.is_empty() && name.chars().all(is_key)).then_some(name)
}

/// Tells if a name resembles an unknown one so much that it may be meant.
fn is_like(name: &str, unknown: &str) -> bool {
    strsim::jaro_winkler(name, unknown) > 0.8
}

/// Returns the name that is the most like an unknown one.
pub(super) fn nearest<'n>(unknown: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let likeness = |name: &str| strsim::jaro_winkler(name, unknown);
    names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
}

/// Splits "invalid type: integer `5`, expected a string", if the expected type has a name for people.
fn wrong_type(message: &str) -> Option<(Arg, Text)> {
    let (found, expected) = message.strip_prefix("invalid ")?.split_once(", expected ")?;
    let (_, found) = found.split_once(": ")?;
    let found = found.split_once('`').map_or(found, |(_, quoted)| quoted.trim_end_matches('`'));
    let found = match found {
        "map" => text!("config-found-table").into(),
        "sequence" => text!("config-found-list").into(),
        value => Arg::from(value.strip_prefix("string ").unwrap_or(value)),
    };
    let expected = match expected.trim() {
        "a string" | "string" => text!("config-type-text"),
        "socket address" => text!("config-type-address"),
        "a boolean" => text!("config-type-switch"),
        "f64" | "f32" => text!("config-type-number"),
        "a sequence" => text!("config-type-list"),
        "a map" => text!("config-type-table"),
        table if table.starts_with("struct ") => text!("config-type-table"),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => text!("config-type-whole"),
        whole if whole.starts_with("a nonzero") => text!("config-type-positive"),
        _ => return None,
    };
    Some((found, expected))
}

/// Splits "unknown field `x`, expected one of `a`, `b`".
fn listed<'m>(message: &'m str, prefix: &str) -> Option<(&'m str, Vec<&'m str>)> {
    let rest = message.strip_prefix(prefix)?;
    let (unknown, rest) = rest.split_once('`')?;
    let expected = rest.split('`').skip(1).step_by(2).collect();
    Some((unknown, expected))
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;

    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
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
    fn a_key_in_the_wrong_section_is_told_its_own() {
        let [main, store] = ["/etc/espelho/espelho.toml", "/etc/espelho/stores/loja.toml"].map(Path::new);
        for (key, file, expected) in [
            ("price_floor", store, Some("guards")),
            ("public_url", store, Some("webhook")),
            ("password", store, Some("credentials")),
            ("listen", main, None),
            ("inbox_days", main, Some("retention")),
            ("price_floor", main, None),
            ("base_url", store, None),
            ("colour", store, None),
        ] {
            assert_eq!(home_of(key, file), expected, "{key}");
        }
    }

    #[test]
    fn a_section_is_named_for_its_keys_and_not_for_itself() {
        let text = "a = 1\n[http]\nlisten = 2\n\n [[ rows ]] # b\nx = [\n [\"a\"],\n[3]]\ny = 1";
        for (before, expected) in [
            ("a = ", None),
            ("[http", None),
            ("listen", Some("http")),
            ("[[ rows", None),
            ("x =", Some("rows")),
            ("y =", Some("rows")),
        ] {
            assert_eq!(section(text, text.find(before).unwrap()), expected, "{before}");
        }
    }

    #[test]
    fn lines_with_mistakes_are_left_out_of_what_can_be_read() {
        for (text, listen, format) in [
            ("listen = \"a\"\nformat = 5\n", "a", 5),
            ("lissten = \"b\"\nlisten = \"a\"\nformat = 1.5\n", "a", 0),
            ("format = 5\nlisten = \n", "", 5),
            ("format = 5\nlisten = \"a\nx", "", 5),
            ("", "", 0),
        ] {
            let read: Sample = parse_readable(text);
            assert_eq!((read.listen.as_str(), read.format), (listen, format), "{text:?}");
        }
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
        assert_eq!(error.to_string(), "loja.toml:2: a password or token must be text in quotes");
        assert_eq!(
            mistake("colour = 1\n"),
            "espelho.toml:1: unknown key \"colour\" (valid here: listen, format)"
        );
        let misplaced = mistake("password = \"segredo\"\n");
        assert!(misplaced.starts_with("espelho.toml:1: unknown key \"password\""), "{misplaced}");
        assert!(!misplaced.contains("segredo"), "{misplaced}");
    }

    #[test]
    fn a_wrong_type_and_broken_syntax_are_named_with_their_line() {
        assert_eq!(
            mistake("listen = 5\n"),
            "espelho.toml:1: text in quotes is expected here, and 5 is written"
        );
        for (message, expected) in [
            (
                "invalid type: map, expected a sequence",
                "aqui vale uma lista entre colchetes, e está escrito uma seção",
            ),
            (
                "invalid type: sequence, expected a string",
                "aqui vale um texto entre aspas, e está escrito uma lista",
            ),
            (
                "invalid type: string \"x\", expected struct Http",
                "aqui vale uma seção com chaves, e está escrito \"x\"",
            ),
        ] {
            assert_eq!(in_words(message, None, |_| None).message(Locale::default()), expected);
        }
        assert!(mistake("\nformat = 1.5\n").starts_with("espelho.toml:2: a whole number is expected here"));
        assert!(mistake("\n\nlisten = \n").starts_with("espelho.toml:3: "));
    }
}
