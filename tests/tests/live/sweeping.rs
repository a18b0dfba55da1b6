//! Sweeps: what they find, what they leave alone, and what they remember.

use std::time::Duration;

use espelho_model::clock::SystemClock;
use espelho_sandbox::{DeliveryFault, NewOrder};
use espelho_tests::{Kind, on_both_databases, until};

use crate::{comparison, keeping::Keeping, receiving};

on_both_databases![
    stock_follows_sales_though_no_delivery_tells_of_what_is_reserved,
    a_change_of_a_closed_order_that_no_delivery_told_is_found_by_its_age,
    a_restart_neither_sweeps_anew_what_has_just_run_nor_forgets_when_it_did,
    the_webhook_is_tested_and_the_test_arrives,
    what_refused_deliveries_told_is_swept_for_as_soon_as_something_can_be_written_again,
];

/// Returns lines of `[schedule]`: every sweep rarely, except these.
pub(crate) fn rarely_but(often: &[&str]) -> String {
    let sweeps = [
        "new_orders",
        "open_orders",
        "sold_products",
        "products",
        "parts",
        "aged_orders",
        "counts",
        "campaigns",
        "media",
        "profile",
        "enums",
        "webhook_test",
    ];
    let line = |sweep: &str| match often.contains(&sweep) {
        true => format!("{sweep} = \"1s\"\n"),
        false => format!("{sweep} = \"0 0 0 1 1 *\"\n"),
    };
    sweeps.map(line).concat()
}

async fn stock_follows_sales_though_no_delivery_tells_of_what_is_reserved(kind: Kind) {
    let mut keeping = Keeping::scheduled(kind, 5, 4, &rarely_but(&["sold_products"])).await;
    // Every delivery about stock is lost; reserved stock is never reported anyway.
    for event in ["product.stock_updated", "stock.depleted", "stock.restored"] {
        keeping.spoil(event, 1_000, DeliveryFault::Lost);
    }
    let (control, store) = (keeping.control(), keeping.store());
    let number = control.orders().place(&store, NewOrder::default());
    keeping.order_is(&number, "paid").await;
    let same = format!(
        "SELECT 'x' AS x FROM order_items AS i JOIN orders AS o ON o.order_number = i.order_number \
         JOIN products AS p ON p.id = i.product_id WHERE i.order_number = '{number}' \
         AND NOT EXISTS (SELECT 1 FROM product_reads AS r WHERE r.id = p.id AND r.read_at >= o.mirrored_at)"
    );
    keeping.shows(&same, &[]).await;
    control.webhooks().deliveries_done().await;
    keeping.inbox_is_handled().await;
    let truth = keeping.truth().await;
    comparison::compare_products(&keeping.mirror().await, &truth).await;
}

// withstands: F056
async fn a_change_of_a_closed_order_that_no_delivery_told_is_found_by_its_age(kind: Kind) {
    let mut keeping =
        Keeping::scheduled(kind, 30, 3, &rarely_but(&["parts", "open_orders", "aged_orders"])).await;
    keeping.spoil("", 1_000, DeliveryFault::Lost);
    let (control, store) = (keeping.control(), keeping.store());
    for part in ["shipments", "tracking", "events", "invoices", "financial"] {
        let unread = format!(
            "SELECT 'x' AS x FROM orders AS o WHERE NOT EXISTS (SELECT 1 FROM order_parts AS p \
             WHERE p.order_number = o.order_number AND p.part = '{part}')"
        );
        keeping.shows(&unread, &[]).await;
    }
    let closed = keeping.ask("SELECT order_number FROM orders WHERE status = 'delivered' LIMIT 1").await;
    let number = &closed[0];
    assert!(control.orders().set_status(&store, number, "completed"));
    let ago = match kind {
        Kind::Sqlite => "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '-32 days')",
        Kind::Postgres => "now() - interval '32 days'",
    };
    let aged = format!(
        "UPDATE order_parts SET read_at = {ago}, due_at = CASE part WHEN 'shipments' THEN {ago} END \
         WHERE order_number = '{number}'"
    );
    let status = format!("SELECT status FROM orders WHERE order_number = '{number}'");
    // A reading of its sub-resources that was under way makes it young again.
    until("the order is read by its age", async || {
        keeping.mirror().await.execute(&aged).await;
        SystemClock::shared().sleep(Duration::from_secs(1)).await;
        keeping.ask(&status).await == ["completed"]
    })
    .await;
    keeping.counts("espelho_missed_hints_total{store=\"loja-1\",event=\"order.status_changed\"} 1").await;
    // An open order is swept at once: it is not old enough to be read by its age.
    let open = keeping.ask("SELECT order_number FROM orders WHERE status = 'paid' LIMIT 1").await;
    assert!(control.orders().cancel(&store, &open[0], "desistência"));
    keeping.order_is(&open[0], "cancelled").await;
    keeping.stop().await;
}

