//! Reads one complete order (API document, "Order" and "Orders").

use chrono::FixedOffset;
use espelho_model::{
    LineId, OrderNumber, RawJson,
    money::with_cents,
    order::{Order, OrderItem, STATUSES, STOCK_STATUSES, WORKFLOW_TYPES},
};
use serde_json::value::RawValue;

use super::{
    credible,
    open_fields::OpenFields,
    order_wire::{CustomerWire, OrderWire},
};
use crate::{
    ApiRequest, Error,
    resources::{Read, handles::OrdersApi},
    wire::{
        envelope::{BodyError, object_payload},
        fields::{Field, FieldReader, object},
        shape,
    },
};

const ROUTE: &str = "/api/v1/sellers/orders/{id}";

/// Builds the request for one order.
pub fn request(number: &OrderNumber) -> ApiRequest {
    ApiRequest::get(ROUTE, &[number.as_str()])
}

impl OrdersApi<'_> {
    /// Reads one complete order.
    ///
    /// # Errors
    /// As every call; see [`Error`]. [`Error::Unexpected`] for an order that contradicts itself: a status that is no
    /// text, lines that cannot be read or share an id, or none where it counts some.
    pub async fn get(self, number: &OrderNumber) -> Result<Read<Order>, Error> {
        let request = request(number);
        let read = self
            .requests
            .send(&request, |body| {
                let (wire, text) = object_payload(body)?;
                read_order(&wire, text, number, self.requests.naive_offset(), credible::reason_for_doubt)
            })
            .await?;
        self.requests.note_unreadable(&request, read.unreadable.iter().copied());
        self.note_unknown_words(&read.value);
        Ok(read)
    }

    /// Counts values that the document does not list. The order keeps them unchanged.
    fn note_unknown_words(self, order: &Order) {
        let metrics = self.requests.metrics();
        metrics.value("order.status", order.status.as_deref(), &STATUSES);
        metrics.value("order.workflow_type", order.workflow_type.as_deref(), &WORKFLOW_TYPES);
        for item in &order.items {
            metrics.value("order_item.stock_status", item.stock_status.as_deref(), &STOCK_STATUSES);
        }
    }
}

shape! { TotalsWire { products, shipping, discounts, order } }

shape! {
    /// A line. The document says "prices" without naming the fields; the likely names are read.
    ItemWire {
        id, product_id, sku, product_sku, seller_sku, name, product_name, title, product, quantity, unit_price, price,
        net_value, price_scale, stock_status, is_blocking_stock,
    }
}

shape! { ProductOfItem { id, sku, name } }

