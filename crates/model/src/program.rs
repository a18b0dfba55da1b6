//! Calls of the program in command lines for people. A person who copies one reaches the installation that it is about:
//! where a bare `espelho` would read another configuration, every command line names the right one.

use std::{borrow::Cow, sync::OnceLock};

/// The name of the program.
const NAME: &str = "espelho";

/// The commands that read a configuration, as they stand after the name of the program.
pub const CONFIGURED: &[&str] = &[
    "--resync",
    "audit",
    "backup",
    "campaigns",
    "check",
    "doctor",
    "errors",
    "explain",
    "feed",
    "forget",
    "get",
    "held",
    "ignore",
    "import",
    "init",
    "labels",
    "migrate",
    "notice",
    "orders",
    "pause",
    "plan",
    "price",
    "prune",
    "release",
    "reload",
    "restore",
    "resume",
    "retry",
    "run",
    "status",
    "stock",
    "token",
    "webhook",
];

/// The commands for the unit with those that work without it, the longest first.
const WITHOUT_UNIT: &[(&str, &str)] = &[
    ("sudo systemctl restart espelho; journalctl -u espelho -n 50", "Ctrl-C; espelho run"),
    ("sudo systemctl enable --now espelho espelho.socket espelho-backup.timer", "espelho run"),
    ("sudo systemctl enable --now espelho-backup.timer", "crontab -e"),
    (
        "sudo systemctl start espelho-backup; journalctl -u espelho-backup -n 20",
        "espelho backup && espelho backup verify",
    ),
    ("sudo systemctl start espelho-backup", "espelho backup && espelho backup verify"),
    // It keeps its terminal.
    ("sudo systemctl start espelho && espelho doctor", "espelho run"),
    ("sudo systemctl enable --now espelho espelho.socket; journalctl -u espelho -n 20", "espelho run"),
    ("sudo systemctl enable --now espelho espelho.socket", "espelho run"),
    ("sudo systemctl stop espelho.socket espelho", "Ctrl-C"),
    ("sudo systemctl enable --now espelho", "espelho run"),
    ("sudo systemctl start espelho", "espelho run"),
    // Ctrl-C in its terminal: a pattern of processes would meet those of other installations.
    ("sudo systemctl restart espelho", "Ctrl-C; espelho run"),
    ("sudo espelho reload", "espelho reload"),
];

static CALL: OnceLock<String> = OnceLock::new();
static HAS_NO_UNIT: OnceLock<()> = OnceLock::new();

/// Makes every command line of this process name the folder of its configuration.
pub fn name_configuration(folder: &str) {
    // The first folder is the one that is read.
    let _ = CALL.set(format!("{NAME} --config {}", quoted(folder)));
}

/// Makes every command line of this process start the service by hand: no unit of systemd does it on this machine.
pub fn name_no_unit() {
    let _ = HAS_NO_UNIT.set(());
}

/// Returns the program as command lines call it.
pub fn call() -> &'static str {
    CALL.get().map_or(NAME, String::as_str)
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

/// Returns the command line of this process, as somebody else can type it anywhere: it names its configuration where a bare
/// `espelho` would read another one.
pub fn typed() -> String {
    typed_as(call(), &arguments())
}

/// Returns the command line that looks at the same again: that of this process, or `doctor` in place of one that works on.
pub fn typed_look() -> String {
    let arguments = arguments();
    let works_on = |word: &String| ["run", "init"].contains(&word.as_str());
    match arguments.iter().any(works_on) {
        true => format!("{} doctor", call()),
        false => typed_as(call(), &arguments),
    }
}

fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Returns a command line with these arguments, and the configuration that its call names; else the one that they name.
fn typed_as(call: &str, arguments: &[String]) -> String {
    let (mut words, mut configuration) = (Vec::new(), None);
    let mut left = arguments.iter();
    while let Some(argument) = left.next() {
        match (argument.as_str(), argument.strip_prefix("--config=")) {
            ("--config", _) => configuration = left.next().map(String::as_str),
            (_, Some(named)) => configuration = Some(named),
            (other, None) => words.push(quoted(other)),
        }
    }
    let call = match configuration.filter(|_| call == NAME) {
        Some(folder) => {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.into());
            format!("{NAME} --config {}", quoted(&folder.to_string_lossy()))
        }
        None => call.to_owned(),
    };
    [call].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Returns a text of the catalogue, or a command line, whose command lines call the program as they must.
