//! Rows as programs read them: every column with its kind, and JSON without loss.

use chrono::{DateTime, Utc};
use espelho_model::time::fixed_width;
use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::RawValue;

use crate::{Error, driver::Row};

/// The kind of a column: it says how the column is read and how JSON shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// An exact decimal.
    Number,
    /// True or false.
    Flag,
    /// An instant.
    Time,
    /// A JSON value.
    Json,
}

/// Returns the expressions that select these columns, in their order.
pub(crate) fn selected(columns: &[(&'static str, Kind)]) -> String {
    let column = |(name, kind): &(&str, Kind)| match kind {
        Kind::Text | Kind::Time => (*name).to_owned(),
        Kind::Integer | Kind::Number | Kind::Json => format!("CAST({name} AS TEXT)"),
        Kind::Flag => format!("CASE WHEN {name} THEN 'true' WHEN NOT {name} THEN 'false' END"),
    };
    columns.iter().map(column).collect::<Vec<_>>().join(", ")
}

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cell {
    Null,
    Text(String),
    Number(Decimal),
    Flag(bool),
    Time(DateTime<Utc>),
    Json(String),
}

/// A mirrored row, column by column. JSON shows it with plain numbers, times in UTC, and `raw` as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredRow(Vec<(&'static str, Cell)>);

impl MirroredRow {
    /// Reads a row of these [`selected`] columns. A value that the ERP wrote and that is none of its kind is NULL.
    pub(crate) fn read(columns: &[(&'static str, Kind)], row: &Row) -> Result<Self, Error> {
        let cell = |at: usize, kind: Kind| {
            Ok(match kind {
                Kind::Text => row.optional_foreign_text(at)?.map(Cell::Text),
                Kind::Integer | Kind::Number => {
                    row.optional_foreign_text(at)?.as_deref().and_then(crate::driver::exact).map(Cell::Number)
                }
                Kind::Flag => row.optional_text(at)?.map(|word| Cell::Flag(word == "true")),
                Kind::Time => row.optional_time(at).ok().flatten().map(Cell::Time),
                Kind::Json => row.optional_foreign_text(at)?.map(Cell::Json),
            }
            .unwrap_or(Cell::Null))
        };
        let cells = columns.iter().enumerate().map(|(at, (name, kind))| Ok((*name, cell(at, *kind)?)));
        cells.collect::<Result<_, Error>>().map(Self)
    }

    fn cell(&self, column: &str) -> &Cell {
        self.0.iter().find(|(name, _)| *name == column).map_or(&Cell::Null, |(_, cell)| cell)
    }

    /// The text of a column, unless it is NULL.
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.cell(column) {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number of a column, unless it is NULL.
    pub fn number(&self, column: &str) -> Option<Decimal> {
        match self.cell(column) {
            Cell::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The instant of a column, unless it is NULL.
    pub fn time(&self, column: &str) -> Option<DateTime<Utc>> {
        match self.cell(column) {
            Cell::Time(at) => Some(*at),
            _ => None,
        }
    }

    /// The text by which the value of a column is compared; `None` for NULL and for JSON.
    pub(crate) fn comparable(&self, column: &str) -> Option<String> {
        match self.cell(column) {
            Cell::Null | Cell::Json(_) => None,
            Cell::Text(text) => Some(text.clone()),
            Cell::Number(number) => Some(comparable_number(*number)),
            Cell::Flag(flag) => Some(flag.to_string()),
            Cell::Time(at) => Some(fixed_width(*at)),
        }
    }

    /// Returns true if a column is true.
    pub fn is_true(&self, column: &str) -> bool {
        *self.cell(column) == Cell::Flag(true)
    }
}

impl Serialize for MirroredRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, cell) in &self.0 {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

/// A row with the rows that belong to it, by table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeRow {
    /// The row.
    pub row: MirroredRow,
    /// The name of each table, and its rows.
    pub children: Vec<(&'static str, Vec<MirroredRow>)>,
}

impl Serialize for WholeRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, cell) in &self.row.0 {
            map.serialize_entry(name, cell)?;
        }
        for (table, rows) in &self.children {
            map.serialize_entry(table, rows)?;
        }
        map.end()
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The text itself: a number must not pass through binary floating point.
        let as_it_is = |text: String| RawValue::from_string(text).ok();
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => as_it_is(number.to_string()).serialize(serializer),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Time(at) => serializer.serialize_str(&fixed_width(*at)),
            Self::Json(text) => as_it_is(text.clone()).serialize(serializer),
        }
    }
}

/// The text by which a number is compared: 15 significant digits, because SQLite keeps no more.
pub(crate) fn comparable_number(number: Decimal) -> String {
    number.to_f64().map_or_else(|| number.normalize().to_string(), |float| format!("{float:.14e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value_with_fifteen_digits() {
        let of = |text: &str| comparable_number(text.parse().unwrap());
        assert_eq!(of("10"), of("10.000"));
        assert_eq!(of("123456789012345.67"), of("123456789012345.7"));
        assert_ne!(of("0.10"), of("0.11"));
        assert_ne!(of("99999999.99"), of("99999999.98"));
        assert_ne!(of("1"), of("-1"));
    }

    #[test]
    fn a_row_is_shown_with_plain_numbers_and_its_raw_text() {
        let row = MirroredRow(vec![
            ("sku", Cell::Text("CAN-01".into())),
            ("unit_price", Cell::Number(Decimal::new(199_900, 4))),
            ("is_blocking_stock", Cell::Flag(true)),
            ("gone_at", Cell::Null),
            ("raw", Cell::Json("{\"a\": 1.10}".into())),
        ]);
        let shown = serde_json::to_string(&row).unwrap();
        let expected = "{\"sku\":\"CAN-01\",\"unit_price\":19.9900,\"is_blocking_stock\":true,\"gone_at\":null,\
            \"raw\":{\"a\": 1.10}}";
        assert_eq!(shown, expected);
        assert_eq!(
            (row.text("sku"), row.text("unit_price"), row.time("gone_at")),
            (Some("CAN-01"), None, None)
        );
        assert!(row.is_true("is_blocking_stock") && !row.is_true("sku"));
    }

    #[test]
    fn a_text_that_is_no_json_is_shown_as_null() {
        assert_eq!(serde_json::to_string(&Cell::Json("{".into())).unwrap(), "null");
    }
}
