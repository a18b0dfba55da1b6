//! The full order ("Order (GET order detail)" of the document).

use super::{
    Line, Order, row,
    vocabulary::{Channel, Delivery, Workflow},
};
use crate::{json::Json, products::Catalogue, store::Store};

/// Carriers and the days they promise.
const CARRIERS: [(&str, &str, u64); 5] = [
    ("Correios", "Correios PAC", 9),
    ("Correios", "Correios SEDEX", 4),
    ("Jadlog", "Jadlog .Package", 7),
    ("Loggi", "Loggi Expresso", 3),
    ("Transportadora própria", "Entrega da loja", 5),
];

pub(crate) fn write(json: &mut Json, order: &Order, store: &Store, catalogue: &Catalogue) {
    json.open_object();
    row::head(json, order);
    json.key("checkout_group_id").ulid(ulid_of(order.serial, order.created_at));
    json.key("is_production_order").bool(order.workflow == Workflow::Production);
    people(json, order, store);
    row::collective(json, order);
    row::amounts(json, order);
    items(json, order, store, catalogue);
    row::preview(json, order, catalogue);
    benefits(json, order);
    invoices(json, order);
    shipping(json, order);
    row::payment(json, order);
    payment_link(json, order);
    pickup(json, order, store);
    json.key("notes").optional_text(order.notes.as_deref());
    metadata(json, order);
    occurrences(json, order);
    row::dates(json, order);
    json.close_object();
}

/// A ULID-shaped identifier drawn from a hash, dated like its order.
fn ulid_of(hash: u64, seconds: i64) -> u128 {
    let millis = u128::from((seconds.unsigned_abs() * 1000) & 0xFFFF_FFFF_FFFF);
    millis << 80 | u128::from(hash) << 16 | u128::from(hash & 0xFFFF)
}

/// Who sells, who buys: objects, and the loose identifiers beside them.
fn people(json: &mut Json, order: &Order, store: &Store) {
    named(json.key("store"), store.id, &store.name);
    json.key("store_id").id(store.id);
    json.key("store_uid").ulid(store.uid);
    json.key("sold_by").open_object();
    json.key("id").id(store.id);
    json.key("name").text(&store.name);
    json.key("is_substore").bool(false);
    json.close_object();
    json.key("sold_by_id").id(store.id);
    customer(json, order, store);
    json.key("customer_id").id(u64::from(order.customer) + 1);
    if let Some(person) = store.people.get(order.customer as usize) {
        json.key("customer_uid").ulid(person.uid);
    }
    match order.channel {
        Channel::StoreSeller => {
            named(json.key("sales_agent"), 1 + order.serial % 7, AGENTS[(order.serial % 4) as usize]);
            json.key("sales_agent_id").id(1 + order.serial % 7);
        }
        // What does not apply is null or absent; the sandbox answers both.
        Channel::Direct => json.key("sales_agent").null(),
        Channel::Marketplace => {}
    }
    match order.delivery() {
        Delivery::Pickup => named(json.key("physical_store"), store.id * 10 + 1, "Loja Centro"),
        Delivery::Shipping => json.key("physical_store").null(),
    }
}

fn customer(json: &mut Json, order: &Order, store: &Store) {
    let Some(person) = store.people.get(order.customer as usize) else { return };
    json.key("customer").open_object();
    json.key("id").id(u64::from(order.customer) + 1);
    json.key("name").text(&person.name);
    json.key("city").text(&person.city);
    json.key("state").text(&person.state);
    json.close_object();
}

const AGENTS: [&str; 4] = ["Conceição Araújo", "Antônio Sant'Anna", "Márcia Guimarães", "Joãozinho d'Ávila"];

fn named(json: &mut Json, id: u64, name: &str) {
    json.open_object();
    json.key("id").id(id);
    json.key("name").text(name);
    json.close_object();
}

fn items(json: &mut Json, order: &Order, store: &Store, catalogue: &Catalogue) {
    json.key("items").open_array();
    for (at, line) in (0..).zip(&order.lines) {
        item(json, order.serial, at, line, store, catalogue);
    }
    json.close_array();
}

