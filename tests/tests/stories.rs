//! One story for each workflow: from the buyer to the final state, through the client alone, with every event
//! received and its signature verified. The sandbox's controls perform the actions of the platform, the carrier and
//! the fiscal system.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use espelho_api_client::{
    Documented, Error,
    resources::orders::{NextAction, Transition},
};
use espelho_model::{
    LabelId, OrderNumber, ShipmentId,
    order::Order,
    shipment::{FileKind, LabelFormat},
};
use espelho_sandbox::{Control, NewOrder, Options, Sandbox};
use espelho_tests::{Seller, sandbox_of};
use serde_json::json;

const STORE: &str = "loja-1";

/// A shop, its seller's program, and an order that has just been placed.
struct Story {
    sandbox: Sandbox,
    seller: Seller,
    order: OrderNumber,
}

impl Story {
    async fn begin(order: NewOrder) -> Self {
        let sandbox = sandbox_of(Options { orders: 5, products: 20, ..Options::default() }).await;
        let seller = Seller::join(&sandbox).await;
        let order = OrderNumber::new(sandbox.control().orders().place(STORE, order));
        Self { sandbox, seller, order }
    }

    fn control(&self) -> Control {
        self.sandbox.control()
    }

    async fn read(&self) -> Order {
        let read = self.seller.client.orders().get(&self.order).await.unwrap();
        assert!(read.unreadable.is_empty(), "{:?}", read.unreadable);
        read.value
    }

    async fn status(&self) -> String {
        self.read().await.status.unwrap()
    }

    /// Checks the events of the order and its shipments, once no delivery is left.
    async fn told(&self, expected: &[&str]) {
        self.control().webhooks().deliveries_done().await;
        self.seller.told(&self.order, expected).await;
    }

    async fn told_of_the_order(&self, expected: &[&str]) {
        self.control().webhooks().deliveries_done().await;
        self.seller.told_of_the_order(&self.order, expected).await;
    }

    /// Returns the transitions that the marketplace offers for the order, without noise.
    async fn offers(&self) -> Vec<String> {
        let possible = self.seller.client.orders().possible_statuses(&self.order).await.unwrap();
        let real = |action: &&NextAction| !action.is_noise(&possible.current_status);
        possible.next_actions.iter().filter(real).map(|action| action.target_status.clone()).collect()
    }

    /// Sends a transition; checks that the answer is the order in the target status.
    async fn go(&self, transition: Transition) {
        let moved = self.seller.client.orders().transition(&self.order, &transition).await.unwrap();
        let expected = match transition.status() {
            "available" | "restocked" => "paid",
            other => other,
        };
        assert_eq!(moved.value.status.as_deref(), Some(expected));
    }

    async fn is_refused(&self, transition: Transition) -> Documented {
        self.seller.client.orders().transition(&self.order, &transition).await.unwrap_err().kind().unwrap()
    }

    /// Takes the standard path from `preparing` to `delivered`, with the seller's own carrier.
    async fn ship_and_deliver(&self) {
        assert!(matches!(self.is_refused(Transition::ready_to_ship()).await, Documented::FiscalGate(_)));
        self.control().orders().issue_invoice(STORE, self.order.as_str(), "nfe").unwrap();
        let documents = self.seller.client.orders().fiscal(&self.order).await.unwrap().value;
        assert_eq!(documents.iter().filter(|document| document.is_current).count(), 1);
        self.go(Transition::ready_to_ship()).await;
        self.go(Transition::shipped(Some("BR123456789")).unwrap()).await;
        let shipments = self.seller.client.shipments().of_order(&self.order).await.unwrap().value;
        assert_eq!(shipments[0].tracking_code.as_deref(), Some("BR123456789"));
        assert_eq!(self.offers().await, ["delivered"]);
        self.go(Transition::delivered()).await;
        let order = self.read().await;
        assert!(
            order
                .items
                .iter()
                .all(|item| { matches!(item.stock_status.as_deref(), Some("committed" | "not_applicable")) })
        );
        assert!(self.offers().await.is_empty(), "a delivered order has no exit");
    }
}

/// The events of every order that a buyer pays at once.
const PAID: [&str; 3] = ["order.created", "order.paid", "order.status_changed waiting_payment→paid"];

