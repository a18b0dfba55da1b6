//! The full order ("Order (GET order detail)" of the document).

use super::{
    Order, row,
    vocabulary::{Channel, Delivery, Workflow},
};
use crate::{json::Json, listings::codes, products::Catalogue, store::Store};

pub(crate) fn write(json: &mut Json, order: &Order, store: &Store, catalogue: &Catalogue) {
    json.open_object();
    row::head(json, order);
    json.key("checkout_group_id").ulid(order.checkout());
    json.key("is_production_order").bool(order.workflow == Workflow::Production);
    people(json, order, store);
    json.key("customer_data_released").bool(true);
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

/// Seller and buyer: objects, and the loose identifiers beside them.
fn people(json: &mut Json, order: &Order, store: &Store) {
    named(json.key("store"), store.id, &store.name);
    json.key("store_id").id(store.id);
    json.key("store_uid").ulid(store.uid);
    json.key("sold_by").open_object();
    json.key("id").id(store.id);
    json.key("name").text(&store.name);
    json.key("is_substore").bool(store.parent().is_some());
    json.close_object();
    json.key("sold_by_id").id(store.id);
    customer(json, order, store);
    json.key("customer_id").id(u64::from(order.customer) + 1);
    if let Some(person) = store.people.get(order.customer as usize) {
        json.key("customer_uid").ulid(person.uid);
    }
    match order.channel {
        Channel::StoreSeller => {
            let (id, name) = agent(order);
            named(json.key("sales_agent"), id, name);
            json.key("sales_agent_id").id(id);
        }
        // A field that does not apply is null or absent; the sandbox answers both.
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

/// Identifier and name of the sales agent of an order that has one.
pub(super) fn agent(order: &Order) -> (u64, &'static str) {
    (1 + order.serial % 7, AGENTS[(order.serial % 4) as usize])
}

fn named(json: &mut Json, id: u64, name: &str) {
    json.open_object();
    json.key("id").id(id);
    json.key("name").text(name);
    json.close_object();
}

fn items(json: &mut Json, order: &Order, store: &Store, catalogue: &Catalogue) {
    json.key("items").open_array();
    for at in 0..order.lines.len() {
        item(json, order, at, store, catalogue);
    }
    json.close_array();
}

fn item(json: &mut Json, order: &Order, at: usize, store: &Store, catalogue: &Catalogue) {
    let line = &order.lines[at];
    let product = catalogue.slot(line.product);
    json.open_object();
    json.key("id").id(order.line_id(at));
    json.key("product_id").ulid(product.id);
    json.key("item_id").raw_text(&codes::code_of(store.id, line.product));
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

pub(super) fn benefits(json: &mut Json, order: &Order) {
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

/// The documents in brief. Without `replaced_at`, so that a replaced note looks as current as the other.
fn invoices(json: &mut Json, order: &Order) {
    json.key("invoices").open_array();
    for document in order.documents() {
        json.open_object();
        json.key("type").raw_text(document.kind.wire());
        json.key("status").raw_text(document.status.wire());
        json.key("invoice_number").raw_text(&document.number.to_string());
        json.key("pdf_url").raw_text(&document.pdf_url());
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
    let shipping_method = order.shipping_method();
    json.open_object();
    json.key("carrier_name").optional_text(shipping_method.carrier.map(|(_, name)| name));
    json.key("display_name").text(shipping_method.display);
    json.key("deadline").time(order.promised_at());
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
