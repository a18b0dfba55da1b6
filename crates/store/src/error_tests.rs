use std::{error::Error as StdError, fmt};

use sqlx::error::{DatabaseError, ErrorKind};

use super::*;

/// An error of SQLite with this code.
#[derive(Debug)]
struct Said(&'static str);

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("disk I/O error")
    }
}

impl StdError for Said {}

impl DatabaseError for Said {
    fn message(&self) -> &str {
        "disk I/O error"
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.0.into())
    }

    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

fn said(code: &'static str) -> Error {
    Error::statement("write", sqlx::Error::Database(Box::new(Said(code))))
}

#[test]
fn an_error_concerns_a_row_if_the_database_refused_its_content() {
    for (code, expected, what) in [
        ("18", true, "SQLite: too big"),
        ("19", true, "SQLite: a constraint"),
        ("20", true, "SQLite: another type"),
        ("275", true, "SQLite: CHECK"),
        ("531", true, "SQLite: a commit hook"),
        ("787", true, "SQLite: a foreign key"),
        ("1043", true, "SQLite: a function"),
        ("1299", true, "SQLite: NOT NULL"),
        ("1555", true, "SQLite: a primary key"),
        ("1811", true, "SQLite: RAISE in a trigger"),
        ("2067", true, "SQLite: UNIQUE"),
        ("3091", true, "SQLite: the type of a strict column"),
        ("1", false, "SQLite: an error of the statement"),
        ("5", false, "SQLite: busy"),
        ("13", false, "SQLite: the disk is full"),
        ("261", false, "SQLite: busy, it recovers"),
        ("517", false, "SQLite: busy, with an old snapshot"),
        ("778", false, "SQLite: the disk does not write"),
        ("2579", true, "SQLite: a row id"),
        ("22003", true, "PostgreSQL: out of range"),
        ("22P05", true, "PostgreSQL: a character that it does not hold"),
        ("23502", true, "PostgreSQL: NOT NULL"),
        ("23514", true, "PostgreSQL: CHECK"),
        ("54000", true, "PostgreSQL: a limit"),
        ("53100", false, "PostgreSQL: the disk is full"),
        ("55P03", false, "PostgreSQL: locked"),
        ("57014", false, "PostgreSQL: cancelled"),
        ("40001", false, "PostgreSQL: serialisation"),
        ("", false, "no code"),
        ("none", false, "no code"),
    ] {
        assert_eq!(said(code).concerns_a_row(), expected, "{code}: {what}");
    }
    assert!(!Error::statement("write", sqlx::Error::PoolTimedOut).concerns_a_row());
}

#[tokio::test]
async fn only_a_disk_that_refuses_to_synchronise_has_given_up() {
    // FULL, IOERR_READ, IOERR_WRITE, BUSY.
    for code in ["13", "266", "778", "5"] {
        assert!(said(code).to_string().contains("refused"));
    }
    assert!(!*DISK_GAVE_UP.borrow());
    assert!(!said("1034").concerns_a_row());
    Error::disk_gave_up().await;
}

#[test]
fn the_name_of_a_database_is_read_from_its_address() {
    for (url, expected) in [
        ("postgres://espelho@servidor/loja", "loja"),
        ("postgres://espelho@servidor:5432/loja?sslmode=disable", "loja"),
        ("postgres:///loja?host=/run/postgresql", "loja"),
    ] {
        assert_eq!(database_in(url), expected, "{url}");
    }
}
