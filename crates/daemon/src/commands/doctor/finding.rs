//! The result of a check, and the result of all checks together.

use std::time::Duration;

use espelho_model::{text, text::Text};
use espelho_sync_engine::plan::alarms::Severity;
use serde::Serialize;

use crate::exit;

/// The state of a checked thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// Proved at this moment, or by the service's own work within the last minute.
    Green,
    /// There is nothing to check: nobody has asked for it, or there is none yet.
    #[serde(rename = "not_configured")]
    NotConfigured,
    /// Not checked, or not visible.
    Unknown,
    /// It works, but needs attention.
    Yellow,
    /// It does not work.
    Red,
}

impl State {
    /// All states, in the order in which they are counted.
    pub(super) const ALL: [Self; 5] =
        [Self::Green, Self::Yellow, Self::Red, Self::Unknown, Self::NotConfigured];

    /// Returns its name in the catalogue.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::NotConfigured => "not-configured",
            Self::Unknown => "unknown",
            Self::Yellow => "yellow",
            Self::Red => "red",
        }
    }
}

/// The reason why a check was left out: an earlier finding made it useless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SkipReason {
    /// This process may not ask the marketplace for the store.
    NoAccess,
    /// The marketplace was not reached.
    NotReached,
    /// The marketplace answers with errors.
    Errors,
    /// No token is proved.
    NoToken,
    /// The store comes from a backup, without a token.
    Restored,
    /// The configuration has mistakes: a login might end the token of another store.
    Mistakes,
    /// Another program keeps the database from writing.
    Busy,
    /// The database does not open.
    NoDatabase,
    /// The service's user may open the database, and this user may not.
    AnotherUser,
}

