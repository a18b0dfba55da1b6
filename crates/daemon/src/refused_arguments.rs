//! Puts the refusals of the command line's parser into the catalogue's words: the parser itself speaks English only.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use espelho_model::{
    text,
    text::{Arg, Text},
};

/// Returns a parse error in the catalogue's words; `None` for one that is none, such as a request for help, and for one
/// that nobody makes. `about` describes an argument, named as in `--only <RESOURCE>`.
pub(crate) fn in_words(
    error: &clap::Error,
    command: &str,
    about: &dyn Fn(&str) -> Option<Text>,
) -> Option<Text> {
    let of = |kind: ContextKind| error.get(kind).map(words).unwrap_or_default();
    let help = format!("{command} --help");
    let (argument, value) = (of(ContextKind::InvalidArg), of(ContextKind::InvalidValue));
    Some(match error.kind() {
        ErrorKind::UnknownArgument => {
            let similar = of(ContextKind::SuggestedArg);
            text!("help-unknown-argument", argument = argument, similar = or_none(similar), help = help)
        }
        ErrorKind::InvalidSubcommand => {
            let (name, similar) = (of(ContextKind::InvalidSubcommand), of(ContextKind::SuggestedSubcommand));
            text!("help-unknown-command", name = name, similar = or_none(similar), help = help)
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            text!("help-value-missing", argument = argument, help = help)
        }
        ErrorKind::InvalidValue => {
            let known = of(ContextKind::ValidValue);
            text!("help-not-among", argument = argument, value = value, known = known, help = help)
        }
        ErrorKind::ValueValidation => {
            // The parser of a value gives its reason in English; the argument's own description says what it takes.
            let own = || std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            let why = about(&argument).map_or_else(|| Arg::from(own()), Arg::from);
            text!("help-wrong-value", argument = argument, value = value, why = why, help = help)
        }
        ErrorKind::MissingRequiredArgument => {
            text!("help-argument-missing", arguments = argument, help = help)
        }
        ErrorKind::ArgumentConflict => {
            let other = of(ContextKind::PriorArg);
            text!("help-conflict", argument = argument, other = other, help = help)
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            text!("help-command-missing", help = help)
        }
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            text!("help-value-missing", argument = argument, help = help)
        }
        ErrorKind::TooManyValues => {
            text!("help-value-surplus", argument = argument, value = value, help = help)
        }
        _ => return None,
    })
}

/// Drops the parser's suggestions that differ by more than a slip of the fingers: it proposes `stock` for `stop`, and
/// `restore` for `restart`.
pub(crate) fn drop_far_suggestions(error: &mut clap::Error) {
    for (typed, suggested) in [
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ] {
        let typed = error.get(typed).map(words).unwrap_or_default();
        let near = match error.remove(suggested) {
            Some(ContextValue::String(name)) if is_slip(&typed, &name) => ContextValue::String(name),
            Some(ContextValue::Strings(mut names)) => {
                names.retain(|name| is_slip(&typed, name));
                ContextValue::Strings(names)
            }
            _ => continue,
        };
        if !words(&near).is_empty() {
            error.insert(suggested, near);
        }
    }
}

/// One letter in four that is wrong, missing, surplus or swapped with its neighbour.
fn is_slip(typed: &str, name: &str) -> bool {
    let letters = name.trim_start_matches('-').chars().count();
    strsim::osa_distance(typed, name) <= (letters / 4).max(1)
}

/// The text of a context; a list is separated by commas.
fn words(value: &ContextValue) -> String {
    match value {
        ContextValue::String(one) => one.clone(),
        ContextValue::Strings(all) => all.join(", "),
        _ => String::new(),
    }
}

/// The word by which the catalogue tells that there is nothing.
fn or_none(text: String) -> String {
    if text.is_empty() { "none".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use espelho_model::text::{Language, Locale};

    use super::*;
    use crate::cli::Cli;

    fn refused(line: &[&str]) -> String {
        let arguments = ["espelho"].iter().chain(line);
        let locale = Locale::of(Language::Portuguese);
        let command = crate::help::in_language(Cli::command(), locale);
        let mut error = command.try_get_matches_from(arguments).unwrap_err();
        drop_far_suggestions(&mut error);
        let about = |argument: &str| crate::help::about_named("espelho", argument, locale);
        let text = in_words(&error, "espelho", &about).unwrap_or_else(|| panic!("{line:?}: {error}"));
        format!("{} | {}", text.message(locale), text.next(locale).unwrap_or_default())
    }

    #[test]
    fn what_people_mistype_is_said_in_their_language_with_the_next_step() {
        for (line, expected) in [
            (&["status", "--sotre", "a"][..], "argumento desconhecido: --sotre; parecido: --store"),
            (&["status", "--zzz"], "argumento desconhecido: --zzz"),
            (&["statsu"], "comando desconhecido: statsu; parecido: status"),
            (&["zzzzzz"], "comando desconhecido: zzzzzz |"),
            (&["stop"], "comando desconhecido: stop |"),
            (&["restart"], "comando desconhecido: restart |"),
            (&["docter"], "comando desconhecido: docter; parecido: doctor |"),
            (
                &["--resync", "--since", "ontem"],
                "“ontem” não serve para --since <DATA>: Só pedidos criados desde este dia",
            ),
            (&["--resync", "--only", "foo"], "“foo” não serve para --only <RECURSO>: Só estes recursos"),
            (&["pause", "--only", "tudo", "--for", "1h"], "“tudo” não é um valor de --only <PARTE>"),
            (&["retry"], "falta: <ENTIDADE>, <CHAVE> |"),
            (&["ajuda"], "comando desconhecido: ajuda |"),
            (&["status", "--store"], "falta o valor de --store <LOJA>"),
            (&["retry", "stock", "A/1", "--all"], "não vai junto com"),
            (&["webhook"], "falta o comando"),
        ] {
            let said = refused(line);
            assert!(said.starts_with(expected) || said.contains(expected), "{line:?}: {said}");
            assert!(said.ends_with("| espelho --help"), "{said}");
        }
    }

    #[test]
    fn a_request_for_help_is_no_mistake() {
        let error = Cli::command().try_get_matches_from(["espelho", "--help"]).unwrap_err();
        assert_eq!(in_words(&error, "espelho", &|_| None), None);
    }
}
