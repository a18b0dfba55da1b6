//! Answers of somebody else: a proxy's page, another server's 404. They say nothing about what was asked for.

use std::time::Duration;

use espelho_model::sync::{Resource, RunState, Target};
use espelho_sandbox::{Fault, NewCampaign};
use espelho_sync_engine::{Options, ResourceReport, plan::schedule::Sweep};
use serde_json::json;

use crate::{
    goods::png,
    support::{Kind, Rig, Setup, cut_after, live::only, refused_with},
};

/// How often the sweep of a test runs.
const OFTEN: Duration = Duration::from_secs(60);
const MISSING: &str = "SELECT key || ' ' || CAST(confirmations AS TEXT) FROM missing ORDER BY key";

/// Denials that are not the marketplace's own 404.
fn strangers() -> Vec<(&'static str, Fault)> {
    let json = |code, body: &str| Fault::Status {
        code,
        body: body.as_bytes().to_vec(),
        content_type: "application/json".into(),
        headers: Vec::new(),
    };
    vec![
        ("a proxy's page", Fault::Html(404)),
        ("a site that has moved", Fault::Html(410)),
        ("a gateway without a route", json(404, r#"{"message":"no Route matched with those values"}"#)),
        ("an answer without words", json(404, "{}")),
        ("another code", json(404, r#"{"success":false,"code":404,"message_code":"NO_TENANT","errors":[]}"#)),
    ]
}

async fn store(orders: usize, products: usize) -> Rig {
    let setup = Setup::on(Kind::Sqlite);
    setup.with(|setup| (setup.world.orders, setup.world.products) = (orders, products)).open().await
}

async fn read(rig: &Rig, target: impl Into<Target>) -> ResourceReport {
    let options = Options { only: vec![target.into()], kind: "manual", ..Options::default() };
    rig.reconcile(&options).await.resources.remove(0)
}

// withstands: F059, F074
#[tokio::test]
async fn a_row_that_a_stranger_denies_is_not_gone() {
    let rig = store(12, 12).await;
    read(&rig, Resource::Orders).await;
    read(&rig, Resource::Products).await;
    let numbers = rig.ask("SELECT order_number FROM orders ORDER BY order_number").await;
    let products = rig.ask("SELECT id FROM products ORDER BY id").await;
    for (at, (who, fault)) in strangers().into_iter().enumerate() {
        let (number, product) = (&numbers[at], &products[at]);
        assert!(rig.control().orders().remove(&rig.key(), number));
        assert!(rig.control().products().remove(&rig.key(), product));
        rig.fault(&format!("/orders/{number}"), None, fault.clone());
        rig.fault(&format!("/products/{product}"), None, fault);
        for (resource, table) in [(Resource::Orders, "orders"), (Resource::Products, "products")] {
            let before = rig.live(table).await;
            let report = read(&rig, resource).await;
            assert_eq!((report.counts.gone, rig.live(table).await), (0, before), "{who}: {report:?}");
            assert_eq!(report.notes.len(), 1, "{who}: it is said that one is unclear: {:?}", report.notes);
        }
        rig.control().faults().clear();
        for (resource, table) in [(Resource::Orders, "orders"), (Resource::Products, "products")] {
            let report = read(&rig, resource).await;
            assert_eq!(
                (report.counts.gone, rig.live(table).await),
                (1, 11 - at),
                "{who}: the marketplace's own"
            );
        }
    }
}

#[tokio::test]
async fn an_image_or_a_campaign_that_a_stranger_denies_is_not_gone() {
    const IMAGE: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let rig = store(2, 5).await;
    let campaign = rig.control().campaigns().create(&NewCampaign::default()).unwrap();
    read(&rig, Target::MediaImages).await;
    read(&rig, Target::Campaigns).await;
    // A picture that the marketplace has removed since it was mirrored, and a campaign that it no longer lists.
    let copy = format!(
        "INSERT INTO media_images (store, id, content_hash, mirrored_at, raw) \
         SELECT store, '{IMAGE}', 1, mirrored_at, raw FROM media_images LIMIT 1"
    );
    rig.tables.execute(&copy).await;
    assert!(rig.control().campaigns().set_status(campaign, "cancelled"));
    let (images, campaigns) = (rig.live("media_images").await, rig.live("campaigns").await);
    for (who, fault) in strangers() {
        rig.fault(&format!("/api/media/{IMAGE}"), None, fault.clone());
        rig.fault(&format!("/campaigns/{campaign}"), None, fault);
        for (target, table, live) in
            [(Target::MediaImages, "media_images", images), (Target::Campaigns, "campaigns", campaigns)]
        {
            let report = read(&rig, target).await;
            assert_eq!((report.counts.gone, rig.live(table).await), (0, live), "{who}: {report:?}");
        }
        rig.control().faults().clear();
    }
    rig.fault(&format!("/campaigns/{campaign}"), None, refused_with(404, "NOT_FOUND"));
    for (target, table, live) in
        [(Target::MediaImages, "media_images", images), (Target::Campaigns, "campaigns", campaigns)]
    {
        let report = read(&rig, target).await;
        assert_eq!((report.counts.gone, rig.live(table).await), (1, live - 1), "{table}: {report:?}");
    }
}

#[tokio::test]
async fn a_listing_that_a_stranger_denies_is_an_outage_and_not_a_store_without_any() {
    let rig = store(2, 5).await;
    for (target, route) in [(Target::Campaigns, "/discounts/campaigns"), (Target::MediaImages, "/api/media")]
    {
        for (who, fault) in strangers() {
            rig.fault(route, None, fault);
            let report = read(&rig, target).await;
            assert_eq!(report.state, RunState::Failed, "{target:?}, {who}: {report:?}");
            rig.control().faults().clear();
        }
        rig.fault(route, None, refused_with(404, "NOT_FOUND"));
        assert_eq!(read(&rig, target).await.state, RunState::Complete, "{target:?}: the marketplace's own");
        rig.control().faults().clear();
    }
}

// withstands: F059
#[tokio::test]
async fn an_order_that_a_stranger_denies_is_asked_for_again_and_no_denial_is_recorded() {
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.world.orders = 3).start().await;
    rig.stop().await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    rig.kept_in_step(only(&[Sweep::OpenOrders], OFTEN), true).await;
    let path = format!("/orders/{number}");
    let notes = format!("SELECT notes FROM orders WHERE order_number = '{number}' AND gone_at IS NULL");
    for (who, fault) in strangers() {
        // Its change makes the sweep read it.
        assert!(rig.control().orders().set_notes(&rig.key(), &number, Some(who)));
        let reads = rig.requests(&path).len();
        rig.fault(&path, None, fault);
        rig.until("it is asked for again", async || rig.requests(&path).len() > reads + 2).await;
        assert!(rig.ask(MISSING).await.is_empty(), "{who}");
        rig.control().faults().clear();
        rig.shown(&notes, |rows| rows == [who]).await;
    }
    // The marketplace's own denial is recorded.
    assert!(rig.control().orders().set_notes(&rig.key(), &number, Some("de novo")));
    rig.fault(&path, None, refused_with(404, "NOT_FOUND"));
    rig.shown(MISSING, |rows| rows == [format!("{number} 1")]).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_sub_resource_that_a_stranger_denies_is_not_taken_for_an_empty_one() {
    let rig = store(12, 5).await;
    read(&rig, Resource::Orders).await;
    let number = rig.ask("SELECT order_number FROM orders ORDER BY order_number").await.remove(5);
    for (target, part) in [
        (Target::Shipments, "shipments"),
        (Target::Tracking, "tracking"),
        (Target::Invoices, "invoices"),
        (Target::Events, "events"),
        (Target::Financial, "financial"),
    ] {
        let known =
            format!("SELECT part FROM order_parts WHERE part = '{part}' AND order_number = '{number}'");
        rig.fault(&format!("/orders/{number}/"), None, Fault::Html(404));
        let report = read(&rig, target).await;
        assert_eq!((report.counts.changed, report.counts.failed), (11, 1), "{part}: {report:?}");
        assert!(rig.ask(&known).await.is_empty(), "{part}: it counts as read");
        rig.control().faults().clear();
        rig.fault(&format!("/orders/{number}/"), None, refused_with(404, "NOT_FOUND"));
        let report = read(&rig, target).await;
        assert_eq!((report.state, report.counts.failed), (RunState::Complete, 0), "{part}: {report:?}");
        assert_eq!(rig.ask(&known).await, [part], "that there is none is an answer");
        rig.control().faults().clear();
    }
}

#[tokio::test]
async fn sub_resources_end_early_where_key_after_key_fails() {
    for fault in [Fault::Html(404), Fault::Html(503)] {
        let rig = store(200, 3).await;
        read(&rig, Resource::Orders).await;
        rig.fault("/financial", None, fault.clone());
        let report = read(&rig, Target::Financial).await;
        assert!(report.problem.is_some() && report.counts.changed == 0, "{fault:?}: {report:?}");
        assert_eq!(report.state, RunState::Partial, "{fault:?}");
        assert!(report.details < 100, "{fault:?}: {} of 200 were asked for", report.details);
        rig.control().faults().clear();
        assert_eq!(read(&rig, Target::Financial).await.state, RunState::Complete, "{fault:?}");
    }
}

#[tokio::test]
async fn sub_resources_go_on_where_only_some_keys_fail() {
    let rig = store(90, 3).await;
    read(&rig, Resource::Orders).await;
    let numbers = rig.ask("SELECT order_number FROM orders ORDER BY order_number").await;
    // Every third answers, so no sixty in a row fail.
    for number in numbers.iter().enumerate().filter(|(at, _)| at % 3 != 0).map(|(_, number)| number) {
        rig.fault(&format!("/orders/{number}/financial"), None, Fault::Html(404));
    }
    let report = read(&rig, Target::Financial).await;
    assert!(report.problem.is_none(), "{report:?}");
    assert_eq!((report.counts.seen, report.counts.changed, report.counts.failed), (90, 30, 60));
}

/// What an answer was lost of is settled by a reading, and a stranger's denial is no reading.
#[tokio::test]
async fn a_picture_that_a_stranger_denies_is_not_added_a_second_time() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let sku = rig.goods().await[0].sku.clone();
    std::fs::write(rig.dir().join("foto.png"), png()).unwrap();
    rig.fault("POST /api/products/{id}/gallery", 1, cut_after());
    // The reading before the request is answered as usual, and the two after it by a stranger.
    rig.fault("/api/media/01", 1, Fault::Stall(Duration::ZERO));
    rig.fault("/api/media/01", 2, Fault::Html(404));
    assert_eq!(rig.command("gallery.add", &sku, &json!({"path": "foto.png"})).await[0], "done");
    assert!(!rig.control().faults().has_any(), "the stranger was asked");
    assert_eq!(rig.writes("/gallery").len(), 1, "it is in the gallery already");
    rig.stop().await;
}

#[tokio::test]
async fn a_command_whose_order_a_stranger_denies_waits_for_the_marketplace() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    for (status, (who, fault)) in [("preparing", strangers().remove(0)), ("preparing", strangers().remove(2))]
    {
        rig.fault(&format!("/orders/{number}"), 1, fault);
        let answer = rig.command("order.status", &number, &json!({"status": status})).await;
        assert_eq!(answer[0], "done", "{who}: {answer:?}");
        assert!(!rig.control().faults().has_any(), "{who} was asked");
    }
    // The marketplace's own denial ends it.
    let unknown = rig.command("order.status", "MP-0", &json!({"status": "preparing"})).await;
    assert_eq!((unknown[0].as_str(), unknown[1].as_str()), ("failed", "NOT_FOUND"), "{unknown:?}");
    rig.stop().await;
}
