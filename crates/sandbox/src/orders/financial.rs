//! GET the financial split of an order.

use super::{Order, detail, shown::shown_orders, visibility, vocabulary::Channel};
use crate::{
    answer::Answer, call::Call, json::Json, money::Milli, products::Catalogue, refusal::Refusal, store::Store,
};

/// The commission of the marketplace on each line, in thousandths, by the product's position in the catalogue.
const COMMISSIONS: [i64; 3] = [120, 140, 165];
/// The share of the sales agent in the products, in thousandths.
const AGENT: i64 = 30;

/// GET the splits, the audit of the commission, and the benefits.
pub(super) fn show(call: &Call) -> Result<Answer, Refusal> {
    let store = visibility::readable(call)?;
    let orders = shown_orders(store);
    let order = orders.get(call.id(0)).ok_or(Refusal::NotFound)?;
    let catalogue = store.catalogue();
    Ok(Answer::success(call.options().numbers_as_strings, |json| {
        json.open_object();
        json.key("order_number").text(&order.number);
        json.key("total").decimal(order.total(), 2);
        splits(json, order, store);
        audit(json, order, &catalogue);
        detail::benefits(json, order);
        json.close_object();
    }))
}

fn rate(product: u32) -> i64 {
    COMMISSIONS[product as usize % COMMISSIONS.len()]
}

fn part(of: Milli, thousandths: i64) -> Milli {
    Milli(of.0 * thousandths / 1000).ceil_cents()
}

/// The commission of the whole order: the sum over its lines.
fn commission(order: &Order) -> Milli {
    order.lines.iter().fold(Milli(0), |sum, line| sum + part(line.subtotal(), rate(line.product)))
}

/// The parts add up to the order's total to the cent: the seller gets what the others leave.
fn splits(json: &mut Json, order: &Order, store: &Store) {
    let marketplace = commission(order);
    let has_agent = order.channel == Channel::StoreSeller;
    let agent = if has_agent { part(order.products_total(), AGENT) } else { Milli(0) };
    json.key("splits").open_array();
    split(json, ["seller", "Loja"], (store.id, &store.name), order.total() - marketplace - agent);
    split(json, ["marketplace", "Marketplace"], (1, "Marketplace"), marketplace);
    if has_agent {
        split(json, ["sales_agent", "Vendedor"], detail::agent(order), agent);
    }
    json.close_array();
}

fn split(json: &mut Json, [kind, label]: [&str; 2], (id, name): (u64, &str), amount: Milli) {
    json.open_object();
    json.key("type").raw_text(kind);
    json.key("type_label").raw_text(label);
    json.key("recipient").open_object();
    json.key("id").id(id);
    json.key("name").text(name);
    json.close_object();
    json.key("amount").decimal(amount, 2);
    json.close_object();
}

/// The calculation of the commission of each line.
fn audit(json: &mut Json, order: &Order, catalogue: &Catalogue) {
    json.key("commission_audit").open_array();
    for (at, line) in order.lines.iter().enumerate() {
        let product = catalogue.slot(line.product);
        json.open_object();
        json.key("order_item_id").id(order.line_id(at));
        json.key("product_id").ulid(product.id);
        json.key("sku").text(&product.sku);
        json.key("base_value").decimal(line.subtotal(), 2);
        json.key("rate_percent").decimal(Milli(rate(line.product) * 100), 2);
        json.key("commission_value").decimal(part(line.subtotal(), rate(line.product)), 2);
        json.close_object();
    }
    json.close_array();
}
