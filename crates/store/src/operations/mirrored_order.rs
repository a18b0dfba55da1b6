//! A mirrored order with its lines, shipments and fiscal documents: every column, for people and programs.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, time::fixed_width};
use rust_decimal::Decimal;
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::RawValue;

use crate::{Error, driver::Row, operations::History};

/// The kind of a column: it says how the column is read and how JSON shows it.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Flag,
    Time,
    Json,
}

use Kind::{Flag, Json, Number, Text, Time};

type Columns = &'static [(&'static str, Kind)];

const ORDER: Columns = &[
    ("store", Text),
    ("order_number", Text),
    ("status", Text),
    ("status_label", Text),
    ("workflow_type", Text),
    ("type", Text),
    ("channel", Text),
    ("delivery_method", Text),
    ("checkout_group_id", Text),
    ("customer_id", Text),
    ("customer_name", Text),
    ("customer_city", Text),
    ("customer_state", Text),
    ("total_products", Number),
    ("total_shipping", Number),
    ("total_discounts", Number),
    ("total_order", Number),
    ("items_count", Number),
    ("lines_count", Number),
    ("payment_method", Text),
    ("payment_status", Text),
    ("payment_expires_at", Time),
    ("is_collective", Flag),
    ("is_awaiting_campaign", Flag),
    ("release_at", Time),
    ("picked_up_at", Time),
    ("invoice_by", Time),
    ("pick_by", Time),
    ("ship_by", Time),
    ("notes", Text),
    ("created_at", Time),
    ("updated_at", Time),
    ("unread_since", Time),
    ("mirrored_at", Time),
    ("gone_at", Time),
    ("raw", Json),
];
const ITEM: Columns = &[
    ("id", Text),
    ("product_id", Text),
    ("sku", Text),
    ("name", Text),
    ("quantity", Number),
    ("unit_price", Number),
    ("net_value", Number),
    ("price_scale", Number),
    ("stock_status", Text),
    ("is_blocking_stock", Flag),
    ("mirrored_at", Time),
    ("gone_at", Time),
    ("raw", Json),
];
const SHIPMENT: Columns = &[
    ("id", Text),
    ("type", Text),
    ("status", Text),
    ("tracking_code", Text),
    ("carrier_id", Text),
    ("carrier_name", Text),
    ("is_pickup", Flag),
    ("label_generation_blocked", Flag),
    ("allows_manual_confirmation", Flag),
    ("labels_ready", Number),
    ("labels_total", Number),
    ("tracking_url", Text),
    ("estimated_delivery_at", Time),
    ("tracking", Json),
    ("mirrored_at", Time),
    ("gone_at", Time),
    ("raw", Json),
];
const INVOICE: Columns = &[
    ("id", Text),
    ("type", Text),
    ("status", Text),
    ("invoice_number", Text),
    ("access_key", Text),
    ("pdf_url", Text),
    ("issued_at", Time),
    ("replaced_at", Time),
    ("is_current", Flag),
    ("mirrored_at", Time),
    ("gone_at", Time),
    ("raw", Json),
];

static ORDER_SQL: LazyLock<String> = LazyLock::new(|| select(ORDER, "orders", "order_number"));
static ITEMS_SQL: LazyLock<String> = LazyLock::new(|| select(ITEM, "order_items", "id"));
static SHIPMENTS_SQL: LazyLock<String> = LazyLock::new(|| select(SHIPMENT, "shipments", "id"));
static INVOICES_SQL: LazyLock<String> =
    LazyLock::new(|| select(INVOICE, "order_invoices", "COALESCE(issued_at, mirrored_at), id"));

pub(crate) fn statements() -> [&'static str; 4] {
    [&ORDER_SQL, &ITEMS_SQL, &SHIPMENTS_SQL, &INVOICES_SQL]
}

/// Returns the statement that reads these columns of an order's rows.
fn select(columns: Columns, table: &str, order: &str) -> String {
    let column = |(name, kind): &(&str, Kind)| match kind {
        Text | Time => (*name).to_owned(),
        Number | Json => format!("CAST({name} AS TEXT)"),
        Flag => format!("CASE WHEN {name} THEN 'true' WHEN NOT {name} THEN 'false' END"),
    };
    let columns = columns.iter().map(column).collect::<Vec<_>>().join(", ");
    format!("SELECT {columns} FROM {table} WHERE store = $1 AND order_number = $2 ORDER BY {order}")
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

/// A mirrored order with the rows that belong to it, gone ones too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MirroredOrder {
    /// The row of `orders`.
    pub order: MirroredRow,
    /// The rows of `order_items`.
    pub items: Vec<MirroredRow>,
    /// The rows of `shipments`.
    pub shipments: Vec<MirroredRow>,
    /// The rows of `order_invoices`, the oldest first.
    pub invoices: Vec<MirroredRow>,
}

impl MirroredRow {
    fn read(columns: Columns, row: &Row) -> Result<Self, Error> {
        let cell = |at: usize, kind: Kind| {
            Ok(match kind {
                Text => row.optional_text(at)?.map(Cell::Text),
                Number => row.optional_decimal(at)?.map(Cell::Number),
                Flag => row.optional_text(at)?.map(|word| Cell::Flag(word == "true")),
                Time => row.optional_time(at)?.map(Cell::Time),
                Json => row.optional_text(at)?.map(Cell::Json),
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

impl History<'_> {
    /// The mirrored order of a number, with its lines, shipments and fiscal documents; `None` if it is not mirrored.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mirrored_order(
        self,
        store: &StoreKey,
        number: &str,
    ) -> Result<Option<MirroredOrder>, Error> {
        let rows = async |sql: &'static str, columns| {
            let values = vec![store.as_str().into(), number.into()];
            let rows = self.database.fetch("read a mirrored order", sql, values).await?;
            rows.iter().map(|row| MirroredRow::read(columns, row)).collect::<Result<Vec<_>, Error>>()
        };
        let Some(order) = rows(&ORDER_SQL, ORDER).await?.pop() else { return Ok(None) };
        Ok(Some(MirroredOrder {
            order,
            items: rows(&ITEMS_SQL, ITEM).await?,
            shipments: rows(&SHIPMENTS_SQL, SHIPMENT).await?,
            invoices: rows(&INVOICES_SQL, INVOICE).await?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
