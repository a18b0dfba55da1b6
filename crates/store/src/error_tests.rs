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
