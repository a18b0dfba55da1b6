//! The kinds of failed connections and useless answers, for people: a few phrases that are the same each time. The words
//! of a library are English, and for logs and programs. Pure.

use std::io::ErrorKind;

use crate::{text, text::Text};

/// The way in which something elsewhere does not work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Symptom {
    /// The name has no address.
    NameUnknown,
    /// The other side accepts no connection.
    NoConnection,
    /// The certificate or the encryption is not accepted.
    NoTrust,
    /// No answer in time.
    TimedOut,
    /// The connection ended before the answer did.
    CutOff,
    /// The answer has this status.
    Status(u16),
    /// The answer is not what was asked for: another format, or another shape.
    NotReadable,
    /// The answer is too large.
    TooLarge,
    /// It answers with an error of its own, by this code.
    Refused(String),
    /// A file is not as it should be.
    File(String),
    /// Anything else.
    #[default]
    Other,
}

impl Symptom {
    /// Returns the phrase.
    pub fn text(&self) -> Text {
        match self {
            Self::NameUnknown => text!("symptom-name-unknown"),
            Self::NoConnection => text!("symptom-no-connection"),
            Self::NoTrust => text!("symptom-no-trust"),
            Self::TimedOut => text!("symptom-timed-out"),
            Self::CutOff => text!("symptom-cut-off"),
            Self::Status(status) => text!("symptom-status", status = status.to_string()),
            Self::NotReadable => text!("symptom-not-readable"),
            Self::TooLarge => text!("symptom-too-large"),
            Self::Refused(code) => text!("symptom-refused", code = code),
            Self::File(file) => text!("symptom-file", file = file),
            Self::Other => text!("symptom-other"),
        }
    }

    /// Tells what the system says of a connection; `None` if that says nothing.
    pub fn of_io(kind: ErrorKind) -> Option<Self> {
        Some(match kind {
            ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::AddrNotAvailable => Self::NoConnection,
            ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof => Self::CutOff,
            // An answer without TLS, or with a certificate that nobody trusts, is invalid data of a connection.
            ErrorKind::InvalidData => Self::NoTrust,
            _ => return None,
        })
    }

    /// Tells what the English words of a library mean; [`Symptom::Other`] if they are none that is known.
    pub fn of_words(words: &str) -> Self {
        let words = words.to_ascii_lowercase();
        let says = |some: &[&str]| some.iter().any(|part| words.contains(part));
        if let Some(status) = status_in(&words) {
            return Self::Status(status);
        }
        if says(&["dns error", "failed to lookup", "name or service", "nodename nor servname"]) {
            Self::NameUnknown
        } else if says(&["certificate", "tls", "handshake", "corrupt message"]) {
            Self::NoTrust
        } else if says(&["timed out", "timeout", "no answer", "deadline"]) {
            Self::TimedOut
        } else if says(&["reset", "closed", "broken pipe", "unexpected eof", "incomplete"]) {
            Self::CutOff
        } else if says(&["refused", "unreachable", "connect"]) {
            Self::NoConnection
        } else {
            Self::Other
        }
    }
}

/// Returns the status in `http 503`.
fn status_in(words: &str) -> Option<u16> {
    let (_, after) = words.split_once("http ")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|status| (100..600).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Language, Locale};

    #[test]
    fn the_words_of_libraries_are_told_apart() {
        for (words, expected) in [
            ("HTTP 503", Symptom::Status(503)),
            ("HTTP 999999", Symptom::Other),
            ("Connection refused (os error 111)", Symptom::NoConnection),
            ("Network is unreachable (os error 101)", Symptom::NoConnection),
            ("failed to lookup address information: Name or service not known", Symptom::NameUnknown),
            ("invalid peer certificate: UnknownIssuer", Symptom::NoTrust),
            ("operation timed out", Symptom::TimedOut),
            ("no answer in 25 s", Symptom::TimedOut),
            ("Connection reset by peer (os error 104)", Symptom::CutOff),
            ("exit status: 7", Symptom::Other),
            ("", Symptom::Other),
        ] {
            assert_eq!(Symptom::of_words(words), expected, "{words}");
        }
    }

    #[test]
    fn what_the_system_says_of_a_connection_is_a_symptom() {
        for (kind, expected) in [
            (ErrorKind::ConnectionRefused, Some(Symptom::NoConnection)),
            (ErrorKind::TimedOut, Some(Symptom::TimedOut)),
            (ErrorKind::UnexpectedEof, Some(Symptom::CutOff)),
            (ErrorKind::InvalidData, Some(Symptom::NoTrust)),
            (ErrorKind::Other, None),
        ] {
            assert_eq!(Symptom::of_io(kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn every_symptom_has_a_phrase_in_both_languages() {
        let all = [
            Symptom::NameUnknown,
            Symptom::NoConnection,
            Symptom::NoTrust,
            Symptom::TimedOut,
            Symptom::CutOff,
            Symptom::Status(503),
            Symptom::NotReadable,
            Symptom::TooLarge,
            Symptom::Refused("08006".into()),
            Symptom::File("/x".into()),
            Symptom::Other,
        ];
        for symptom in all {
            let text = symptom.text();
            let [portuguese, english] = Language::ALL.map(|language| text.message(Locale::of(language)));
            assert!(text.is_known() && portuguese != english, "{portuguese} / {english}");
        }
    }
}
