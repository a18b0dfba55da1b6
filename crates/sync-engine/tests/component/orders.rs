//! Commands about orders: status and notes.

use espelho_sandbox::{Fault, FaultRule};
use serde_json::{Value, json};

use crate::support::{Kind, Rig, on_both_databases};

on_both_databases![
    transitions_that_are_not_offered_are_refused_once_with_where_it_can_go,
    an_order_that_nobody_knows_is_said_to_be_unknown,
    notes_are_replaced_unless_a_person_has_changed_them,
];

async fn status_of(rig: &Rig, number: &str) -> String {
    let order = rig.truth.data(&format!("/api/v1/sellers/orders/{number}")).await;
    order["status"].as_str().unwrap().to_owned()
}

async fn advance(rig: &Rig, number: &str, status: &str, data: Value) -> [String; 4] {
    rig.command("order.status", number, &json!({"status": status, "data": data})).await
}

// withstands: F016, F017, F020, F021
async fn transitions_that_are_not_offered_are_refused_once_with_where_it_can_go(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let goods = rig.goods().await;
    let number = rig.sell("standard", &goods[0].sku);
    let [state, code, error, hint] = advance(&rig, &number, "delivered", Value::Null).await;
    assert_eq!((state.as_str(), code.as_str()), ("failed", "impossible_transition"));
    assert!(
        error.contains("não pode ir para “Entregue”") && hint.contains("Em preparação (preparing)"),
        "{error} {hint}"
    );
    let short = advance(&rig, &number, "cancelled", json!({"reason": "curto"})).await;
    assert_eq!(short[1], "invalid_data", "{short:?}");
    assert_eq!(
        advance(&rig, &number, "cancelled", json!({"reason": "ã".repeat(501)})).await[1],
        "invalid_data"
    );
    assert_eq!(rig.writes(&format!("{number}/status")).len(), 0);
    assert_eq!(advance(&rig, &number, "preparing", Value::Null).await[0], "done");
    let late = advance(&rig, &number, "cancelled", json!({"reason": "sem estoque no fornecedor"})).await;
    assert_eq!(late[1], "too_late_to_cancel", "{late:?}");
    assert_eq!(rig.writes(&format!("{number}/status")).len(), 1);
    let other = rig.sell("standard", &goods[1].sku);
    assert_eq!(advance(&rig, &other, "cancelled", json!({"reason": "é".repeat(500)})).await[0], "done");
    assert_eq!(status_of(&rig, &other).await, "cancelled");
    rig.stop().await;
}

// withstands: F016
#[tokio::test]
async fn a_transition_whose_answer_was_lost_is_found_where_the_order_is() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let number = rig.sell("standard", &goods[0].sku);
    let fault =
        |kind| FaultRule { route: "POST /api/v1/sellers/orders/{id}/status".into(), times: Some(1), kind };
    rig.control().faults().add(fault(Fault::ResetAfter));
    assert_eq!(advance(&rig, &number, "preparing", Value::Null).await[0], "done");
    assert_eq!(rig.writes(&format!("{number}/status")).len(), 1);
    let other = rig.sell("standard", &goods[1].sku);
    rig.control().faults().add(fault(Fault::Html(504)));
    assert_eq!(advance(&rig, &other, "preparing", Value::Null).await[0], "done");
    assert_eq!(
        rig.writes(&format!("{other}/status")).len(),
        2,
        "proved not to have happened, and sent again"
    );
    rig.stop().await;
}

// withstands: F017, F019
#[tokio::test]
async fn a_pickup_is_not_delivered_by_hand_and_a_collective_order_ignores_the_noise() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let pickup = rig.sell("in_store_pickup", &goods[0].sku);
    for status in ["preparing", "ready_for_pickup"] {
        let done = advance(&rig, &pickup, status, Value::Null).await;
        assert_eq!(done[0], "done", "{status}: {done:?}");
    }
    assert_eq!(advance(&rig, &pickup, "picked_up", Value::Null).await[1], "invalid_data");
    assert_eq!(advance(&rig, &pickup, "picked_up", json!({"confirmation_code": "A1"})).await[0], "done");
    let calls = rig.writes(&format!("{pickup}/status")).len();
    let id = rig.give("order.status", &pickup, &json!({"status": "delivered"})).await;
    rig.outcome(id, |state| ["waiting", "done"].contains(&state)).await;
    assert_eq!(rig.writes(&format!("{pickup}/status")).len(), calls, "it comes by itself");
    let collective = rig.sell("collective", &goods[1].sku);
    rig.control().forward(5);
    rig.until("it waits for its campaign", async || {
        status_of(&rig, &collective).await == "awaiting_campaign_conclusion"
    })
    .await;
    let noise = advance(&rig, &collective, "paid", Value::Null).await;
    assert_eq!((noise[0].as_str(), noise[1].as_str()), ("failed", "impossible_transition"), "{noise:?}");
    assert_eq!(rig.writes(&format!("{collective}/status")).len(), 0);
    assert_eq!(advance(&rig, &collective, "preparing", Value::Null).await[0], "done");
    rig.stop().await;
}

