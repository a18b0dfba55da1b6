//! What can go wrong with a call, and what that means for whoever asked.

use std::{error::Error as StdError, time::Duration};

use serde::Deserialize;
use serde_json::value::RawValue;

/// What an error means for the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The same call may succeed later, not before `after` if the server said so.
    Transient {
        /// The wait that the server asked for.
        after: Option<Duration>,
    },
    /// The token was not accepted; with a new one the call may succeed.
    Reauthenticate,
    /// The same call will fail again.
    Permanent,
    /// A write whose effect is not known. It is settled by reading, never by sending again.
    Ambiguous,
}

/// The error envelope of the document, read leniently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// `message_code`, empty when absent.
    pub message_code: String,
    /// `description`, in Brazilian Portuguese.
    pub description: String,
    /// `errors`, flattened: strings as they are, fields as `field: text`.
    pub errors: Vec<String>,
}

/// A boxed error of a collaborator (the token's vault, the budget's ledger).
pub type BoxedError = Box<dyn StdError + Send + Sync>;

/// Why a call did not give an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The base address or an option cannot be used.
    #[error("the client cannot be set up: {0}")]
    Setup(String),
    /// No connection: nothing was sent.
    #[error("{request}: no connection to {host}")]
    Unreachable {
        /// The call.
        request: String,
        /// The host that did not answer.
        host: String,
        /// The cause.
        source: reqwest::Error,
    },
    /// The call went out and no whole answer came back.
    #[error("{request}: the answer did not arrive whole")]
    Interrupted {
        /// The call.
        request: String,
        /// Whether the call was a read.
        read: bool,
        /// The cause.
        source: reqwest::Error,
    },
    /// An answer larger than any honest one.
    #[error("{request}: the answer is larger than {limit_mib} MiB")]
    TooLarge {
        /// The call.
        request: String,
        /// The cap.
        limit_mib: usize,
    },
    /// An answer that is not JSON, or ends before its JSON does.
    #[error(
        "{request}: answered {status} with {content_type} that cannot be read ({problem}){}",
        shown(excerpt)
    )]
    Unreadable {
        /// The call.
        request: String,
        /// Whether the call was a read.
        read: bool,
        /// The HTTP status.
        status: u16,
        /// The content type, or "no content type".
        content_type: String,
        /// What is wrong with it.
        problem: String,
        /// The beginning of the body.
        excerpt: String,
    },
    /// Whole JSON of a shape that the document does not describe.
    #[error("{request}: the answer is not what was asked for ({problem})")]
    Unexpected {
        /// The call.
        request: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The marketplace refused the call.
    #[error("{request}: refused with {status}{}", refusal.in_words())]
    Refused {
        /// The call.
        request: String,
        /// Whether the call was a read.
        read: bool,
        /// The HTTP status.
        status: u16,
        /// What the server said.
        refusal: Refusal,
        /// The wait that the server asked for (429 and 503).
        after: Option<Duration>,
    },
    /// The credential was not accepted.
    #[error("login of {username:?} refused with {status}{}", refusal.in_words())]
    LoginRefused {
        /// The username of the credential.
        username: String,
        /// The HTTP status.
        status: u16,
        /// What the server said.
        refusal: Refusal,
    },
    /// The login had no answer, or one that cannot be read. The answer itself is not shown: it may hold a token.
    #[error("login of {username:?} had no usable answer")]
    LoginFailed {
        /// The username of the credential.
        username: String,
        /// The cause.
        source: Box<Error>,
    },
    /// Our token was replaced again and again: another program logs in with the same credential.
    #[error("the token of {username:?} was invalidated {times} times within an hour")]
    ForeignLogin {
        /// The username of the credential.
        username: String,
        /// How often we had to log in again.
        times: usize,
    },
    /// The token could not be read or kept.
    #[error("the token record could not be {action}")]
    Vault {
        /// `read` or `written`.
        action: &'static str,
        /// The cause.
        source: BoxedError,
    },
    /// The budget's ledger could not be read or kept.
    #[error("the record of the request budget could not be {action}")]
    Ledger {
        /// `read` or `written`.
        action: &'static str,
        /// The cause.
        source: BoxedError,
    },
}

