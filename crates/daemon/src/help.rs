//! The command line's help in the reader's language: the texts come from the catalogue, by command and argument.

use std::ffi::OsString;

use clap::{
    Arg, Command, CommandFactory as _, FromArgMatches as _,
    builder::{Resettable, StyledStr},
};
use espelho_model::text::{Language, Locale, Text};
use espelho_sync_engine::{Problem, Trouble};

use crate::{
    cli::Cli,
    locale,
    refused_arguments::{drop_far_suggestions, in_words},
    report,
};

/// Parses this process's arguments; help and parse errors are in the reader's language.
pub(crate) fn parse() -> Cli {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let locale = locale::of_arguments(&arguments);
    let parsed = in_language(Cli::command(), locale)
        .try_get_matches_from(&arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed {
        Ok(cli) => Cli { locale: locale::of(cli.lang, cli.config.as_deref()), ..cli },
        Err(error) if !error.use_stderr() => error.exit(),
        Err(mut error) => {
            drop_far_suggestions(&mut error);
            let command = named_command(&arguments);
            let about = |argument: &str| about_named(&command, argument, locale);
            let text = in_words(&error, &command, &about).unwrap_or_else(|| raw(&error));
            let problem = Problem::new(Trouble::Configuration, "usage", &error, text);
            if arguments.iter().any(|argument| argument == "--json") {
                println!("{}", report::failure_json(std::slice::from_ref(&problem), locale));
            }
            match locale.language {
                // With the usage of the command.
                Language::English => error.exit(),
                Language::Portuguese => {
                    eprint!("espelho:\n{}", report::problem_lines(&problem, locale));
                    std::process::exit(error.exit_code())
                }
            }
        }
    }
}

/// Returns the command that the arguments name, as somebody would type it.
fn named_command(arguments: &[OsString]) -> String {
    let mut named = "espelho".to_owned();
    let mut command = &Cli::command();
    for argument in arguments.iter().skip(1).filter_map(|argument| argument.to_str()) {
        let Some(sub) = command.find_subcommand(argument) else { continue };
        named = format!("{named} {argument}");
        command = sub;
    }
    named
}

/// Returns the parser's own words: the first paragraph, because the usage follows it.
fn raw(error: &clap::Error) -> Text {
    let message = error.to_string();
    let message = message.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    Text::new("raw").with("error", message).with("hint", "espelho --help")
}

/// Returns a command with all its help in a language.
pub(crate) fn in_language(mut command: Command, locale: Locale) -> Command {
    // So that the arguments and commands that the parser adds by itself exist.
    command.build();
    translated(command, &mut Vec::new(), locale)
}

fn translated(command: Command, path: &mut Vec<String>, locale: Locale) -> Command {
    let words = |text: Text| text.message(locale);
    let about = words(about(path));
    let mut command = command
        .about(about)
        .long_about(Resettable::<StyledStr>::Reset)
        .subcommand_help_heading(leaked(&Text::new("help-heading-commands"), locale))
        .subcommand_value_name(leaked(&Text::new("help-heading-command-name"), locale))
        .mut_args(|argument| argument_in(argument, path, locale));
    if locale.language != Language::English {
        command = with_headings(command, locale);
    }
    if path.is_empty() {
        command = command.after_help(words(Text::new("help-exit-codes")));
    }
    if path.as_slice() == ["doctor"] {
        command = command.after_help(words(Text::new("help-doctor-exit-codes")));
    }
    if path.as_slice() == ["sandbox"] {
        command = command.after_long_help(words(Text::new("help-sandbox-guide")));
    }
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        path.push(name.clone());
        command = command.mut_subcommand(name, |sub| translated(sub, path, locale));
        path.pop();
    }
    command
}

