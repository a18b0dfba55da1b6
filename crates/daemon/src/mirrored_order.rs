//! The words for a mirrored order. Pure. The buyer's data and the order's notes are for `--json`.

use espelho_model::{
    text,
    text::{Arg, Locale, Text, words},
};
use espelho_store::{MirroredOrder, MirroredRow};

use crate::{knowledge::in_the_mirror, terminal::shown};

/// A group of rows that belong to an order: its title, and a line for each row.
pub(crate) struct Section {
    pub(crate) title: Text,
    pub(crate) lines: Vec<Text>,
}

/// Returns the lines for people.
pub(crate) fn as_text(found: &MirroredOrder, locale: Locale) -> String {
    let mut lines = vec![head(&found.order, locale)];
    lines.extend(about(&found.order).iter().map(|text| format!("  {}", text.message(locale))));
    for section in sections(found) {
        lines.push(section.title.message(locale));
        let none = section.lines.is_empty().then(|| text!("get-none"));
        lines.extend(section.lines.iter().chain(&none).map(|text| format!("  {}", text.message(locale))));
    }
    lines.push(text!("get-json").message(locale));
    lines.join("\n")
}

/// Returns the order's lines, shipments and fiscal documents.
pub(crate) fn sections(found: &MirroredOrder) -> Vec<Section> {
    let is_gone = found.order.time("gone_at").is_some();
    let kinds = [
        (text!("get-lines"), &found.items, item as fn(&MirroredRow) -> Text),
        (text!("get-shipments"), &found.shipments, shipment),
        (text!("get-invoices"), &found.invoices, invoice),
    ];
    let section = |(title, rows, line): (Text, &Vec<MirroredRow>, fn(&MirroredRow) -> Text)| {
        // A row that went together with its order still belongs to it.
        let live = rows.iter().filter(|row| is_gone || row.time("gone_at").is_none());
        Section { title, lines: live.map(line).collect() }
    };
    kinds.into_iter().map(section).collect()
}

/// Returns the store, the number, the status, and the order's state in the mirror.
fn head(order: &MirroredRow, locale: Locale) -> String {
    let name = text!("explain-entity", entity = "order", key = word(order, "order_number"));
    let mirrored_at = order.time("mirrored_at").unwrap_or_default();
    let what = in_the_mirror(name, order.text("status"), order.time("gone_at"), mirrored_at);
    format!("{}: {}", shown(order.text("store").unwrap_or_default()), what.message(locale))
}

/// Returns the amounts, the payment, the times and the deadlines that are known.
pub(crate) fn about(order: &MirroredRow) -> Vec<Text> {
    let mut about = vec![
        text!(
            "get-amounts",
            total = money(order, "total_order"),
            products = money(order, "total_products"),
            shipping = money(order, "total_shipping"),
            discounts = money(order, "total_discounts")
        ),
        text!(
            "get-payment",
            method = named(order, "payment_method", words::payment_method),
            status = named(order, "payment_status", words::payment_status)
        ),
        text!(
            "get-kind",
            workflow = named(order, "workflow_type", words::workflow),
            channel = named(order, "channel", words::channel),
            delivery = named(order, "delivery_method", words::delivery_method)
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
    let (issued, key) =
        (time(row, "issued_at"), row.text("access_key").map_or_else(unknown_key, |key| shown(key).into()));
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

/// In Portuguese a key has another gender than a carrier.
fn unknown_key() -> Arg {
    text!("get-unknown-key").into()
}

fn word(row: &MirroredRow, column: &str) -> Arg {
    row.text(column).map_or_else(unknown, |word| shown(word).into())
}

/// Returns a value of the marketplace's vocabulary in words; one that the catalogue lacks as it came.
fn named(row: &MirroredRow, column: &str, family: fn(&str) -> Text) -> Arg {
    row.text(column).map_or_else(unknown, |value| family(&shown(value)).into())
}

fn money(row: &MirroredRow, column: &str) -> Arg {
    row.number(column).map_or_else(unknown, Arg::Money)
}

fn time(row: &MirroredRow, column: &str) -> Arg {
    row.time(column).map_or_else(unknown, Arg::Time)
}