impl Error {
    /// What the error means for the next step.
    pub fn class(&self) -> Class {
        let later = Class::Transient { after: None };
        let unknown = |read: &bool| if *read { later } else { Class::Ambiguous };
        match self {
            Self::Unreachable { .. } => later,
            Self::LoginFailed { source, .. } => match source.class() {
                // A login may be repeated: it only replaces the token whose answer was lost.
                Class::Ambiguous => later,
                class => class,
            },
            Self::Interrupted { read, .. } => unknown(read),
            Self::Unreadable { read, status: 200..=299 | 408 | 500.., .. } => unknown(read),
            Self::Refused { status: 401, .. } => Class::Reauthenticate,
            Self::Refused { status: 429, after, .. } => Class::Transient { after: *after },
            Self::Refused { read: true, status: 503, after, .. } => Class::Transient { after: *after },
            Self::Refused { read, status: 408 | 500.., .. } => unknown(read),
            // A 2xx that says `success: false` is no promise in either direction.
            Self::Refused { read: false, status: 200..=299, .. } => Class::Ambiguous,
            _ => Class::Permanent,
        }
    }

    /// Whether the marketplace refused to look at the call, being asked too often.
    pub(crate) fn is_too_many(&self) -> bool {
        matches!(self, Self::Refused { status: 429, .. })
    }

    /// Whether the call never left: there was no connection.
    pub fn was_never_sent(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::LoginFailed { source, .. } => source.was_never_sent(),
            _ => false,
        }
    }

    /// Whether the cause lies with the credential.
    pub fn is_authentication(&self) -> bool {
        matches!(
            self,
            Self::LoginRefused { .. } | Self::ForeignLogin { .. } | Self::Refused { status: 401, .. }
        )
    }

    /// A short stable code for tables and reports.
    pub fn code(&self) -> String {
        match self {
            Self::Setup(_) => "setup".into(),
            Self::Unreachable { .. } => "unreachable".into(),
            Self::Interrupted { .. } => "interrupted".into(),
            Self::TooLarge { .. } => "too_large".into(),
            Self::Unreadable { .. } => "unreadable".into(),
            Self::Unexpected { .. } => "unexpected".into(),
            Self::Refused { status, refusal, .. } if refusal.message_code.is_empty() => {
                format!("http_{status}")
            }
            Self::Refused { refusal, .. } => refusal.message_code.clone(),
            Self::LoginRefused { .. } => "login_refused".into(),
            Self::LoginFailed { source, .. } if matches!(**source, Self::Unreachable { .. }) => {
                "unreachable".into()
            }
            Self::LoginFailed { .. } => "login_failed".into(),
            Self::ForeignLogin { .. } => "foreign_login".into(),
            Self::Vault { .. } | Self::Ledger { .. } => "database".into(),
        }
    }

    /// What to do about it, in one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Setup(_) => "correct the store's file and run `espelho check`",
            Self::Unreachable { .. } => {
                "check base_url, DNS and the network, then run again: it resumes where it stopped"
            }
            Self::Interrupted { .. } => {
                "the marketplace or the network broke off; run again later, it resumes where it stopped"
            }
            Self::TooLarge { .. } => "tell the marketplace's support which address answers so much",
            Self::Unreadable { .. } => {
                "something other than the API answered (a proxy, a maintenance page); check base_url or run again later"
            }
            Self::Unexpected { .. } => {
                "the marketplace's API differs from its document here: report it with this message"
            }
            Self::Refused { status: 403, .. } => {
                "the credential lacks a scope: add the abilities named here to it in the seller portal"
            }
            Self::Refused { status: 404, .. } => {
                "the marketplace does not have it (any more), or base_url points elsewhere"
            }
            Self::Refused { status: 429, .. } => {
                "another program spends this store's requests; lower requests_per_minute or stop it"
            }
            Self::Refused { status: 500.., .. } => {
                "the marketplace has a fault; run again later, it resumes where it stopped"
            }
            Self::Refused { .. } => "the marketplace refuses this call as it is; see its words",
            Self::LoginFailed { source, .. } => source.hint(),
            Self::LoginRefused { .. } => {
                "check username and password of the store's credential in the seller portal"
            }
            Self::ForeignLogin { .. } => {
                "another program logs in with this credential and ends our token each time: create one credential for each program"
            }
            Self::Vault { .. } | Self::Ledger { .. } => "see the database's own message",
        }
    }
}

/// The beginning of an answer, where there is one to show.
fn shown(excerpt: &str) -> String {
    if excerpt.is_empty() { String::new() } else { format!(": {excerpt:?}") }
}

