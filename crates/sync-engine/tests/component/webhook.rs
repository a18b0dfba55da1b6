//! Webhooks: what each documented event leads to, and how it is noticed that none arrives.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use espelho_sandbox::{NewOrder, NewWebhook};
use espelho_sync_engine::{live::Handled, plan::schedule::Sweep};
use serde_json::{Value, json};

use crate::support::{
    Kind, Rig, Setup,
    live::{Outside, only},
};

/// How often a sweep of a test runs.
const OFTEN: Duration = Duration::from_secs(60);
const TEST: &str = "/api/integration/webhook/test";

async fn mirrored() -> Rig {
    let setup = Setup::on(Kind::Sqlite).with(|setup| (setup.world.orders, setup.world.products) = (4, 4));
    let mut rig = setup.start().await;
    rig.stop().await;
    rig
}

/// What the fields of the catalogue name in a test.
struct Named {
    order: String,
    product: String,
    shipment: String,
}

/// What an event leads to.
enum Leads {
    /// Requests to these routes, and to no other.
    Reads(&'static [&'static str]),
    /// A row, by this query.
    Row(&'static str),
    /// Nothing.
    Nothing,
}

const ORDER: &str = "GET /api/v1/sellers/orders/{id}";
const EVENTS: &str = "GET /api/v1/sellers/orders/{id}/events";
const PRODUCT: &str = "GET /api/products/{id}";

type Data = fn(&Named) -> Value;

fn of_order(named: &Named) -> Value {
    json!({"store_id": 1, "order_number": named.order, "status": "paid", "total_order": "1.00"})
}

fn of_shipment(named: &Named) -> Value {
    json!({"store_id": 1, "order_number": named.order, "shipment_id": named.shipment, "tracking_code": "BR1"})
}

fn of_product(named: &Named) -> Value {
    json!({"store_id": 1, "product_sku_id": named.product, "location_id": 1, "new_quantity": 1})
}

const IN_ORDER: Leads = Leads::Reads(&[ORDER]);
const IN_SHIPMENTS: Leads = Leads::Reads(&["GET /api/v1/sellers/orders/{id}/shipments"]);
const IN_PRODUCT: Leads = Leads::Reads(&[PRODUCT]);

/// Every event of the document's catalogue.
const CATALOGUE: [(&str, Data, Leads); 24] = [
    ("order.created", of_order, IN_ORDER),
    ("order.paid", of_order, IN_ORDER),
    ("order.refunded", of_order, IN_ORDER),
    (
        "order.status_changed",
        |named| json!({"store_id": 1, "order_number": named.order, "old_status": "waiting_payment", "new_status": "paid"}),
        IN_ORDER,
    ),
    (
        "order.cancelled",
        |named| json!({"store_id": 1, "order_number": named.order, "previous_status": "paid", "reason": "x", "was_paid": true}),
        IN_ORDER,
    ),
    (
        "order.invoiced",
        |named| json!({"store_id": 1, "order_number": named.order, "invoice_id": 7, "invoice_type": "nfe"}),
        Leads::Reads(&[EVENTS]),
    ),
    (
        "order.item_stock_status_changed",
        |named| json!({"store_id": 1, "order_number": named.order, "order_item_id": 1, "new_stock_status": "in_production"}),
        IN_ORDER,
    ),
    ("shipment.created", of_shipment, IN_SHIPMENTS),
    ("shipment.dispatched", of_shipment, IN_SHIPMENTS),
    ("shipment.out_for_delivery", of_shipment, IN_SHIPMENTS),
    ("shipment.status_changed", of_shipment, IN_SHIPMENTS),
    ("shipment.cancelled", of_shipment, IN_SHIPMENTS),
    (
        "occurrence.created",
        |_| json!({"store_id": 1, "occurrence_id": 5, "title": "Atraso", "severity": "high", "status": "open", "trigger_key": "k"}),
        Leads::Row("SELECT title FROM occurrences WHERE id = '5' AND status = 'open'"),
    ),
    (
        "occurrence.resolved",
        |_| json!({"store_id": 1, "occurrence_id": 5, "title": "Atraso", "severity": "high", "status": "resolved", "trigger_key": "k"}),
        Leads::Row("SELECT title FROM occurrences WHERE id = '5' AND status = 'resolved'"),
    ),
    (
        "conversation.opened",
        |named| json!({"store_id": 1, "conversation_id": 6, "order_number": named.order, "type": "order"}),
        Leads::Row("SELECT type FROM conversations WHERE id = '6' AND status = 'open'"),
    ),
    (
        "conversation.message",
        |_| json!({"store_id": 1, "conversation_id": 6, "message_id": 8, "sender_type": "customer", "body": "Onde está?"}),
        Leads::Row("SELECT body FROM conversation_messages WHERE conversation_id = '6' AND id = '8'"),
    ),
    (
        "conversation.closed",
        |_| json!({"store_id": 1, "conversation_id": 6, "reason": "resolvido"}),
        Leads::Row("SELECT reason FROM conversations WHERE id = '6' AND status = 'closed'"),
    ),
    ("product.stock_updated", of_product, IN_PRODUCT),
    ("stock.depleted", of_product, IN_PRODUCT),
    ("stock.restored", of_product, IN_PRODUCT),
    ("product.price_updated", of_product, IN_PRODUCT),
    (
        "publication.approved",
        |_| json!({"store_id": 1, "item_id": "MLB-0000000000001", "title": "Caneca"}),
        Leads::Row("SELECT id FROM listings WHERE id = 'MLB-0000000000001' AND title = 'Caneca'"),
    ),
    (
        "publication.rejected",
        |_| json!({"store_id": 1, "item_id": "MLB-0000000000002", "reason": "foto"}),
        Leads::Row("SELECT id FROM listings WHERE id = 'MLB-0000000000002' AND rejection_reason = 'foto'"),
    ),
    (
        "webhook.test",
        |_| json!({"source": "seller.webhook-test", "webhook_id": "w-1", "message": "x"}),
        Leads::Nothing,
    ),
];

