//! Shows findings: a line for each as its check ends, and one JSON object for programs at the end. A store's checks that
//! were left out for one reason are one line for people.

use std::io::{Write as _, stderr, stdout};

use espelho_model::text::{Locale, Text};
use espelho_sync_engine::{Problem, Trouble};
use serde_json::{Value, json};

use super::finding::{Finding, SkipReason, State, state_of, summary};
use crate::report::problem_json;

/// The output for findings.
pub(super) struct Printer {
    locale: Locale,
    json: bool,
    is_coloured: bool,
    left_out: LeftOut,
}

/// The checks of one store that were left out, with the reason of each, in the order of their first.
#[derive(Default)]
struct LeftOut {
    store: Option<String>,
    checks: Vec<(SkipReason, Vec<&'static str>)>,
}

impl LeftOut {
    /// Keeps a finding that is such a check, and tells whether it did.
    fn keep(&mut self, finding: &Finding) -> bool {
        let Some(reason) = finding.skipped else { return false };
        // No token is proved where nothing answers.
        let unanswered = [SkipReason::NotReached, SkipReason::Errors];
        let earlier = self.checks.iter().map(|(kept, _)| *kept).find(|kept| unanswered.contains(kept));
        let reason = match reason {
            SkipReason::NoToken => earlier.unwrap_or(reason),
            reason => reason,
        };
        self.store.clone_from(&finding.store);
        match self.checks.iter_mut().find(|(kept, _)| *kept == reason) {
            Some((_, checks)) => checks.push(finding.check),
            None => self.checks.push((reason, vec![finding.check])),
        }
        true
    }

    /// Returns the kept checks with their findings, one for each reason; none where further ones of the store may follow.
    fn take(&mut self, next: Option<&Finding>) -> Vec<(Vec<&'static str>, Finding)> {
        if next.is_some_and(|next| next.store == self.store) {
            return Vec::new();
        }
        let store = self.store.take();
        let finding = |reason| Finding { store: store.clone(), ..Finding::skipped(reason) };
        self.checks.drain(..).map(|(reason, checks)| (checks, finding(reason))).collect()
    }
}

impl Printer {
    pub(super) fn new(locale: Locale, json: bool, is_coloured: bool) -> Self {
        Self { locale, json, is_coloured, left_out: LeftOut::default() }
    }

    /// Prints one finding now, or with others of its store where it was left out.
    pub(super) fn show(&mut self, finding: &Finding) {
        self.show_left_out(Some(finding));
        if !self.left_out.keep(finding) {
            self.print(&[finding.check], finding);
        }
    }

    fn show_left_out(&mut self, next: Option<&Finding>) {
        for (checks, finding) in self.left_out.take(next) {
            self.print(&checks, &finding);
        }
    }

    /// Prints the finding of these checks. A closed reader does not end doctor.
    fn print(&self, checks: &[&str], finding: &Finding) {
        let text = lines(checks, finding, self.locale, self.is_coloured);
        let _ = match self.json {
            true => stderr().write_all(text.as_bytes()),
            false => stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()),
        };
    }

    /// Prints the last line, and all findings for programs, if `--json` asks for it: with `errors`, as every command has
    /// them, where the configuration has mistakes.
    pub(super) fn end(&mut self, findings: &[Finding], mistakes: &[Text], code: u8) {
        self.show_left_out(None);
        let summary = summary(findings, code).message(self.locale);
        let mut object = object(findings, self.locale);
        if !mistakes.is_empty() {
            let as_problem = |mistake: &Text| {
                let problem = Problem::of(Trouble::Configuration, "configuration", mistake.clone());
                problem_json(&problem, self.locale)
            };
            object["errors"] = mistakes.iter().map(as_problem).collect();
        }
        let _ = match self.json {
            true => writeln!(stderr(), "{summary}").and_then(|()| writeln!(stdout(), "{object}")),
            false => writeln!(stdout(), "{summary}"),
        };
    }
}

/// Returns the symbol of a state, which is the same in all languages, its word and its colour.
fn mark(state: State) -> (&'static str, Text, &'static str) {
    let (symbol, colour) = match state {
        State::Green => ("✓", "32"),
        State::NotConfigured => ("·", "2"),
        State::Unknown => ("–", "2"),
        State::Yellow => ("!", "33"),
        State::Red => ("✗", "31"),
    };
    (symbol, Text::new(format!("doctor-state-{}", state.name())), colour)
}

/// Returns the next step of a finding that is not green.
fn fix(finding: &Finding, locale: Locale) -> Option<String> {
    (finding.state != State::Green)
        .then(|| finding.found.next(locale))
        .flatten()
        .filter(|fix| !fix.is_empty())
}

fn lines(checks: &[&str], finding: &Finding, locale: Locale, is_coloured: bool) -> String {
    let (symbol, word, colour) = mark(finding.state);
    let word = word.message(locale);
    let mark = match is_coloured {
        true => format!("\x1b[{colour}m{symbol} {word}\x1b[0m"),
        false => format!("{symbol} {word}"),
    };
    let whose = finding.store.as_ref().map(|store| format!("{store}: ")).unwrap_or_default();
    let labels: Vec<String> = checks.iter().map(|check| Finding::label_of(check).message(locale)).collect();
    let label = labels.join(", ");
    let found = one_line(&finding.found.message(locale));
    let fix = fix(finding, locale).map(|fix| format!("    → {}\n", one_line(&fix))).unwrap_or_default();
    format!("{mark} {whose}{label}: {found}\n{fix}")
}

