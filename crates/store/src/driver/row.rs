//! A row on its way out of either database.

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use sqlx::{Row as _, postgres::PgRow, sqlite::SqliteRow};

use crate::Error;

/// A row, read by position.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// Reads a column on either database.
macro_rules! column {
    ($row:expr, $at:expr, $type:ty) => {
        match $row {
            Row::Sqlite(row) => row.try_get::<$type, _>($at),
            Row::Postgres(row) => row.try_get::<$type, _>($at),
        }
        .map_err(|error| Error::Corrupt { column: $at, why: error.to_string() })
    };
}

impl Row {
    pub(crate) fn text(&self, at: usize) -> Result<String, Error> {
        column!(self, at, String)
    }

    pub(crate) fn optional_text(&self, at: usize) -> Result<Option<String>, Error> {
        column!(self, at, Option<String>)
    }

    /// Text that somebody else has written: on SQLite it may be no UTF-8, or bytes, which both show as U+FFFD.
    pub(crate) fn foreign_text(&self, at: usize) -> Result<String, Error> {
        Ok(self.optional_foreign_text(at)?.unwrap_or_default())
    }

    /// The same, which may be NULL.
    pub(crate) fn optional_foreign_text(&self, at: usize) -> Result<Option<String>, Error> {
        match (self.optional_text(at), self) {
            (Err(error), Self::Sqlite(row)) => match row.try_get::<Option<Vec<u8>>, _>(at) {
                Ok(bytes) => Ok(bytes.map(|bytes| format!("\u{fffd}{}", String::from_utf8_lossy(&bytes)))),
                Err(_) => Err(error),
            },
            (text, _) => text,
        }
    }

    /// An amount or quantity that the statement casts to text, as it was written up to 15 significant digits; what is no number
    /// is none.
    pub(crate) fn optional_decimal(&self, at: usize) -> Result<Option<Decimal>, Error> {
        Ok(self.optional_text(at)?.as_deref().and_then(exact))
    }

    pub(crate) fn int(&self, at: usize) -> Result<i64, Error> {
        column!(self, at, i64)
    }

    pub(crate) fn optional_int(&self, at: usize) -> Result<Option<i64>, Error> {
        column!(self, at, Option<i64>)
    }

    pub(crate) fn bytes(&self, at: usize) -> Result<Vec<u8>, Error> {
        column!(self, at, Vec<u8>)
    }

    pub(crate) fn time(&self, at: usize) -> Result<DateTime<Utc>, Error> {
        self.optional_time(at)?.ok_or_else(|| Error::Corrupt { column: at, why: "no time".into() })
    }

    pub(crate) fn optional_time(&self, at: usize) -> Result<Option<DateTime<Utc>>, Error> {
        let corrupt = |why: String| Error::Corrupt { column: at, why };
        match self {
            Self::Postgres(row) => row.try_get(at).map_err(|error| corrupt(error.to_string())),
            Self::Sqlite(_) => match self.optional_text(at)? {
                None => Ok(None),
                Some(text) => match DateTime::parse_from_rfc3339(&text) {
                    Ok(instant) => Ok(Some(instant.to_utc())),
                    Err(error) => Err(corrupt(format!("{text:?}: {error}"))),
                },
            },
        }
    }

    /// Whether the column is neither NULL nor zero; comparisons are integers on SQLite.
    pub(crate) fn truth(&self, at: usize) -> Result<bool, Error> {
        column!(self, at, bool)
    }
}

/// A number as the ERP may have written it, or SQLite has kept it (`12.5`, `1.0e+15`); `NaN` and the like are none.
pub(crate) fn exact(text: &str) -> Option<Decimal> {
    let text = text.trim();
    let number =
        Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(&text.replace(".0e", "e")));
    number.ok().map(|number| number.normalize())
}

#[cfg(test)]
mod tests {
    use super::exact;

    #[test]
    fn a_number_is_read_in_every_form_that_a_database_gives_it() {
        for (text, expected) in [
            ("0.1", Some("0.1")),
            ("1234.56", Some("1234.56")),
            ("1.000", Some("1")),
            (" 19.90 ", Some("19.9")),
            ("-0.0", Some("0")),
            ("99999999999999.9", Some("99999999999999.9")),
            ("1.0e+15", Some("1000000000000000")),
            ("1.5e-07", Some("0.00000015")),
            ("1.0e-28", Some("0.0000000000000000000000000001")),
            ("abc", None),
            ("19,90", None),
            ("Inf", None),
            ("NaN", None),
            ("", None),
        ] {
            assert_eq!(exact(text).map(|number| number.to_string()).as_deref(), expected, "{text:?}");
        }
    }
}
