//! A mirrored order with its lines, shipments and fiscal documents: every column, for people and programs.

use std::sync::LazyLock;

use espelho_model::StoreKey;
use serde::Serialize;

use crate::{
    Error, MirroredRow,
    cells::{
        Kind::{Flag, Json, Number, Text, Time},
        selected,
    },
    operations::History,
};

type Columns = &'static [(&'static str, crate::ColumnKind)];

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
    let columns = selected(columns);
    format!("SELECT {columns} FROM {table} WHERE store = $1 AND order_number = $2 ORDER BY {order}")
}

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
