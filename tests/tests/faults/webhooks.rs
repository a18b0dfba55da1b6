//! Missing deliveries, and an address that belongs to another installation.

use std::time::Duration;

use espelho_sandbox::NewOrder;
use espelho_tests::{Kind, installation::STORE, on_both_databases};

use crate::stage::{Setting, Stage};

on_both_databases![
    deliveries_that_nobody_receives_are_missed,
    an_address_that_never_received_is_missed_without_a_sale,
    an_address_that_is_anothers_is_named_and_moved_by_the_printed_command,
];

/// Sweeps so frequent that they find at once what no delivery reported.
const OFTEN: &str = "[schedule]\nnew_orders = 2\nopen_orders = 2\n";

// Exercises F050, F134
async fn deliveries_that_nobody_receives_are_missed(kind: Kind) {
    let stage = Stage::with(kind, Setting { main: OFTEN.to_owned(), ..Setting::default() }).await;
    stage.webhooks.cut();
    sell(&stage, 5);
    let mut watch = stage
        .watch("webhooks cut off", "webhooks_missing")
        // A delivery may be retried a minute later before it counts as missing.
        .found_within(Duration::from_secs(60));
    watch.raised().await;
    stage.webhooks.mend().await;
    watch.ends();
    watch.cleared().await;
}

// Exercises F050, F134
async fn an_address_that_never_received_is_missed_without_a_sale(kind: Kind) {
    let closed = espelho_tests::installation::free_address();
    let public_url = Some(format!("http://{closed}/webhooks/{STORE}"));
    let mut stage = Stage::prepared(kind, Setting { public_url, ..Setting::default() }).await;
    stage.start();
    // The view reports the service as missing until its first heartbeat.
    let mut watch = stage.watch("webhook to a closed port", "webhooks_missing").beside(&["service_stopped"]);
    watch.raised().await;
    // The next step: correct the address, and let the next login move the webhook there.
    stage.write_store(&Setting::default());
    stage.types(&["webhook", "move", STORE]).await;
    stage.reload();
    watch.ends();
    watch.cleared().await;
}

// Exercises F037, F134
async fn an_address_that_is_anothers_is_named_and_moved_by_the_printed_command(kind: Kind) {
    let other = espelho_tests::installation::free_address();
    let elsewhere =
        Setting { public_url: Some(format!("http://{other}/webhooks/production")), ..Setting::default() };
    let mut stage = Stage::prepared(kind, elsewhere).await;
    stage.installation.resync(&[]).await.expect(0);
    // A copy of that installation, database included, with an address of its own.
    stage.write_store(&Setting::default());
    stage.start();
    // The view reports the service as missing until its first heartbeat. A delivery that the other address got is missing
    // here, until the next test.
    let mut watch = stage
        .watch("webhook is another's", "webhook_elsewhere")
        .beside(&["service_stopped", "webhooks_missing"]);
    let alarm = watch.raised().await;
    stage.types_printed(&alarm, "webhook").await;
    watch.ends();
    watch.cleared().await;
}

/// Places this many orders, paid and cancelled at once, so that none has to be shipped.
fn sell(stage: &Stage, orders: usize) {
    for _ in 0..orders {
        let number = stage.control().orders().place(STORE, NewOrder::default());
        assert!(stage.control().orders().cancel(STORE, &number, "desistência"));
    }
}