// withstands: F032
#[tokio::test]
async fn each_documented_event_leads_to_the_reads_or_the_row_that_it_is_about() {
    let mut rig = mirrored().await;
    let goods = rig.goods().await.remove(0);
    let order = rig.sell("standard", &goods.sku);
    let shipment = rig.control().shipments().of_order(&rig.key(), &order).pop().unwrap_or_default();
    let named = Named { order, product: goods.id, shipment };
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let open = "SELECT event FROM webhook_inbox WHERE handled_at IS NULL";
    for (event, data, leads) in CATALOGUE {
        rig.pass(Duration::from_secs(120)).await;
        rig.control().reset_stats();
        rig.deliver(&outside, event, &data(&named)).await;
        rig.until(&format!("{event} is handled"), async || rig.journal.ask(open).await.is_empty()).await;
        let is_read =
            |route: &&String| route.starts_with("GET /api/v1/") || route.starts_with("GET /api/products");
        let asked: BTreeSet<String> = rig.sandbox.stats().by_route.keys().filter(is_read).cloned().collect();
        match leads {
            Leads::Reads(routes) => {
                for route in routes {
                    assert!(asked.contains(*route), "{event}: {asked:?}");
                }
            }
            Leads::Row(sql) => {
                assert_eq!(rig.ask(sql).await.len(), 1, "{event}: {sql}");
            }
            Leads::Nothing => {
                rig.until("the test is handled", async || outside.told().handled.contains(&Handled::Test))
                    .await;
            }
        }
    }
    assert!(rig.ask("SELECT code FROM sync_failures WHERE resource = 'webhooks'").await.is_empty());
    rig.stop().await;
}

#[tokio::test]
async fn each_event_without_its_identifier_is_put_aside_and_asks_for_nothing() {
    let mut rig = mirrored().await;
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    rig.pass(Duration::from_secs(120)).await;
    rig.control().reset_stats();
    for (event, ..) in &CATALOGUE[..23] {
        rig.deliver(&outside, event, &json!({"store_id": 1, "note": event})).await;
    }
    rig.until("all are handled", async || outside.told().handled.len() >= 23).await;
    let handled = outside.told().handled;
    assert!(!handled.contains(&Handled::Read), "{handled:?}");
    let by_route = rig.sandbox.stats().by_route;
    assert!(!by_route.contains_key(ORDER) && !by_route.contains_key(PRODUCT), "{by_route:?}");
    let failures = "SELECT DISTINCT code FROM sync_failures WHERE resource = 'webhooks'";
    assert_eq!(rig.ask(failures).await, ["aimless"]);
    for table in ["occurrences", "conversations", "conversation_messages", "listings"] {
        assert_eq!(rig.live(table).await, 0, "{table}");
    }
    rig.stop().await;
}

