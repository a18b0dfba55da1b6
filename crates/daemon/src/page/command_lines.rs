//! Finds the command lines of a sentence by what the command line accepts, so that a page offers each to be copied. Pure.

use std::{ops::Range, sync::LazyLock};

use clap::{Arg, Command, CommandFactory as _};

use crate::cli::Cli;

static ROOT: LazyLock<Command> = LazyLock::new(|| {
    let mut root = Cli::command();
    root.build();
    root
});

/// The characters that stand around a command line in a sentence.
const AROUND: [char; 8] = ['(', ')', '.', ',', ';', ':', '“', '”'];

/// Returns the command lines of a sentence: `espelho` with a command, options and arguments, and the `sudo` before it.
/// Without a command it is the product's name; without an argument that the command needs it cannot be run.
pub(super) fn command_lines(sentence: &str) -> Vec<String> {
    let words = words(sentence);
    let starts = (0..words.len()).filter(|at| bare(&sentence[words[*at].clone()]) == "espelho");
    starts.filter_map(|at| line_at(sentence, &words, at)).collect()
}

fn words(sentence: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let pieces = sentence.split_inclusive(char::is_whitespace).map(|piece| {
        let word = start..start + piece.trim_end().len();
        start += piece.len();
        word
    });
    pieces.filter(|word| !word.is_empty()).collect()
}

fn bare(word: &str) -> &str {
    word.trim_matches(AROUND)
}

fn line_at(sentence: &str, words: &[Range<usize>], at: usize) -> Option<String> {
    let word = |at: usize| words.get(at).map(|range| &sentence[range.clone()]);
    let before =
        |back: usize| at.checked_sub(back).and_then(word).map(|word| word.trim_start_matches(AROUND));
    let first = match (before(3), before(2), before(1)) {
        (Some("sudo"), Some("-u"), Some(_)) => at - 3,
        (_, _, Some("sudo")) => at - 1,
        _ => at,
    };
    let mut taken = Taken { command: &ROOT, arguments: 0, wants_value: false };
    let mut last = at;
    for next in at + 1..words.len() {
        // The word before ended the line.
        let (word, before) = (word(next)?, word(last)?);
        let ends = word.ends_with(AROUND) || next + 1 == words.len();
        if before.ends_with(AROUND) || !taken.takes(word.trim_end_matches(AROUND), ends) {
            break;
        }
        last = next;
    }
    let start = words[first].end - word(first)?.trim_start_matches(AROUND).len();
    let end = words[last].start + word(last)?.trim_end_matches(AROUND).len();
    taken.can_be_run().then(|| sentence[start..end].to_owned())
}

/// The words of a command line so far.
struct Taken {
    command: &'static Command,
    arguments: usize,
    wants_value: bool,
}

impl Taken {
    /// Takes one more word, which may end a part of the sentence, and tells whether it belongs to the command line.
    fn takes(&mut self, word: &str, ends: bool) -> bool {
        if std::mem::take(&mut self.wants_value) {
            return true;
        }
        if let Some(option) = word.strip_prefix("--") {
            let (name, value) =
                option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
            let Some(known) = self.command.get_arguments().find(|known| known.get_long() == Some(name))
            else {
                return false;
            };
            self.wants_value = value.is_none() && takes_next(known);
            return true;
        }
        if let Some(command) = self.command.find_subcommand(word).filter(|_| self.arguments == 0) {
            self.command = command;
            return true;
        }
        // A lower-case word with others after it goes on with the sentence.
        let is_prose = !ends && word.chars().all(char::is_lowercase);
        let is_argument = !is_prose && self.arguments < self.command.get_positionals().count();
        self.arguments += usize::from(is_argument);
        is_argument
    }

    fn can_be_run(&self) -> bool {
        let needed = self.command.get_positionals().filter(|positional| positional.is_required_set()).count();
        self.command.get_name() != ROOT.get_name()
            && !self.wants_value
            && !self.command.is_subcommand_required_set()
            && self.arguments >= needed
    }
}

/// Tells if an option takes the word after it.
fn takes_next(option: &Arg) -> bool {
    let needs_one = option.get_num_args().is_some_and(|number| number.min_values() > 0);
    needs_one && option.get_action().takes_values() && !option.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_the_sentence_goes_on() {
        for (sentence, expected) in [
            ("o espelho tenta de novo sozinho", &[][..]),
            ("espelho doctor diz se algo a impede; se não, ela espera", &["espelho doctor"]),
            ("veja com: espelho status.", &["espelho status"]),
            ("Para testar: espelho doctor --login", &["espelho doctor --login"]),
            (
                "compare; depois: espelho webhook test --wait=20 --store loja-1",
                &["espelho webhook test --wait=20 --store loja-1"],
            ),
            (
                "a história dele: espelho explain 000100000062 --store loja-1",
                &["espelho explain 000100000062 --store loja-1"],
            ),
            (
                "(detalhes: espelho errors --all --code unknown_sku --store loja) e mais",
                &["espelho errors --all --code unknown_sku --store loja"],
            ),
            (
                "sudo espelho reload. Ou: sudo -u espelho espelho doctor",
                &["sudo espelho reload", "sudo -u espelho espelho doctor"],
            ),
            ("espelho --config /tmp/c resume --store a", &["espelho --config /tmp/c resume --store a"]),
            ("espelho resume --store", &[]),
            ("espelho explain diz por quê", &[]),
            ("ou espelho webhook move loja; ou volte", &["espelho webhook move loja"]),
            ("espelho webhook e o resto", &[]),
            ("espelho doctor --unknown", &["espelho doctor"]),
            ("", &[]),
        ] {
            assert_eq!(command_lines(sentence), expected, "{sentence}");
        }
    }
}
