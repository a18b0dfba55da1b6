//! Classifies a failure of the database for people: a full disk, a lock, no writes, no answer.

use std::borrow::Cow;

use espelho_model::symptom::{DatabaseRefusal, Symptom};
use sqlx::{error::DatabaseError, postgres::PgDatabaseError};

use crate::Error;

/// The kinds of trouble with a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseTrouble {
    /// The disk is full.
    Full,
    /// Another program holds a lock.
    Busy,
    /// It answers, and accepts no write.
    ReadOnly,
    /// No answer.
    Unreachable,
}

impl Error {
    /// The kind of trouble behind a failed write or read.
    ///
    /// [`DatabaseTrouble::Busy`] passes by itself: another program holds what was asked for.
    pub fn trouble(&self) -> DatabaseTrouble {
        match self {
            Self::Statement { source, .. } | Self::Connect { source, .. } => of_driver(source),
            _ => DatabaseTrouble::Unreachable,
        }
    }

    /// How a statement or a connection failed, for people: by the database's own code, else by what the connection says.
    pub fn symptom(&self) -> Symptom {
        match self {
            Self::Statement { source, .. } | Self::Connect { source, .. } => symptom_of_driver(source),
            _ => Symptom::Other,
        }
    }
}

fn of_driver(error: &sqlx::Error) -> DatabaseTrouble {
    match error {
        sqlx::Error::Database(refusal) => of_code(&refusal.code().unwrap_or_default()),
        sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::StorageFull => DatabaseTrouble::Full,
        sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::ReadOnlyFilesystem => {
            DatabaseTrouble::ReadOnly
        }
        _ => DatabaseTrouble::Unreachable,
    }
}

fn symptom_of_driver(error: &sqlx::Error) -> Symptom {
    match error {
        sqlx::Error::Database(refusal) => {
            let Some(code) = refusal.code().map(Cow::into_owned) else { return Symptom::Other };
            match refusal_of(&code) {
                Some(DatabaseRefusal::Closed) if !is_of_connection(&**refusal) => Symptom::Refused(code),
                Some(refusal) => Symptom::Database(refusal, code),
                None => Symptom::Refused(code),
            }
        }
        sqlx::Error::Io(error) => Symptom::of_io_error(error).unwrap_or_default(),
        sqlx::Error::Tls(_) => Symptom::NoTrust,
        sqlx::Error::PoolTimedOut => Symptom::TimedOut,
        sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => Symptom::CutOff,
        _ => Symptom::Other,
    }
}

/// Tells if PostgreSQL refused the connection and not a statement, which it may refuse by the same code for other reasons.
fn is_of_connection(refusal: &dyn DatabaseError) -> bool {
    let refusal = refusal.try_downcast_ref::<PgDatabaseError>();
    refusal.is_some_and(|refusal| refusal.routine() == Some("CheckMyDatabase"))
}

fn of_code(code: &str) -> DatabaseTrouble {
    match refusal_of(code) {
        Some(DatabaseRefusal::Full) => DatabaseTrouble::Full,
        Some(DatabaseRefusal::Busy) => DatabaseTrouble::Busy,
        Some(DatabaseRefusal::ReadOnly) => DatabaseTrouble::ReadOnly,
        _ => DatabaseTrouble::Unreachable,
    }
}

