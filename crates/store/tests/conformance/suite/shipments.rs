//! Shipments, labels, and the files of labels.

use std::time::Duration;

use espelho_model::{
    LabelId, OrderNumber, ShipmentId,
    shipment::{LabelFormat, Shipment, ShipmentLabel},
    sync::Resource,
};
use espelho_store::{Lease, Op, ReadyLabel};

use crate::{
    examples::order,
    kinds::newest,
    specimens::{label, order_number, shipment},
    world::{World, minha_loja, store_key},
};

fn shipment_with(id: &str, labels: Vec<ShipmentLabel>) -> Shipment {
    Shipment { labels, ..shipment(id, "BR123") }
}

fn pending(id: &str) -> ShipmentLabel {
    ShipmentLabel { is_ready: Some(false), completed_at: None, ..label(id, "pending") }
}

async fn write(world: &World, lease: &Lease, number: &str, shipments: Vec<Shipment>) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.write_shipments(&OrderNumber::new(number), shipments).await.unwrap();
    tx.commit().await.unwrap();
}

async fn to_fetch(world: &World) -> Vec<ReadyLabel> {
    world.store.labels_to_fetch(&minha_loja(), "", 100).await.unwrap()
}

/// Fetches everything there is to fetch, as the engine would.
async fn fetch_all(world: &World, lease: &Lease) -> Vec<String> {
    let mut fetched = Vec::new();
    for ready in to_fetch(world).await {
        let mut tx = world.store.begin(lease).await.unwrap();
        let file = format!("{}/{}.pdf", ready.order, ready.id);
        assert!(tx.keep_label_file(&ready.id, ready.version, &file).await.unwrap());
        tx.commit().await.unwrap();
        fetched.push(ready.id.into_string());
    }
    fetched
}

async fn files(world: &World) -> Vec<String> {
    let sql = "SELECT id || ' ' || COALESCE(file, '-') || CASE WHEN gone_at IS NULL THEN '' ELSE ' gone' END \
        FROM shipment_labels ORDER BY id";
    world.tables.list(sql).await
}

pub(crate) async fn a_label_is_to_be_fetched_when_it_is_ready_and_has_no_file(world: &World) {
    let lease = world.lease().await;
    let labels = vec![label("L1", "a"), pending("L2"), label("L3", "a")];
    write(world, &lease, "N-1", vec![shipment_with("S1", labels)]).await;
    let found = to_fetch(world).await;
    let shown: Vec<_> = found.iter().map(|l| (l.id.as_str(), l.order.as_str())).collect();
    assert_eq!(shown, [("L1", "N-1"), ("L3", "N-1")]);
    assert_eq!(found[0].shipment.as_ref().map(ShipmentId::as_str), Some("S1"));
    assert_eq!(found[0].format, Some(LabelFormat::A4));
    let page = world.store.labels_to_fetch(&minha_loja(), "L1", 1).await.unwrap();
    assert_eq!(page, found[1..]);
    assert!(world.store.labels_to_fetch(&store_key("outra"), "", 9).await.unwrap().is_empty());
    assert_eq!(fetch_all(world, &lease).await, ["L1", "L3"]);
    assert!(to_fetch(world).await.is_empty());
}

pub(crate) async fn a_label_that_is_the_same_keeps_its_file(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a")])]).await;
    fetch_all(world, &lease).await;
    world.clock.advance(Duration::from_secs(60));
    let moved = Shipment { status: Some("in_transit".into()), ..shipment_with("S1", vec![label("L1", "a")]) };
    write(world, &lease, "N-1", vec![moved]).await;
    assert_eq!(files(world).await, ["L1 N-1/L1.pdf"]);
}

pub(crate) async fn a_label_that_changed_has_no_file_until_it_is_fetched_again(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a"), label("L2", "a")])]).await;
    fetch_all(world, &lease).await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "b"), label("L2", "a")])]).await;
    assert_eq!(files(world).await, ["L1 -", "L2 N-1/L2.pdf"]);
    assert_eq!(fetch_all(world, &lease).await, ["L1"]);
}