// withstands: F032
#[tokio::test]
async fn what_only_deliveries_tell_is_right_in_whatever_order_they_come() {
    let steps: [(&str, Value); 5] = [
        (
            "conversation.opened",
            json!({"store_id": 1, "conversation_id": 6, "order_number": "1", "type": "order"}),
        ),
        (
            "conversation.message",
            json!({"store_id": 1, "conversation_id": 6, "message_id": 8, "sender_type": "customer", "body": "Oi"}),
        ),
        ("conversation.closed", json!({"store_id": 1, "conversation_id": 6, "reason": "resolvido"})),
        (
            "occurrence.created",
            json!({"store_id": 1, "occurrence_id": 5, "title": "Atraso", "severity": "low", "status": "open"}),
        ),
        (
            "occurrence.resolved",
            json!({"store_id": 1, "occurrence_id": 5, "title": "Atraso", "severity": "low", "status": "resolved"}),
        ),
    ];
    for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1], [1, 2, 4, 3, 0]] {
        let mut rig = mirrored().await;
        let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
        // All of one second: the envelope tells no more than that.
        let at = rig.parts.clock.now().to_rfc3339();
        for step in order.into_iter().chain(order) {
            let (event, data) = &steps[step];
            let body = json!({"event": event, "data": data, "timestamp": at, "webhook_id": "w-1"});
            rig.deliver_bytes(&outside, event, body.to_string().into_bytes()).await;
        }
        let open = "SELECT event FROM webhook_inbox WHERE handled_at IS NULL";
        rig.until("all are handled", async || rig.journal.ask(open).await.is_empty()).await;
        let talk = "SELECT status || ' ' || COALESCE(reason, '-') || ' ' || COALESCE(order_number, '-') FROM conversations";
        assert_eq!(rig.ask(talk).await, ["closed resolvido 1"], "{order:?}");
        assert_eq!(rig.ask("SELECT body FROM conversation_messages").await, ["Oi"], "{order:?}");
        assert_eq!(rig.ask("SELECT status FROM occurrences").await, ["resolved"], "{order:?}");
        rig.stop().await;
    }
}

/// A store that should receive deliveries, and whose webhook is made.
async fn receiving() -> (Rig, Arc<Outside>) {
    let mut rig = mirrored().await;
    rig.make_webhook();
    let outside = rig.kept_in_step(only(&[Sweep::NewOrders], OFTEN), true).await;
    // The test that the start has asked for arrives.
    rig.deliver(&outside, "webhook.test", &json!({"source": "integration.webhook-test"})).await;
    rig.until("it is heard", async || {
        outside.told().webhook.is_some_and(|news| news.heard_at.is_some() && news.silent_since.is_none())
    })
    .await;
    (rig, outside)
}

impl Rig {
    /// Sells something that no delivery tells, and waits until a sweep has found it.
    async fn sell_in_silence(&self, outside: &Outside) {
        let (sku, before) = (self.goods().await[0].sku.clone(), outside.told().missed.len());
        self.control().orders().place(&self.key(), NewOrder { lines: vec![(sku, 1)], ..NewOrder::default() });
        self.until("a sweep has found it", async || outside.told().missed.len() > before).await;
    }
}

fn silent_since(outside: &Outside) -> Option<chrono::DateTime<chrono::Utc>> {
    outside.told().webhook.and_then(|news| news.silent_since)
}

#[tokio::test]
async fn no_silence_is_proved_while_each_test_that_is_asked_for_arrives() {
    let (mut rig, outside) = receiving().await;
    rig.sell_in_silence(&outside).await;
    rig.until("a test is asked for", async || !rig.requests(TEST).is_empty()).await;
    // What else of the sale a sweep finds raises it again: each test arrives within five seconds.
    let mut answered = 0;
    for _ in 0..60 {
        let asked = rig.requests(TEST).len();
        if asked > answered {
            rig.deliver(&outside, "webhook.test", &json!({"source": "integration.webhook-test"})).await;
            answered = asked;
        }
        rig.pass(Duration::from_secs(5)).await;
        assert_eq!(silent_since(&outside), None, "after {answered} tests");
    }
    assert!(answered > 0 && !outside.told().missed.is_empty());
    rig.stop().await;
}

