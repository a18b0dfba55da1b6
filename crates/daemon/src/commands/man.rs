//! `espelho man`: the manual pages, made from the parser and the texts of `--help`.

use std::{
    io::{IsTerminal as _, Write as _},
    path::Path,
    process::{Command as Process, Stdio},
};

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use espelho_model::{text, text::Locale};

use crate::{
    cli::{Cli, ManArgs},
    exit, help,
};

pub(super) fn run(cli: &Cli, arguments: &ManArgs) -> u8 {
    let command = documented(cli.locale);
    let done = match (&arguments.dir, &arguments.topic) {
        (Some(dir), _) => write_all(command, dir),
        (None, topic) => match page_of(&command, topic.as_deref()) {
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
fn page_of(command: &Command, topic: Option<&str>) -> Option<Vec<u8>> {
    let Some(topic) = topic else { return rendered(command.clone()) };
    let found = command.find_subcommand(topic)?;
    rendered(found.clone().display_name(format!("espelho-{topic}")))
}

fn rendered(command: Command) -> Option<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).ok()?;
    Some(page)
}

fn write_all(command: Command, dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    clap_mangen::generate_to(command, dir)
}

/// Shows a page by the system's reader; where there is none, or no terminal, prints its source.
fn show(page: &[u8]) -> std::io::Result<()> {
    if std::io::stdout().is_terminal()
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
            let command = documented(Locale::of(language));
            let own = String::from_utf8(page_of(&command, None).unwrap()).unwrap();
            for sub in command.get_subcommands().map(|sub| sub.get_name().to_owned()) {
                assert!(own.contains(&format!("espelho\\-{sub}(1)")), "{sub} is missing in {own}");
                let page = String::from_utf8(page_of(&command, Some(&sub)).unwrap()).unwrap();
                assert!(page.contains(".SH NAME") && page.contains(&format!("espelho\\-{sub}")), "{page}");
            }
        }
        assert!(page_of(&documented(Locale::default()), Some("nada")).is_none());
    }

    #[test]
    fn help_has_no_pages() {
        let dir = tempfile::tempdir().unwrap();
        write_all(documented(Locale::default()), dir.path()).unwrap();
        let written = std::fs::read_dir(dir.path()).unwrap();
        let names: Vec<_> = written.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert!(names.contains(&"espelho-webhook-test.1".to_owned()), "{names:?}");
        assert!(!names.iter().any(|name| name.contains("-help")), "{names:?}");
    }
}
