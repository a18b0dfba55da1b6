//! Orders, reading (API document, "Orders").

use chrono::{FixedOffset, NaiveDate};
use espelho_model::{
    LineId, OrderNumber, RawJson,
    money::with_cents,
    order::{Order, OrderItem},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::Read;
use crate::{
    ApiRequest, Client, Error, ListPage,
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader, object},
    },
};

const LIST: &str = "/api/v1/sellers/orders";
const DETAIL: &str = "/api/v1/sellers/orders/{id}";

/// What to list, and how. `None` leaves a parameter to the server's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderQuery {
    /// `status`: any of these.
    pub statuses: Vec<String>,
    /// `date_from`: created on this day or later.
    pub date_from: Option<NaiveDate>,
    /// `date_to`: created on this day or before.
    pub date_to: Option<NaiveDate>,
    /// `sort`: a field, with `-` before it for descending.
    pub sort: Option<String>,
    /// `limit`: rows a page, 20 by default.
    pub limit: Option<u32>,
    /// The page, from 1. The document does not name the parameter; [`OrderQuery::page_parameter`] does.
    pub page: u64,
    /// The name of the page parameter.
    pub page_parameter: String,
}

impl OrderQuery {
    /// The listing request.
    pub fn request(&self) -> ApiRequest {
        let statuses = self.statuses.join(",");
        let day = |date: Option<NaiveDate>| date.map(|d| d.to_string());
        let (from, to) = (day(self.date_from), day(self.date_to));
        let limit = self.limit.map(|l| l.to_string());
        let page = self.page.to_string();
        let parameters = [
            ("status", (!statuses.is_empty()).then_some(statuses.as_str())),
            ("date_from", from.as_deref()),
            ("date_to", to.as_deref()),
            ("sort", self.sort.as_deref()),
            ("limit", limit.as_deref()),
            (self.page_parameter.as_str(), Some(page.as_str())),
        ];
        ApiRequest::get(LIST, &[])
            .query(parameters.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }
}

impl Client {
    /// One page of the listing.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn list_orders(&self, query: &OrderQuery) -> Result<ListPage, Error> {
        self.fetch_list(&query.request(), row_key).await
    }

    /// One order, whole.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn order(&self, number: &OrderNumber) -> Result<Read<Order>, Error> {
        let request = ApiRequest::get(DETAIL, &[number.as_str()]);
        self.read_with(&request, |payload| parse_order(payload, number, self.naive_offset)).await
    }

    /// All order enums, as sent.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn order_enums(&self) -> Result<Value, Error> {
        self.fetch(&ApiRequest::get("/api/v1/sellers/orders/enums", &[])).await
    }

    /// The public enum of order statuses by workflow, as sent.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn order_statuses_by_workflow(&self) -> Result<Value, Error> {
        self.fetch(&ApiRequest::get("/api/global/enums/order/status", &[]).public()).await
    }

    /// The KPIs of the current day, as sent.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn orders_summary(&self) -> Result<Value, Error> {
        self.fetch(&ApiRequest::get("/api/v1/sellers/orders/summary", &[])).await
    }

    /// The transitions that the marketplace offers for an order now.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn possible_statuses(&self, number: &OrderNumber) -> Result<PossibleStatuses, Error> {
        let route = "/api/v1/sellers/orders/{id}/possible-statuses";
        self.fetch(&ApiRequest::get(route, &[number.as_str()])).await
    }
}

/// `data` of the possible-statuses route.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct PossibleStatuses {
    pub current_status: String,
    #[serde(default)]
    pub workflow_type: Option<String>,
    #[serde(default)]
    pub next_actions: Vec<NextAction>,
}

/// One offered transition.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct NextAction {
    pub action: String,
    pub target_status: String,
    #[serde(default)]
    pub label: Option<String>,
    /// A JSON Schema of `data`, or `None` when the transition takes none.
    #[serde(default)]
    pub payload_schema: Option<Value>,
}

#[derive(Deserialize)]
struct RowWire<'a> {
    #[serde(borrow, default)]
    order_number: Field<'a>,
}

fn row_key(row: &RawValue) -> Option<String> {
    let wire: RowWire<'_> = object(row.get()).ok()?;
    FieldReader::new(FixedOffset::east_opt(0)?).id("order_number", wire.order_number)
}

