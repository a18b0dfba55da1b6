//! Deliveries that are handled again, by the binary.

use espelho_model::clock::SystemClock;
use espelho_sandbox::{NewOccurrence, NewOrder};
use espelho_tests::{Kind, on_both_databases, until};
use serde_json::{Value, json};

use crate::{
    keeping::{Keeping, RARELY},
    receiving,
};

on_both_databases![deliveries_that_are_replayed_are_read_for_again_and_double_nothing];

/// Returns the rows that replays must not double: the feed, what only deliveries tell, and the deliveries themselves.
/// Returns the counts once nothing is added any more: a delivery is handled before all of what it tells about is read.
async fn settled(keeping: &Keeping) -> Vec<String> {
    let mut before = counts(keeping).await;
    loop {
        SystemClock::shared().sleep(std::time::Duration::from_secs(2)).await;
        let now = counts(keeping).await;
        if now == before {
            return now;
        }
        before = now;
    }
}

async fn counts(keeping: &Keeping) -> Vec<String> {
    let mut counts = Vec::new();
    // The products of a new order are read by themselves a little later.
    for table in ["changes WHERE entity <> 'product'", "orders", "occurrences", "sync_failures"] {
        counts.extend(keeping.ask(&format!("SELECT CAST(count(*) AS TEXT) AS n FROM {table}")).await);
    }
    let inbox = receiving::with_inbox(&keeping.installation).await;
    let deliveries = inbox.ask("SELECT event FROM webhook_inbox").await.len();
    counts.push(deliveries.to_string());
    counts
}

async fn deliveries_that_are_replayed_are_read_for_again_and_double_nothing(kind: Kind) {
    let mut keeping = Keeping::with(kind, 5, 3, RARELY).await;
    let (control, store) = (keeping.control(), keeping.store());
    let number = control.orders().place(&store, NewOrder::default());
    let late = control.support_cases().open_occurrence(&store, NewOccurrence::default()).unwrap();
    assert!(control.support_cases().end_occurrence(&store, late, "resolved"));
    keeping.order_is(&number, "paid").await;
    until("the test delivery of the start has come", async || {
        let inbox = receiving::with_inbox(&keeping.installation).await;
        !inbox.ask("SELECT event FROM webhook_inbox WHERE event = 'webhook.test'").await.is_empty()
    })
    .await;
    control.webhooks().deliveries_done().await;
    keeping.inbox_is_handled().await;
    let replay = async |arguments: &[&str]| -> Value {
        let command = [&["webhook", "replay", "--json"], arguments].concat();
        keeping.installation.run(&command).await.expect(0).json()
    };
    let before = settled(&keeping).await;
    let shown = replay(&["--all", "--dry-run"]).await;
    let all = shown["matching"].as_u64().unwrap();
    assert!(all >= 4 && shown["deliveries"].as_array().unwrap().len() as u64 == all, "{shown}");
    assert_eq!(
        (&shown["state"], &shown["replayed"], &shown["waiting"]),
        (&json!("dry_run"), &json!(0), &json!(0))
    );
    assert_eq!(counts(&keeping).await, before);
    keeping.inbox_is_handled().await;

    for _ in 0..2 {
        let replayed = replay(&["--all", "--since", "1h"]).await;
        assert_eq!((&replayed["matching"], &replayed["replayed"]), (&json!(all), &json!(all)), "{replayed}");
        keeping.inbox_is_handled().await;
        assert_eq!(settled(&keeping).await, before);
    }
    keeping.shows("SELECT status FROM occurrences", &["resolved"]).await;

    // A row that was lost comes back by its delivery.
    let spoil = "UPDATE orders SET status = 'lost', content_hash = 0, listing_hash = 0 WHERE order_number";
    keeping.mirror().await.execute(&format!("{spoil} = '{number}'")).await;
    let paid = replay(&["--all", "--event", "order.paid", "--store", "loja-1"]).await;
    assert_eq!(paid["deliveries"][0]["event"], json!("order.paid"), "{paid}");
    keeping.order_is(&number, "paid").await;
    keeping.inbox_is_handled().await;

    let id = paid["deliveries"][0]["id"].to_string();
    assert_eq!(replay(&[&id]).await["replayed"], json!(1));
    keeping.inbox_is_handled().await;
    for (arguments, code) in [
        (&["999999999"][..], 1),
        (&[][..], 2),
        (&["order.paid"], 2),
        (&[&id, "--all"], 2),
        (&[&id, "--since", "1h"], 2),
        (&["--all", "--since", "ontem"], 2),
        (&["--all", "--store", "loja-9"], 2),
    ] {
        keeping.installation.run(&[&["webhook", "replay"], arguments].concat()).await.expect(code);
    }
    let shown = keeping.installation.run(&["webhook", "replay", &id, "--dry-run"]).await.expect(0).stdout;
    assert!(
        shown.contains("webhook order.paid, handled at") && shown.contains("1 delivery matches"),
        "{shown}"
    );
    keeping.stop().await;
}