/// Returns the reason that a code stands for, if it is a usual one. SQLite's codes are numbers whose lowest byte is the
/// primary code; PostgreSQL's have five characters.
fn refusal_of(code: &str) -> Option<DatabaseRefusal> {
    if code.len() != 5 {
        return match code.parse::<u32>().ok()? & 0xff {
            5 | 6 => Some(DatabaseRefusal::Busy),
            3 | 23 => Some(DatabaseRefusal::Rights),
            8 => Some(DatabaseRefusal::ReadOnly),
            10 => Some(DatabaseRefusal::Disk),
            11 | 26 => Some(DatabaseRefusal::Damaged),
            13 => Some(DatabaseRefusal::Full),
            14 => Some(DatabaseRefusal::File),
            _ => None,
        };
    }
    Some(match code {
        "25006" => DatabaseRefusal::ReadOnly,
        "28000" | "28P01" => DatabaseRefusal::Login,
        "3D000" | "57P04" => DatabaseRefusal::Unknown,
        "42501" => DatabaseRefusal::Rights,
        "53100" => DatabaseRefusal::Full,
        "53300" => DatabaseRefusal::Connections,
        "55000" => DatabaseRefusal::Closed,
        // Lock not available, deadlock, cancelled by a time-out.
        "55P03" | "40P01" | "57014" => DatabaseRefusal::Busy,
        "57P01" | "57P02" | "57P03" => DatabaseRefusal::Restarting,
        "58030" => DatabaseRefusal::Disk,
        "XX001" | "XX002" => DatabaseRefusal::Damaged,
        _ if code.starts_with("53") => DatabaseRefusal::Resources,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_by_the_connection_where_the_database_says_nothing() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        for (source, expected) in [
            (sqlx::Error::Io(refused), Symptom::ConnectionRefused),
            (sqlx::Error::Tls("invalid peer certificate".into()), Symptom::NoTrust),
            (sqlx::Error::PoolTimedOut, Symptom::TimedOut),
            (sqlx::Error::WorkerCrashed, Symptom::CutOff),
            (sqlx::Error::RowNotFound, Symptom::Other),
        ] {
            assert_eq!(Error::Statement { operation: "read", source }.symptom(), expected);
        }
    }

    #[test]
    fn the_usual_refusals_of_both_databases_have_a_reason_and_others_their_code() {
        use DatabaseRefusal as Reason;
        for (code, expected) in [
            ("55000", Some(Reason::Closed)),
            ("57P01", Some(Reason::Restarting)),
            ("57P03", Some(Reason::Restarting)),
            ("57P04", Some(Reason::Unknown)),
            ("3D000", Some(Reason::Unknown)),
            ("53300", Some(Reason::Connections)),
            ("53200", Some(Reason::Resources)),
            ("53100", Some(Reason::Full)),
            ("25006", Some(Reason::ReadOnly)),
            ("28P01", Some(Reason::Login)),
            ("42501", Some(Reason::Rights)),
            ("XX001", Some(Reason::Damaged)),
            ("58030", Some(Reason::Disk)),
            ("8", Some(Reason::ReadOnly)),
            ("1032", Some(Reason::ReadOnly)),
            ("13", Some(Reason::Full)),
            ("11", Some(Reason::Damaged)),
            ("267", Some(Reason::Damaged)),
            ("26", Some(Reason::Damaged)),
            ("778", Some(Reason::Disk)),
            ("14", Some(Reason::File)),
            ("42P01", None),
            ("1", None),
            ("", None),
        ] {
            assert_eq!(refusal_of(code), expected, "{code}");
        }
    }

    #[test]
    fn codes_of_both_databases_are_told_apart() {
        for (code, kind) in [
            ("13", DatabaseTrouble::Full),
            ("53100", DatabaseTrouble::Full),
            ("5", DatabaseTrouble::Busy),
            ("517", DatabaseTrouble::Busy),
            ("262", DatabaseTrouble::Busy),
            ("55P03", DatabaseTrouble::Busy),
            ("57014", DatabaseTrouble::Busy),
            ("8", DatabaseTrouble::ReadOnly),
            ("1032", DatabaseTrouble::ReadOnly),
            ("25006", DatabaseTrouble::ReadOnly),
            ("778", DatabaseTrouble::Unreachable),
            ("57P01", DatabaseTrouble::Unreachable),
            ("", DatabaseTrouble::Unreachable),
        ] {
            assert_eq!(of_code(code), kind, "{code}");
        }
    }
}
