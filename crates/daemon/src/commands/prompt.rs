//! Questions to the person at the terminal.

use std::io::{self, BufRead as _, IsTerminal as _};

use espelho_model::text::{Language, Locale, Text};

/// Whether a person can be asked: standard input and standard error are a terminal.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question, and reads one line; `None` at the end of input.
pub(super) fn ask(question: &str) -> Option<String> {
    eprint!("{question} ");
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(read) if read > 0 => Some(line.trim().to_owned()),
        _ => None,
    }
}

/// Asks a yes-or-no question.
pub(super) fn confirms(question: &Text, locale: Locale) -> bool {
    ask(&question.message(locale)).is_some_and(|answer| is_yes(&answer, locale.language))
}

fn is_yes(answer: &str, language: Language) -> bool {
    let answer = answer.to_lowercase();
    match language {
        Language::Portuguese => ["s", "sim"].contains(&answer.as_str()),
        Language::English => ["y", "yes"].contains(&answer.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        use Language::{English, Portuguese};
        for (answer, language, expected) in [
            ("s", Portuguese, true),
            ("Sim", Portuguese, true),
            ("y", Portuguese, false),
            ("", Portuguese, false),
            ("n", Portuguese, false),
            ("YES", English, true),
            ("s", English, false),
        ] {
            assert_eq!(is_yes(answer, language), expected, "{answer:?} {language}");
        }
    }
}
