//! The service beside a changing marketplace: deliveries, sweeps, and both under faults.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod canary;
#[expect(dead_code, reason = "stock locations do not change here")]
#[path = "../resync/comparison.rs"]
mod comparison;
mod converging;
#[expect(dead_code, reason = "the benchmark prints more of what came of it")]
mod driving;
mod forgotten;
mod keeping;
mod missing;
mod outages;
mod paused;
mod protected;
#[expect(dead_code, reason = "deliveries are made as there, and received by another service")]
#[path = "../webhooks/receiving.rs"]
mod receiving;
mod replayed;
mod sweeping;

use std::time::Duration;

use espelho_sandbox::{DeliveryFault, NewCampaign, NewOccurrence, NewOrder, Options};
use espelho_tests::{Installation, Kind, Random, on_both_databases, sandbox_of};
use keeping::{Keeping, RARELY};

on_both_databases![
    a_change_is_a_row_within_seconds_of_its_delivery,
    with_every_delivery_lost_the_sweeps_bring_what_changed,
    doubled_reordered_delayed_and_forged_deliveries_leave_the_same_mirror,
    what_only_deliveries_tell_is_kept,
    the_sides_of_orders_and_the_campaigns_are_mirrored,
    a_delivery_that_was_acknowledged_before_a_kill_is_read_after_the_restart,
    unknown_odd_and_foreign_deliveries_are_handled_and_noted,
    deliveries_are_acknowledged_though_the_reads_that_they_ask_for_never_end,
    what_happened_in_an_outage_is_caught_up_with_before_anything_else,
    a_store_that_was_mirrored_before_it_had_a_webhook_gets_one_with_the_next_start,
    a_busy_marketplace_is_mirrored_row_for_row_though_half_the_deliveries_are_lost,
    a_doctor_sees_the_webhook_arrive_and_what_the_token_may_do,
    a_forgotten_person_does_not_come_back_by_any_way,
    a_person_whom_the_policy_leaves_out_is_nowhere,
];

async fn a_change_is_a_row_within_seconds_of_its_delivery(kind: Kind) {
    let mut keeping = Keeping::with(kind, 20, 5, RARELY).await;
    let (control, store) = (keeping.control(), keeping.store());
    let number = control.orders().place(&store, NewOrder::default());
    let within_seconds = async {
        keeping.order_is(&number, "paid").await;
        assert!(control.orders().cancel(&store, &number, "desistência"));
        keeping.order_is(&number, "cancelled").await;
    };
    tokio::time::timeout(Duration::from_secs(15), within_seconds).await.expect("it took too long");
    control.webhooks().deliveries_done().await;
    keeping.inbox_is_handled().await;
    let truth = keeping.truth().await;
    comparison::compare_orders(&keeping.mirror().await, &truth).await;
    comparison::compare_products(&keeping.mirror().await, &truth).await;
}

// withstands: F133, F151
async fn a_forgotten_person_does_not_come_back_by_any_way(kind: Kind) {
    forgotten::nothing_of_the_person_comes_back(kind).await;
}

async fn a_person_whom_the_policy_leaves_out_is_nowhere(kind: Kind) {
    protected::what_is_left_out_is_nowhere(kind).await;
}

// withstands: F033
async fn with_every_delivery_lost_the_sweeps_bring_what_changed(kind: Kind) {
    let mut keeping = Keeping::with(kind, 30, 8, 1).await;
    let (control, store) = (keeping.control(), keeping.store());
    keeping.spoil("", 1_000, DeliveryFault::Lost);
    let changed = control.orders().place(&store, NewOrder::default());
    let left = control.orders().place(&store, NewOrder::default());
    // Otherwise the mirror may first see the order when it has ended.
    keeping.order_is(&changed, "paid").await;
    assert!(control.orders().cancel(&store, &changed, "desistência"));
    keeping.order_is(&changed, "cancelled").await;
    keeping.order_is(&left, "paid").await;
    keeping
        .shows(&format!("SELECT CAST(count(*) > 1 AS INTEGER) || '' AS n FROM order_events WHERE order_number = '{changed}'"), &["1"])
        .await;
    let metrics = keeping.metrics().await;
    for event in ["order.created", "order.status_changed"] {
        let missed = format!("espelho_missed_hints_total{{store=\"loja-1\",event=\"{event}\"}} ");
        assert!(metrics.contains(&missed), "no {missed} in\n{metrics}");
    }
    let truth = keeping.truth().await;
    comparison::compare_orders(&keeping.mirror().await, &truth).await;
}

