//! Shipments, labels, and the files of labels.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::{
    Clock as _, ContentHash, LabelId, OrderNumber, ShipmentId,
    shipment::{LabelFormat, Shipment, ShipmentLabel},
    sync::Resource,
};
use espelho_store::{FetchedFile, LabelsToFetch, Lease, Op, ReadyLabel, Subresource};

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
    tx.mirror().write_shipments(&OrderNumber::new(number), shipments).await.unwrap();
    tx.commit().await.unwrap();
}

async fn to_fetch(world: &World) -> Vec<ReadyLabel> {
    world
        .store
        .label_files()
        .labels_to_fetch(&minha_loja(), &LabelsToFetch::default(), "", 100)
        .await
        .unwrap()
}

fn fetched(file: &str) -> FetchedFile {
    let sha256 = "0".repeat(64);
    FetchedFile { file: file.to_owned(), size: 1, sha256, host: "storage.example".into() }
}

/// Fetches all files, as the engine would.
async fn fetch_all(world: &World, lease: &Lease) -> Vec<String> {
    let mut ids = Vec::new();
    for ready in to_fetch(world).await {
        let mut tx = world.store.begin(lease).await.unwrap();
        let file = format!("{}/{}.pdf", ready.order, ready.id);
        assert!(tx.label_files().keep_label_file(&ready.id, ready.version, &fetched(&file)).await.unwrap());
        tx.commit().await.unwrap();
        ids.push(ready.id.into_string());
    }
    ids
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
    let page = world
        .store
        .label_files()
        .labels_to_fetch(&minha_loja(), &LabelsToFetch::default(), "L1", 1)
        .await
        .unwrap();
    assert_eq!(page, found[1..]);
    assert!(
        world
            .store
            .label_files()
            .labels_to_fetch(&store_key("outra"), &LabelsToFetch::default(), "", 9)
            .await
            .unwrap()
            .is_empty()
    );
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

/// A new generation discards the previous labels; their files are void.
pub(crate) async fn a_label_that_was_replaced_is_gone_and_its_successor_is_fetched(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a")])]).await;
    fetch_all(world, &lease).await;
    let told = newest(world).await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L2", "a")])]).await;
    assert_eq!(files(world).await, ["L1 N-1/L1.pdf gone", "L2 -"]);
    let feed = world.store.changes().changes_after(told, 10).await.unwrap();
    let feed: Vec<_> = feed.iter().map(|c| (c.entity.as_str(), c.key.as_str(), c.op)).collect();
    let expected = [("shipment_label", "N-1/L2", Op::Insert), ("shipment_label", "N-1/L1", Op::Gone)];
    assert_eq!(feed, expected);
    // A label that comes back is fetched again: its file may be gone.
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

/// Shipment ids are unique in a store: a shipment that appears with another order has moved there.
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

/// A label may be generated again while its file is fetched.
pub(crate) async fn a_file_belongs_to_the_label_that_it_was_fetched_for(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a"), label("L2", "a")])]).await;
    let found = to_fetch(world).await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "b")])]).await;
    let told = newest(world).await;
    for ready in found {
        let mut tx = world.store.begin(&lease).await.unwrap();
        assert!(
            !tx.label_files().keep_label_file(&ready.id, ready.version, &fetched("old.pdf")).await.unwrap()
        );
        assert!(
            !tx.label_files()
                .keep_label_file(&LabelId::new("nowhere"), ready.version, &fetched("old.pdf"))
                .await
                .unwrap()
        );
        tx.commit().await.unwrap();
    }
    assert_eq!(files(world).await, ["L1 -", "L2 - gone"]);
    assert_eq!(newest(world).await, told);
    fetch_all(world, &lease).await;
    let feed = world.store.changes().changes_after(told, 10).await.unwrap();
    assert_eq!(feed.iter().map(|c| (c.key.as_str(), c.op)).collect::<Vec<_>>(), [("N-1/L1", Op::Update)]);
}

pub(crate) async fn labels_of_an_order_that_is_gone_are_not_fetched(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("N-1", "paid")]).await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a")])]).await;
    write(world, &lease, "N-9", vec![shipment_with("S9", vec![label("L9", "a")])]).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().mark_gone(Resource::Orders, vec![order_number().into_string()]).await.unwrap();
    tx.commit().await.unwrap();
    let left: Vec<String> = to_fetch(world).await.into_iter().map(|l| l.id.into_string()).collect();
    assert_eq!(left, ["L9"]);
}

async fn kept(world: &World) -> Vec<String> {
    let void = "CASE WHEN void_at IS NULL THEN '' ELSE ' void' END";
    world.tables.list(&format!("SELECT file || ' ' || host || {void} FROM label_files ORDER BY file")).await
}

