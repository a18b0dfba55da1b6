//! Commands about orders: status, notes, labels.

use espelho_sandbox::{Fault, FaultRule};
use espelho_tests::{Kind, on_both_databases};
use serde_json::{Value, json};

use crate::erp::Erp;

on_both_databases![
    an_order_goes_its_way_and_waits_for_its_invoice,
    transitions_that_are_not_offered_are_refused_once_with_where_it_can_go,
    a_transition_whose_answer_was_lost_is_found_where_the_order_is,
    a_pickup_is_not_delivered_by_hand_and_a_collective_order_ignores_the_noise,
    notes_are_replaced_unless_a_person_has_changed_them,
    labels_are_made_once_and_what_is_ready_is_not_thrown_away,
    an_order_that_moves_between_the_look_and_the_call_is_where_it_is,
    an_order_that_nobody_knows_is_said_to_be_unknown,
];

async fn status_of(erp: &Erp, number: &str) -> String {
    let order = erp.truth.data(&format!("/api/v1/sellers/orders/{number}")).await;
    order["status"].as_str().unwrap().to_owned()
}

async fn advance(erp: &Erp, number: &str, status: &str, data: Value) -> [String; 4] {
    erp.command("order.status", number, &json!({"status": status, "data": data})).await
}

// withstands: F018
async fn an_order_goes_its_way_and_waits_for_its_invoice(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let number = erp.sell("standard", &goods[0].sku);
    assert_eq!(advance(&erp, &number, "preparing", Value::Null).await[0], "done");
    let id = erp.give("order.status", &number, &json!({"status": "ready_to_ship"})).await;
    let [_, code, error, hint] = erp.outcome(id, |state| state == "waiting").await;
    assert_eq!(code, "waiting_invoice");
    assert!(error.contains("NF-e") && hint.contains("continua sozinho"), "{error} {hint}");
    let refused = erp.writes(&format!("{number}/status")).len();
    erp.control().orders().issue_invoice(&erp.key(), &number, "nfe").unwrap();
    assert_eq!(erp.outcome(id, |state| state == "done").await[0], "done");
    assert!(erp.writes(&format!("{number}/status")).len() <= refused + 1, "asked for once more");
    assert_eq!(advance(&erp, &number, "shipped", json!({"tracking_code": "BR123"})).await[0], "done");
    assert_eq!(status_of(&erp, &number).await, "shipped");
    // If the order has the status already, the command is done, and nothing is sent.
    let sent = erp.writes(&format!("{number}/status")).len();
    assert_eq!(advance(&erp, &number, "shipped", Value::Null).await[0], "done");
    // An earlier status of the order does not fulfil this command.
    let back = advance(&erp, &number, "preparing", json!({})).await;
    assert_eq!((back[0].as_str(), back[1].as_str()), ("failed", "impossible_transition"), "{back:?}");
    assert_eq!(erp.writes(&format!("{number}/status")).len(), sent);
    erp.until(&format!("SELECT status AS s FROM orders WHERE order_number = '{number}'"), |s| {
        s == ["shipped"]
    })
    .await;
    erp.stop().await;
}

// withstands: F016, F017, F020, F021
async fn transitions_that_are_not_offered_are_refused_once_with_where_it_can_go(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let number = erp.sell("standard", &goods[0].sku);
    let [state, code, error, hint] = advance(&erp, &number, "delivered", Value::Null).await;
    assert_eq!((state.as_str(), code.as_str()), ("failed", "impossible_transition"));
    assert!(
        error.contains("não pode ir para “Entregue”") && hint.contains("Em preparação (preparing)"),
        "{error} {hint}"
    );
    let short = advance(&erp, &number, "cancelled", json!({"reason": "curto"})).await;
    assert_eq!(short[1], "invalid_data", "{short:?}");
    assert_eq!(
        advance(&erp, &number, "cancelled", json!({"reason": "ã".repeat(501)})).await[1],
        "invalid_data"
    );
    assert_eq!(erp.writes(&format!("{number}/status")).len(), 0);
    assert_eq!(advance(&erp, &number, "preparing", Value::Null).await[0], "done");
    let late = advance(&erp, &number, "cancelled", json!({"reason": "sem estoque no fornecedor"})).await;
    assert_eq!(late[1], "too_late_to_cancel", "{late:?}");
    assert_eq!(erp.writes(&format!("{number}/status")).len(), 1);
    let other = erp.sell("standard", &goods[1].sku);
    assert_eq!(advance(&erp, &other, "cancelled", json!({"reason": "é".repeat(500)})).await[0], "done");
    assert_eq!(status_of(&erp, &other).await, "cancelled");
    erp.stop().await;
}