/// Replaces the English words that the parser writes by itself.
fn with_headings(mut command: Command, locale: Locale) -> Command {
    let word = |name: &str| Text::new(format!("help-heading-{name}")).message(locale);
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().replace("OPTIONS", &word("options-name"));
    // A usage of our own has the names as they are in the sources.
    let usage = usage.split(' ').map(|name| in_brackets(name, locale)).collect::<Vec<_>>().join(" ");
    let template = "{before-help}{about-with-newline}\n%USAGE% {usage}\n\n{all-args}{after-help}";
    command.override_usage(usage).help_template(template.replace("%USAGE%", &word("usage")))
}

/// Returns a word of a usage with the name of its value in a language.
fn in_brackets(word: &str, locale: Locale) -> String {
    let name = word.trim_matches(['[', ']', '<', '>', '.']);
    match value_name("", name).filter(|_| name != word) {
        Some(said) => word.replace(name, &said.message(locale)),
        None => word.to_owned(),
    }
}

/// Returns the name of an argument's value; `None` for one that is the same in every language. The key of a store is its
/// name.
fn value_name(argument: &str, name: &str) -> Option<Text> {
    let name = match (argument, name) {
        ("store", "KEY") => "store".to_owned(),
        _ => name.to_lowercase(),
    };
    Some(Text::new(format!("help-name-{name}"))).filter(Text::is_known)
}

fn argument_in(argument: Arg, path: &[String], locale: Locale) -> Arg {
    let word = |name: &str| Text::new(format!("help-heading-{name}")).message(locale);
    let mut help = about_argument(path, argument.get_id().as_str()).message(locale);
    let mut argument = argument.long_help(Resettable::<StyledStr>::Reset);
    if locale.language != Language::English {
        let defaults: Vec<_> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        if !defaults.is_empty() && argument.get_action().takes_values() {
            help = format!("{help} [{}: {}]", word("default"), defaults.join(" "));
        }
        let possible = argument.get_possible_values();
        if !possible.is_empty() && argument.get_action().takes_values() {
            let names: Vec<&str> = possible.iter().map(clap::builder::PossibleValue::get_name).collect();
            help = format!("{help} [{}: {}]", word("values"), names.join(", "));
        }
        argument = argument.hide_default_value(true).hide_possible_values(true);
        let names = argument.get_value_names().unwrap_or_default().iter().map(|name| {
            let id = argument.get_id().as_str();
            let said = value_name(id, name).map_or_else(|| name.to_string(), |said| said.message(locale));
            let said: &'static str = said.leak();
            said
        });
        let names: Vec<&'static str> = names.collect();
        argument = argument.value_names(names);
    }
    if let Some(index) = argument.get_index() {
        // The parser sorts arguments under a heading of their own by name.
        argument = argument.display_order(index);
    }
    let heading = match argument.get_help_heading() {
        Some(heading) => heading.to_lowercase().replace(' ', "-"),
        None if argument.is_positional() => "arguments".to_owned(),
        None => "options".to_owned(),
    };
    argument.help(help).help_heading(leaked(&Text::new(format!("help-heading-{heading}")), locale))
}

/// Returns the description of a command. `help COMMAND` has the same one as `COMMAND`.
fn about(path: &[String]) -> Text {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Text::new("help-espelho"),
        ["help"] | [.., "help"] => Text::new("help-help"),
        ["help", rest @ ..] => Text::new(format!("help-{}", rest.join("-"))),
        all => Text::new(format!(
            "help-{}",
            all.iter().filter(|word| **word != "help").copied().collect::<Vec<_>>().join("-")
        )),
    }
}

/// Returns the description of an argument: the one for this command, else the general one.
fn about_argument(path: &[String], id: &str) -> Text {
    let command = if path.is_empty() { "espelho".to_owned() } else { path.join("-") };
    let own = Text::new(format!("help-{command}--{id}"));
    if own.is_known() { own } else { Text::new(format!("help--{id}")) }
}