/// The order with every field unread; names of the document.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OrderWire<'a> {
    #[serde(borrow)]
    order: Field<'a>,
    #[serde(borrow)]
    order_number: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    workflow_type: Field<'a>,
    #[serde(borrow, rename = "type")]
    order_type: Field<'a>,
    #[serde(borrow)]
    channel: Field<'a>,
    #[serde(borrow)]
    delivery_method: Field<'a>,
    #[serde(borrow)]
    checkout_group_id: Field<'a>,
    #[serde(borrow)]
    customer: Field<'a>,
    #[serde(borrow)]
    customer_id: Field<'a>,
    #[serde(borrow)]
    customer_name: Field<'a>,
    #[serde(borrow)]
    totals: Field<'a>,
    #[serde(borrow)]
    items: Field<'a>,
    #[serde(borrow)]
    items_count: Field<'a>,
    #[serde(borrow)]
    lines_count: Field<'a>,
    #[serde(borrow)]
    payment_method: Field<'a>,
    #[serde(borrow)]
    payment_status: Field<'a>,
    #[serde(borrow)]
    payment_expires_at: Field<'a>,
    #[serde(borrow)]
    is_collective: Field<'a>,
    #[serde(borrow)]
    is_awaiting_campaign: Field<'a>,
    #[serde(borrow)]
    release_at: Field<'a>,
    #[serde(borrow)]
    picked_up_at: Field<'a>,
    #[serde(borrow)]
    notes: Field<'a>,
    #[serde(borrow)]
    created_at: Field<'a>,
    #[serde(borrow)]
    updated_at: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct IdName<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TotalsWire<'a> {
    #[serde(borrow)]
    products: Field<'a>,
    #[serde(borrow)]
    shipping: Field<'a>,
    #[serde(borrow)]
    discounts: Field<'a>,
    #[serde(borrow)]
    order: Field<'a>,
}

/// A line. The document says "prices" without naming the fields; the likely names are read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ItemWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    product_id: Field<'a>,
    #[serde(borrow)]
    sku: Field<'a>,
    #[serde(borrow)]
    product_sku: Field<'a>,
    #[serde(borrow)]
    seller_sku: Field<'a>,
    #[serde(borrow)]
    product: Field<'a>,
    #[serde(borrow)]
    quantity: Field<'a>,
    #[serde(borrow)]
    unit_price: Field<'a>,
    #[serde(borrow)]
    price: Field<'a>,
    #[serde(borrow)]
    net_value: Field<'a>,
    #[serde(borrow)]
    price_scale: Field<'a>,
    #[serde(borrow)]
    stock_status: Field<'a>,
    #[serde(borrow)]
    is_blocking_stock: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProductOfItem<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    sku: Field<'a>,
}

/// Reads one order; `asked` is the number it was asked for by, which it must bear.
pub(crate) fn parse_order(
    payload: &str,
    asked: &OrderNumber,
    naive: FixedOffset,
) -> Result<Read<Order>, BodyError> {
    let wire: OrderWire<'_> = object(payload)?;
    if let (None, Some(inner)) = (wire.order_number, wire.order) {
        return parse_order(inner.get(), asked, naive);
    }
    let mut read = FieldReader::new(naive);
    let number = read
        .text("order_number", wire.order_number)
        .ok_or_else(|| BodyError::shape("an order without order_number"))?;
    if number != asked.as_str() {
        return Err(BodyError::shape(format!("asked for order {asked}, was given {number}")));
    }
    let items = read_items(&mut read, wire.items);
    let customer: IdName<'_> = read.nested("customer", wire.customer).unwrap_or_default();
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
        items,
        raw: RawJson::new(payload),
    };
    Ok(Read { value, unreadable: read.into_unreadable() })
}

fn read_items(read: &mut FieldReader, items: Field<'_>) -> Vec<OrderItem> {
    let rows = read.list("items", items);
    rows.into_iter().enumerate().filter_map(|(at, row)| read_item(read, at, row)).collect()
}

fn read_item(read: &mut FieldReader, at: usize, row: &RawValue) -> Option<OrderItem> {
    let wire: ItemWire<'_> = read.nested("items[]", Some(row))?;
    let product: ProductOfItem<'_> = read.nested("items[].product", wire.product).unwrap_or_default();
    // A line without an id is named by its place, which is all that tells it from its neighbours.
    let id = read.id("items[].id", wire.id).unwrap_or_else(|| format!("#{}", at + 1));
    let sku = wire.sku.or(wire.product_sku).or(wire.seller_sku).or(product.sku);
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
        raw: RawJson::new(row.get()),
    })
}