// withstands: F016
async fn a_transition_whose_answer_was_lost_is_found_where_the_order_is(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let number = erp.sell("standard", &goods[0].sku);
    let fault =
        |kind| FaultRule { route: "POST /api/v1/sellers/orders/{id}/status".into(), times: Some(1), kind };
    erp.control().faults().add(fault(Fault::ResetAfter));
    assert_eq!(advance(&erp, &number, "preparing", Value::Null).await[0], "done");
    assert_eq!(erp.writes(&format!("{number}/status")).len(), 1);
    let other = erp.sell("standard", &goods[1].sku);
    erp.control().faults().add(fault(Fault::Html(504)));
    assert_eq!(advance(&erp, &other, "preparing", Value::Null).await[0], "done");
    assert_eq!(
        erp.writes(&format!("{other}/status")).len(),
        2,
        "proved not to have happened, and sent again"
    );
    erp.stop().await;
}

// withstands: F017, F019
async fn a_pickup_is_not_delivered_by_hand_and_a_collective_order_ignores_the_noise(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let pickup = erp.sell("in_store_pickup", &goods[0].sku);
    for status in ["preparing", "ready_for_pickup"] {
        let done = advance(&erp, &pickup, status, Value::Null).await;
        assert_eq!(done[0], "done", "{status}: {done:?}");
    }
    assert_eq!(advance(&erp, &pickup, "picked_up", Value::Null).await[1], "invalid_data");
    assert_eq!(advance(&erp, &pickup, "picked_up", json!({"confirmation_code": "A1"})).await[0], "done");
    let calls = erp.writes(&format!("{pickup}/status")).len();
    let id = erp.give("order.status", &pickup, &json!({"status": "delivered"})).await;
    erp.outcome(id, |state| ["waiting", "done"].contains(&state)).await;
    assert_eq!(erp.writes(&format!("{pickup}/status")).len(), calls, "it comes by itself");
    let collective = erp.sell("collective", &goods[1].sku);
    erp.control().forward(5);
    espelho_tests::until("it waits for its campaign", async || {
        status_of(&erp, &collective).await == "awaiting_campaign_conclusion"
    })
    .await;
    let noise = advance(&erp, &collective, "paid", Value::Null).await;
    assert_eq!((noise[0].as_str(), noise[1].as_str()), ("failed", "impossible_transition"), "{noise:?}");
    assert_eq!(erp.writes(&format!("{collective}/status")).len(), 0);
    assert_eq!(advance(&erp, &collective, "preparing", Value::Null).await[0], "done");
    erp.stop().await;
}

// withstands: F026
async fn notes_are_replaced_unless_a_person_has_changed_them(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let number = erp.sell("standard", &goods[0].sku);
    erp.until(&format!("SELECT status AS s FROM orders WHERE order_number = '{number}'"), |s| !s.is_empty())
        .await;
    assert_eq!(erp.command("order.notes", &number, &json!({"notes": "ligar 'antes'"})).await[0], "done");
    let notes = |order: Value| order["notes"].as_str().map(str::to_owned);
    let path = format!("/api/v1/sellers/orders/{number}");
    assert_eq!(notes(erp.truth.data(&path).await).as_deref(), Some("ligar 'antes'"));
    // The command states which notes the ERP has seen; meanwhile a person has written others.
    erp.control().orders().set_notes(&erp.key(), &number, Some("cliente pediu presente"));
    let lost = erp.command("order.notes", &number, &json!({"notes": "outra", "base": "ligar 'antes'"})).await;
    assert_eq!((lost[0].as_str(), lost[1].as_str()), ("failed", "notes_conflict"), "{lost:?}");
    assert_eq!(notes(erp.truth.data(&path).await).as_deref(), Some("cliente pediu presente"));
    let joined =
        erp.command("order.notes", &number, &json!({"notes": null, "base": "cliente pediu presente"})).await;
    assert_eq!(joined[0], "done");
    assert_eq!(notes(erp.truth.data(&path).await).unwrap_or_default(), "");
    // Also if the command does not state them, and the mirror has seen what the person wrote.
    erp.control().orders().set_notes(&erp.key(), &number, Some("portão azul"));
    erp.until(&format!("SELECT notes AS n FROM orders WHERE order_number = '{number}'"), |n| {
        n == ["portão azul"]
    })
    .await;
    let kept = erp.command("order.notes", &number, &json!({"notes": "entregar cedo"})).await;
    assert_eq!((kept[0].as_str(), kept[1].as_str()), ("failed", "notes_conflict"), "{kept:?}");
    assert!(kept[3].contains("data.base"), "{kept:?}");
    assert_eq!(notes(erp.truth.data(&path).await).as_deref(), Some("portão azul"));
    erp.stop().await;
}