#[tokio::test]
async fn where_no_test_can_be_asked_for_three_changes_prove_the_silence() {
    let mut rig = mirrored().await;
    let outside = rig.kept_in_step(only(&[Sweep::NewOrders], OFTEN), true).await;
    rig.sell_in_silence(&outside).await;
    rig.pass(Duration::from_secs(300)).await;
    assert!(!rig.requests(TEST).is_empty(), "the marketplace said that there is no webhook");
    let before = outside.told().missed.len();
    assert!(before >= 3 || silent_since(&outside).is_none(), "one change proves nothing");
    for _ in before..3 {
        rig.sell_in_silence(&outside).await;
    }
    rig.until("it is proved", async || silent_since(&outside).is_some()).await;
    assert_eq!(rig.ask("SELECT 'x' FROM webhook_watch WHERE problem IS NOT NULL").await, ["x"]);
    rig.stop().await;
}

// withstands: F050
#[tokio::test]
async fn half_of_the_deliveries_that_are_lost_are_told_though_the_others_arrive() {
    let (mut rig, outside) = receiving().await;
    // What changed while the work began does not count.
    rig.pass(Duration::from_secs(120)).await;
    let lost = || outside.told().webhook.and_then(|news| news.lost).map(|lost| (lost.unreported, lost.all));
    let goods = rig.goods().await;
    let mut told = None;
    // A rig that the machine starves lets its engine see an outage, and changes from before its end do not count: then as many
    // are sold once more.
    for _ in 0..3 {
        let missed = || outside.told().missed.iter().filter(|event| **event == "order.created").count();
        let before = missed();
        for (number, goods) in goods.iter().cycle().take(10).enumerate() {
            let order = rig.sell("standard", &goods.sku);
            if number % 2 == 0 {
                let data = json!({"store_id": 1, "order_number": order, "status": "paid"});
                rig.deliver(&outside, "order.created", &data).await;
            }
        }
        rig.until("the sweeps have found the others", async || missed() >= before + 5).await;
        assert_eq!(lost(), None, "they may be late");
        rig.pass(Duration::from_secs(120)).await;
        told = lost();
        if told.is_some() {
            break;
        }
        rig.pass(Duration::from_secs(1_200)).await;
    }
    assert_eq!(told, Some((5, 10)), "they are lost");
    rig.pass(Duration::from_secs(600)).await;
    rig.until("it is over", async || lost().is_none()).await;
    rig.stop().await;
}

#[tokio::test]
async fn shipments_of_an_order_that_a_sub_store_sold_prove_no_lost_delivery() {
    let mut rig = mirrored().await;
    let sku = rig.goods().await[0].sku.clone();
    let [ours, theirs] = [rig.sell("standard", &sku), rig.sell("standard", &sku)];
    for order in [&ours, &theirs] {
        assert!(rig.control().orders().set_status(&rig.key(), order, "ready_to_ship"));
    }
    rig.lie(ORDER, "/data/sold_by", Some(json!({"id": 999_999, "is_substore": true})), &theirs);
    let outside = rig.kept_in_step(only(&[Sweep::Subresources], OFTEN), true).await;
    let carrier = |order: &str| {
        format!("SELECT COALESCE(carrier_name, '') FROM shipments WHERE order_number = '{order}'")
    };
    for order in [&ours, &theirs] {
        rig.shown(&carrier(order), |rows| !rows.is_empty()).await;
    }
    let missed = || {
        let missed = outside.told().missed;
        missed.into_iter().filter(|event| *event == "shipment.status_changed").count()
    };
    for (order, expected) in [(&theirs, 0), (&ours, 1)] {
        // Nothing is under way. Its shipments were read an hour ago, and change without the order.
        rig.pass(OFTEN).await;
        let ago = (rig.parts.clock.now() - chrono::TimeDelta::hours(1)).format("%FT%T%.6fZ");
        let aged = format!(
            "UPDATE order_parts SET read_at = '{ago}' WHERE part = 'shipments' AND order_number = '{order}'"
        );
        rig.tables.execute(&aged).await;
        assert!(!rig.ask(&carrier(order)).await.contains(&"Correios".to_owned()));
        let parcel = rig.control().shipments().of_order(&rig.key(), order).remove(0);
        assert!(rig.control().shipments().set_carrier(&rig.key(), &parcel, "platform"));
        rig.control().reset_stats();
        rig.shown(&carrier(order), |rows| rows.contains(&"Correios".to_owned())).await;
        let by_route = rig.sandbox.stats().by_route;
        assert!(!by_route.contains_key(ORDER), "the order is not read: {by_route:?}");
        rig.pass(OFTEN / 2).await;
        assert_eq!(missed(), expected, "{order}");
    }
    rig.stop().await;
}

