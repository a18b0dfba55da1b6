//! The kinds of failed connections and useless answers, for people: a few phrases that are the same each time. The words
//! of a library are English, and for logs and programs. Pure.

use std::{
    error::Error,
    io::{self, ErrorKind},
    net::IpAddr,
};

use serde::{Deserialize, Serialize};

use crate::{text, text::Text};

/// The way in which something elsewhere does not work. Its JSON is kept with what it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Symptom {
    /// The name has no address.
    NameUnknown,
    /// The other side answers that nothing listens there.
    ConnectionRefused,
    /// No connection came about.
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
    /// The database refuses, for a known reason, by this code.
    Database(DatabaseRefusal, String),
    /// A file is not as it should be.
    File(String),
    /// Anything else.
    #[default]
    Other,
}

/// The usual reasons of a database that refuses. Each has a phrase and a next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseRefusal {
    /// It accepts no connections.
    Closed,
    /// The server is starting or stopping.
    Restarting,
    /// The server has no database of this name.
    Unknown,
    /// All of the server's connections are in use.
    Connections,
    /// The server lacks memory, or another resource.
    Resources,
    /// The disk is full.
    Full,
    /// Another program holds a lock.
    Busy,
    /// It accepts no write.
    ReadOnly,
    /// It does not accept the user or the password.
    Login,
    /// The user lacks a permission.
    Rights,
    /// The data are damaged.
    Damaged,
    /// The disk fails to read or to write.
    Disk,
    /// The file cannot be opened.
    File,
}

impl DatabaseRefusal {
    fn text(self, code: &str) -> Text {
        let text = match self {
            Self::Closed => text!("symptom-database-closed"),
            Self::Restarting => text!("symptom-database-restarting"),
            Self::Unknown => text!("symptom-database-unknown"),
            Self::Connections => text!("symptom-database-connections"),
            Self::Resources => text!("symptom-database-resources"),
            Self::Full => text!("symptom-database-full"),
            Self::Busy => text!("symptom-database-busy"),
            Self::ReadOnly => text!("symptom-database-read-only"),
            Self::Login => text!("symptom-database-login"),
            Self::Rights => text!("symptom-database-rights"),
            Self::Damaged => text!("symptom-database-damaged"),
            Self::Disk => text!("symptom-database-disk"),
            Self::File => text!("symptom-database-file"),
        };
        text.with("code", code)
    }
}

impl Symptom {
    /// Returns the phrase.
    pub fn text(&self) -> Text {
        match self {
            Self::NameUnknown => text!("symptom-name-unknown"),
            Self::ConnectionRefused => text!("symptom-connection-refused"),
            Self::NoConnection => text!("symptom-no-connection"),
            Self::NoTrust => text!("symptom-no-trust"),
            Self::TimedOut => text!("symptom-timed-out"),
            Self::CutOff => text!("symptom-cut-off"),
            Self::Status(status) => text!("symptom-status", status = status.to_string()),
            Self::NotReadable => text!("symptom-not-readable"),
            Self::TooLarge => text!("symptom-too-large"),
            Self::Refused(code) => text!("symptom-refused", code = code),
            Self::Database(refusal, code) => refusal.text(code),
            Self::File(file) => text!("symptom-file", file = file),
            Self::Other => text!("symptom-other"),
        }
    }