/// Void files stay on record until their deletion is recorded.
pub(crate) async fn the_file_of_a_label_that_changed_or_went_is_void_and_kept(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a"), label("L2", "a")])]).await;
    fetch_all(world, &lease).await;
    assert_eq!(kept(world).await, ["N-1/L1.pdf storage.example", "N-1/L2.pdf storage.example"]);
    world.clock.advance(Duration::from_secs(60));
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a"), label("L3", "a")])]).await;
    assert_eq!(kept(world).await, ["N-1/L1.pdf storage.example", "N-1/L2.pdf storage.example void"]);
    let now = world.clock.now();
    assert!(
        world.store.label_files().label_files_void_before(&minha_loja(), now, 9).await.unwrap().is_empty()
    );
    let later = now + TimeDelta::seconds(1);
    let void = world.store.label_files().label_files_void_before(&minha_loja(), later, 9).await.unwrap();
    assert_eq!(void, ["N-1/L2.pdf"]);
    assert!(
        world
            .store
            .label_files()
            .label_files_void_before(&store_key("outra"), later, 9)
            .await
            .unwrap()
            .is_empty()
    );
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.label_files().forget_label_files(void.clone()).await.unwrap();
    tx.commit().await.unwrap();
    let asked = vec!["N-1/L1.pdf".to_owned(), void[0].clone(), "N-1/L9.pdf".into()];
    let known = world.store.label_files().label_files_on_record(&minha_loja(), asked).await.unwrap();
    assert_eq!(known.into_iter().collect::<Vec<_>>(), ["N-1/L1.pdf"]);
    // The same file for the same label becomes valid again.
    write(world, &lease, "N-1", vec![]).await;
    assert_eq!(kept(world).await, ["N-1/L1.pdf storage.example void"]);
    write(world, &lease, "N-1", vec![shipment_with("S1", vec![label("L1", "a")])]).await;
    fetch_all(world, &lease).await;
    assert_eq!(kept(world).await, ["N-1/L1.pdf storage.example"]);
}

pub(crate) async fn only_labels_in_wanted_formats_and_of_late_are_to_be_fetched(world: &World) {
    let lease = world.lease().await;
    let of = |id: &str, format: Option<&str>, completed_at| ShipmentLabel {
        format: format.map(LabelFormat::new),
        completed_at,
        ..label(id, "a")
    };
    let now = world.clock.now();
    let labels = vec![
        of("L1", Some("a4"), Some(now)),
        of("L2", Some("zebra"), Some(now)),
        of("L3", Some("zebra_pdf"), None),
        of("L4", None, Some(now)),
        of("L5", Some("zebra"), Some(now - TimeDelta::days(31))),
    ];
    write(world, &lease, "N-1", vec![shipment_with("S1", labels)]).await;
    let wanted = async |formats: &[&str], since| {
        let formats = formats.iter().map(|format| LabelFormat::new(format)).collect();
        let wanted = LabelsToFetch { formats, since };
        let found = world.store.label_files().labels_to_fetch(&minha_loja(), &wanted, "", 9).await.unwrap();
        found.into_iter().map(|label| label.id.into_string()).collect::<Vec<_>>()
    };
    let month = now - TimeDelta::days(30);
    assert_eq!(wanted(&[], month).await, ["L1", "L2", "L3", "L4"]);
    assert_eq!(wanted(&["zebra"], month).await, ["L2"]);
    assert_eq!(wanted(&["zebra"], month - TimeDelta::days(2)).await, ["L2", "L5"]);
    assert_eq!(wanted(&["zebra_pdf", "a4"], month).await, ["L1", "L3"]);
}

pub(crate) async fn orders_whose_labels_are_being_made_or_not_yet_are_found_by_when_they_were_looked_at(
    world: &World,
) {
    let lease = world.lease().await;
    let waiting = |id: &str| Shipment { status: Some("ready_to_ship".into()), ..shipment_with(id, vec![]) };
    let making =
        Shipment { labels: vec![pending_with("L1", "processing"), label("L2", "a")], ..waiting("S1") };
    for (number, shipments) in [
        ("N-1", vec![making.clone()]),
        ("N-2", vec![waiting("S2")]),
        ("N-3", vec![Shipment { label_generation_blocked: Some(true), ..waiting("S3") }]),
        ("N-4", vec![Shipment { status: Some("delivered".into()), ..waiting("S4") }]),
    ] {
        let mut tx = world.store.begin(&lease).await.unwrap();
        let order = OrderNumber::new(number);
        tx.mirror().write_shipments(&order, shipments).await.unwrap();
        tx.staleness()
            .note_subresources(vec![(order, Subresource::Shipments, ContentHash::from_i64(1))])
            .await
            .unwrap();
        tx.commit().await.unwrap();
    }
    let made = world.store.label_files().labels_in_the_making(&minha_loja(), 9).await.unwrap();
    assert_eq!(made.iter().map(|made| made.order.as_str()).collect::<Vec<_>>(), ["N-1"]);
    assert_eq!(made[0].changed_at, made[0].read_at);
    let before = world.clock.now() + TimeDelta::seconds(1);
    let without = world.store.label_files().orders_without_labels(&minha_loja(), before, 9).await.unwrap();
    assert_eq!(without, [OrderNumber::new("N-2")]);
    let earlier = before - TimeDelta::seconds(60);
    assert!(
        world.store.label_files().orders_without_labels(&minha_loja(), earlier, 9).await.unwrap().is_empty()
    );
    assert!(world.store.label_files().labels_in_the_making(&store_key("outra"), 9).await.unwrap().is_empty());
}

fn pending_with(id: &str, status: &str) -> ShipmentLabel {
    ShipmentLabel { status: Some(status.into()), ..pending(id) }
}