pub fn called(text: &str) -> Cow<'_, str> {
    let text = match HAS_NO_UNIT.get() {
        Some(()) => without_unit(text),
        None => Cow::Borrowed(text),
    };
    match (CALL.get(), text) {
        (None, text) => text,
        (Some(call), Cow::Borrowed(text)) => with_call(text, call),
        (Some(call), Cow::Owned(text)) => Cow::Owned(with_call(&text, call).into_owned()),
    }
}

/// Replaces the commands for the unit by those that work without one.
pub(crate) fn without_unit(text: &str) -> Cow<'_, str> {
    // A text about editing the socket's unit is shown only where that unit is installed.
    if !text.contains("sudo ") || text.contains("systemctl edit") {
        return Cow::Borrowed(text);
    }
    let replaced = |text: String, (unit, plain): &(&str, &str)| text.replace(unit, plain);
    Cow::Owned(WITHOUT_UNIT.iter().fold(text.to_owned(), replaced))
}

/// Replaces the name of the program by a call of it where a command follows.
fn with_call<'t>(text: &'t str, call: &str) -> Cow<'t, str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let mut called = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(NAME) {
        let (before, found) = rest.split_at(at);
        let (name, after) = found.split_at(NAME.len());
        let command = after.strip_prefix(' ').unwrap_or_default();
        let command = command.split(|letter: char| !is_part(letter)).next().unwrap_or_default();
        called.push_str(before);
        called.push_str(if CONFIGURED.contains(&command) { call } else { name });
        rest = after;
    }
    if called.is_empty() {
        return Cow::Borrowed(text);
    }
    called.push_str(rest);
    Cow::Owned(called)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_command_line_names_the_configuration_once() {
        let typed = |call: &str, arguments: &[&str]| {
            typed_as(call, &arguments.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>())
        };
        for (call, arguments, expected) in [
            ("espelho", &["errors", "--code", "a b"][..], "espelho errors --code 'a b'"),
            ("espelho", &["check", "--config", "/srv/a b"], "espelho --config '/srv/a b' check"),
            ("espelho --config /x", &["check"], "espelho --config /x check"),
            (
                "espelho --config /x",
                &["--config=./x", "doctor", "--json"],
                "espelho --config /x doctor --json",
            ),
            ("espelho --config /x", &["doctor", "--config", "x"], "espelho --config /x doctor"),
        ] {
            assert_eq!(typed(call, arguments), expected);
        }
    }

    #[test]
    fn a_command_line_names_the_configuration_and_other_words_stay() {
        for (text, expected) in [
            ("espelho doctor", "espelho --config /c doctor"),
            ("rode `espelho migrate`, que cria", "rode `espelho --config /c migrate`, que cria"),
            ("sudo -u espelho espelho forget …", "sudo -u espelho espelho --config /c forget …"),
            ("espelho --resync --store a", "espelho --config /c --resync --store a"),
            ("espelho errors; espelho retry x", "espelho --config /c errors; espelho --config /c retry x"),
            ("espelho retries by itself", "espelho retries by itself"),
            ("o espelho tenta de novo", "o espelho tenta de novo"),
            ("journalctl -u espelho -n 50", "journalctl -u espelho -n 50"),
            ("espelho demo shows it", "espelho demo shows it"),
            ("nada", "nada"),
        ] {
            assert_eq!(with_call(text, "espelho --config /c"), expected);
        }
    }

    #[test]
    fn a_machine_without_the_unit_is_told_the_plain_commands() {
        for (text, expected) in [
            ("sudo systemctl start espelho", "espelho run"),
            ("sudo systemctl enable --now espelho", "espelho run"),
            ("sudo systemctl enable --now espelho-backup.timer", "crontab -e"),
            ("sudo systemctl start espelho-backup", "espelho backup && espelho backup verify"),
            ("sudo systemctl start espelho && espelho doctor", "espelho run"),
            ("depois: sudo espelho reload;", "depois: espelho reload;"),
            ("sudo systemctl restart espelho; journalctl -u espelho -n 50", "Ctrl-C; espelho run"),
            ("(sudo systemctl stop espelho.socket espelho, ou kill 7)", "(Ctrl-C, ou kill 7)"),
            ("espelho doctor", "espelho doctor"),
        ] {
            assert_eq!(without_unit(text), expected);
        }
        let named = with_call("Ctrl-C; espelho run", "espelho --config /c");
        assert_eq!(named, "Ctrl-C; espelho --config /c run");
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
