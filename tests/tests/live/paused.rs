//! Pauses of the way down, by the binary.

use espelho_sandbox::NewOrder;
use espelho_tests::{Kind, on_both_databases, until};

use crate::{
    keeping::{Keeping, RARELY},
    receiving,
};

on_both_databases![
    deliveries_are_kept_while_they_are_paused_and_worked_on_afterwards,
    nothing_is_swept_while_reading_is_paused_and_everything_is_found_afterwards,
];

const OPEN: &str = "SELECT event FROM webhook_inbox WHERE handled_at IS NULL";

async fn deliveries_are_kept_while_they_are_paused_and_worked_on_afterwards(kind: Kind) {
    let mut keeping = Keeping::with(kind, 5, 3, RARELY).await;
    keeping.inbox_is_handled().await;
    keeping.installation.run(&["pause", "--only", "webhooks", "--for", "1h"]).await.expect(0);
    until("the service has noticed", async || keeping.log().contains("scope=\"webhooks\"")).await;
    let (control, store) = (keeping.control(), keeping.store());
    let number = control.orders().place(&store, NewOrder::default());
    control.webhooks().deliveries_done().await;
    let inbox = receiving::with_inbox(&keeping.installation).await;
    assert!(!inbox.ask(OPEN).await.is_empty(), "it is kept");
    let known = format!("SELECT status FROM orders WHERE order_number = '{number}'");
    assert_eq!(keeping.ask(&known).await, Vec::<String>::new());
    keeping.installation.run(&["resume"]).await.expect(0);
    keeping.order_is(&number, "paid").await;
    keeping.inbox_is_handled().await;
    keeping.stop().await;
}

async fn nothing_is_swept_while_reading_is_paused_and_everything_is_found_afterwards(kind: Kind) {
    let mut keeping = Keeping::with(kind, 5, 3, 1).await;
    keeping.spoil("", 1_000, espelho_sandbox::DeliveryFault::Lost);
    keeping.installation.run(&["pause", "--only", "pull", "--for", "1h"]).await.expect(0);
    until("the service has noticed", async || keeping.log().contains("scope=\"pull\"")).await;
    keeping.know_pages();
    keeping.installation.run(&["--resync", "--json"]).await.expect(5).says("paused");
    let number = keeping.control().orders().place(&keeping.store(), NewOrder::default());
    // A restart is no end.
    keeping.kill().await;
    keeping.start();
    until("it works again", async || keeping.log().matches("store acquired").count() == 2).await;
    let known = format!("SELECT status FROM orders WHERE order_number = '{number}'");
    assert_eq!(keeping.ask(&known).await, Vec::<String>::new());
    // It ends by itself.
    keeping.installation.run(&["pause", "--only", "pull", "--for", "1s"]).await.expect(0);
    keeping.order_is(&number, "paid").await;
    keeping.stop().await;
}
