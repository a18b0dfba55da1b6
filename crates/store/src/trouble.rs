//! Classifies a failure of the database for people: a full disk, a lock, no writes, no answer.

use espelho_model::symptom::Symptom;

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
            refusal.code().map_or(Symptom::Other, |code| Symptom::Refused(code.into_owned()))
        }
        sqlx::Error::Io(error) => Symptom::of_io_error(error).unwrap_or_default(),
        sqlx::Error::Tls(_) => Symptom::NoTrust,
        sqlx::Error::PoolTimedOut => Symptom::TimedOut,
        sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => Symptom::CutOff,
        _ => Symptom::Other,
    }
}

/// SQLite's codes are numbers whose lowest byte is the primary code; PostgreSQL's have five characters.
fn of_code(code: &str) -> DatabaseTrouble {
    match code {
        "53100" => return DatabaseTrouble::Full,
        // Lock not available, deadlock, cancelled by a time-out.
        "55P03" | "40P01" | "57014" => return DatabaseTrouble::Busy,
        "25006" => return DatabaseTrouble::ReadOnly,
        _ if code.len() == 5 => return DatabaseTrouble::Unreachable,
        _ => {}
    }
    match code.parse::<u32>().map(|code| code & 0xff) {
        Ok(13) => DatabaseTrouble::Full,
        Ok(5 | 6) => DatabaseTrouble::Busy,
        Ok(8) => DatabaseTrouble::ReadOnly,
        _ => DatabaseTrouble::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_by_the_connection_where_the_database_says_nothing() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        for (source, expected) in [
            (sqlx::Error::Io(refused), Symptom::NoConnection),
            (sqlx::Error::Tls("invalid peer certificate".into()), Symptom::NoTrust),
            (sqlx::Error::PoolTimedOut, Symptom::TimedOut),
            (sqlx::Error::WorkerCrashed, Symptom::CutOff),
            (sqlx::Error::RowNotFound, Symptom::Other),
        ] {
            assert_eq!(Error::Statement { operation: "read", source }.symptom(), expected);
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