impl Refusal {
    /// Reads the error envelope; anything else gives an empty refusal.
    pub(crate) fn parse(body: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Envelope<'a> {
            #[serde(default)]
            message_code: Option<String>,
            #[serde(default, alias = "message")]
            description: Option<String>,
            #[serde(borrow, default)]
            errors: Option<&'a RawValue>,
        }
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(body) else { return Self::default() };
        Self {
            message_code: presentable(&envelope.message_code.unwrap_or_default()),
            description: presentable(&envelope.description.unwrap_or_default()),
            errors: envelope.errors.map(|errors| flatten(errors.get())).unwrap_or_default(),
        }
    }

    /// Whether the refusal is about this field or parameter.
    pub fn names(&self, field: &str) -> bool {
        let about = |text: &String| {
            text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == field)
        };
        self.errors.iter().any(about) || about(&self.description)
    }

    /// The server's words, ready to follow a status.
    fn in_words(&self) -> String {
        let mut words = String::new();
        for part in [&self.message_code, &self.description].into_iter().chain(&self.errors) {
            if !part.is_empty() {
                words.push_str(if words.is_empty() { ": " } else { "; " });
                words.push_str(part);
            }
        }
        words
    }
}

/// `errors` is a list of strings or an object of lists of strings (API document, "Error envelope").
fn flatten(errors: &str) -> Vec<String> {
    match serde_json::from_str(errors) {
        Ok(serde_json::Value::Array(list)) => list.iter().map(plain).collect(),
        Ok(serde_json::Value::Object(fields)) => fields
            .iter()
            .flat_map(|(field, texts)| texts_of(texts).into_iter().map(move |t| format!("{field}: {t}")))
            .collect(),
        _ => Vec::new(),
    }
}

fn texts_of(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::Array(list) => list.iter().map(plain).collect(),
        other => vec![plain(other)],
    }
}

fn plain(value: &serde_json::Value) -> String {
    presentable(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Makes a server's words fit for a terminal, a log and a table: no secrets, no control characters (which could
/// forge lines of a report), and not without end.
pub(crate) fn presentable(words: &str) -> String {
    let mut text = String::new();
    for character in words.chars().take(LONGEST_WORDS) {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    for prefix in ["sk_live_", "whsec_", "Bearer "] {
        text = without_secret(&text, prefix);
    }
    text
}

/// The most of a server's words that anybody wants to read.
const LONGEST_WORDS: usize = 500;

fn without_secret(text: &str, prefix: &str) -> String {
    let mut parts = text.split(prefix);
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let secret =
            part.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.~+/=".contains(c))).unwrap_or(part.len());
        clean.push_str(prefix);
        clean.push_str("[REDACTED]");
        clean.push_str(&part[secret..]);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, read: bool) -> Class {
        Error::Refused { request: "GET /".into(), read, status, refusal: Refusal::default(), after: None }
            .class()
    }

    #[test]
    fn every_status_has_the_class_that_its_meaning_gives_it() {
        for status in 100..=599 {
            let expected_read = match status {
                401 => Class::Reauthenticate,
                408 | 429 | 500.. => Class::Transient { after: None },
                _ => Class::Permanent,
            };
            let expected_write = match status {
                401 => Class::Reauthenticate,
                429 => Class::Transient { after: None },
                200..=299 | 408 | 500.. => Class::Ambiguous,
                _ => Class::Permanent,
            };
            assert_eq!(refused(status, true), expected_read, "read {status}");
            assert_eq!(refused(status, false), expected_write, "write {status}");
        }
    }

    #[test]
    fn a_servers_words_carry_neither_secrets_nor_control_characters() {
        let check = |words: &str, expected: &str| assert_eq!(presentable(words), expected);
        check("token sk_live_abc-123.x, dito", "token sk_live_[REDACTED], dito");
        check("\"whsec_9\"", "\"whsec_[REDACTED]\"");
        check("linha\n\u{1b}[31mFALSO", "linha\\n\\u{1b}[31mFALSO");
        assert_eq!(presentable(&"á".repeat(10_000)).chars().count(), 500);
    }

    #[test]
    fn both_forms_of_errors_are_read_into_words() {
        let list = Refusal::parse(br#"{"success":false,"code":403,"message_code":"FORBIDDEN","description":"Sem permiss\u00e3o","data":[],"errors":["store_products_read"],"meta":[]}"#);
        assert_eq!(list.in_words(), ": FORBIDDEN; Sem permissão; store_products_read");
        let fields = Refusal::parse(br#"{"errors":{"limit":["muito alto","outro"]}}"#);
        assert_eq!(fields.errors, ["limit: muito alto", "limit: outro"]);
        assert!(fields.names("limit") && !fields.names("sort"));
        assert_eq!(Refusal::parse(b"<html>").in_words(), "");
    }
}