// withstands: F031, F032
async fn doubled_reordered_delayed_and_forged_deliveries_leave_the_same_mirror(kind: Kind) {
    let mut keeping = Keeping::with(kind, 10, 6, RARELY).await;
    let (control, store) = (keeping.control(), keeping.store());
    for fault in [
        DeliveryFault::Doubled,
        DeliveryFault::HeldBack,
        DeliveryFault::Delayed(1),
        DeliveryFault::WrongSignature,
        DeliveryFault::OtherSecret,
    ] {
        keeping.spoil("", 300, fault);
    }
    let mut numbers: Vec<String> = (0..12)
        .map(|_| control.orders().place(&store, NewOrder { is_paid: false, ..NewOrder::default() }))
        .collect();
    for (at, number) in numbers.iter().enumerate() {
        assert!(control.orders().pay(&store, number));
        if at % 3 == 0 {
            assert!(control.orders().cancel(&store, number, "desistência"));
        }
    }
    // A held delivery is sent together with a later one.
    control.webhooks().clear_delivery_faults();
    numbers.push(control.orders().place(&store, NewOrder::default()));
    control.forward(120);
    control.webhooks().deliveries_done().await;
    for (at, number) in numbers.iter().enumerate() {
        keeping.order_is(number, if at % 3 == 0 && at < 12 { "cancelled" } else { "paid" }).await;
    }
    keeping.inbox_is_handled().await;
    let truth = keeping.truth().await;
    comparison::compare_orders(&keeping.mirror().await, &truth).await;
}

async fn what_only_deliveries_tell_is_kept(kind: Kind) {
    let mut keeping = Keeping::with(kind, 3, 2, RARELY).await;
    let (control, store) = (keeping.control(), keeping.store());
    let number = control.orders().insert(&store);
    let late = control.support_cases().open_occurrence(&store, NewOccurrence::default()).unwrap();
    control
        .support_cases()
        .open_occurrence(&store, NewOccurrence { title: "Outra".into(), ..NewOccurrence::default() })
        .unwrap();
    assert!(control.support_cases().end_occurrence(&store, late, "resolved"));
    let talk = control.support_cases().open_conversation(&store, &number, "order").unwrap();
    control.support_cases().say(&store, talk, "customer", "Onde está?").unwrap();
    assert!(control.support_cases().close_conversation(&store, talk, "resolvido"));
    for webhook in control.webhooks().of_store(&store) {
        assert!(control.webhooks().test(&webhook.id));
    }
    let title = "SELECT title || ' ' || status AS t FROM occurrences";
    keeping.shows(title, &["Atraso na postagem resolved", "Outra open"]).await;
    keeping.shows("SELECT status || ' ' || reason AS t FROM conversations", &["closed resolvido"]).await;
    keeping.shows("SELECT body FROM conversation_messages", &["Onde está?"]).await;
    control.webhooks().deliveries_done().await;
    keeping.inbox_is_handled().await;
    keeping.shows("SELECT code FROM sync_failures", &[]).await;
    keeping.stop().await;
}

// withstands: F066, F067
async fn the_sides_of_orders_and_the_campaigns_are_mirrored(kind: Kind) {
    let mut keeping = Keeping::with(kind, 12, 5, 1).await;
    let (control, store) = (keeping.control(), keeping.store());
    let campaign = NewCampaign {
        name: "Semana do espelho".into(),
        kind: "standard".into(),
        status: "active".into(),
        starts_in: Some(-60),
        ends_in: Some(86_400),
        opt_in_closes_in: Some(3_600),
        discount: None,
    };
    control.campaigns().create(&campaign).unwrap();
    let number = control.orders().insert(&store);
    assert!(control.orders().set_status(&store, &number, "preparing"));
    control.orders().issue_invoice(&store, &number, "nfe").unwrap();
    keeping
        .shows(&format!("SELECT type FROM order_invoices WHERE order_number = '{number}'"), &["nfe"])
        .await;
    let sides = |table: &str| {
        format!(
            "SELECT 'x' AS x FROM orders AS o WHERE NOT EXISTS (SELECT 1 FROM order_parts AS p \
                 WHERE p.order_number = o.order_number AND p.part = '{table}')"
        )
    };
    for part in ["invoices", "events", "financial", "shipments", "tracking"] {
        keeping.shows(&sides(part), &[]).await;
    }
    let some = |table: &str| format!("SELECT DISTINCT 'x' AS x FROM {table}");
    for table in ["order_events", "order_splits", "shipments", "campaigns", "store_profiles"] {
        keeping.shows(&some(table), &["x"]).await;
    }
    // Orders that are not shipped yet answer 404 when their shipments are requested.
    let unsent =
        "SELECT DISTINCT 'x' AS x FROM orders WHERE order_number NOT IN (SELECT order_number FROM shipments)";
    keeping.shows(unsent, &["x"]).await;
    keeping.shows("SELECT code FROM sync_failures", &[]).await;
    keeping.stop().await;
}