impl SkipReason {
    fn text(self) -> Text {
        match self {
            Self::NoAccess => text!("doctor-no-access"),
            Self::NotReached => text!("doctor-not-reached"),
            Self::Errors => text!("doctor-answers-errors"),
            Self::NoToken => text!("doctor-no-token"),
            Self::Restored => text!("doctor-restored-no-token"),
            Self::Mistakes => text!("doctor-mistakes-no-login"),
            Self::Busy => text!("doctor-busy"),
            Self::NoDatabase => text!("doctor-no-database"),
            Self::AnotherUser => text!("doctor-another-user"),
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    /// Absent if it concerns the installation.
    pub store: Option<String>,
    /// The check's stable name.
    pub check: &'static str,
    pub state: State,
    /// The message says what was found; its `.next` is the fix.
    pub found: Text,
    /// Whether the check was required but not possible.
    pub is_open: bool,
    /// Whether the marketplace does not accept the credential.
    pub is_authentication: bool,
    /// True if it refuses the address of the webhook that a login names.
    pub is_for_webhook: bool,
    /// The reason, if an earlier finding left the check out.
    pub skipped: Option<SkipReason>,
    pub took: Duration,
}

impl Finding {
    fn new(state: State, found: Text) -> Self {
        let (store, took) = (None, Duration::ZERO);
        let (check, is_open, skipped) = ("", false, None);
        Self {
            store,
            check,
            state,
            found,
            is_open,
            is_authentication: false,
            is_for_webhook: false,
            skipped,
            took,
        }
    }

    pub(super) fn green(found: Text) -> Self {
        Self::new(State::Green, found)
    }

    pub(super) fn yellow(found: Text) -> Self {
        Self::new(State::Yellow, found)
    }

    pub(super) fn red(found: Text) -> Self {
        Self::new(State::Red, found)
    }

    /// The cause of an alarm, in the colour of that alarm.
    pub(super) fn alarming(severity: Severity, found: Text) -> Self {
        match severity {
            Severity::Failing => Self::red(found),
            Severity::Warning => Self::yellow(found),
        }
    }

    /// The marketplace does not accept the credential.
    pub(super) fn refused(found: Text) -> Self {
        Self { is_authentication: true, ..Self::red(found) }
    }

    /// The marketplace does not accept a login for these fields, with commas between them; empty where it names none.
    pub(super) fn refused_for(fields: &str, found: Text) -> Self {
        let is_for_webhook = fields.split(", ").any(|field| field.starts_with("webhook"));
        let named = if fields.is_empty() { "none" } else { fields };
        Self { is_for_webhook, ..Self::refused(found.with("fields", named)) }
    }

    /// It is not configured, by choice, or there is none yet.
    pub(super) fn not_configured(found: Text) -> Self {
        Self::new(State::NotConfigured, found)
    }

    /// There is nothing to check yet, or nothing shows it: it is not proved, and no check was due.
    pub(super) fn absent(found: Text) -> Self {
        Self::new(State::Unknown, found)
    }

    /// The check was required but not possible.
    pub(super) fn not_seen(found: Text) -> Self {
        Self { is_open: true, ..Self::new(State::Unknown, found) }
    }

    /// The check was required, and an earlier finding left it out.
    pub(super) fn skipped(reason: SkipReason) -> Self {
        Self { skipped: Some(reason), ..Self::not_seen(reason.text()) }
    }

    pub(super) fn named(self, check: &'static str, took: Duration) -> Self {
        Self { check, took, ..self }
    }

    pub(super) fn of(self, store: &str) -> Self {
        Self { store: Some(store.to_owned()), ..self }
    }

    /// Returns a check's name for people.
    pub(super) fn label_of(check: &str) -> Text {
        Text::new(format!("doctor-check-{}", check.replace('_', "-")))
    }
}

/// Returns the worst state. A finding with nothing to check does not count.
pub(super) fn state_of(findings: &[Finding]) -> State {
    let counts = |finding: &&Finding| match finding.state {
        State::NotConfigured => false,
        State::Unknown => finding.is_open,
        State::Green | State::Yellow | State::Red => true,
    };
    findings.iter().filter(counts).map(|finding| finding.state).max().unwrap_or(State::Unknown)
}

/// Returns the exit code. Red fails; red for credentials alone has its own code, whatever alarms follow from it. Yellow
/// works. A required check that was not possible makes the result partial; something that is not configured does not.
pub(super) fn exit_code(findings: &[Finding]) -> u8 {
    let red: Vec<_> = findings.iter().filter(|finding| finding.state == State::Red).collect();
    // That the service has stopped is an alarm too.
    let mut own = red.iter().filter(|finding| !["alarm", "service"].contains(&finding.check)).peekable();
    let is_credential = own.peek().is_some() && own.all(|finding| finding.is_authentication);
    match red.is_empty() {
        false if is_credential => exit::AUTHENTICATION,
        false => exit::FAILED,
        true if findings.iter().any(|finding| finding.is_open) => exit::PARTIAL,
        true => exit::COMPLETE,
    }
}

/// Returns the last line: how many findings there are of each state, what that means, and the exit code.
pub(super) fn summary(findings: &[Finding], code: u8) -> Text {
    let count = |state: State| {
        let count = findings.iter().filter(|finding| finding.state == state).count();
        (count > 0).then(|| Text::new(format!("doctor-count-{}", state.name())).with("count", count))
    };
    let counts: Vec<Text> = State::ALL.into_iter().filter_map(count).collect();
    let verdict = match (code, state_of(findings)) {
        (exit::CONFIGURATION, _) => text!("doctor-verdict-red"),
        (exit::AUTHENTICATION, _) => text!("doctor-verdict-authentication"),
        (exit::FAILED, _) => text!("doctor-verdict-red"),
        (exit::PARTIAL, _) => text!("doctor-verdict-open"),
        (_, State::Yellow) => text!("doctor-verdict-yellow"),
        _ => text!("doctor-verdict-green"),
    };
    text!("doctor-summary", counts = counts, verdict = verdict, code = code)
}

#[cfg(test)]
mod tests {
    use espelho_model::text::{Language, Locale};

    use super::*;

    #[test]
    fn a_finding_with_an_alarms_code_has_that_alarms_next_step() {
        for (finding, alarm) in [
            ("doctor-write-busy", "alarm-database-busy"),
            ("doctor-disk-full", "alarm-disk-full"),
            ("doctor-service-stopped", "alarm-service-stopped"),
            ("doctor-marketplace-unreachable", "alarm-marketplace-unreachable"),
            ("doctor-marketplace-errors", "alarm-marketplace-errors"),
            ("doctor-marketplace-throttled", "alarm-throttled"),
            ("doctor-clock-slow", "alarm-clock-behind"),
            ("doctor-clock-fast", "alarm-clock-ahead"),
            ("doctor-credential-refused", "alarm-credential-refused"),
            ("doctor-credential-foreign", "alarm-foreign-login"),
            ("doctor-scopes-missing", "alarm-scope-missing"),
            ("doctor-webhook-elsewhere", "alarm-webhook-elsewhere"),
        ] {
            for locale in Language::ALL.map(Locale::of) {
                let [of_finding, of_alarm] = [finding, alarm].map(|id| {
                    let values = [
                        ("store", "loja-1"),
                        ("place", "x"),
                        ("address", "y"),
                        ("holder", "z"),
                        ("process", "7"),
                        ("listen", "y"),
                        ("registered", "r"),
                        ("configured", "c"),
                        ("folder", "/f"),
                    ];
                    let text =
                        values.iter().fold(Text::new(id), |text, (name, value)| text.with(*name, *value));
                    text.next(locale).unwrap_or_default()
                });
                assert!(!of_alarm.is_empty() && !of_alarm.contains("{$"), "{of_alarm}");
                assert_eq!(of_finding, of_alarm, "{finding}");
            }
        }
    }

    #[test]
    fn the_exit_code_follows_from_the_worst_that_was_found() {
        let text = || Text::new("x");
        let [green, yellow, red] = [Finding::green, Finding::yellow, Finding::red].map(|make| make(text()));
        let [refused, absent, open] =
            [Finding::refused, Finding::absent, Finding::not_seen].map(|make| make(text()));
        let unasked = Finding::not_configured(text());
        let [alarm, service] = ["alarm", "service"].map(|name| red.clone().named(name, Duration::ZERO));
        for (findings, code, state) in [
            (vec![&green, &yellow], exit::COMPLETE, State::Yellow),
            (vec![&green, &absent], exit::COMPLETE, State::Green),
            (vec![&green, &unasked], exit::COMPLETE, State::Green),
            (vec![&unasked, &yellow], exit::COMPLETE, State::Yellow),
            (vec![&green, &open], exit::PARTIAL, State::Unknown),
            (vec![&refused, &green, &open], exit::AUTHENTICATION, State::Red),
            (vec![&refused, &red], exit::FAILED, State::Red),
            (vec![&refused, &alarm], exit::AUTHENTICATION, State::Red),
            (vec![&green, &alarm], exit::FAILED, State::Red),
            (vec![&service, &refused], exit::AUTHENTICATION, State::Red),
            (vec![&service, &green], exit::FAILED, State::Red),
            (vec![&yellow, &red, &open], exit::FAILED, State::Red),
            (vec![], exit::COMPLETE, State::Unknown),
        ] {
            let findings: Vec<Finding> = findings.into_iter().cloned().collect();
            assert_eq!((exit_code(&findings), state_of(&findings)), (code, state), "{findings:?}");
        }
    }

    #[test]
    fn the_last_line_counts_the_findings_and_says_what_they_mean() {
        let text = || Text::new("x");
        let [green, yellow, red] = [Finding::green, Finding::yellow, Finding::red].map(|make| make(text()));
        let [refused, absent, open, unasked] =
            [Finding::refused, Finding::absent, Finding::not_seen, Finding::not_configured]
                .map(|make| make(text()));
        for (findings, portuguese, english) in [
            (
                vec![&green, &green, &yellow, &unasked],
                "2 verdes, 1 amarelo, 1 não configurado: funciona, e algo pede atenção (código de saída do doctor: 0)",
                "2 green, 1 yellow, 1 not configured: it works, and something needs attention (exit code of doctor: 0)",
            ),
            (
                vec![&green, &absent, &unasked, &unasked],
                "1 verde, 1 desconhecido, 2 não configurados: tudo o que foi verificado funciona (código de saída do doctor: 0)",
                "1 green, 1 unknown, 2 not configured: everything that was checked works (exit code of doctor: 0)",
            ),
            (
                vec![&red, &refused],
                "2 vermelhos: algo não funciona (código de saída do doctor: 1)",
                "2 red: something does not work (exit code of doctor: 1)",
            ),
            (
                vec![&refused],
                "1 vermelho: com esta credencial não se entra no marketplace (código de saída do doctor: 4)",
                "1 red: this credential gives no access to the marketplace (exit code of doctor: 4)",
            ),
            (
                vec![&open],
                "1 desconhecido: nem tudo pôde ser verificado (código de saída do doctor: 3)",
                "1 unknown: not everything could be checked (exit code of doctor: 3)",
            ),
        ] {
            let findings: Vec<Finding> = findings.into_iter().cloned().collect();
            let said = [Language::Portuguese, Language::English]
                .map(|language| summary(&findings, exit_code(&findings)).message(Locale::of(language)));
            assert_eq!(said, [portuguese, english]);
        }
    }
}
