//! The language and time zone of the command line (PRODUCT contract 4), decided in one place.

use std::{ffi::OsString, path::Path};

use espelho_model::text::{Language, Locale};

use crate::config;

/// The variables that name a language, by precedence. The first one that is set decides, as POSIX requires.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

/// Chooses a language: `--lang`, else what the environment names, else the installation's, else Portuguese.
fn choose(
    asked: Option<Language>,
    environment: [Option<&str>; 3],
    installation: Option<Language>,
) -> Language {
    let decisive = environment.into_iter().flatten().find(|value| !value.is_empty());
    asked.or_else(|| decisive.and_then(Language::parse)).or(installation).unwrap_or_default()
}

/// Returns the language and time zone of the command line, from the given `--lang` and `--config`.
pub(crate) fn of(lang: Option<Language>, config: Option<&Path>) -> Locale {
    let (language, timezone) = config::people(&config::directory(config));
    let environment = VARIABLES.map(|name| std::env::var(name).ok());
    Locale {
        language: choose(lang, environment.each_ref().map(Option::as_deref), language),
        timezone: timezone.unwrap_or_else(|| Locale::default().timezone),
    }
}

/// Returns the same before the arguments are parsed: help and clap's errors need a language too.
pub(crate) fn of_arguments(arguments: &[OsString]) -> Locale {
    let lang = option(arguments, "--lang").and_then(|tag| Language::parse(&tag));
    of(lang, option(arguments, "--config").as_deref().map(Path::new))
}

/// Returns the value of a long option, anywhere before `--`.
fn option(arguments: &[OsString], name: &str) -> Option<String> {
    let words = arguments.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    let mut words = words.skip_while(|word| {
        let value = word.strip_prefix(name);
        value.is_none_or(|rest| !rest.is_empty() && !rest.starts_with('='))
    });
    let found = words.next()?;
    match found.split_once('=') {
        Some((_, value)) => Some(value.to_owned()),
        None => words.next().map(std::borrow::Cow::into_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_asked_for_or_named_by_the_environment_or_by_the_installation() {
        use Language::{English as En, Portuguese as Pt};
        for (asked, environment, installation, expected) in [
            (None, [None, None, None], None, Pt),
            (Some(En), [Some("pt_BR.UTF-8"), None, None], Some(Pt), En),
            (None, [None, None, Some("en_US.UTF-8")], Some(Pt), En),
            (None, [None, Some("pt_BR"), Some("en_US")], Some(En), Pt),
            (None, [Some(""), None, Some("pt_PT")], Some(En), Pt),
            (None, [Some("C.UTF-8"), None, Some("pt_BR")], Some(En), En),
            (None, [None, None, Some("de_DE.UTF-8")], None, Pt),
        ] {
            let chosen = choose(asked, environment, installation);
            assert_eq!(chosen, expected, "{asked:?} {environment:?} {installation:?}");
        }
    }

    #[test]
    fn options_are_found_before_the_arguments_are_parsed() {
        let find =
            |line: &str| option(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>(), "--lang");
        for (line, expected) in [
            ("espelho status --lang en", Some("en")),
            ("espelho --lang=pt-BR status --help", Some("pt-BR")),
            ("espelho --language en", None),
            ("espelho orders notes 1 -- --lang en", None),
            ("espelho --lang", None),
        ] {
            assert_eq!(find(line).as_deref(), expected, "{line}");
        }
    }
}