#[tokio::test]
async fn a_silence_that_was_proved_stands_over_a_restart_until_a_delivery_comes() {
    let (mut rig, outside) = receiving().await;
    rig.sell_in_silence(&outside).await;
    rig.until("it is proved", async || silent_since(&outside).is_some()).await;
    let asked = rig.requests(TEST).len();
    rig.until("tests are asked for again", async || rig.requests(TEST).len() > asked + 1).await;
    // The record is written with the next heartbeat.
    rig.pass(Duration::from_secs(120)).await;
    rig.stop().await;
    let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    rig.until("it is told again", async || outside.told().webhook.is_some()).await;
    assert!(silent_since(&outside).is_some(), "before any new test");
    rig.deliver(&outside, "webhook.test", &json!({"source": "integration.webhook-test"})).await;
    rig.until("a delivery ends it", async || silent_since(&outside).is_none()).await;
    rig.stop().await;
}

// withstands: F050
#[tokio::test]
async fn a_webhook_that_is_dead_at_the_start_is_told_within_a_minute() {
    let mut rig = mirrored().await;
    rig.make_webhook();
    let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    let begun = rig.elapsed();
    rig.until("it is told", async || silent_since(&outside).is_some()).await;
    assert!(!rig.requests(TEST).is_empty(), "a test was asked for");
    let took = rig.elapsed() - begun;
    assert!(took <= Duration::from_secs(60), "after {took:?}");
    rig.stop().await;
}

#[tokio::test]
async fn an_address_is_not_known_to_receive_until_a_delivery_has_come_to_it() {
    let mut rig = mirrored().await;
    rig.make_webhook();
    let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    let is_open = || outside.told().webhook.map(|news| news.is_open);
    rig.until("it is told at the start", async || is_open() == Some(true)).await;
    rig.until("a test is asked for", async || !rig.requests(TEST).is_empty()).await;
    assert_eq!(is_open(), Some(true), "it may be under way");
    rig.deliver(&outside, "webhook.test", &json!({"source": "integration.webhook-test"})).await;
    rig.until("a delivery ends it", async || is_open() == Some(false)).await;
    rig.pass(Duration::from_secs(120)).await;
    rig.stop().await;
    let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    rig.pass(Duration::from_secs(1)).await;
    assert!(outside.told().webhook.is_none_or(|news| !news.is_open), "it came before that start");
    rig.stop().await;
}

#[tokio::test]
async fn what_came_to_an_earlier_address_shows_nothing_about_a_new_one() {
    let (mut rig, _outside) = receiving().await;
    rig.pass(Duration::from_secs(120)).await;
    rig.stop().await;
    let before = rig.parts.clock.now();
    rig.pass(Duration::from_secs(1)).await;
    // It was moved a moment ago, or by a clock that was ahead, or the next login registers it.
    let now = rig.parts.clock.now();
    for since in [Some(now), Some(now + chrono::TimeDelta::days(1)), None] {
        rig.address_since = since;
        let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
        let is_open = || outside.told().webhook.map(|news| news.is_open);
        rig.until("it is told at the start", async || is_open() == Some(true)).await;
        let test = json!({"source": "integration.webhook-test"});
        rig.deliver_from(&outside, "webhook.test", &test, before).await;
        let open = "SELECT 'x' FROM webhook_inbox WHERE handled_at IS NULL";
        rig.until("it is handled", async || rig.journal.ask(open).await.is_empty()).await;
        rig.pass(Duration::from_secs(2)).await;
        assert_eq!(is_open(), Some(true), "{since:?}: it came before");
        rig.deliver(&outside, "webhook.test", &test).await;
        rig.until("a delivery to it ends it", async || is_open() == Some(false)).await;
        rig.stop().await;
    }
}

