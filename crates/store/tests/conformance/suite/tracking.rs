//! The tracking of shipments.

use std::time::Duration;

use espelho_model::{
    OrderNumber, RawJson,
    tracking::{OrderTracking, ShipmentTracking},
};
use espelho_store::{Lease, Op};

use crate::{
    examples::time,
    kinds::newest,
    specimens::{order_number, shipment, text},
    world::{World, store_key},
};

fn way(id: Option<&str>, step: &str) -> ShipmentTracking {
    ShipmentTracking {
        id: id.map(str::to_owned),
        status: text("in_transit"),
        tracking_code: text("BR123"),
        tracking_url: text("https://carrier.example/BR123"),
        estimated_delivery_at: Some(time("2026-11-30T12:00:00-03:00")),
        steps: Vec::new(),
        raw: RawJson::new(&format!(r#"{{"steps":["{step}"]}}"#)),
    }
}

async fn tell(world: &World, lease: &Lease, order: &str, ways: Vec<ShipmentTracking>) -> [u64; 2] {
    let raw = RawJson::new("{}");
    let tracking =
        OrderTracking { status: None, delivered_at: None, picked_up_at: None, shipments: ways, raw };
    let mut tx = world.store.begin(lease).await.unwrap();
    let counts = tx.mirror().write_tracking(&OrderNumber::new(order), tracking).await.unwrap();
    tx.commit().await.unwrap();
    [counts.seen, counts.changed]
}

async fn write(world: &World, lease: &Lease, ids: &[&str], code: &str) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.mirror()
        .write_shipments(&order_number(), ids.iter().map(|id| shipment(id, code)).collect())
        .await
        .unwrap();
    tx.commit().await.unwrap();
}

// withstands: F066
pub(crate) async fn the_way_of_a_shipment_is_told_when_it_changes(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, &["S1", "S2"], "BR123").await;
    let told = newest(world).await;
    assert_eq!(tell(world, &lease, "N-1", vec![way(Some("S1"), "posted")]).await, [1, 1]);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(tell(world, &lease, "N-1", vec![way(Some("S1"), "posted")]).await, [1, 0]);
    let row =
        world.tables.all("shipments").await.into_iter().find(|row| row.get("id") == Some("S1")).unwrap();
    assert_eq!(row.get("tracking_url"), Some("https://carrier.example/BR123"));
    assert_eq!(row.get("estimated_delivery_at"), Some("2026-11-30T15:00:00.000000Z"));
    assert_eq!(row.get("tracking"), Some(r#"{"steps":["posted"]}"#));
    assert_eq!(row.get("mirrored_at"), Some("2026-11-27T06:30:00.123456Z"));
    assert_eq!(tell(world, &lease, "N-1", vec![way(Some("S1"), "delivered")]).await, [1, 1]);
    let feed = world.store.changes().changes_after(told, 10).await.unwrap();
    let feed: Vec<_> = feed.iter().map(|c| (c.entity.as_str(), c.key.as_str(), c.op)).collect();
    assert_eq!(feed, [("shipment", "N-1/S1", Op::Update); 2]);
}

pub(crate) async fn a_shipment_that_is_written_again_keeps_its_way(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, &["S1"], "BR123").await;
    tell(world, &lease, "N-1", vec![way(Some("S1"), "posted")]).await;
    write(world, &lease, &["S1"], "BR456").await;
    let row = world.tables.all("shipments").await.remove(0);
    assert_eq!(
        (row.get("tracking_code"), row.get("tracking")),
        (Some("BR456"), Some(r#"{"steps":["posted"]}"#))
    );
}

pub(crate) async fn a_way_without_a_shipment_of_the_order_is_passed_by(world: &World) {
    let (lease, theirs) = (world.lease().await, world.lease_of(&store_key("outra")).await);
    write(world, &lease, &["S1", "S2"], "BR123").await;
    write(world, &lease, &["S1"], "BR123").await;
    let told = newest(world).await;
    let ways = || vec![way(None, "posted"), way(Some("S2"), "posted"), way(Some("S9"), "posted")];
    assert_eq!(tell(world, &lease, "N-1", ways()).await, [3, 0]);
    assert_eq!(tell(world, &lease, "N-2", vec![way(Some("S1"), "posted")]).await, [1, 0]);
    assert_eq!(tell(world, &theirs, "N-1", vec![way(Some("S1"), "posted")]).await, [1, 0]);
    assert_eq!(newest(world).await, told);
}

pub(crate) async fn ways_without_ids_are_told_by_their_codes(world: &World) {
    let lease = world.lease().await;
    let of = |code: Option<&str>| ShipmentTracking {
        tracking_code: code.map(str::to_owned),
        ..way(None, "posted")
    };
    write(world, &lease, &["S1"], "BR123").await;
    assert_eq!(tell(world, &lease, "N-1", vec![of(Some("BR999"))]).await, [1, 0], "another one's");
    assert_eq!(tell(world, &lease, "N-1", vec![of(Some("BR123"))]).await, [1, 1]);
    assert_eq!(tell(world, &lease, "N-1", vec![of(None)]).await, [1, 0], "the only one has this way already");
    write(world, &lease, &["S1", "S2"], "BR123").await;
    let told = newest(world).await;
    assert_eq!(
        tell(world, &lease, "N-1", vec![of(Some("BR123")), of(None)]).await,
        [2, 0],
        "two have the code"
    );
    assert_eq!(newest(world).await, told);
}
