//! A sentence in which command lines stand: a page marks them, so that they are copied whole. Pure.

use std::cmp::Reverse;

use super::command_lines::command_lines;

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) is_command: bool,
}

/// Returns a sentence with its command lines apart.
pub(super) fn marked(sentence: &str) -> Vec<Piece> {
    pieces(sentence, &command_lines(sentence))
}

/// Returns a sentence with these command lines apart.
pub(super) fn pieces(sentence: &str, commands: &[String]) -> Vec<Piece> {
    let (mut pieces, mut rest) = (Vec::new(), sentence);
    let mut push = |text: &str, is_command| {
        if !text.is_empty() {
            pieces.push(Piece { text: text.to_owned(), is_command });
        }
    };
    while let Some((at, command)) = first(rest, commands) {
        push(&rest[..at], false);
        push(command, true);
        rest = &rest[at + command.len()..];
    }
    push(rest, false);
    pieces
}

/// Finds the first command line of a text, the longest where several begin.
fn first<'c>(text: &str, commands: &'c [String]) -> Option<(usize, &'c str)> {
    let found = commands.iter().filter_map(|command| Some((position(text, command)?, command.as_str())));
    found.min_by_key(|(at, command)| (*at, Reverse(command.len())))
}

/// Finds a command line that ends where it is written: one with further words or options is another.
fn position(text: &str, command: &str) -> Option<usize> {
    let ends = |at: &usize| {
        let after = &text[at + command.len()..];
        let goes_on = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '/');
        !after.starts_with(goes_on) && !after.starts_with(" -")
    };
    let mut places = text.match_indices(command).map(|(at, _)| at);
    places.find(ends).filter(|_| !command.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_stands_apart_where_the_sentence_has_it_whole() {
        for (sentence, commands, expected) in [
            ("nada a fazer", &["espelho doctor"][..], &["nada a fazer"][..]),
            (
                "confira; se não: espelho retry command 7 --store a; se foi: espelho ignore command 7 --store a",
                &["espelho retry command 7 --store a", "espelho ignore command 7 --store a"],
                &[
                    "confira; se não: ",
                    "[espelho retry command 7 --store a]",
                    "; se foi: ",
                    "[espelho ignore command 7 --store a]",
                ],
            ),
            // Another row, and another store.
            ("espelho retry command 77", &["espelho retry command 7"], &["espelho retry command 77"]),
            ("espelho resume --store a", &["espelho resume"], &["espelho resume --store a"]),
            (
                "espelho resume --store a. Ou: espelho resume",
                &["espelho resume", "espelho resume --store a"],
                &["[espelho resume --store a]", ". Ou: ", "[espelho resume]"],
            ),
            ("espelho doctor", &[""], &["espelho doctor"]),
            ("", &["espelho doctor"], &[]),
        ] {
            let commands: Vec<String> = commands.iter().map(|command| (*command).to_owned()).collect();
            let said: Vec<String> = pieces(sentence, &commands)
                .into_iter()
                .map(|piece| if piece.is_command { format!("[{}]", piece.text) } else { piece.text })
                .collect();
            assert_eq!(said, expected, "{sentence}");
        }
    }
}