async fn a_delivery_that_was_acknowledged_before_a_kill_is_read_after_the_restart(kind: Kind) {
    let mut keeping = Keeping::with(kind, 5, 2, RARELY).await;
    let (control, store) = (keeping.control(), keeping.store());
    let number = control.orders().insert(&store);
    keeping.order_is(&number, "paid").await;
    // The marketplace sends deliveries but answers no reads, so nothing that is acknowledged now can be read.
    control.faults().add(espelho_sandbox::FaultRule {
        route: "GET /api/v1/sellers/orders/{id}".into(),
        times: None,
        kind: espelho_sandbox::Fault::ResetBefore,
    });
    assert!(control.orders().cancel(&store, &number, "desistência"));
    control.webhooks().deliveries_done().await;
    keeping.kill().await;
    control.faults().clear();
    keeping.order_is(&number, "paid").await;
    keeping.start();
    keeping.order_is(&number, "cancelled").await;
    keeping.inbox_is_handled().await;
    keeping.stop().await;
}

// withstands: F047
async fn deliveries_are_acknowledged_though_the_reads_that_they_ask_for_never_end(kind: Kind) {
    const MANY: usize = 20;
    let mut keeping = Keeping::with(kind, MANY, 2, RARELY).await;
    keeping.control().faults().add(espelho_sandbox::FaultRule {
        route: "GET /api/v1/sellers/orders/{id}".into(),
        times: None,
        kind: espelho_sandbox::Fault::Stall(Duration::from_secs(86_400)),
    });
    let numbers = keeping.ask("SELECT order_number FROM orders ORDER BY order_number").await;
    assert_eq!(numbers.len(), MANY);
    for number in &numbers {
        let body = format!(r#"{{"event":"order.refunded","data":{{"order_number":"{number}"}}}}"#);
        assert_eq!(keeping.deliver(&body).await, 200);
    }
    let inbox = receiving::with_inbox(&keeping.installation).await;
    let open = inbox.ask("SELECT event FROM webhook_inbox WHERE handled_at IS NULL").await;
    assert_eq!(open.len(), MANY, "none of them could be worked on, and all of them are durable");
    keeping.kill().await;
}

// withstands: F049
async fn unknown_odd_and_foreign_deliveries_are_handled_and_noted(kind: Kind) {
    let mut keeping = Keeping::with(kind, 3, 2, RARELY).await;
    for body in [
        r#"{"event":"store.teleported","data":{"where":[]},"timestamp":"x"}"#,
        "not JSON",
        r#"{"event":"order.paid","data":{"store_id":987654321,"order_number":"1"}}"#,
        r#"{"event":"order.paid","data":{"order_number":{}}}"#,
        r#"{"event":"occurrence.created","data":{"title":"de quem?"}}"#,
    ] {
        assert_eq!(keeping.deliver(body).await, 200, "{body}");
    }
    keeping.inbox_is_handled().await;
    let codes = ["aimless", "aimless", "foreign_store", "unreadable"];
    keeping.shows("SELECT code FROM sync_failures WHERE resource = 'webhooks'", &codes).await;
    assert!(
        keeping
            .control()
            .support_cases()
            .open_occurrence(&keeping.store(), NewOccurrence::default())
            .is_some()
    );
    keeping.shows("SELECT title FROM occurrences", &["Atraso na postagem"]).await;
    keeping.stop().await;
}

async fn a_busy_marketplace_is_mirrored_row_for_row_though_half_the_deliveries_are_lost(kind: Kind) {
    const CHANGES: usize = 500;
    let mut keeping = Keeping::with(kind, 50, 10, 1).await;
    let (control, store) = (keeping.control(), keeping.store());
    keeping.spoil("", 500, DeliveryFault::Lost);
    keeping.spoil("", 200, DeliveryFault::Doubled);
    keeping.spoil("", 200, DeliveryFault::HeldBack);
    let mut random = Random::seeded(7);
    // The expected final state of each order: status and notes.
    let mut expected: Vec<(String, &str, String)> = Vec::new();
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    for change in 0..CHANGES {
        ticks.tick().await;
        if change % 5 < 2 {
            let order = NewOrder { is_paid: false, ..NewOrder::default() };
            let number = control.orders().place(&store, order);
            // It may come with notes from the buyer.
            assert!(control.orders().set_notes(&store, &number, Some("-")));
            expected.push((number, "waiting_payment", "-".to_owned()));
        }
        let at = random.up_to(expected.len() as u64) as usize - 1;
        let (number, status, notes) = &mut expected[at];
        match (random.up_to(3), *status) {
            (1, "waiting_payment") => {
                assert!(control.orders().pay(&store, number));
                *status = "paid";
            }
            (2, "waiting_payment" | "paid") => {
                assert!(control.orders().cancel(&store, number, "desistência"));
                *status = "cancelled";
            }
            (_, "waiting_payment" | "paid") => {
                *notes = format!("nota {change}");
                assert!(control.orders().set_notes(&store, number, Some(notes.as_str())));
            }
            _ => (),
        }
    }
    control.webhooks().clear_delivery_faults();
    let mut rows: Vec<String> =
        expected.iter().map(|(number, status, notes)| format!("{number} {status} {notes}")).collect();
    rows.sort();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let first = &expected[0].0;
    let sql = format!(
        "SELECT order_number || ' ' || status || ' ' || COALESCE(notes, '') AS o FROM orders WHERE order_number >= '{first}'"
    );
    keeping.shows(&sql, &rows).await;
    // A refund follows its cancellation later.
    control.forward(120);
    let unrefunded =
        "SELECT order_number FROM orders WHERE status = 'cancelled' AND payment_status = 'approved'";
    keeping.shows(unrefunded, &[]).await;
    control.webhooks().deliveries_done().await;
    keeping.inbox_is_handled().await;
    let truth = keeping.truth().await;
    comparison::compare_orders(&keeping.mirror().await, &truth).await;
}

async fn what_happened_in_an_outage_is_caught_up_with_before_anything_else(kind: Kind) {
    let mut keeping = Keeping::with(kind, 10, 3, RARELY).await;
    let (control, store) = (keeping.control(), keeping.store());
    let known = control.orders().insert(&store);
    keeping.order_is(&known, "paid").await;
    keeping.stop().await;
    keeping.spoil("", 1_000, DeliveryFault::Lost);
    assert!(control.orders().cancel(&store, &known, "desistência"));
    let new = control.orders().insert(&store);
    let ago = match kind {
        Kind::Sqlite => "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '-14 minutes')",
        Kind::Postgres => "now() - interval '14 minutes'",
    };
    keeping.mirror().await.execute(&format!("UPDATE leases SET renewed_at = {ago}")).await;
    keeping.start();
    keeping.order_is(&known, "cancelled").await;
    keeping.order_is(&new, "paid").await;
    keeping.is_mirrored(2).await;
    keeping.stop().await;
    let log = keeping.log();
    let at = |words: &str| log.rfind(words).unwrap_or_else(|| panic!("no {words:?} in\n{log}"));
    assert!(at("down 14 min; catching up") < at("caught up") && at("caught up") < at("reconciled"), "{log}");
}

async fn a_store_that_was_mirrored_before_it_had_a_webhook_gets_one_with_the_next_start(kind: Kind) {
    let sandbox =
        sandbox_of(Options { orders: 5, products: 2, local_webhooks: true, ..Options::default() }).await;
    let installation = Installation::on(kind).await;
    installation.join(&sandbox);
    installation.resync(&[]).await.expect(0);
    let access = sandbox.stores().remove(0);
    let with_webhook = |events: &str| {
        let more = format!(
            "[webhook]\npublic_url = \"http://127.0.0.1:9/webhooks/loja-1\"\nevents = [\"{events}\"]\n"
        );
        let (username, password) = (&access.username, &access.password);
        installation.write_store_with(&access.key, &sandbox.base_url(), username, password, &more);
    };
    with_webhook("*");
    assert!(sandbox.control().webhooks().of_store(&access.key).is_empty());
    installation.resync(&[]).await.expect(0);
    assert_eq!(sandbox.control().webhooks().of_store(&access.key).len(), 1);
    installation.resync(&[]).await.expect(0);
    assert_eq!(sandbox.control().stats().logins, 2, "its secret is on record now");
}

async fn a_doctor_sees_the_webhook_arrive_and_what_the_token_may_do(kind: Kind) {
    let mut keeping = Keeping::with(kind, 3, 2, RARELY).await;
    keeping.know_pages();
    let asked =
        async || keeping.control().stats().by_route.contains_key("POST /api/integration/webhook/test");
    let before = keeping.control().stats().logins;
    let told = keeping.installation.run_in_portuguese(&["doctor"]).await.expect(0);
    assert!(asked().await, "{told}");
    for words in [
        "✓ VERDE loja-1: webhook: a entrega de teste chegou a http://127.0.0.1",
        "✓ VERDE loja-1: receptor de webhooks: recebe em 127.0.0.1:",
        "✓ VERDE loja-1: permissões: confirmadas no último minuto: orders, store_products_read; \
         só uma gravação mostraria: store_products_write, store_orders_substores",
    ] {
        assert!(told.stdout.contains(words), "no {words:?} in\n{told}");
    }
    assert_eq!(keeping.control().stats().logins, before, "the service's token lives on");
    keeping.stop().await;
}
