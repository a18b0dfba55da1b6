//! Orders and everything about them, read by both readers.

use std::collections::BTreeSet;

use espelho_api_client::resources::orders::{OrderDetails, OrderQuery, StalledQuery};
use espelho_model::{ContentHash, OrderNumber, RawJson, ShipmentId, order::Order};
use rust_decimal::Decimal;
use serde_json::Value;

use crate::sides::{Json, Sides, all_kept, kept, told, whole};

const ORDERS: &str = "/api/v1/sellers/orders";

/// Reads everything; returns the pairs of workflow and status that occurred.
pub(crate) async fn read(sides: &Sides) -> BTreeSet<(String, String)> {
    let mut met = BTreeSet::new();
    for number in listed(sides).await {
        let order = one(sides, &number).await;
        met.insert((order.workflow_type.unwrap_or_default(), order.status.unwrap_or_default()));
        views(sides, &number).await;
        money_and_papers(sides, &number).await;
        shipments(sides, &number).await;
    }
    together(sides).await;
    met
}

/// Reads the listing page by page and checks key, fingerprint and order of every row; returns the order numbers.
async fn listed(sides: &Sides) -> Vec<OrderNumber> {
    let mut numbers = Vec::new();
    for page in 1.. {
        let query =
            OrderQuery { limit: Some(50), page, page_parameter: "page".into(), ..OrderQuery::default() };
        let read = sides.client.orders().list(&query).await.unwrap();
        let sent = sides.data(&format!("{ORDERS}?limit=50&page={page}")).await.page();
        assert_eq!((read.rows_without_id, read.meta.page), (0, Some(page)));
        let hashes: Vec<_> = sent.iter().map(|row| ContentHash::of(row.0.as_bytes())).collect();
        assert_eq!(read.rows.iter().map(|row| row.hash).collect::<Vec<_>>(), hashes);
        let keys: Vec<_> = sent.iter().map(|row| row.text("order_number")).collect();
        assert_eq!(read.rows.iter().map(|row| row.key.clone()).collect::<Vec<_>>(), keys);
        numbers.extend(keys.into_iter().map(OrderNumber::new));
        if read.meta.last_page.is_none_or(|last| page >= last) {
            assert_eq!(read.meta.total, Some(numbers.len() as u64));
            return numbers;
        }
    }
    numbers
}

fn digits(number: Option<Decimal>) -> Option<String> {
    number.map(|number| number.to_string())
}

async fn one(sides: &Sides, number: &OrderNumber) -> Order {
    let order = whole(sides.client.orders().get(number).await.unwrap(), number.as_str());
    let sent = sides.data(&format!("{ORDERS}/{number}")).await;
    kept(&order.raw, &sent);
    let lines = sent.at("items").rows();
    all_kept(order.items.iter().map(|item| &item.raw), &lines);
    let text = |text: &Option<String>| text.clone();
    told(
        &sent,
        &[
            ("status", text(&order.status)),
            ("workflow_type", text(&order.workflow_type)),
            ("type", text(&order.order_type)),
            ("channel", text(&order.channel)),
            ("delivery_method", text(&order.delivery_method)),
            ("checkout_group_id", text(&order.checkout_group_id)),
            ("payment_method", text(&order.payment_method)),
            ("payment_status", text(&order.payment_status)),
            ("notes", text(&order.notes)),
            ("items_count", digits(order.items_count)),
        ],
    );
    let totals = [
        ("products", digits(order.total_products)),
        ("shipping", digits(order.total_shipping)),
        ("discounts", digits(order.total_discounts)),
        ("order", digits(order.total_order)),
    ];
    told(&sent.at("totals"), &totals);
    for (item, line) in order.items.iter().zip(&lines) {
        told(
            line,
            &[
                ("id", Some(item.id.as_str().to_owned())),
                ("product_id", text(&item.product_id)),
                ("sku", text(&item.sku)),
                ("quantity", digits(item.quantity)),
                ("unit_price", digits(item.unit_price)),
                ("net_value", digits(item.net_value)),
                ("stock_status", text(&item.stock_status)),
            ],
        );
    }
    details(&order, &sent);
    order
}

