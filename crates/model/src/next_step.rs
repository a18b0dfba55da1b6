//! The next step for rows in trouble: which acts mend them, and the command lines that do it. One rule for rows, alarms,
//! pages and commands. Pure.

use crate::push::PushState;

/// The cause of a price that no release lets pass.
pub const PRICE_ZERO: &str = "price_zero";
/// The cause of rows whose store is in no configuration.
pub const UNKNOWN_STORE: &str = "unknown_store";

/// An act of a person on rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowAct {
    /// Lets them pass the guards, once.
    Release,
    /// Tries them again.
    Retry,
    /// Ends them as they are.
    Ignore,
    /// Shows them.
    Look,
}

/// The rows that an act concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows<'r> {
    /// One row.
    One {
        /// Its table, as in `v_errors`: `stock`, `price` or `command`.
        entity: &'r str,
        /// Its key, as in `v_errors`.
        key: &'r str,
    },
    /// All rows with one cause: its code.
    OfCause(&'r str),
}

/// Returns the acts that end the trouble of rows in a state, the remedy first; none for rows that go on by themselves.
/// Rows in doubt are decided one by one.
pub fn acts(state: PushState, code: &str) -> &'static [RowAct] {
    match (state, code) {
        (PushState::Held, PRICE_ZERO) | (PushState::Failed, UNKNOWN_STORE) => &[RowAct::Ignore],
        (PushState::Held, _) => &[RowAct::Release, RowAct::Ignore],
        (PushState::Failed | PushState::Doubtful, _) => &[RowAct::Retry, RowAct::Ignore],
        (PushState::Ignored, _) => &[RowAct::Retry],
        _ => &[],
    }
}

/// Returns the command line of an act on these rows, of one store or of all. It concerns no other row.
pub fn command_line(act: RowAct, rows: Rows<'_>, store: Option<&str>) -> String {
    let verb = match (act, rows) {
        (RowAct::Release, _) => "release",
        (RowAct::Retry, _) => "retry",
        (RowAct::Ignore, _) => "ignore",
        (RowAct::Look, Rows::OfCause(_)) => "errors",
        (RowAct::Look, Rows::One { .. }) => "explain",
    };
    let rows = match rows {
        Rows::One { entity, key } => row_name(entity, key, store),
        Rows::OfCause(code) => format!("--all --code {}{}", quoted(code), option_of(store)),
    };
    format!("espelho {verb} {rows}")
}

/// Returns a row's name as the command line takes it after a verb: `stock CAN-01/3 --store loja`.
pub fn row_name(entity: &str, key: &str, store: Option<&str>) -> String {
    let (name, of_store) = (format!("{} {}", quoted(entity), quoted(key)), option_of(store));
    match key.starts_with('-') {
        // A key that looks like an option stands where none is read any more.
        true => format!("{of_store} -- {name}").trim_start().to_owned(),
        false => format!("{name}{of_store}"),
    }
}

fn option_of(store: Option<&str>) -> String {
    store.map(|store| format!(" --store {}", quoted(store))).unwrap_or_default()
}

/// Returns a word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:@%+=,".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        // A control character has no place in a line that somebody copies into a terminal.
        false => {
            let word: String = word.chars().filter(|letter| !letter.is_control()).collect();
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_mended_by_their_state_and_their_cause() {
        use RowAct::{Ignore, Release, Retry};
        for (state, code, expected) in [
            (PushState::Held, "price_jump", &[Release, Ignore][..]),
            (PushState::Held, PRICE_ZERO, &[Ignore]),
            (PushState::Failed, "unknown_sku", &[Retry, Ignore]),
            (PushState::Failed, UNKNOWN_STORE, &[Ignore]),
            (PushState::Doubtful, "unprovable", &[Retry, Ignore]),
            (PushState::Ignored, "unknown_sku", &[Retry]),
            (PushState::New, "", &[]),
            (PushState::Waiting, "waiting_invoice", &[]),
            (PushState::Sending, "", &[]),
            (PushState::Done, "oversold", &[]),
            (PushState::Superseded, "", &[]),
        ] {
            assert_eq!(acts(state, code), expected, "{state} {code}");
        }
    }

    #[test]
    fn a_command_line_concerns_the_rows_that_are_shown_and_no_others() {
        let one = Rows::One { entity: "stock", key: "A B/1" };
        let dash = Rows::One { entity: "stock", key: "-10/1" };
        for (act, rows, store, expected) in [
            (
                RowAct::Release,
                Rows::OfCause("many_to_zero"),
                None,
                "espelho release --all --code many_to_zero",
            ),
            (
                RowAct::Release,
                Rows::OfCause("many_to_zero"),
                Some("loja-1"),
                "espelho release --all --code many_to_zero --store loja-1",
            ),
            (RowAct::Retry, one, Some("loja-1"), "espelho retry stock 'A B/1' --store loja-1"),
            (RowAct::Ignore, one, None, "espelho ignore stock 'A B/1'"),
            (RowAct::Release, dash, Some("a"), "espelho release --store a -- stock -10/1"),
            (RowAct::Retry, dash, None, "espelho retry -- stock -10/1"),
            (RowAct::Look, Rows::OfCause("x y"), None, "espelho errors --all --code 'x y'"),
            (RowAct::Look, one, Some("loja-1"), "espelho explain stock 'A B/1' --store loja-1"),
        ] {
            assert_eq!(command_line(act, rows, store), expected);
        }
    }

    #[test]
    fn a_word_of_any_letters_is_one_word_of_a_command() {
        for (word, expected) in [
            ("unknown_sku", "unknown_sku"),
            ("CAN-01/1", "CAN-01/1"),
            ("", "''"),
            ("--all", "--all"),
            ("a b; rm -rf /", "'a b; rm -rf /'"),
            ("{a,b}", "'{a,b}'"),
            ("it's\n", "'it'\\''s'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
