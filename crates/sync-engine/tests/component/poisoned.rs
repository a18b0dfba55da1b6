//! Inputs on which our own code panics: each of them costs one row, is set aside, and does not come back.

use std::time::Duration;

use espelho_model::{containment, fault, sync::Resource};
use espelho_store::Quarantined;
use espelho_sync_engine::{Options, plan::schedule::Sweep};
use serde_json::{Value, json};

use crate::{
    kinds::CASES,
    support::{Kind, Rig, STORE, Setup, live::only, on_both_databases, truth::text},
};

on_both_databases![what_panicked_is_on_record_until_a_person_says_so];

/// How often the sweeps of a test run.
const OFTEN: Duration = Duration::from_secs(60);
const POISONED: &str = "SELECT resource || ' ' || key FROM sync_failures WHERE code = 'poisoned' ORDER BY 1";

/// Takes down where contained code panics, as the service does, and says nothing.
fn listen() {
    std::panic::set_hook(Box::new(|panic| {
        if !containment::note(panic.location()) {
            eprintln!("{panic}");
        }
    }));
}

fn provoke(point: &str, inputs: impl IntoIterator<Item = impl AsRef<str>>) {
    inputs.into_iter().for_each(|input| fault::provoke(&format!("{point}={}", input.as_ref())));
}

fn keys(rows: &[Value], name: &str) -> Vec<String> {
    rows.iter().map(|row| text(&row[name])).collect()
}

async fn reconcile(rig: &Rig) {
    rig.reconcile(&Options { kind: "manual", ..Options::default() }).await;
}

/// Counts rows of a resource that are set aside.
fn of<'r>(rows: &'r [String], resource: &str) -> Vec<&'r str> {
    let of = rows.iter().filter_map(|row| row.split_once(' '));
    of.filter(|(name, _)| *name == resource).map(|(_, key)| key).collect()
}

// withstands: F150
#[tokio::test]
async fn a_hundred_poisoned_inputs_cost_a_hundred_rows_and_none_comes_back() {
    listen();
    let setup = Setup::on(Kind::Sqlite).with(|setup| (setup.world.orders, setup.world.products) = (60, 90));
    let mut rig = setup.open().await;
    let orders = keys(&rig.listing("/api/v1/sellers/orders?limit=100").await, "order_number");
    let products = keys(&rig.listing("/api/products?per_page=100").await, "id");
    provoke("order", orders[..10].iter().map(|number| format!("={number}")));
    provoke("subresource", orders[10..20].iter().map(|number| format!("={number}")));
    provoke("listing_row", orders[20..25].iter().map(|number| format!("\"{number}\"")));
    provoke("product", products[..10].iter().map(|id| format!("={id}")));
    provoke("sweep", ["media"]);
    reconcile(&rig).await;
    let aside = rig.ask(POISONED).await;
    assert_eq!((of(&aside, "orders").len(), of(&aside, "products").len()), (15, 10), "{aside:?}");
    let mirrored = rig.ask("SELECT order_number FROM orders").await;
    assert_eq!(mirrored.len(), 60 - 10 - 5, "everything else is there");
    // Intents of the ERP, and deliveries.
    let goods = rig.goods().await;
    provoke("stock", goods[..10].iter().map(|goods| format!("={}/{}", goods.sku, goods.location)));
    provoke("price", goods[10..20].iter().map(|goods| format!("={}", goods.sku)));
    provoke("command", (1..=17).map(|id| format!("={id}")));
    provoke("delivery", ["poison-in-a-delivery"]);
    for goods in &goods[..10] {
        rig.set_stock(goods, "7").await;
    }
    for goods in &goods[10..20] {
        rig.set_price(&goods.sku, 1, "12.50").await;
    }
    for case in CASES {
        rig.give(case.kind.as_str(), "1", &json!({})).await;
    }
    rig.set_stock(&goods[25], "11").await;
    let outside = rig.keep_in_step(only(&[Sweep::Media, Sweep::Subresources], OFTEN), true).await;
    for number in 0..17 {
        let data = json!({"order_number": "1", "note": format!("poison-in-a-delivery {number}")});
        rig.deliver(&outside, "order.paid", &data).await;
    }
    let states = "SELECT state || ' ' || COALESCE(error_code, '') FROM erp_stock UNION ALL \
        SELECT state || ' ' || COALESCE(error_code, '') FROM erp_prices UNION ALL \
        SELECT state || ' ' || COALESCE(error_code, '') FROM commands";
    let states = rig.shown(states, |rows| {
        rows.iter().filter(|row| *row == "failed poisoned").count() == 37
            && rows.contains(&"done ".to_owned())
    });
    assert_eq!(states.await.len(), 38, "and one is done");
    rig.shown(POISONED, |rows| {
        of(rows, "webhooks").len() == 17 && of(rows, "orders").len() == 25 && of(rows, "sweeps") == ["media"]
    })
    .await;
    // 25 orders, 10 products, 17 deliveries, a sweep, 10 levels, 10 prices and 17 commands: 90 rows. The other ten are
    // the lines of files and the label of the tests beside this one.
    assert!(rig.journal.ask("SELECT event FROM webhook_inbox WHERE handled_at IS NULL").await.is_empty());
    let errors = rig.ask("SELECT error FROM v_errors WHERE code = 'poisoned'").await;
    assert_eq!(errors.len(), 90);
    for error in &errors {
        assert!(error.contains("crates/") && error.contains(".rs:"), "the place, and nothing else: {error}");
        assert!(!error.contains("poison-in-a-delivery"), "{error}");
    }
    // The next engine leaves alone what was set aside; a row of a listing has no key to be left alone by.
    rig.stop().await;
    let counted = "SELECT work || ' ' || key || ' ' || attempts FROM quarantine ORDER BY 1";
    let before = rig.ask(counted).await;
    let outside = rig.keep_in_step(only(&[Sweep::Media, Sweep::Subresources], OFTEN), true).await;
    rig.until("it has caught up", async || outside.told().reconciled > 0).await;
    rig.pass(Duration::from_secs(600)).await;
    rig.stop().await;
    assert_eq!(rig.ask(counted).await, before, "nothing was tried again");
    assert_eq!(rig.ask("SELECT error FROM v_errors WHERE code = 'poisoned'").await.len(), 90);
}

