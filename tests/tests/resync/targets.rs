//! `--only`: every resource of the contract by its name.

use espelho_sandbox::Options;
use espelho_tests::{Installation, Kind, on_both_databases, sandbox_of};

on_both_databases![
    what_hangs_on_orders_and_what_is_read_whole_is_reconciled_by_name,
    a_day_is_taken_as_brazil_writes_it_and_what_nobody_lists_is_refused,
];

async fn what_hangs_on_orders_and_what_is_read_whole_is_reconciled_by_name(kind: Kind) {
    let sandbox = sandbox_of(Options { orders: 30, products: 5, ..Options::default() }).await;
    let installation = Installation::on(kind).await;
    installation.join(&sandbox);
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    assert_eq!(mirror.live("shipments").await, 0, "orders alone have no shipments");
    let names = [
        "shipments",
        "order_invoices",
        "events",
        "financial",
        "tracking",
        "campaigns",
        "media_images",
        "profile",
    ];
    let run = installation.resync(&["--only", &names.join(",")]).await.expect(0);
    assert_eq!(run.count("shipments", "seen"), 30);
    assert_eq!(run.count("shipments", "changed"), 30, "each was read for the first time");
    assert!(run.store()["resources"]["orders"].is_null());
    let (shipments, events) = (mirror.live("shipments").await, mirror.live("order_events").await);
    assert!(shipments > 0 && events > 0, "{shipments} shipments, {events} events");
    assert_eq!(mirror.live("store_profiles").await, 1);
    let again = installation.resync(&["--only", "shipments,invoices"]).await.expect(0);
    assert_eq!([again.count("shipments", "changed"), again.count("invoices", "changed")], [0, 0]);
}

async fn a_day_is_taken_as_brazil_writes_it_and_what_nobody_lists_is_refused(kind: Kind) {
    let sandbox = sandbox_of(Options { orders: 5, products: 2, ..Options::default() }).await;
    let installation = Installation::on(kind).await;
    installation.join(&sandbox);
    installation.resync(&["--only", "orders", "--since", "31/01/2020"]).await.expect(0);
    installation.resync(&["--since", "01/31/2026"]).await.expect(2).says("31/01/2026");
    installation.resync(&["--only", "price_lists"]).await.expect(2).says("price_lists");
    installation.resync(&["--only", "ordes"]).await.expect(2).says("shipments");
}
