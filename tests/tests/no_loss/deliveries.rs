//! Webhook deliveries, as they arrive and as they are read.

use chrono::{Offset as _, Utc};
use espelho_api_client::webhook::{Delivery, SIGNATURE_HEADER, verify};
use espelho_model::OrderNumber;
use espelho_sandbox::{NewOccurrence, NewOrder, NewWebhook, Options};
use espelho_tests::{Reply, Shop};
use serde_json::json;

use crate::sides::{Json, STORE, Sides, kept, told};

const HOOK: &str = "/ganchos";

/// Creates events and checks that each delivery arrives signed, and is read with every field understood.
#[tokio::test]
async fn every_delivery_is_read_without_loss() {
    let sides = Sides::open(Options { orders: 20, products: 4, ..Options::default() }).await;
    let received = |call: &espelho_tests::Call| (call.path == HOOK).then(|| Reply::success(&json!({})));
    let receiver = Shop::with_rule(Vec::new(), received).await;
    let control = sides.sandbox.control();
    let url = Some(format!("{}{HOOK}", receiver.base_url()));
    let new = NewWebhook { url, events: Some(vec!["*".to_owned()]), ..NewWebhook::default() };
    let webhook = control.webhooks().create(STORE, new).unwrap();
    happen(&sides).await;
    assert!(control.webhooks().test(&webhook.id));
    control.webhooks().deliveries_done().await;
    let secret = webhook.secret.into();
    let mut events = std::collections::BTreeSet::new();
    for call in receiver.take_calls() {
        let header = &call.headers[&SIGNATURE_HEADER.to_ascii_lowercase()];
        assert!(verify(&secret, call.body.as_bytes(), header), "{}", call.body);
        let delivery = Delivery::parse(call.body.as_bytes(), Utc.fix()).unwrap();
        assert!(delivery.unreadable.is_empty(), "{:?} of {}", delivery.unreadable, call.body);
        let sent = Json(call.body);
        kept(&delivery.data, &sent.at("data"));
        told(
            &sent,
            &[("event", Some(delivery.event.to_string())), ("webhook_id", delivery.webhook_id.clone())],
        );
        told(
            &sent.at("data"),
            &[
                ("store_id", delivery.store_id.clone()),
                ("order_number", delivery.order_number().map(OrderNumber::into_string)),
                ("product_sku_id", delivery.product_sku_id().map(str::to_owned)),
                ("item_id", delivery.item_id().map(str::to_owned)),
                ("occurrence_id", delivery.occurrence_id().map(str::to_owned)),
                ("conversation_id", delivery.conversation_id().map(str::to_owned)),
            ],
        );
        assert!(delivery.timestamp.is_some() && delivery.event.group().is_some());
        events.insert(delivery.event.to_string());
    }
    assert!(events.len() >= 15, "{events:?}");
}

async fn happen(sides: &Sides) {
    let control = sides.sandbox.control();
    let carried = || NewOrder { carrier: "platform".to_owned(), shipments: 2, ..NewOrder::default() };
    let number = control.orders().place(STORE, carried());
    assert!(control.orders().set_status(STORE, &number, "preparing"));
    assert!(control.orders().issue_invoice(STORE, &number, "nfe").is_some());
    assert!(control.orders().set_line_stock(STORE, &number, 0, "awaiting_restock"));
    for shipment in control.shipments().of_order(STORE, &number) {
        for scan in ["in_transit", "out_for_delivery", "delivered"] {
            assert!(control.shipments().scan(STORE, &shipment, scan), "{scan}");
        }
    }
    let cancelled = control.orders().place(STORE, carried());
    assert!(control.orders().cancel(STORE, &cancelled, "Endereço \"inexistente\" \n 📦"));
    control.orders().refund(STORE, &cancelled);
    let product = sides.data("/api/products?per_page=1").await.page()[0].text("id");
    assert!(
        control.products().set_stock(STORE, &product, 0) && control.products().set_stock(STORE, &product, 5)
    );
    assert!(control.products().edit_price(STORE, &product, 5));
    let occurrence = control.support_cases().open_occurrence(STORE, NewOccurrence::default()).unwrap();
    assert!(control.support_cases().end_occurrence(STORE, occurrence, "auto_closed"));
    let conversation = control.support_cases().open_conversation(STORE, &number, "question").unwrap();
    assert!(
        control.support_cases().say(STORE, conversation, "customer", "Quando\u{1} chega? \"📦\"").is_some()
    );
    assert!(control.support_cases().close_conversation(STORE, conversation, "resolved"));
}