async fn a_restart_neither_sweeps_anew_what_has_just_run_nor_forgets_when_it_did(kind: Kind) {
    let mut keeping = Keeping::scheduled(kind, 3, 2, &rarely_but(&[])).await;
    let ran = |kind: &str| {
        format!("SELECT 'x' AS x FROM sweeps WHERE kind = '{kind}' AND succeeded_at IS NOT NULL")
    };
    for kind in ["media", "enums"] {
        keeping.shows(&ran(kind), &["x"]).await;
    }
    keeping.kill().await;
    // Of two sweeps that are due together, this is the later one: once it has run, the other would have.
    keeping.mirror().await.execute("DELETE FROM sweeps WHERE kind = 'enums'").await;
    keeping.control().reset_stats();
    keeping.start();
    keeping.shows(&ran("enums"), &["x"]).await;
    let metrics = keeping.metrics().await;
    let known = "espelho_sweep_last_success_timestamp_seconds{store=\"loja-1\",kind=\"media\"}";
    assert!(metrics.contains(known), "{metrics}");
    let routes = keeping.control().stats().by_route;
    assert!(
        !routes.contains_key("GET /api/media") && routes.contains_key("GET /api/v1/sellers/orders/enums")
    );
    keeping
        .shows("SELECT DISTINCT 'x' AS x FROM enums WHERE name = 'statuses' AND value = 'paid'", &["x"])
        .await;
    keeping.stop().await;
}

// withstands: F050
async fn the_webhook_is_tested_and_the_test_arrives(kind: Kind) {
    let mut keeping = Keeping::scheduled(kind, 3, 2, &rarely_but(&["webhook_test", "new_orders"])).await;
    let arrived =
        "SELECT 'x' AS x FROM webhook_watch WHERE tested_at IS NOT NULL AND test_heard_at IS NOT NULL";
    keeping.shows(arrived, &["x"]).await;
    until("a test was asked for", async || {
        keeping.control().stats().by_route.contains_key("POST /api/integration/webhook/test")
    })
    .await;
    keeping.stop().await;
}

// withstands: F046
async fn what_refused_deliveries_told_is_swept_for_as_soon_as_something_can_be_written_again(kind: Kind) {
    const TEST: &str = r#"{"event":"webhook.test","data":{"source":"seller.webhook-test"}}"#;
    let mut keeping = Keeping::scheduled(kind, 5, 2, &rarely_but(&[])).await;
    keeping.spoil("", 1_000, DeliveryFault::Lost);
    let known = keeping.control().orders().insert(&keeping.store());
    let inbox = receiving::with_inbox(&keeping.installation).await;
    let schema = if kind == Kind::Sqlite { "inbox." } else { "" };
    // As on a full disk, nothing can be written into it.
    inbox.execute(&format!("ALTER TABLE {schema}webhook_inbox RENAME TO webhook_away")).await;
    assert_eq!(keeping.deliver(TEST).await, 503);
    keeping.shows(&format!("SELECT status FROM orders WHERE order_number = '{known}'"), &[]).await;
    inbox.execute(&format!("ALTER TABLE {schema}webhook_away RENAME TO webhook_inbox")).await;
    // No sweep is due for months, and this delivery names nothing.
    assert_eq!(keeping.deliver(TEST).await, 200);
    keeping.order_is(&known, "paid").await;
    keeping.kill().await;
}
