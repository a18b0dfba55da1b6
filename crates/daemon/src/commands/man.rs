//! `espelho man`: the manual pages, made from the parser and the texts of `--help`.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::Path,
    process::{Command as Process, Stdio},
};

use chrono::DateTime;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use espelho_model::{text, text::Locale};

use crate::{
    cli::{Cli, ManArgs},
    exit, help,
};

/// The package's changelog. Its newest entry has the date of this version, which each page shows.
const CHANGELOG: &str = include_str!("../../../../systemd/changelog");

pub(super) fn run(cli: &Cli, arguments: &ManArgs) -> u8 {
    let command = documented(cli.locale);
    let done = match (&arguments.dir, &arguments.topic) {
        (Some(dir), _) => write_all(command, dir, cli.locale),
        (None, topic) => match page_of(&command, topic.as_deref(), cli.locale) {
            Some(page) => show(&page),
            None => return unknown(topic.as_deref().unwrap_or_default(), cli.locale),
        },
    };
    match done {
        Ok(()) => exit::COMPLETE,
        Err(error) => {
            let text = text!("man-failed", problem = error.to_string());
            eprintln!("espelho man: {}", text.message(cli.locale));
            exit::FAILED
        }
    }
}

/// Returns the command that the pages describe: without `help`, which only repeats them.
fn documented(locale: Locale) -> Command {
    help::in_language(Cli::command().disable_help_subcommand(true), locale)
}

fn unknown(topic: &str, locale: Locale) -> u8 {
    eprintln!("espelho man: {}", text!("man-unknown", topic = topic).message(locale));
    exit::CONFIGURATION
}

/// Returns the page of espelho itself, or of one of its commands.
fn page_of(command: &Command, topic: Option<&str>, locale: Locale) -> Option<Vec<u8>> {
    let Some(topic) = topic else { return rendered(command.clone(), locale).ok() };
    let found = command.find_subcommand(topic)?;
    rendered(found.clone().display_name(format!("espelho-{topic}")), locale).ok()
}

/// Returns a page. Its header and footer name the manual, the version and its date: an empty date would let the version
/// stand in the date's place.
fn rendered(command: Command, locale: Locale) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command)
        .date(released().unwrap_or_else(|| "-".to_owned()))
        .source(format!("espelho {}", env!("CARGO_PKG_VERSION")))
        .manual(text!("man-manual").message(locale))
        .render(&mut page)?;
    let page = String::from_utf8_lossy(&page);
    let lines = page.lines().map(|line| heading_in(line, locale) + "\n");
    Ok(lines.collect::<String>().into_bytes())
}

/// Returns the day of this version.
fn released() -> Option<String> {
    let (_, date) = CHANGELOG.lines().find_map(|line| line.strip_prefix(" -- ")?.split_once("  "))?;
    Some(DateTime::parse_from_rfc2822(date).ok()?.format("%Y-%m-%d").to_string())
}

/// Returns a line of a page. The headings that the generator writes by itself are in the reader's language.
fn heading_in(line: &str, locale: Locale) -> String {
    let heading = match line {
        ".SH NAME" => text!("man-name"),
        ".SH SYNOPSIS" => text!("man-synopsis"),
        ".SH DESCRIPTION" => text!("man-description"),
        ".SH EXTRA" => text!("man-notes"),
        ".SH VERSION" => text!("man-version"),
        other => return other.to_owned(),
    };
    format!(".SH {}", heading.message(locale))
}

fn write_all(mut command: Command, dir: &Path, locale: Locale) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    // So that each command knows its whole name.
    command.build();
    write_with_subcommands(&command, dir, locale)
}

fn write_with_subcommands(command: &Command, dir: &Path, locale: Locale) -> io::Result<()> {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        write_with_subcommands(sub, dir, locale)?;
    }
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    std::fs::write(dir.join(format!("{name}.1")), rendered(command.clone(), locale)?)
}

/// Shows a page by the system's reader; where there is none, or no terminal, prints its source.
fn show(page: &[u8]) -> io::Result<()> {
    if io::stdout().is_terminal()
        && let Ok(mut reader) = Process::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn()
    {
        if let Some(mut input) = reader.stdin.take() {
            // A reader that is left early closes the pipe.
            let _ = input.write_all(page);
        }
        return reader.wait().map(drop);
    }
    print!("{}", String::from_utf8_lossy(page));
    Ok(())
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;

    #[test]
    fn every_command_has_a_page_in_both_languages() {
        for language in Language::ALL {
            let locale = Locale::of(language);
            let command = documented(locale);
            let page_of =
                |topic: Option<&str>| String::from_utf8(page_of(&command, topic, locale).unwrap()).unwrap();
            let (own, [manual, name]) = (page_of(None), words(language));
            for sub in command.get_subcommands().map(|sub| sub.get_name().to_owned()) {
                assert!(own.contains(&format!("espelho\\-{sub}(1)")), "{sub} is missing in {own}");
                let page = page_of(Some(sub.as_str()));
                assert!(page.contains(name) && page.contains(&format!("espelho\\-{sub}")), "{page}");
                let version = env!("CARGO_PKG_VERSION");
                let date = released().unwrap();
                let title = format!(".TH espelho-{sub} 1 {date} \"espelho {version}\" \"{manual}\"\n");
                assert!(page.contains(&title), "{title}{page}");
            }
        }
        assert!(page_of(&documented(Locale::default()), Some("nada"), Locale::default()).is_none());
        for (language, heading, last) in [
            (Language::English, "Exit codes", "Yellow"),
            (Language::Portuguese, "Códigos de saída", "Amarelo"),
        ] {
            let locale = Locale::of(language);
            let doctor = page_of(&documented(locale), Some("doctor"), locale).unwrap();
            let doctor = String::from_utf8(doctor).unwrap();
            assert!(doctor.contains(heading), "as in its help");
            // A reader joins lines that no empty line parts.
            assert!(doctor.contains(&format!("\n\n{last}")), "{doctor}");
        }
    }

    /// Returns the name of the manual, and the first heading of each page.
    fn words(language: Language) -> [&'static str; 2] {
        match language {
            Language::Portuguese => ["Comandos de usuário", ".SH NOME\n"],
            Language::English => ["User Commands", ".SH NAME\n"],
        }
    }

    #[test]
    fn a_page_has_no_heading_of_the_other_language() {
        let locale = Locale::of(Language::Portuguese);
        let page = String::from_utf8(page_of(&documented(locale), None, locale).unwrap()).unwrap();
        for heading in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXTRA", "VERSION", "OPTIONS", "SUBCOMMANDS"] {
            assert!(!page.contains(&format!(".SH {heading}\n")), "{heading} in {page}");
        }
    }

    #[test]
    fn the_newest_entry_of_the_packages_changelog_is_about_this_version() {
        assert!(CHANGELOG.starts_with(&format!("espelho ({}-", env!("CARGO_PKG_VERSION"))), "{CHANGELOG}");
        assert_eq!(released().map(|date| date.len()), Some("2026-11-25".len()));
    }

    #[test]
    fn help_has_no_pages() {
        let dir = tempfile::tempdir().unwrap();
        write_all(documented(Locale::default()), dir.path(), Locale::default()).unwrap();
        let written = std::fs::read_dir(dir.path()).unwrap();
        let names: Vec<_> = written.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert!(names.contains(&"espelho-webhook-test.1".to_owned()), "{names:?}");
        assert!(!names.iter().any(|name| name.contains("-help")), "{names:?}");
    }
}