/// Puts a text on one line: texts of others may contain line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn object(findings: &[Finding], locale: Locale) -> Value {
    let shown = |finding: &Finding| {
        json!({
            "check": finding.check,
            "store": finding.store,
            "state": finding.state,
            "found": finding.found.message(locale),
            "fix": fix(finding, locale),
            "seconds": (finding.took.as_secs_f64() * 1_000.0).round() / 1_000.0,
        })
    };
    json!({ "state": state_of(findings), "findings": findings.iter().map(shown).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use espelho_model::{text, text::Language};

    use super::*;

    fn disk() -> Finding {
        let found = text!("doctor-disk-full", free = "12 MiB", folder = "/var/lib/espelho");
        Finding::red(found).named("disk", Duration::from_millis(20)).of("loja-1")
    }

    #[test]
    fn a_line_has_symbol_word_store_and_check_and_the_fix_is_below() {
        let text = lines(&["disk"], &disk(), Locale::default(), false);
        assert!(text.starts_with("✗ VERMELHO loja-1: disco: "), "{text}");
        assert!(text.lines().nth(1).unwrap().starts_with("    → libere espaço"), "{text}");
        assert!(
            lines(&["disk"], &disk(), Locale::default(), true)
                .starts_with("\x1b[31m✗ VERMELHO\x1b[0m loja-1")
        );
    }

    #[test]
    fn the_word_of_a_state_is_in_the_readers_language_and_its_symbol_in_all() {
        let found = || text!("doctor-disk-unknown");
        for (finding, portuguese, english) in [
            (Finding::green(found()), "✓ VERDE ", "✓ GREEN "),
            (Finding::absent(found()), "– DESCONHECIDO ", "– UNKNOWN "),
            (Finding::not_configured(found()), "· NÃO CONFIGURADO ", "· NOT CONFIGURED "),
            (Finding::yellow(found()), "! AMARELO ", "! YELLOW "),
            (Finding::red(found()), "✗ VERMELHO ", "✗ RED "),
        ] {
            let finding = finding.named("disk", Duration::ZERO);
            for (language, expected) in [(Language::Portuguese, portuguese), (Language::English, english)] {
                let line = lines(&["disk"], &finding, Locale::of(language), false);
                assert!(line.starts_with(expected), "{line}");
            }
        }
    }

    #[test]
    fn what_was_left_out_is_one_line_for_each_store_and_reason() {
        let skipped =
            |store: &str, check, reason| Finding::skipped(reason).named(check, Duration::ZERO).of(store);
        let labels = |store: &str| {
            Finding::green(text!("doctor-labels-none")).named("labels", Duration::ZERO).of(store)
        };
        let mut left_out = LeftOut::default();
        let mut shown = Vec::new();
        let findings = [
            disk(),
            skipped("loja-1", "clock", SkipReason::NotReached),
            labels("loja-1"),
            skipped("loja-1", "password", SkipReason::NoToken),
            skipped("loja-2", "clock", SkipReason::NotReached),
            skipped("loja-3", "password", SkipReason::NoToken),
            skipped("loja-3", "scopes", SkipReason::NoToken),
            skipped("loja-3", "lock", SkipReason::NoAccess),
        ];
        for finding in &findings {
            shown.extend(left_out.take(Some(finding)));
            if !left_out.keep(finding) {
                shown.push((vec![finding.check], finding.clone()));
            }
        }
        shown.extend(left_out.take(None));
        let told: Vec<_> =
            shown.iter().map(|(checks, finding)| (finding.store.as_deref(), checks.as_slice())).collect();
        assert_eq!(
            told,
            [
                (Some("loja-1"), &["disk"][..]),
                (Some("loja-1"), &["labels"]),
                (Some("loja-1"), &["clock", "password"]),
                (Some("loja-2"), &["clock"]),
                (Some("loja-3"), &["password", "scopes"]),
                (Some("loja-3"), &["lock"]),
            ]
        );
        let line = lines(&shown[2].0, &shown[2].1, Locale::default(), false);
        assert!(line.starts_with("– DESCONHECIDO loja-1: relógio, senha: não olhado"), "{line}");
    }

    #[test]
    fn programs_get_stable_keys() {
        let unasked = Finding::not_configured(text!("doctor-labels-none")).named("labels", Duration::ZERO);
        let object = object(&[disk(), unasked], Locale::default());
        assert_eq!(
            (&object["state"], &object["findings"][1]["state"]),
            (&json!("red"), &json!("not_configured"))
        );
        let finding = object["findings"][0].as_object().unwrap();
        let keys: Vec<_> = finding.keys().map(String::as_str).collect();
        assert_eq!(keys, ["check", "fix", "found", "seconds", "state", "store"]);
        assert_eq!((&finding["check"], &finding["seconds"]), (&json!("disk"), &json!(0.02)));
    }
}
