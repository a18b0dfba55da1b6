//! The words for a mirrored order. Pure. The buyer's data and the order's notes are for `--json`.

use espelho_model::{
    text,
    text::{Arg, Locale, Text},
};
use espelho_store::{MirroredOrder, MirroredRow};

use super::super::explain;
use crate::terminal::shown;

/// Returns the lines for people.
pub(super) fn as_text(found: &MirroredOrder, locale: Locale) -> String {
    let order = &found.order;
    let is_gone = order.time("gone_at").is_some();
    let mut lines = vec![head(order, locale)];
    lines.extend(about(order).iter().map(|text| format!("  {}", text.message(locale))));
    for (title, rows, line) in [
        (text!("get-lines"), &found.items, item as fn(&MirroredRow) -> Text),
        (text!("get-shipments"), &found.shipments, shipment),
        (text!("get-invoices"), &found.invoices, invoice),
    ] {
        lines.push(title.message(locale));
        // A row that went together with its order still belongs to it.
        let live: Vec<Text> =
            rows.iter().filter(|row| is_gone || row.time("gone_at").is_none()).map(line).collect();
        let none = live.is_empty().then(|| text!("get-none"));
        lines.extend(live.iter().chain(&none).map(|text| format!("  {}", text.message(locale))));
    }
    lines.push(text!("get-json").message(locale));
    lines.join("\n")
}

/// Returns the store, the number, the status, and the order's state in the mirror.
fn head(order: &MirroredRow, locale: Locale) -> String {
    let name = text!("explain-entity", entity = "order", key = word(order, "order_number"));
    let mirrored_at = order.time("mirrored_at").unwrap_or_default();
    let what = explain::in_the_mirror(name, order.text("status"), order.time("gone_at"), mirrored_at);
    format!("{}: {}", shown(order.text("store").unwrap_or_default()), what.message(locale))
}

/// Returns the amounts, the payment, the times and the deadlines that are known.
fn about(order: &MirroredRow) -> Vec<Text> {
    let mut about = vec![
        text!(
            "get-amounts",
            total = money(order, "total_order"),
            products = money(order, "total_products"),
            shipping = money(order, "total_shipping"),
            discounts = money(order, "total_discounts")
        ),
        text!("get-payment", method = word(order, "payment_method"), status = word(order, "payment_status")),
        text!(
            "get-kind",
            workflow = word(order, "workflow_type"),
            channel = word(order, "channel"),
            delivery = word(order, "delivery_method")
        ),
        text!("get-times", created = time(order, "created_at"), updated = time(order, "updated_at")),
    ];
    let deadlines = ["payment_expires_at", "release_at", "invoice_by", "pick_by", "ship_by", "picked_up_at"];
    about.extend(deadlines.into_iter().filter_map(|column| {
        let at = order.time(column)?;
        Some(Text::new(format!("get-time-{}", column.replace('_', "-"))).with("at", at))
    }));
    about
}

fn item(row: &MirroredRow) -> Text {
    text!(
        "get-line",
        quantity = row.number("quantity").map_or_else(unknown, Arg::Quantity),
        sku = word(row, "sku"),
        name = row.text("name").map(shown).unwrap_or_default(),
        each = money(row, "unit_price"),
        sum = money(row, "net_value")
    )
}

fn shipment(row: &MirroredRow) -> Text {
    let status = text!("explain-shipment-status", status = row.text("status").unwrap_or_default());
    let shipment = match row.text("tracking_code") {
        Some(code) => {
            text!("explain-shipped-tracked", id = word(row, "id"), status = status, code = shown(code))
        }
        None => text!("explain-shipped", id = word(row, "id"), status = status),
    };
    text!(
        "get-shipment",
        shipment = shipment,
        carrier = word(row, "carrier_name"),
        ready = row.number("labels_ready").map_or_else(unknown, Arg::Quantity),
        of = row.number("labels_total").map_or_else(unknown, Arg::Quantity)
    )
}

fn invoice(row: &MirroredRow) -> Text {
    let invoice = text!(
        "explain-invoiced",
        number = row.text("invoice_number").or(row.text("id")).map(shown).unwrap_or_default(),
        kind = row.text("type").unwrap_or_default(),
        status = row.text("status").unwrap_or_default()
    );
    let (issued, key) = (time(row, "issued_at"), word(row, "access_key"));
    match (row.is_true("is_current"), row.time("replaced_at")) {
        (_, Some(at)) => {
            text!("get-invoice-replaced", invoice = invoice, issued = issued, key = key, at = at)
        }
        (true, None) => text!("get-invoice-current", invoice = invoice, issued = issued, key = key),
        (false, None) => text!("get-invoice", invoice = invoice, issued = issued, key = key),
    }
}

fn unknown() -> Arg {
    text!("get-unknown").into()
}

fn word(row: &MirroredRow, column: &str) -> Arg {
    row.text(column).map_or_else(unknown, |word| shown(word).into())
}

fn money(row: &MirroredRow, column: &str) -> Arg {
    row.number(column).map_or_else(unknown, Arg::Money)
}

fn time(row: &MirroredRow, column: &str) -> Arg {
    row.time(column).map_or_else(unknown, Arg::Time)
}