fn item(json: &mut Json, serial: u64, at: u64, line: &Line, store: &Store, catalogue: &Catalogue) {
    let product = catalogue.slot(line.product);
    json.open_object();
    // 44 bits of the hash and the position: unique, and exact in every JSON reader.
    json.key("id").id((serial >> 20) * 64 + at);
    json.key("product_id").ulid(product.id);
    json.key("item_id").raw_text(&store.listing_code(line.product));
    json.key("sku").text(&product.sku);
    json.key("name").text(&product.name);
    json.key("quantity").count(u64::from(line.quantity));
    json.key("unit_price").decimal(line.unit_price, line.price_scale);
    json.key("subtotal").decimal(line.subtotal(), 2);
    json.key("net_value").decimal(line.subtotal(), 2);
    json.key("price_scale").id(u64::from(line.price_scale));
    row::labelled(json, ["stock_status", "stock_status_label"], line.stock);
    json.key("is_blocking_stock").bool(line.stock.is_blocking());
    json.close_object();
}

fn benefits(json: &mut Json, order: &Order) {
    json.key("applied_benefits").open_array();
    if order.discounts.0 > 0 {
        json.open_object();
        json.key("id").id(order.serial >> 24);
        json.key("type").raw_text(if order.serial & 2 == 0 { "coupon" } else { "discount" });
        json.key("name").text(if order.serial & 2 == 0 { "Cupom PRIMEIRA10" } else { "Desconto à vista" });
        json.key("value").decimal(order.discounts, 2);
        json.close_object();
    }
    json.close_array();
}

fn invoices(json: &mut Json, order: &Order) {
    json.key("invoices").open_array();
    if order.is_invoiced() {
        let number = order.serial % 900_000 + 1000;
        let declared = order.serial.is_multiple_of(11);
        json.open_object();
        json.key("type").raw_text(if declared { "content_declaration" } else { "nfe" });
        json.key("status").raw_text("issued");
        json.key("invoice_number").raw_text(&number.to_string());
        json.key("pdf_url").raw_text(&format!("https://arquivos.marketplace.example/notas/{number}.pdf"));
        json.close_object();
    }
    json.close_array();
}

fn shipping(json: &mut Json, order: &Order) {
    json.key("shipping");
    if order.delivery() == Delivery::Pickup {
        json.null();
        return;
    }
    let (carrier, display, days) = CARRIERS[(order.serial % CARRIERS.len() as u64) as usize];
    json.open_object();
    json.key("carrier_name").text(carrier);
    json.key("display_name").text(display);
    json.key("deadline").time(order.created_at + 86_400 * (days + order.serial % 20) as i64);
    json.key("nfe_requirements").raw(if order.serial & 4 == 0 { r#"["nfe"]"# } else { "null" });
    json.close_object();
}

/// Payment links exist in the direct channels only, and lead somewhere only while the payment is awaited.
fn payment_link(json: &mut Json, order: &Order) {
    let target = match order.channel {
        Channel::Marketplace => return,
        Channel::Direct => "platform",
        Channel::StoreSeller => "store",
    };
    json.key("payment_url");
    match order.payment_expires_at() {
        Some(_) => json.text(&format!("https://pagamento.marketplace.example/{:016x}", order.serial)),
        None => json.null(),
    }
    json.key("payment_link_target").raw_text(target);
    json.key("payment_link_target_label").raw_text(if target == "store" { "Loja" } else { "Plataforma" });
}

fn pickup(json: &mut Json, order: &Order, store: &Store) {
    if order.delivery() != Delivery::Pickup {
        return;
    }
    json.key("picked_up_at").optional_time(order.picked_up_at);
    json.key("pickup_address").open_object();
    json.key("street").text("Rua XV de Novembro");
    json.key("number").raw_text("1000");
    json.key("complement").null();
    json.key("city").text(&store.city);
    json.key("state").text(&store.state);
    json.close_object();
}

/// Null, an empty list, or an object: all three are seen where a field has no fixed shape.
fn metadata(json: &mut Json, order: &Order) {
    json.key("metadata").raw(match order.serial % 10 {
        0..5 => "null",
        5..8 => "[]",
        8 => r#"{"origem":"app","versao":"5.12.0"}"#,
        _ => r#"{"origem":"web","utm_source":"newsletter","presente":true}"#,
    });
}

fn occurrences(json: &mut Json, order: &Order) {
    json.key("occurrences").open_array();
    if order.serial.is_multiple_of(41) {
        json.open_object();
        json.key("id").id(order.serial >> 30);
        json.key("title").text("Atraso na postagem");
        json.key("severity").raw_text("medium");
        json.key("status").raw_text("open");
        json.close_object();
    }
    json.close_array();
}