#[tokio::test]
async fn a_label_whose_file_panics_is_tried_twice_and_set_aside() {
    listen();
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.labels = true).open().await;
    reconcile(&rig).await;
    let sku = rig.goods().await[0].sku.clone();
    for _ in 0..2 {
        let order = rig.sell("standard", &sku);
        assert!(rig.control().orders().set_status(&rig.key(), &order, "preparing"));
        rig.control().orders().issue_invoice(&rig.key(), &order, "nfe").unwrap();
        let parcel = rig.control().shipments().of_order(&rig.key(), &order).remove(0);
        assert!(rig.control().shipments().block_labels(&rig.key(), &parcel, false));
        assert_eq!(rig.control().labels().generate(&rig.key(), &order), 1);
    }
    rig.leap(Duration::from_secs(60));
    fault::provoke("label=");
    reconcile(&rig).await;
    rig.keep_in_step(only(&[Sweep::Subresources], OFTEN), false).await;
    rig.shown(POISONED, |rows| of(rows, "shipment_label").len() >= 2).await;
    rig.pass(Duration::from_secs(120)).await;
    assert!(rig.ask("SELECT file FROM shipment_labels WHERE file IS NOT NULL").await.is_empty());
    let attempts = "SELECT CAST(attempts AS TEXT) FROM quarantine WHERE work = 'shipment_label'";
    // A label that becomes ready meanwhile is tried twice first.
    rig.shown(attempts, |rows| {
        rows.iter().all(|attempts| attempts == "2") && fault::strikes() == 2 * rows.len() as u64
    })
    .await;
    rig.stop().await;
    let attempts = rig.ask(attempts).await;
    assert!(attempts.iter().all(|attempts| attempts == "1" || attempts == "2"), "{attempts:?}");
}

async fn what_panicked_is_on_record_until_a_person_says_so(kind: Kind) {
    listen();
    let setup = Setup::on(kind).with(|setup| (setup.world.orders, setup.world.products) = (3, 3));
    let rig = setup.open().await;
    let number = keys(&rig.listing("/api/v1/sellers/orders?limit=100").await, "order_number").remove(0);
    provoke("order", [format!("={number}")]);
    let options = Options { only: vec![Resource::Orders.into()], kind: "manual", ..Options::default() };
    rig.reconcile(&options).await;
    assert_eq!(rig.ask(POISONED).await, [format!("orders {number}")]);
    let quarantine = || rig.parts.store.quarantine();
    let [aside] = &quarantine().set_aside().await.unwrap()[..] else { panic!("one is set aside") };
    assert_eq!((aside.work.as_str(), aside.key.as_str(), aside.attempts), ("orders", number.as_str(), 2));
    assert!(
        aside.is_set_aside && aside.place.as_ref().is_some_and(|place| place.contains("src/pull/orders.rs:"))
    );
    let before = fault::strikes();
    rig.reconcile(&options).await;
    assert_eq!(fault::strikes(), before, "it is not tried again");
    assert!(quarantine().retry(&aside.store, "orders", &number).await.unwrap());
    assert!(!quarantine().retry(&aside.store, "orders", &number).await.unwrap());
    assert!(rig.ask(POISONED).await.is_empty());
    rig.reconcile(&options).await;
    assert_eq!(fault::strikes(), before + 2, "a person said so");
    // A suspect that works is no suspect any more.
    let suspect = Quarantined {
        store: espelho_model::StoreKey::new(STORE).unwrap(),
        work: "products".to_owned(),
        key: keys(&rig.listing("/api/products?per_page=100").await, "id").remove(0),
        attempts: 1,
        place: None,
        is_set_aside: false,
    };
    quarantine().put(&suspect).await.unwrap();
    reconcile(&rig).await;
    assert_eq!(quarantine().find(&suspect.store, "products", &suspect.key).await.unwrap(), None);
}