// withstands: F026
async fn notes_are_replaced_unless_a_person_has_changed_them(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let goods = rig.goods().await;
    let number = rig.sell("standard", &goods[0].sku);
    rig.mirror_again().await;
    assert_eq!(rig.command("order.notes", &number, &json!({"notes": "ligar 'antes'"})).await[0], "done");
    let notes = |order: Value| order["notes"].as_str().map(str::to_owned);
    let path = format!("/api/v1/sellers/orders/{number}");
    assert_eq!(notes(rig.truth.data(&path).await).as_deref(), Some("ligar 'antes'"));
    // The command states which notes the ERP has seen; meanwhile a person has written others.
    rig.control().orders().set_notes(&rig.key(), &number, Some("cliente pediu presente"));
    let lost = rig.command("order.notes", &number, &json!({"notes": "outra", "base": "ligar 'antes'"})).await;
    assert_eq!((lost[0].as_str(), lost[1].as_str()), ("failed", "notes_conflict"), "{lost:?}");
    assert_eq!(notes(rig.truth.data(&path).await).as_deref(), Some("cliente pediu presente"));
    let joined =
        rig.command("order.notes", &number, &json!({"notes": null, "base": "cliente pediu presente"})).await;
    assert_eq!(joined[0], "done");
    assert_eq!(notes(rig.truth.data(&path).await).unwrap_or_default(), "");
    // Also if the command does not state them, and the mirror has seen what the person wrote.
    rig.control().orders().set_notes(&rig.key(), &number, Some("portão azul"));
    rig.mirror_again().await;
    let notes_of = format!("SELECT notes AS n FROM orders WHERE order_number = '{number}'");
    assert_eq!(rig.ask(&notes_of).await, ["portão azul"]);
    let kept = rig.command("order.notes", &number, &json!({"notes": "entregar cedo"})).await;
    assert_eq!((kept[0].as_str(), kept[1].as_str()), ("failed", "notes_conflict"), "{kept:?}");
    assert!(kept[3].contains("data.base"), "{kept:?}");
    assert_eq!(notes(rig.truth.data(&path).await).as_deref(), Some("portão azul"));
    rig.stop().await;
}

/// Waits until a transition of an order is in progress.
async fn is_sent(rig: &Rig, number: &str) {
    let sent = format!("SELECT key FROM effects WHERE key = 'order/{number}' AND state = 'sent'");
    rig.until("it is under way", async || !rig.journal.ask(&sent).await.is_empty()).await;
}

// withstands: F016, F020
#[tokio::test]
async fn an_order_that_moves_between_the_look_and_the_call_is_where_it_is() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let stall = |times| FaultRule {
        route: "POST /api/v1/sellers/orders/{id}/status".into(),
        times: Some(times),
        kind: Fault::Stall(std::time::Duration::from_millis(150)),
    };
    // Another program moves it to the target status while the call is in progress: the marketplace refuses the call,
    // and the command is done.
    let number = rig.sell("standard", &goods[0].sku);
    rig.control().faults().add(stall(1));
    let id = rig.give("order.status", &number, &json!({"status": "preparing"})).await;
    is_sent(&rig, &number).await;
    assert!(rig.control().orders().set_status(&rig.key(), &number, "preparing"));
    assert_eq!(rig.outcome(id, |state| state == "done" || state == "failed").await[0], "done");
    assert_eq!(rig.writes(&format!("{number}/status")).len(), 1);
    // Or past the point up to which a seller may cancel it.
    let number = rig.sell("standard", &goods[1].sku);
    rig.control().faults().add(stall(1));
    let reason = json!({"status": "cancelled", "data": {"reason": "sem estoque no fornecedor"}});
    let id = rig.give("order.status", &number, &reason).await;
    is_sent(&rig, &number).await;
    assert!(rig.control().orders().set_status(&rig.key(), &number, "preparing"));
    let late = rig.outcome(id, |state| state == "done" || state == "failed").await;
    assert_eq!((late[0].as_str(), late[1].as_str()), ("failed", "too_late_to_cancel"), "{late:?}");
    assert_eq!(rig.writes(&format!("{number}/status")).len(), 1);
    rig.stop().await;
}

async fn an_order_that_nobody_knows_is_said_to_be_unknown(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let unknown = advance(&rig, "MP-0", "preparing", Value::Null).await;
    assert_eq!((unknown[0].as_str(), unknown[1].as_str()), ("failed", "NOT_FOUND"), "{unknown:?}");
    assert!(unknown[3].contains("Confira o código"), "{unknown:?}");
    let strange = rig.command("order.cancel", "MP-0", &json!({})).await;
    assert_eq!(strange[1], "unknown_kind");
    assert!(strange[3].contains("order.status"), "{strange:?}");
    assert_eq!(rig.command("order.status", "MP-0", &json!({})).await[1], "invalid_data");
    rig.stop().await;
}
