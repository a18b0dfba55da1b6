//! Error texts for people: a code for tables, the cause and the next step.

use espelho_model::{
    symptom::Symptom,
    text,
    text::{Language, Locale, Text},
};

use super::{Documented, Error, Refusal};

impl Error {
    /// Returns a short stable code for tables and reports.
    pub fn code(&self) -> String {
        match self {
            Self::Setup(_) => "setup".into(),
            Self::Unreachable { .. } => "unreachable".into(),
            Self::Interrupted { .. } => "interrupted".into(),
            Self::TooLarge { .. } => "too_large".into(),
            Self::Unreadable { .. } => "unreadable".into(),
            Self::Unexpected { .. } => "unexpected".into(),
            Self::AddressRefused { .. } => "address_refused".into(),
            Self::AddressExpired { .. } => "address_expired".into(),
            Self::FileRefused { status, .. } => format!("file_http_{status}"),
            Self::Refused { status, refusal, .. } => {
                refusal.code().map_or_else(|| format!("http_{status}"), str::to_owned)
            }
            Self::LoginRefused { .. } => "login_refused".into(),
            Self::LoginFailed { source, .. } if matches!(**source, Self::Unreachable { .. }) => {
                "unreachable".into()
            }
            Self::LoginFailed { source, .. } if source.is_not_ours() => source.code(),
            Self::LoginFailed { source, .. } if matches!(**source, Self::Refused { status: 429, .. }) => {
                "login_limited".into()
            }
            Self::LoginFailed { .. } => "login_failed".into(),
            Self::ForeignLogin { .. } => "foreign_login".into(),
            Self::NotOurs { .. } => "held".into(),
            Self::Stopped { .. } => "stopped".into(),
            Self::TokenStore { .. } | Self::QuotaStore { .. } => "database".into(),
        }
    }

    /// Returns the text for people: the cause and the next step.
    pub fn text(&self) -> Text {
        match self {
            Self::Setup(problem) => text!("api-setup", problem = problem),
            Self::Unreachable { host, .. } => text!("api-unreachable", host = host),
            Self::Interrupted { .. } => text!("api-interrupted"),
            Self::TooLarge { limit_mib, .. } => text!("api-too-large", mib = *limit_mib),
            Self::Unreadable { status, content_type, .. } => {
                text!("api-unreadable", status = *status, content = content_type)
            }
            Self::Unexpected { problem, .. } => text!("api-unexpected", problem = problem),
            Self::AddressRefused { file, objection } => {
                let kind = if objection.contains("labels.hosts") { "hosts" } else { "address" };
                text!("api-address-refused", kind = kind, file = file)
            }
            Self::AddressExpired { status, .. } => text!("api-address-expired", status = *status),
            Self::FileRefused { status, .. } => text!("api-file-refused", status = *status),
            Self::Refused { status, refusal, .. } => self.refused(*status, refusal),
            Self::LoginRefused { username, status, refusal } => {
                text!("api-login-refused", username = username, status = *status, words = quoted(refusal))
            }
            Self::LoginFailed { source, .. } => source.text(),
            Self::ForeignLogin { username, times } => {
                text!("api-foreign-login", username = username, times = *times)
            }
            Self::NotOurs { .. } => text!("api-not-ours"),
            Self::Stopped { .. } => text!("run-stopped"),
            Self::TokenStore { .. } => text!("api-no-token-record"),
            Self::QuotaStore { .. } => text!("api-no-budget-record"),
        }
    }

    /// Returns the next step in English, for logs.
    pub fn hint(&self) -> String {
        self.text().next(Locale::of(Language::English)).unwrap_or_default()
    }

    /// Tells how the call failed, for people.
    pub fn symptom(&self) -> Symptom {
        match self {
            Self::Unreachable { source, .. } => of_connection(source, Symptom::NoConnection),
            Self::Interrupted { source, .. } => of_connection(source, Symptom::CutOff),
            Self::TooLarge { .. } => Symptom::TooLarge,
            // A status that says trouble says more than the page that comes with it.
            Self::Unreadable { status, .. } if !(200..=299).contains(status) => Symptom::Status(*status),
            Self::Unreadable { .. } | Self::Unexpected { .. } => Symptom::NotReadable,
            Self::Refused { status, .. } | Self::LoginRefused { status, .. } => Symptom::Status(*status),
            Self::LoginFailed { source, .. } => source.symptom(),
            _ => Symptom::Other,
        }
    }

    fn refused(&self, status: u16, refusal: &Refusal) -> Text {
        let kind = self.kind().unwrap_or(Documented::Unknown);
        let abilities = match &kind {
            Documented::MissingAbilities(abilities) if !abilities.is_empty() => abilities.join(", "),
            _ => "none".to_owned(),
        };
        text!(
            "api-refused",
            status = status,
            words = quoted(refusal),
            kind = kind.word(status),
            abilities = abilities
        )
    }
}

/// Tells how a connection failed, as far as the system says it.
fn of_connection(error: &reqwest::Error, otherwise: Symptom) -> Symptom {
    match error.is_timeout() {
        true => Symptom::TimedOut,
        false => Symptom::of_connection(error).unwrap_or(otherwise),
    }
}

/// Returns the marketplace's own sentences, or `none`. Its code tells people no more than the status does.
fn quoted(refusal: &Refusal) -> String {
    let words = refusal.for_people();
    if words.is_empty() { "none".to_owned() } else { words }
}