// withstands: F022
async fn labels_are_made_once_and_what_is_ready_is_not_thrown_away(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let number = erp.sell("standard", &goods[0].sku);
    let early = erp.command("labels.generate", &number, &json!({"format": "zebra"})).await;
    assert_eq!((early[0].as_str(), early[1].as_str()), ("failed", "no_shipment"), "{early:?}");
    assert_eq!(advance(&erp, &number, "preparing", Value::Null).await[0], "done");
    let calls = erp.writes("shipment-labels").len();
    erp.control().faults().add(FaultRule {
        route: "POST /api/v1/sellers/orders/{id}/shipment-labels/generate".into(),
        times: Some(1),
        kind: Fault::ResetAfter,
    });
    let id = erp.give("labels.generate", &number, &json!({"format": "zebra"})).await;
    espelho_tests::until("it was sent", async || erp.writes("shipment-labels").len() > calls).await;
    // Its answer was lost: the row says that it was sent.
    erp.outcome(id, |state| state == "sending" || state == "done").await;
    espelho_tests::until("they are made", async || {
        erp.control().forward(10);
        erp.ask(&format!("SELECT state AS s FROM commands WHERE id = {id}")).await == ["done"]
    })
    .await;
    // Done means that their files exist.
    let files = erp
        .ask(&format!("SELECT file FROM shipment_labels WHERE order_number = '{number}' AND format = 'zebra' AND is_ready"))
        .await;
    assert!(
        !files.is_empty() && files.iter().all(|file| erp.installation.dir().join(file).is_file()),
        "{files:?}"
    );
    let made = erp.writes("shipment-labels").len();
    assert_eq!(made, calls + 1);
    let again = erp.command("labels.generate", &number, &json!({"format": "zebra"})).await;
    assert_eq!((again[0].as_str(), erp.writes("shipment-labels").len()), ("done", made));
    assert_eq!(erp.command("labels.generate", &number, &json!({"format": "papel"})).await[1], "invalid_data");
    // Ready labels are discarded only on a person's explicit order.
    let shipments = erp.truth.data(&format!("/api/v1/sellers/orders/{number}/shipments")).await.to_string();
    let missing = ["a4", "thermal", "zebra_pdf"]
        .into_iter()
        .find(|format| !shipments.contains(&format!("\"{format}\"")));
    if let Some(missing) = missing {
        let id = erp.give("labels.generate", &number, &json!({"format": missing})).await;
        let held = erp.outcome(id, |state| state == "held").await;
        assert_eq!(held[1], "labels_would_be_discarded", "{held:?}");
        assert!(held[3].contains(&format!("espelho release command {id} --store loja-1")), "{held:?}");
        assert_eq!(erp.writes("shipment-labels").len(), made);
    }
    erp.until("SELECT format AS f FROM shipment_labels WHERE file IS NOT NULL AND format = 'zebra'", |f| {
        !f.is_empty()
    })
    .await;
    erp.stop().await;
}

/// Waits until a transition of an order is in progress.
async fn is_sent(erp: &Erp, number: &str) {
    let journal = erp.installation.journal().await;
    let sent = format!("SELECT key FROM effects WHERE key = 'order/{number}' AND state = 'sent'");
    espelho_tests::until("it is under way", async || !journal.try_ask(&sent).await.is_empty()).await;
}

// withstands: F016, F020
async fn an_order_that_moves_between_the_look_and_the_call_is_where_it_is(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let stall = |times| FaultRule {
        route: "POST /api/v1/sellers/orders/{id}/status".into(),
        times: Some(times),
        kind: Fault::Stall(std::time::Duration::from_millis(1_500)),
    };
    // Another program moves it to the target status while the call is in progress: the marketplace refuses the call,
    // and the command is done.
    let number = erp.sell("standard", &goods[0].sku);
    erp.control().faults().add(stall(1));
    let id = erp.give("order.status", &number, &json!({"status": "preparing"})).await;
    is_sent(&erp, &number).await;
    assert!(erp.control().orders().set_status(&erp.key(), &number, "preparing"));
    assert_eq!(erp.outcome(id, |state| state == "done" || state == "failed").await[0], "done");
    assert_eq!(erp.writes(&format!("{number}/status")).len(), 1);
    // Or past the point up to which a seller may cancel it.
    let number = erp.sell("standard", &goods[1].sku);
    erp.control().faults().add(stall(1));
    let reason = json!({"status": "cancelled", "data": {"reason": "sem estoque no fornecedor"}});
    let id = erp.give("order.status", &number, &reason).await;
    is_sent(&erp, &number).await;
    assert!(erp.control().orders().set_status(&erp.key(), &number, "preparing"));
    let late = erp.outcome(id, |state| state == "done" || state == "failed").await;
    assert_eq!((late[0].as_str(), late[1].as_str()), ("failed", "too_late_to_cancel"), "{late:?}");
    assert_eq!(erp.writes(&format!("{number}/status")).len(), 1);
    erp.stop().await;
}

async fn an_order_that_nobody_knows_is_said_to_be_unknown(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let unknown = advance(&erp, "MP-0", "preparing", Value::Null).await;
    assert_eq!((unknown[0].as_str(), unknown[1].as_str()), ("failed", "NOT_FOUND"), "{unknown:?}");
    assert!(unknown[3].contains("Confira o código"), "{unknown:?}");
    let strange = erp.command("order.cancel", "MP-0", &json!({})).await;
    assert_eq!(strange[1], "unknown_kind");
    assert!(strange[3].contains("order.status"), "{strange:?}");
    assert_eq!(erp.command("order.status", "MP-0", &json!({})).await[1], "invalid_data");
    erp.stop().await;
}