/// Checks the details that are read from an order's text on demand.
fn details(order: &Order, sent: &Json) {
    let details = whole(OrderDetails::of(&order.raw), order.number.as_str());
    told(
        sent,
        &[
            ("status_label", details.status.label),
            ("status_color", details.status_color),
            ("type_label", details.order_type.label),
            ("channel_label", details.channel.label),
            ("delivery_method_label", details.delivery_method.label),
            ("payment_method_label", details.payment_method.label),
            ("payment_status_label", details.payment_status.label),
            ("payment_url", details.payment_url),
            ("payment_link_target", details.payment_link_target.value),
            ("customer_uid", details.customer.uid),
            ("customer_id", details.customer.id),
        ],
    );
    assert_eq!(details.stock_status_labels.len(), order.items.len());
    all_kept(
        details.applied_benefits.iter().map(|benefit| &benefit.raw),
        &sent.at("applied_benefits").rows(),
    );
    for (benefit, row) in details.applied_benefits.iter().zip(sent.at("applied_benefits").rows()) {
        told(&row, &[("type", benefit.benefit_type.clone()), ("code", benefit.code.clone())]);
        assert!(benefit.amount.is_some(), "{}", row.0);
    }
    all_kept(&details.items_preview, &sent.at("items_preview").rows());
    for (invoice, row) in details.invoices.iter().zip(sent.at("invoices").rows()) {
        let number = invoice.invoice_number.clone();
        told(&row, &[("invoice_number", number), ("pdf_url", invoice.pdf_url.clone())]);
    }
    assert_eq!(details.invoices.len(), sent.at("invoices").rows().len());
    for (name, raw) in [("metadata", details.metadata), ("occurrences", details.occurrences)] {
        assert_eq!(raw.map(RawJson::into_string), sent.get(name).map(|sent| sent.0));
    }
}

/// Checks possible transitions, tracking and timeline of an order.
async fn views(sides: &Sides, number: &OrderNumber) {
    let possible = sides.client.orders().possible_statuses(number).await.unwrap();
    let sent = sides.data(&format!("{ORDERS}/{number}/possible-statuses")).await;
    let current = (possible.current_status, possible.workflow_type);
    assert_eq!(current, (sent.text("current_status"), Some(sent.text("workflow_type"))));
    let actions = sent.at("next_actions").rows();
    assert_eq!(possible.next_actions.len(), actions.len());
    for (action, row) in possible.next_actions.into_iter().zip(&actions) {
        let label = action.label;
        told(
            row,
            &[
                ("action", Some(action.action)),
                ("target_status", Some(action.target_status)),
                ("label", label),
            ],
        );
        assert_eq!(action.payload_schema, row.get("payload_schema").map(|schema| schema.value()));
    }
    let tracking = whole(sides.client.orders().tracking(number).await.unwrap(), "tracking");
    let sent = sides.data(&format!("{ORDERS}/{number}/tracking")).await;
    kept(&tracking.raw, &sent);
    let rows = sent.at("shipments").rows();
    all_kept(tracking.shipments.iter().map(|shipment| &shipment.raw), &rows);
    for (shipment, row) in tracking.shipments.iter().zip(&rows) {
        all_kept(shipment.steps.iter().map(|step| &step.raw), &row.at("steps").rows());
        let (code, url) = (shipment.tracking_code.clone(), shipment.tracking_url.clone());
        told(row, &[("tracking_code", code), ("tracking_url", url), ("status", shipment.status.clone())]);
        assert!(shipment.steps.iter().all(|step| step.at.is_some() && step.status.is_some()));
    }
    let events = whole(sides.client.orders().events(number).await.unwrap(), "events");
    let rows = sides.data(&format!("{ORDERS}/{number}/events")).await.rows();
    all_kept(events.iter().map(|event| &event.raw), &rows);
    for (event, row) in events.iter().zip(&rows) {
        let (kind, author) = (event.event_type.clone(), event.author_type.clone());
        told(row, &[("type", kind), ("author_type", author), ("author_name", event.author_name.clone())]);
        assert_eq!(
            event.metadata.as_ref().map(RawJson::as_str),
            row.get("metadata").as_ref().map(|raw| raw.0.as_str())
        );
        assert!(event.created_at.is_some());
    }
}