/// Generating anew discards the labels there were; their files are good for nothing.
pub(crate) async fn a_label_that_was_replaced_is_gone_and_its_successor_is_fetched(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a")])]).await;
    fetch_all(world, &lease).await;
    let told = newest(world).await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L2", "a")])]).await;
    assert_eq!(files(world).await, ["L1 N-1/L1.pdf gone", "L2 -"]);
    let feed = world.store.changes_after(told, 10).await.unwrap();
    let feed: Vec<_> = feed.iter().map(|c| (c.entity.as_str(), c.key.as_str(), c.op)).collect();
    let expected = [("shipment_label", "N-1/L2", Op::Insert), ("shipment_label", "N-1/L1", Op::Gone)];
    assert_eq!(feed, expected);
    // One that comes back is fetched again: nobody knows what became of the file.
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a")])]).await;
    assert_eq!(files(world).await, ["L1 -", "L2 - gone"]);
}

pub(crate) async fn a_shipment_that_is_gone_takes_its_labels_along(world: &World) {
    let lease = world.lease().await;
    let both = vec![shipment_with("S1", vec![label("L1", "a")]), shipment_with("S2", vec![label("L2", "a")])];
    write(world, &lease, "N-1", both).await;
    write(world, &lease, "N-2", vec![shipment_with("S3", vec![label("L3", "a")])]).await;
    write(world, &lease, "N-1", vec![shipment_with("S2", vec![label("L2", "a")])]).await;
    let live = "SELECT id FROM shipments WHERE gone_at IS NULL ORDER BY id";
    assert_eq!(world.tables.list(live).await, ["S2", "S3"]);
    assert_eq!(files(world).await, ["L1 - gone", "L2 -", "L3 -"]);
}

/// Shipments are named for the whole store: one that turns up with another order has moved there.
pub(crate) async fn a_shipment_that_moves_to_another_order_is_one_row(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a")])]).await;
    write(world, &lease, "N-2", vec![shipment_with("S1", vec![label("L1", "a")])]).await;
    write(world, &lease, "N-1", vec![]).await;
    for table in ["shipments", "shipment_labels"] {
        let rows = format!("SELECT order_number FROM {table} WHERE gone_at IS NULL");
        assert_eq!(world.tables.list(&rows).await, ["N-2"], "{table}");
        assert_eq!(world.tables.count(table).await, 1);
    }
}

/// While a file is fetched its label may be generated anew.
pub(crate) async fn a_file_belongs_to_the_label_that_it_was_fetched_for(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a"), label("L2", "a")])]).await;
    let found = to_fetch(world).await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "b")])]).await;
    let told = newest(world).await;
    for ready in found {
        let mut tx = world.store.begin(&lease).await.unwrap();
        assert!(!tx.keep_label_file(&ready.id, ready.version, "old.pdf").await.unwrap());
        assert!(!tx.keep_label_file(&LabelId::new("nowhere"), ready.version, "old.pdf").await.unwrap());
        tx.commit().await.unwrap();
    }
    assert_eq!(files(world).await, ["L1 -", "L2 - gone"]);
    assert_eq!(newest(world).await, told);
    fetch_all(world, &lease).await;
    let feed = world.store.changes_after(told, 10).await.unwrap();
    assert_eq!(feed.iter().map(|c| (c.key.as_str(), c.op)).collect::<Vec<_>>(), [("N-1/L1", Op::Update)]);
}

pub(crate) async fn labels_of_an_order_that_is_gone_are_not_fetched(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("N-1", "paid")]).await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a")])]).await;
    write(world, &lease, "N-9", vec![shipment_with("S9", vec![label("L9", "a")])]).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mark_gone(Resource::Orders, vec![order_number().into_string()]).await.unwrap();
    tx.commit().await.unwrap();
    let left: Vec<String> = to_fetch(world).await.into_iter().map(|l| l.id.into_string()).collect();
    assert_eq!(left, ["L9"]);
}