#[tokio::test]
async fn a_silence_that_was_proved_at_an_earlier_address_is_forgotten_at_a_new_one() {
    let (mut rig, outside) = receiving().await;
    rig.sell_in_silence(&outside).await;
    rig.until("it is proved", async || silent_since(&outside).is_some()).await;
    // The record is written with the next heartbeat.
    rig.pass(Duration::from_secs(120)).await;
    rig.stop().await;
    rig.address_since = Some(rig.parts.clock.now());
    let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    let is_open = || outside.told().webhook.map(|news| (news.is_open, news.silent_since, news.missed));
    rig.until("it is told at the start", async || is_open().is_some()).await;
    assert_eq!(is_open(), Some((true, None, 0)), "nothing is known of it");
    let forgotten =
        "SELECT 'x' FROM webhook_watch WHERE missed = 0 AND missed_since IS NULL AND heard_at IS NULL";
    rig.shown(forgotten, |rows| rows == ["x"]).await;
    rig.stop().await;
}

#[tokio::test]
async fn the_first_test_of_a_new_address_has_no_lot() {
    let mut rig = mirrored().await;
    rig.make_webhook();
    let begun = rig.parts.clock.now();
    let _outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    // A store with a lot waits for longer.
    rig.pass(Duration::from_secs(5)).await;
    rig.shown("SELECT 'x' FROM webhook_watch WHERE tested_at IS NOT NULL", |rows| rows == ["x"]).await;
    let tested = rig.ask("SELECT tested_at FROM webhook_watch").await.remove(0);
    let tested = chrono::DateTime::parse_from_rfc3339(&tested).unwrap().to_utc();
    assert!(tested - begun <= chrono::TimeDelta::seconds(5), "{tested} {begun}");
    rig.stop().await;
}

#[tokio::test]
async fn a_new_address_whose_test_the_marketplace_refuses_stays_unknown() {
    let mut rig = mirrored().await;
    let webhook = rig.make_webhook();
    let off = NewWebhook { active: Some(false), ..NewWebhook::default() };
    assert!(rig.control().webhooks().edit(&webhook, off));
    let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    rig.shown("SELECT 'x' FROM webhook_watch WHERE problem IS NOT NULL", |rows| rows == ["x"]).await;
    assert_eq!(outside.told().webhook.map(|news| news.is_open), Some(true));
    rig.stop().await;
}

// withstands: F050
#[tokio::test]
async fn a_test_delivery_that_a_command_asked_for_and_that_does_not_come_is_told_until_one_comes() {
    let (mut rig, outside) = receiving().await;
    assert_eq!(rig.command("webhook.test", "", &json!({})).await[0], "done", "the marketplace has taken it");
    rig.until("it is told", async || silent_since(&outside).is_some()).await;
    rig.deliver(&outside, "webhook.test", &json!({"source": "integration.webhook-test"})).await;
    rig.until("a delivery ends it", async || silent_since(&outside).is_none()).await;
    rig.stop().await;
}

#[tokio::test]
async fn who_receives_nothing_misses_nothing_and_asks_for_no_test() {
    let mut rig = mirrored().await;
    rig.make_webhook();
    let outside = rig.kept_in_step(only(&[Sweep::NewOrders, Sweep::WebhookTest], OFTEN), false).await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    rig.shown(&format!("SELECT status FROM orders WHERE order_number = '{number}'"), |rows| rows == ["paid"])
        .await;
    rig.pass(Duration::from_secs(300)).await;
    assert!(outside.told().missed.is_empty() && rig.requests(TEST).is_empty());
    rig.stop().await;
}

// withstands: F050
#[tokio::test]
async fn the_webhook_is_tested_and_the_test_arrives() {
    let mut rig = mirrored().await;
    let webhook = rig.make_webhook();
    let outside = rig.kept_in_step(only(&[Sweep::WebhookTest], OFTEN * 5), true).await;
    rig.until("a test is asked for", async || !rig.requests(TEST).is_empty()).await;
    rig.deliver(&outside, "webhook.test", &json!({"source": "integration.webhook-test"})).await;
    let arrived = "SELECT 'x' FROM webhook_watch WHERE tested_at IS NOT NULL AND test_heard_at IS NOT NULL";
    rig.shown(arrived, |rows| rows == ["x"]).await;
    // Switched off in the portal, it cannot be tested, which is said.
    let off = NewWebhook { active: Some(false), ..NewWebhook::default() };
    assert!(rig.control().webhooks().edit(&webhook, off));
    rig.shown("SELECT 'x' FROM webhook_watch WHERE problem IS NOT NULL", |rows| rows == ["x"]).await;
    rig.stop().await;
}