/// Says why an order that was read cannot be believed, if so.
type Doubt = fn(&OrderWire<'_>, &Read<Order>) -> Option<String>;

/// Reads the detail of one order, which must have the requested number (`asked`) and be credible.
pub(crate) fn parse_detail(
    payload: &str,
    asked: &OrderNumber,
    naive: FixedOffset,
) -> Result<Read<Order>, BodyError> {
    read_order(&object(payload)?, payload, asked, naive, credible::reason_for_doubt)
}

/// Reads one order, which must have the requested number (`asked`). The answer to a transition may have few
/// fields.
pub(crate) fn parse_order(
    payload: &str,
    asked: &OrderNumber,
    naive: FixedOffset,
) -> Result<Read<Order>, BodyError> {
    read_order(&object(payload)?, payload, asked, naive, |_, _| None)
}

fn read_order(
    wire: &OrderWire<'_>,
    text: &str,
    asked: &OrderNumber,
    naive: FixedOffset,
    doubt: Doubt,
) -> Result<Read<Order>, BodyError> {
    if let (None, Some(inner)) = (wire.order_number, wire.order) {
        let text = inner.get();
        return read_order(&object(text)?, text, asked, naive, doubt);
    }
    let mut read = FieldReader::new(naive);
    let number = read
        .text("order_number", wire.order_number)
        .ok_or_else(|| BodyError::shape("an order without order_number"))?;
    if number != asked.as_str() {
        return Err(BodyError::shape(format!("asked for order {asked}, was given {number}")));
    }
    let items = read_items(&mut read, wire.items);
    let customer: CustomerWire<'_> = read.nested("customer", wire.customer).unwrap_or_default();
    let open = OpenFields::of(wire, &customer, naive);
    let totals: TotalsWire<'_> = read.nested("totals", wire.totals).unwrap_or_default();
    let mut money = |name, field| read.decimal(name, field).map(with_cents);
    let value = Order {
        total_products: money("totals.products", totals.products),
        total_shipping: money("totals.shipping", totals.shipping),
        total_discounts: money("totals.discounts", totals.discounts),
        total_order: money("totals.order", totals.order),
        number: OrderNumber::new(number),
        status: read.text("status", wire.status),
        workflow_type: read.text("workflow_type", wire.workflow_type),
        order_type: read.text("type", wire.order_type),
        channel: read.text("channel", wire.channel),
        delivery_method: read.text("delivery_method", wire.delivery_method),
        checkout_group_id: read.text("checkout_group_id", wire.checkout_group_id),
        customer_id: read.text("customer.id", customer.id.or(wire.customer_id)),
        customer_name: read.text("customer.name", customer.name.or(wire.customer_name)),
        items_count: read.decimal("items_count", wire.items_count).map(|n| n.normalize()),
        lines_count: read.integer("lines_count", wire.lines_count),
        payment_method: read.text("payment_method", wire.payment_method),
        payment_status: read.text("payment_status", wire.payment_status),
        payment_expires_at: read.time("payment_expires_at", wire.payment_expires_at),
        is_collective: read.boolean("is_collective", wire.is_collective),
        is_awaiting_campaign: read.boolean("is_awaiting_campaign", wire.is_awaiting_campaign),
        release_at: read.time("release_at", wire.release_at),
        picked_up_at: read.time("picked_up_at", wire.picked_up_at),
        notes: read.text("notes", wire.notes),
        created_at: read.time("created_at", wire.created_at),
        updated_at: read.time("updated_at", wire.updated_at),
        status_label: read.text("status_label", wire.status_label),
        customer_city: open.city(),
        customer_state: open.state(),
        ship_by: open.ship_by(),
        invoice_by: open.invoice_by(),
        pick_by: open.pick_by(),
        items,
        raw: RawJson::new(text),
    };
    let read = Read { value, unreadable: read.into_unreadable() };
    match doubt(wire, &read) {
        None => Ok(read),
        Some(reason) => Err(BodyError::shape(reason)),
    }
}

fn read_items(read: &mut FieldReader, items: Field<'_>) -> Vec<OrderItem> {
    let rows = read.list("items", items);
    rows.into_iter().enumerate().filter_map(|(at, row)| read_item(read, at, row)).collect()
}

fn read_item(read: &mut FieldReader, at: usize, row: &RawValue) -> Option<OrderItem> {
    if row.get() == "null" {
        return None;
    }
    let Ok(wire) = object::<ItemWire<'_>>(row.get()) else {
        read.give_up("items[]");
        return None;
    };
    let product: ProductOfItem<'_> = read.nested("items[].product", wire.product).unwrap_or_default();
    // A line without an id gets its position as id, because nothing else distinguishes it from its neighbours.
    let id = read.id("items[].id", wire.id).unwrap_or_else(|| format!("#{}", at + 1));
    let sku = wire.sku.or(wire.product_sku).or(wire.seller_sku).or(product.sku);
    let name = wire.name.or(wire.product_name).or(wire.title).or(product.name);
    Some(OrderItem {
        id: LineId::new(id),
        product_id: read.text("items[].product_id", wire.product_id.or(product.id)),
        sku: read.text("items[].sku", sku),
        quantity: read.decimal("items[].quantity", wire.quantity).map(|n| n.normalize()),
        unit_price: read.decimal("items[].unit_price", wire.unit_price.or(wire.price)).map(with_cents),
        net_value: read.decimal("items[].net_value", wire.net_value).map(with_cents),
        price_scale: read.integer("items[].price_scale", wire.price_scale),
        stock_status: read.text("items[].stock_status", wire.stock_status),
        is_blocking_stock: read.boolean("items[].is_blocking_stock", wire.is_blocking_stock),
        name: read.text("items[].name", name),
        raw: RawJson::new(row.get()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn order(number: &str, payload: &Value) -> Read<Order> {
        let utc = FixedOffset::east_opt(0).unwrap();
        parse_order(&payload.to_string(), &OrderNumber::new(number), utc)
            .unwrap_or_else(|e| panic!("{payload}: {e:?}"))
    }

    #[test]
    fn the_request_of_an_order_names_it() {
        assert_eq!(request(&OrderNumber::new("MP-1")).describe(), "GET /api/v1/sellers/orders/MP-1");
    }

    // proves: ORD-044, ORD-073, ORD-079, ORD-085, ORD-086, ORD-088, ORD-089, ORD-090, ORD-093, ORD-094, ORD-101
    // proves: ORD-104, ORD-105, ORD-106, ENV-004
    #[test]
    fn an_order_is_read_whole_with_its_lines() {
        let line = json!({"id": 5, "product_id": "01P", "sku": "CAN-1", "quantity": 2, "unit_price": 9.955, "net_value": "19.91",
            "price_scale": 3, "stock_status": "awaiting_restock", "stock_status_label": "Aguardando reposição", "is_blocking_stock": true});
        let sent = json!({"order_number": "MP-1", "checkout_group_id": "G1", "status": "waiting_payment",
            "workflow_type": "collective", "items": [line.clone()], "items_count": 2, "lines_count": 1,
            "totals": {"products": "19.91", "shipping": 5, "discounts": "0.5", "order": 24.41},
            "payment_expires_at": "2026-11-21T00:00:00-03:00", "release_at": "2026-11-30", "is_collective": true,
            "picked_up_at": null, "notes": "ligar antes", "created_at": "2026-11-20T12:00:00Z", "updated_at": "2026-11-20T12:00:01Z"});
        let read = order("MP-1", &sent);
        assert_eq!(read.unreadable, Vec::<&str>::new());
        let order = read.value;
        assert_eq!(
            (order.checkout_group_id.as_deref(), order.workflow_type.as_deref()),
            (Some("G1"), Some("collective"))
        );
        let totals = [order.total_products, order.total_shipping, order.total_discounts, order.total_order];
        assert_eq!(totals.map(|total| total.unwrap().to_string()), ["19.91", "5.00", "0.50", "24.41"]);
        assert_eq!((order.items_count, order.lines_count), (Some(2.into()), Some(1)));
        assert_eq!(order.payment_expires_at.unwrap().to_rfc3339(), "2026-11-21T03:00:00+00:00");
        assert_eq!(order.release_at.unwrap().to_rfc3339(), "2026-11-30T00:00:00+00:00");
        assert_eq!((order.picked_up_at, order.notes.as_deref()), (None, Some("ligar antes")));
        assert!(order.created_at < order.updated_at);
        let item = &order.items[0];
        assert_eq!((item.id.as_str(), item.sku.as_deref(), item.price_scale), ("5", Some("CAN-1"), Some(3)));
        assert_eq!(item.unit_price.unwrap().to_string(), "9.955", "three decimals stay three");
        assert_eq!(item.net_value.unwrap().to_string(), "19.91");
        assert_eq!(item.is_blocking_stock, Some(true));
        assert_eq!(order.raw.as_str(), sent.to_string());
    }

    // proves: ORD-107
    #[test]
    fn an_order_that_says_nothing_but_its_number_is_an_order() {
        for sent in
            [json!({"order_number": 7}), json!({"order": {"order_number": "7", "items": null, "totals": []}})]
        {
            let read = order("7", &sent);
            assert_eq!(read.unreadable, Vec::<&str>::new());
            assert_eq!(
                (read.value.status, read.value.items, read.value.total_order),
                (None, Vec::new(), None)
            );
        }
    }

    // proves: ORD-117, FLO-062
    #[test]
    fn the_statuses_of_orders_and_of_lines_are_two_vocabularies() {
        let sent = |status: &str, line: &str| {
            let payload =
                json!({"order_number": "7", "status": status, "items": [{"id": 1, "stock_status": line}]});
            let unknown = order("7", &payload).value;
            unknown
                .unknown_values()
                .into_iter()
                .map(|(field, value)| format!("{field}={value}"))
                .collect::<Vec<_>>()
        };
        assert!(sent("awaiting_restock", "awaiting_restock").is_empty());
        assert_eq!(sent("reserved", "reserved"), ["status=reserved"]);
        assert_eq!(sent("paid", "paid"), ["stock_status=paid"]);
        for status in
            ["production_started", "awaiting_materials", "production_in_progress", "production_finished"]
        {
            assert!(sent(status, "in_production").is_empty(), "{status}");
        }
    }
}