/// Returns the description of an argument of a command, or of one that the command is part of, by the names that a refusal
/// gives them in a language: `espelho audit`, `--only <RESOURCE>`.
pub(crate) fn about_named(command: &str, argument: &str, locale: Locale) -> Option<Text> {
    let root = in_language(Cli::command(), locale);
    let path: Vec<String> = command.split(' ').skip(1).map(str::to_owned).collect();
    let mut last = &root;
    let mut commands = vec![last];
    for name in &path {
        let Some(sub) = last.find_subcommand(name) else { break };
        last = sub;
        commands.push(sub);
    }
    commands.iter().enumerate().rev().find_map(|(depth, command)| {
        let known = command.get_arguments().find(|known| known.to_string() == argument)?;
        Some(about_argument(&path[..depth], known.get_id().as_str()))
    })
}

/// Leaks a text: the parser's names live as long as the process.
fn leaked(text: &Text, locale: Locale) -> &'static str {
    text.message(locale).leak()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &Command, path: &mut Vec<String>, missing: &mut Vec<String>) {
        let mut note = |text: Text| {
            if !text.is_known() {
                missing.push(text.id().to_owned());
            }
        };
        note(about(path));
        command.get_arguments().for_each(|argument| note(about_argument(path, argument.get_id().as_str())));
        for sub in command.get_subcommands() {
            path.push(sub.get_name().to_owned());
            check(sub, path, missing);
            path.pop();
        }
    }

    #[test]
    fn every_command_and_argument_has_help_in_the_catalogue() {
        let mut command = Cli::command();
        command.build();
        let mut missing = Vec::new();
        check(&command, &mut Vec::new(), &mut missing);
        assert!(missing.is_empty(), "no help for {missing:#?}");
    }

    #[test]
    fn help_is_in_one_language() {
        let help = |language| {
            let mut command = in_language(Cli::command(), Locale::of(language));
            let status = command.find_subcommand_mut("status").unwrap().render_long_help().to_string();
            command.render_long_help().to_string() + &status
        };
        let portuguese = help(Language::Portuguese);
        for word in ["Uso: espelho", "Comandos:", "Opções:", "Códigos de saída"] {
            assert!(portuguese.contains(word), "{word}: {portuguese}");
        }
        for word in ["Usage", "Options", "OPTIONS", "Commands:", "default", "Print ", "possible", "KEY"] {
            assert!(!portuguese.contains(word), "{word}: {portuguese}");
        }
        let mut command = in_language(Cli::command(), Locale::of(Language::Portuguese));
        for (name, expected) in [
            ("retry", "espelho retry [OPÇÕES] [ENTIDADE] [CHAVE]"),
            ("explain", "espelho explain [OPÇÕES] [ENTIDADE] <CHAVE>"),
            ("status", "--store <LOJA>"),
            ("held", "--store <LOJA>"),
        ] {
            let shown = command.find_subcommand_mut(name).unwrap().render_help().to_string();
            assert!(shown.contains(expected), "{shown}");
        }
        assert!(help(Language::English).contains("Usage: espelho"));
    }

    #[test]
    fn the_help_of_doctor_says_what_each_exit_code_means() {
        for language in Language::ALL {
            let mut command = in_language(Cli::command(), Locale::of(language));
            let doctor = command.find_subcommand_mut("doctor").unwrap();
            let help = Text::new("help-doctor-exit-codes").message(Locale::of(language));
            for shown in [doctor.render_help(), doctor.render_long_help()].map(|help| help.to_string()) {
                assert!(help.lines().all(|line| shown.contains(line.trim())), "{shown}");
            }
        }
    }

    #[test]
    fn a_command_line_is_understood_in_both_languages() {
        for language in Language::ALL {
            let command = in_language(Cli::command(), Locale::of(language));
            let line = ["espelho", "stock", "set", "A", "1", "5", "--store", "loja", "--json"];
            let cli = Cli::from_arg_matches(&command.try_get_matches_from(line).unwrap()).unwrap();
            assert!(cli.json && matches!(cli.command, Some(crate::cli::Command::Stock(_))));
        }
    }
}