/// The events of the standard path from `preparing` on, with one shipment of the seller's own carrier.
const SHIPPED_AND_DELIVERED: [&str; 9] = [
    "order.invoiced",
    "order.status_changed preparing→ready_to_ship",
    "order.status_changed ready_to_ship→shipped",
    "order.status_changed shipped→delivered",
    "shipment.created",
    "shipment.dispatched",
    "shipment.status_changed pending→ready_to_ship",
    "shipment.status_changed ready_to_ship→in_transit",
    "shipment.status_changed in_transit→delivered",
];

fn of(workflow: &str) -> NewOrder {
    NewOrder { workflow: workflow.to_owned(), ..NewOrder::default() }
}

fn all(parts: &[&[&'static str]]) -> Vec<&'static str> {
    parts.concat()
}

// proves: FLO-013, FLO-016, FLO-018, FLO-021, FLO-023, FLO-024, FLO-027, FLO-028, FLO-031, SHP-020, SHP-021, SHP-022
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standard_order_from_the_cart_to_the_door() {
    let story = Story::begin(NewOrder { is_paid: false, ..of("standard") }).await;
    assert_eq!(story.status().await, "waiting_payment");
    assert!(story.control().orders().pay(STORE, story.order.as_str()));
    assert_eq!(story.offers().await, ["preparing", "ready_to_ship", "cancelled"]);
    story.go(Transition::preparing()).await;
    assert_eq!(
        story.is_refused(Transition::cancelled("O cliente desistiu.").unwrap()).await,
        Documented::ImpossibleTransition
    );
    labels(&story).await;
    story.ship_and_deliver().await;
    let prepared = ["order.status_changed paid→preparing"];
    story.told(&all(&[&PAID, &prepared, &SHIPPED_AND_DELIVERED])).await;
    the_money_and_the_history_are_told(&story).await;
}

/// Generates the labels of the order, waits for them, and fetches one of each format from the other origin.
async fn labels(story: &Story) {
    let client = &story.seller.client;
    let queued = client.shipments().generate_labels(&story.order).await.unwrap().value;
    assert_eq!(queued.shipments.len(), 1);
    let shipment: &ShipmentId = &queued.shipments[0];
    let early = client.shipments().labels(shipment).await.unwrap().value;
    assert_eq!((early.labels.len(), early.formats_pending.len()), (4, 4));
    let not_ready = client.shipments().label_file(shipment, &early.labels[0].id).await.unwrap_err();
    assert_eq!(not_ready.kind(), Some(Documented::LabelNotReady));
    story.control().forward(60);
    let ready = client.shipments().labels(shipment).await.unwrap().value;
    assert!(
        ready.formats_pending.is_empty() && ready.labels.iter().all(|label| label.is_ready == Some(true))
    );
    for label in &ready.labels {
        fetch(story, shipment, &label.id, label.format.as_ref().unwrap()).await;
    }
}

async fn fetch(story: &Story, shipment: &ShipmentId, label: &LabelId, format: &LabelFormat) {
    let client = &story.seller.client;
    let file = client.shipments().label_file(shipment, label).await.unwrap();
    assert_eq!((file.format.as_ref(), file.expires_in_seconds), (Some(format), Some(900)));
    let bytes = client.signed_files().fetch(&file.url).await.unwrap().bytes;
    let beginning: &[u8] = match format.file_kind().unwrap() {
        FileKind::Pdf => b"%PDF",
        FileKind::Html => b"<!DOCTYPE html>",
        FileKind::Zpl => b"^XA",
    };
    assert!(
        bytes.starts_with(beginning),
        "{format:?}: {}",
        String::from_utf8_lossy(&bytes[..bytes.len().min(40)])
    );
    story.control().forward(901);
    let expired = client.signed_files().fetch(&file.url).await.unwrap_err();
    assert!(matches!(expired, Error::AddressExpired { .. }), "{expired}");
}

async fn the_money_and_the_history_are_told(story: &Story) {
    let financial = story.seller.client.orders().financial(&story.order).await.unwrap().value;
    let split: rust_decimal::Decimal = financial.splits.iter().filter_map(|split| split.amount).sum();
    assert_eq!(Some(split), story.read().await.total_order);
    assert!(financial.splits.iter().all(|split| split.name.is_some() && split.party.is_some()));
    let audit = &financial.commissions;
    assert_eq!(audit.len(), story.read().await.items.len());
    assert!(audit.iter().all(|line| line.percent.is_some() && line.amount.is_some() && line.base.is_some()));
    let events = story.seller.client.orders().events(&story.order).await.unwrap().value;
    let steps: Vec<_> = events.iter().filter_map(|event| event.new_status.as_deref()).collect();
    for status in ["paid", "preparing", "ready_to_ship", "shipped", "delivered"] {
        assert!(steps.contains(&status), "{status} is missing from {steps:?}");
    }
    let tracking = story.seller.client.orders().tracking(&story.order).await.unwrap().value;
    assert!(tracking.delivered_at.is_some());
    assert_eq!(tracking.shipments[0].tracking_code.as_deref(), Some("BR123456789"));
}

// proves: FLO-017, FLO-022, FLO-025, FLO-033
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_platform_carrier_ships_and_delivers_by_itself() {
    let story = Story::begin(NewOrder { carrier: "platform".into(), ..of("standard") }).await;
    story.go(Transition::preparing()).await;
    story.control().orders().issue_invoice(STORE, story.order.as_str(), "content_declaration").unwrap();
    story.go(Transition::ready_to_ship()).await;
    let shipment = story.control().shipments().of_order(STORE, story.order.as_str()).remove(0);
    assert!(story.control().shipments().scan(STORE, &shipment, "in_transit"));
    assert_eq!(story.status().await, "shipped");
    let refused =
        story.seller.client.orders().transition(&story.order, &Transition::delivered()).await.unwrap_err();
    assert!(matches!(refused, Error::Refused { status: 422, .. }), "{refused}");
    assert!(story.control().shipments().scan(STORE, &shipment, "out_for_delivery"));
    assert!(story.control().shipments().scan(STORE, &shipment, "delivered"));
    assert_eq!(story.status().await, "delivered");
    let prepared = ["order.status_changed paid→preparing", "shipment.out_for_delivery"];
    story.told(&all(&[&PAID, &prepared, &SHIPPED_AND_DELIVERED])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_production_order_is_made_and_then_sent() {
    let story = Story::begin(of("production")).await;
    assert_eq!(story.offers().await, ["production_started", "cancelled"]);
    story.go(Transition::production_started(std::num::NonZeroU32::new(5))).await;
    story.go(Transition::awaiting_materials(&["tecido".to_owned(), "linha".to_owned()])).await;
    story.go(Transition::production_in_progress()).await;
    story.go(Transition::production_finished()).await;
    story.go(Transition::preparing()).await;
    story.ship_and_deliver().await;
    let made = [
        "order.status_changed paid→production_started",
        "order.status_changed production_started→awaiting_materials",
        "order.status_changed awaiting_materials→production_in_progress",
        "order.status_changed production_in_progress→production_finished",
        "order.status_changed production_finished→preparing",
        "order.item_stock_status_changed sold_reserved→in_production",
        "order.item_stock_status_changed in_production→sold_reserved",
    ];
    story.told(&all(&[&PAID, &made, &SHIPPED_AND_DELIVERED])).await;
}

// proves: FLO-037, FLO-038, FLO-039, FLO-041
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_is_picked_up_at_the_store() {
    let story = Story::begin(of("in_store_pickup")).await;
    story.go(Transition::preparing()).await;
    story.go(Transition::ready_for_pickup()).await;
    assert_eq!(story.offers().await, ["picked_up", "pickup_expired"]);
    let shipments = story.seller.client.shipments().of_order(&story.order).await.unwrap().value;
    assert_eq!((shipments[0].is_pickup, shipments[0].tracking_code.as_deref()), (Some(true), None));
    story.go(Transition::picked_up("483920").unwrap()).await;
    assert!(story.read().await.picked_up_at.is_some());
    story.control().forward(60);
    assert_eq!(story.status().await, "delivered");
    let track = [
        "order.status_changed paid→preparing",
        "order.status_changed preparing→ready_for_pickup",
        "order.status_changed ready_for_pickup→picked_up",
        "order.status_changed picked_up→delivered",
    ];
    story.told_of_the_order(&all(&[&PAID, &track])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_that_nobody_picks_up_expires_and_is_cancelled() {
    let story = Story::begin(of("in_store_pickup")).await;
    story.go(Transition::preparing()).await;
    story.go(Transition::ready_for_pickup()).await;
    story.go(Transition::pickup_expired("O prazo de retirada passou.").unwrap()).await;
    assert_eq!(story.offers().await, ["cancelled"]);
    story.go(Transition::cancelled("Não retirado no prazo.").unwrap()).await;
    let order = story.read().await;
    assert!(
        order
            .items
            .iter()
            .all(|item| matches!(item.stock_status.as_deref(), Some("released" | "not_applicable")))
    );
    story.control().forward(60);
    let track = [
        "order.status_changed paid→preparing",
        "order.status_changed preparing→ready_for_pickup",
        "order.status_changed ready_for_pickup→pickup_expired",
        "order.status_changed pickup_expired→cancelled",
        "order.cancelled",
        "order.refunded",
    ];
    story.told_of_the_order(&all(&[&PAID, &track])).await;
    let payload = story.seller.payload(&story.order, "order.cancelled");
    assert_eq!(payload["was_paid"], json!(true));
    assert_eq!(payload["previous_status"], json!("pickup_expired"));
    assert_eq!(payload["reason"], json!("Não retirado no prazo."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pre_order_becomes_a_standard_one_when_the_goods_are_there() {
    let story = Story::begin(of("pre_order")).await;
    assert_eq!(story.status().await, "awaiting_availability");
    assert_eq!(story.offers().await, ["available"]);
    story.go(Transition::available()).await;
    story.go(Transition::preparing()).await;
    story.ship_and_deliver().await;
    let track = [
        "order.created",
        "order.paid",
        "order.status_changed waiting_payment→awaiting_availability",
        "order.item_stock_status_changed reserved→awaiting_restock",
        "order.item_stock_status_changed awaiting_restock→sold_reserved",
        "order.status_changed awaiting_availability→paid",
        "order.status_changed paid→preparing",
    ];
    story.told(&all(&[&track, &SHIPPED_AND_DELIVERED])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backorder_waits_for_its_goods_and_says_which_line_held_it_back() {
    let story = Story::begin(of("backorder")).await;
    assert_eq!(story.status().await, "awaiting_restock");
    let blocking =
        story.read().await.items.iter().filter(|item| item.is_blocking_stock == Some(true)).count();
    assert!(blocking >= 1);
    assert_eq!(story.offers().await, ["restocked"]);
    story.go(Transition::restocked()).await;
    assert!(story.read().await.items.iter().all(|item| item.is_blocking_stock == Some(false)));
    story.go(Transition::preparing()).await;
    story.ship_and_deliver().await;
    let track = [
        "order.created",
        "order.paid",
        "order.status_changed waiting_payment→awaiting_restock",
        "order.status_changed awaiting_restock→paid",
        "order.status_changed paid→preparing",
    ];
    let held_back = vec!["order.item_stock_status_changed reserved→awaiting_restock"; blocking];
    let restocked = vec!["order.item_stock_status_changed awaiting_restock→sold_reserved"; blocking];
    story.told(&all(&[&track, &held_back, &restocked, &SHIPPED_AND_DELIVERED])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collective_order_waits_for_its_campaign_and_is_released() {
    let story = Story::begin(NewOrder { release_after: 3_600, ..of("collective") }).await;
    story.control().forward(60);
    let order = story.read().await;
    assert_eq!(order.status.as_deref(), Some("awaiting_campaign_conclusion"));
    assert_eq!((order.is_collective, order.is_awaiting_campaign), (Some(true), Some(true)));
    assert!(order.release_at.is_some());
    assert_eq!(story.offers().await, ["preparing", "cancelled"], "the paid action is noise");
    story.control().forward(3_600);
    assert_eq!(story.status().await, "preparing");
    story.ship_and_deliver().await;
    let track = [
        "order.status_changed paid→awaiting_campaign_conclusion",
        "order.status_changed awaiting_campaign_conclusion→preparing",
    ];
    story.told(&all(&[&PAID, &track, &SHIPPED_AND_DELIVERED])).await;
}
