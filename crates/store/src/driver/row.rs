//! A row read from either database.

use chrono::{DateTime, Utc};
use espelho_model::money::parse_decimal;
use rust_decimal::Decimal;
use sqlx::{ColumnIndex as _, Row as _, postgres::PgRow, sqlite::SqliteRow};

use super::instant::Instant;
use crate::Error;

/// A row; columns are read by name, or by position where a statement is hot or its columns have no names.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// A column of a row: its position, which costs nothing, or its name, which costs a hash of it.
pub(crate) trait Column: Copy {
    fn position(self, row: &Row) -> Result<usize, Error>;
}

impl Column for usize {
    fn position(self, _: &Row) -> Result<usize, Error> {
        Ok(self)
    }
}

impl Column for &str {
    fn position(self, row: &Row) -> Result<usize, Error> {
        let found = match row {
            Row::Sqlite(row) => self.index(row),
            Row::Postgres(row) => self.index(row),
        };
        found.map_err(|error| Error::Corrupt { column: 0, why: error.to_string() })
    }
}

/// Reads a column on either database.
macro_rules! column {
    ($row:expr, $column:expr, $type:ty) => {{
        let at = $column.position($row)?;
        match $row {
            Row::Sqlite(row) => row.try_get::<$type, _>(at),
            Row::Postgres(row) => row.try_get::<$type, _>(at),
        }
        .map_err(|error| Error::Corrupt { column: at, why: error.to_string() })
    }};
}

impl Row {
    pub(crate) fn text(&self, column: impl Column) -> Result<String, Error> {
        column!(self, column, String)
    }

    pub(crate) fn optional_text(&self, column: impl Column) -> Result<Option<String>, Error> {
        column!(self, column, Option<String>)
    }

    /// Text that another program wrote. On SQLite it may be invalid UTF-8 or bytes; invalid parts become U+FFFD.
    pub(crate) fn foreign_text(&self, column: impl Column) -> Result<String, Error> {
        Ok(self.optional_foreign_text(column)?.unwrap_or_default())
    }

    /// The same for a column that may be NULL.
    pub(crate) fn optional_foreign_text(&self, column: impl Column) -> Result<Option<String>, Error> {
        let at = column.position(self)?;
        match (self.optional_text(at), self) {
            (Err(error), Self::Sqlite(row)) => match row.try_get::<Option<Vec<u8>>, _>(at) {
                Ok(bytes) => Ok(bytes.map(|bytes| format!("\u{fffd}{}", String::from_utf8_lossy(&bytes)))),
                Err(_) => Err(error),
            },
            (text, _) => text,
        }
    }

    /// The bytes of a text that another program wrote, where SQLite has something else than UTF-8 in its place.
    pub(crate) fn foreign_bytes(&self, column: impl Column) -> Result<Option<Vec<u8>>, Error> {
        let at = column.position(self)?;
        match (self.optional_text(at), self) {
            (Err(error), Self::Sqlite(row)) => row.try_get::<Option<Vec<u8>>, _>(at).map_err(|_| error),
            (text, _) => text.map(|_| None),
        }
    }

    /// An amount or quantity that the statement casts to text, exact up to 15 significant digits; `None` if the text
    /// is not a number.
    pub(crate) fn optional_decimal(&self, column: impl Column) -> Result<Option<Decimal>, Error> {
        Ok(self.optional_text(column)?.as_deref().and_then(exact))
    }

    pub(crate) fn int(&self, column: impl Column) -> Result<i64, Error> {
        column!(self, column, i64)
    }

    pub(crate) fn optional_int(&self, column: impl Column) -> Result<Option<i64>, Error> {
        column!(self, column, Option<i64>)
    }

    /// A count; a negative one, which nothing writes, is none.
    pub(crate) fn count(&self, column: impl Column) -> Result<u64, Error> {
        Ok(u64::try_from(self.int(column)?).unwrap_or(0))
    }

    pub(crate) fn bytes(&self, column: impl Column) -> Result<Vec<u8>, Error> {
        column!(self, column, Vec<u8>)
    }

    /// A time; an error for one that the mirror cannot hold, such as PostgreSQL's `infinity`.
    pub(crate) fn time(&self, column: impl Column) -> Result<DateTime<Utc>, Error> {
        let at = column.position(self)?;
        self.optional_time(at)?.ok_or_else(|| Error::Corrupt { column: at, why: "no time".into() })
    }

    pub(crate) fn optional_time(&self, column: impl Column) -> Result<Option<DateTime<Utc>>, Error> {
        let at = column.position(self)?;
        let corrupt = |why: String| Error::Corrupt { column: at, why };
        match self {
            Self::Postgres(row) => {
                let instant = row.try_get::<Option<Instant>, _>(at);
                instant.map(|found| found.map(|Instant(at)| at)).map_err(|error| corrupt(error.to_string()))
            }
            Self::Sqlite(_) => match self.optional_text(at)? {
                None => Ok(None),
                Some(text) => match DateTime::parse_from_rfc3339(&text) {
                    Ok(instant) => Ok(Some(instant.to_utc())),
                    Err(error) => Err(corrupt(format!("{text:?}: {error}"))),
                },
            },
        }
    }

    /// Whether the column is neither NULL nor zero. SQLite returns comparisons as integers.
    pub(crate) fn truth(&self, column: impl Column) -> Result<bool, Error> {
        column!(self, column, bool)
    }
}

/// Parses a number as the ERP may have written it or SQLite has stored it (`12.5`, `1.0e+15`); `None` for `NaN` and
/// the like, and for a number that no amount and no quantity may be.
pub(crate) fn exact(text: &str) -> Option<Decimal> {
    parse_decimal(&text.replace(".0e", "e")).map(|number| number.normalize())
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
            ("1.0e+16", None),
            ("79228162514264337593543950335", None),
            ("abc", None),
            ("19,90", None),
            ("1_000", None),
            ("1_2.5", None),
            ("5.", None),
            ("Inf", None),
            ("NaN", None),
            ("", None),
        ] {
            assert_eq!(exact(text).map(|number| number.to_string()).as_deref(), expected, "{text:?}");
        }
    }
}