async fn money_and_papers(sides: &Sides, number: &OrderNumber) {
    let money = whole(sides.client.orders().financial(number).await.unwrap(), "financial");
    let sent = sides.data(&format!("{ORDERS}/{number}/financial")).await;
    kept(&money.raw, &sent);
    let [splits, audit, benefits] =
        ["splits", "commission_audit", "applied_benefits"].map(|name| sent.at(name).rows());
    all_kept(money.splits.iter().map(|split| &split.raw), &splits);
    all_kept(money.commissions.iter().map(|line| &line.raw), &audit);
    all_kept(money.benefits.iter().map(|benefit| &benefit.raw), &benefits);
    for (split, row) in money.splits.iter().zip(&splits) {
        told(row, &[("type", split.party.clone()), ("amount", digits(split.amount))]);
        assert_eq!(split.name, Some(row.at("recipient").text("name")));
    }
    for (line, row) in money.commissions.iter().zip(&audit) {
        let (rate, value) = (digits(line.percent), digits(line.amount));
        told(row, &[("base_value", digits(line.base)), ("rate_percent", rate), ("commission_value", value)]);
    }
    let papers = whole(sides.client.orders().fiscal(number).await.unwrap(), "fiscal");
    let rows = sides.data(&format!("{ORDERS}/{number}/fiscal")).await.at("documents").rows();
    all_kept(papers.iter().map(|paper| &paper.raw), &rows);
    for (paper, row) in papers.iter().zip(&rows) {
        told(row, &[("type", paper.document_type.clone()), ("invoice_number", paper.invoice_number.clone())]);
        assert_eq!(paper.is_current, row.get("replaced_at").is_none());
    }
}

/// Checks the shipments, which an order may lack, and their labels.
async fn shipments(sides: &Sides, number: &OrderNumber) {
    let read = sides.client.shipments().of_order(number).await;
    let Some(sent) = sides.plain(&format!("{ORDERS}/{number}/shipments")).await else {
        return assert!(read.is_err());
    };
    let (shipments, rows) = (whole(read.unwrap(), "shipments"), sent.at("shipments").rows());
    all_kept(shipments.iter().map(|shipment| &shipment.raw), &rows);
    for (shipment, row) in shipments.iter().zip(&rows) {
        let (kind, status) = (shipment.shipment_type.clone(), shipment.status.clone());
        told(row, &[("type", kind), ("status", status), ("tracking_code", shipment.tracking_code.clone())]);
        assert_eq!(shipment.carrier_name, row.get("carrier").map(|carrier| carrier.text("name")));
        all_kept(shipment.labels.iter().map(|label| &label.raw), &row.at("labels").rows());
        labels(sides, &shipment.id).await;
    }
}

async fn labels(sides: &Sides, shipment: &ShipmentId) {
    let labels = whole(sides.client.shipments().labels(shipment).await.unwrap(), "labels");
    let sent = sides.data(&format!("/api/seller/logistics/shipments/{shipment}/labels")).await;
    let rows = sent.at("labels").rows();
    all_kept(labels.labels.iter().map(|label| &label.raw), &rows);
    assert_eq!(labels.shipment_id.as_ref(), Some(shipment));
    assert_eq!(labels.formats_pending.len(), sent.at("formats_pending").rows().len());
    for (label, row) in labels.labels.iter().zip(&rows) {
        let format = label.format.as_ref().map(ToString::to_string);
        told(row, &[("format", format), ("status", label.status.clone()), ("source", label.source.clone())]);
    }
}

/// Checks the data about all orders together.
async fn together(sides: &Sides) {
    let read = sides.client.orders().stalled(StalledQuery::page(1)).await.unwrap();
    let rows = sides.data(&format!("{ORDERS}/stalled?page=1&per_page=50")).await.page();
    assert_eq!(read.rows_without_id, 0);
    all_kept(read.rows.iter().map(|order| &order.raw), &rows);
    for (order, row) in read.rows.iter().zip(&rows) {
        told(row, &[("reason", order.reason.clone()), ("status_label", order.status_label.clone())]);
        assert!(order.deadline_at.is_some());
    }
    let value = async |path: &str| -> Value { sides.data(path).await.value() };
    assert_eq!(sides.client.orders().enums().await.unwrap(), value(&format!("{ORDERS}/enums")).await);
    let by_workflow = sides.client.orders().statuses_by_workflow().await.unwrap();
    assert_eq!(by_workflow, value("/api/global/enums/order/status").await);
    assert_eq!(sides.client.orders().summary().await.unwrap(), value(&format!("{ORDERS}/summary")).await);
    let dashboard = sides.client.orders().dashboard(None).await.unwrap();
    assert_eq!(dashboard, value(&format!("{ORDERS}/dashboard")).await);
}