    /// Returns where the fault may lie, by which the next step is chosen: `refused` is the other side's, because its machine
    /// answered; `name` is this network's, or a wrong address; `trust` lies between two sides that hear each other; `network`
    /// may be either's. The server of an address of this machine, as a sandbox's, is the operator's own: `own`.
    pub fn fault(&self, address: &str) -> &'static str {
        match self {
            _ if is_of_this_machine(address) => "own",
            Self::ConnectionRefused => "refused",
            Self::NameUnknown => "name",
            Self::NoTrust => "trust",
            _ => "network",
        }
    }

    /// Tells what the system says of a connection; `None` if that says nothing.
    pub fn of_io(kind: ErrorKind) -> Option<Self> {
        Some(match kind {
            ErrorKind::ConnectionRefused => Self::ConnectionRefused,
            ErrorKind::HostUnreachable
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

    /// Tells what an error of the system says of a connection; `None` if that says nothing.
    pub fn of_io_error(error: &io::Error) -> Option<Self> {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<io::Error>());
        if let Some(symptom) = inner.and_then(Self::of_io_error).or_else(|| Self::of_io(error.kind())) {
            return Some(symptom);
        }
        // The system's resolver alone fails without a code and without a kind that anybody can name.
        let is_resolvers = error.raw_os_error().is_none() && error.kind() != ErrorKind::Other;
        is_resolvers.then_some(Self::NameUnknown)
    }

    /// Tells how a connection failed, by the innermost of an error's causes that is the system's; `None` if none is, or says
    /// nothing.
    pub fn of_connection(error: &(dyn Error + 'static)) -> Option<Self> {
        let causes: Vec<_> = std::iter::successors(Some(error), |&cause| cause.source()).collect();
        causes.iter().rev().find_map(|cause| Self::of_io_error(cause.downcast_ref::<io::Error>()?))
    }
}

/// Returns host and port of an address.
pub fn host_of(address: &str) -> &str {
    address.split_once("://").map_or(address, |(_, rest)| rest).split('/').next().unwrap_or_default()
}

fn is_of_this_machine(address: &str) -> bool {
    let authority = host_of(address);
    let host = match authority.split_once(']') {
        Some((host, _)) => host.trim_start_matches('['),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Language, Locale};

    #[test]
    fn what_the_system_says_of_a_connection_is_a_symptom() {
        for (kind, expected) in [
            (ErrorKind::ConnectionRefused, Some(Symptom::ConnectionRefused)),
            (ErrorKind::NetworkUnreachable, Some(Symptom::NoConnection)),
            (ErrorKind::TimedOut, Some(Symptom::TimedOut)),
            (ErrorKind::UnexpectedEof, Some(Symptom::CutOff)),
            (ErrorKind::InvalidData, Some(Symptom::NoTrust)),
            (ErrorKind::Other, None),
        ] {
            assert_eq!(Symptom::of_io(kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn a_connection_is_judged_by_the_innermost_error_of_the_system() {
        let of = |kind: ErrorKind| io::Error::new(kind, "said");
        let refused = || io::Error::from_raw_os_error(111);
        for (error, expected) in [
            (refused(), Some(Symptom::ConnectionRefused)),
            (io::Error::other(refused()), Some(Symptom::ConnectionRefused)),
            (io::Error::new(ErrorKind::TimedOut, refused()), Some(Symptom::ConnectionRefused)),
            (io::Error::new(ErrorKind::InvalidData, "certificate"), Some(Symptom::NoTrust)),
            // As the resolver's: no code, and a kind that says nothing of connections.
            (of(ErrorKind::NotFound), Some(Symptom::NameUnknown)),
            (io::Error::from_raw_os_error(2), None),
            (of(ErrorKind::Other), None),
        ] {
            let shown = format!("{error:?}");
            assert_eq!(Symptom::of_io_error(&error), expected, "{shown}");
            assert_eq!(Symptom::of_connection(&error), expected, "{shown}");
        }
        assert_eq!(Symptom::of_connection(&std::fmt::Error), None);
    }

    #[test]
    fn the_fault_of_a_connection_tells_this_network_from_the_other_side() {
        for (symptom, expected) in [
            (Symptom::ConnectionRefused, "refused"),
            (Symptom::NameUnknown, "name"),
            (Symptom::NoTrust, "trust"),
            (Symptom::NoConnection, "network"),
            (Symptom::TimedOut, "network"),
            (Symptom::CutOff, "network"),
            (Symptom::Other, "network"),
        ] {
            assert_eq!(symptom.fault("https://marketplace.example"), expected, "{symptom:?}");
            for own in [
                "http://127.0.0.1:8080",
                "http://localhost:8080/api",
                "http://[::1]:8080",
                "http://LOCALHOST",
            ] {
                assert_eq!(symptom.fault(own), "own", "{symptom:?}");
            }
            for others in ["https://localhost.example.com", "https://127.example", "https://[2001:db8::1]"] {
                assert_eq!(symptom.fault(others), expected, "{symptom:?}");
            }
        }
    }

    #[test]
    fn a_symptom_is_kept_as_it_is() {
        for (symptom, json) in [
            (Symptom::ConnectionRefused, r#""connection_refused""#),
            (Symptom::TimedOut, r#""timed_out""#),
            (Symptom::Status(503), r#"{"status":503}"#),
            (Symptom::Refused("450".into()), r#"{"refused":"450"}"#),
            (
                Symptom::Database(DatabaseRefusal::ReadOnly, "25006".into()),
                r#"{"database":["read_only","25006"]}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&symptom).unwrap(), json);
            assert_eq!(serde_json::from_str::<Symptom>(json).unwrap(), symptom);
        }
    }

    #[test]
    fn a_database_that_refuses_has_a_phrase_with_its_code_and_a_next_step() {
        use DatabaseRefusal::{
            Busy, Closed, Connections, Damaged, Disk, File, Full, Login, ReadOnly, Resources, Restarting,
            Rights, Unknown,
        };
        for refusal in [
            Closed,
            Restarting,
            Unknown,
            Connections,
            Resources,
            Full,
            Busy,
            ReadOnly,
            Login,
            Rights,
            Damaged,
            Disk,
            File,
        ] {
            let text = Symptom::Database(refusal, "55000".into()).text();
            let [portuguese, english] = Language::ALL.map(|language| {
                let locale = Locale::of(language);
                (text.message(locale), text.next(locale).unwrap_or_default())
            });
            assert!(portuguese.0.ends_with("(55000)") && english.0.ends_with("(55000)"), "{portuguese:?}");
            assert!(portuguese.0 != english.0 && portuguese.1 != english.1, "{refusal:?}");
            assert!(!portuguese.1.is_empty() && !english.1.is_empty(), "{refusal:?}");
        }
        let closed = Symptom::Database(Closed, "55000".into()).text();
        assert_eq!(closed.message(Locale::default()), "ele não aceita mais conexões (55000)");
    }

    #[test]
    fn every_symptom_has_a_phrase_in_both_languages() {
        let all = [
            Symptom::NameUnknown,
            Symptom::ConnectionRefused,
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
