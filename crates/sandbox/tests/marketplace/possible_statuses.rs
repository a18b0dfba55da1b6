//! The next actions of an order, by workflow and status, as the tables of the document have them.

use crate::support::{Bench, unlimited};
use serde_json::{Value, json};

/// An action and its target.
type Offer = (&'static str, &'static str);

/// Workflow, status, and what is offered.
const TABLE: &[(&str, &str, &[Offer])] = &[
    ("standard", "waiting_payment", &[]),
    (
        "standard",
        "paid",
        &[("mark-preparing", "preparing"), ("mark-ready-to-ship", "ready_to_ship"), ("cancel", "cancelled")],
    ),
    ("standard", "preparing", &[("mark-ready-to-ship", "ready_to_ship"), ("mark-shipped", "shipped")]),
    ("standard", "ready_to_ship", &[("mark-shipped", "shipped")]),
    ("standard", "shipped", &[("mark-delivered", "delivered")]),
    ("standard", "delivered", &[]),
    ("standard", "cancelled", &[]),
    ("in_store_pickup", "paid", &[("mark-preparing", "preparing"), ("cancel", "cancelled")]),
    ("in_store_pickup", "preparing", &[("mark-ready-for-pickup", "ready_for_pickup")]),
    (
        "in_store_pickup",
        "ready_for_pickup",
        &[("mark-picked-up", "picked_up"), ("mark-pickup-expired", "pickup_expired")],
    ),
    ("in_store_pickup", "picked_up", &[]),
    ("in_store_pickup", "pickup_expired", &[("cancel", "cancelled")]),
    ("collective", "paid", &[]),
    (
        "collective",
        "awaiting_campaign_conclusion",
        &[("mark-preparing", "preparing"), ("cancel", "cancelled"), ("mark-paid", "paid")],
    ),
    ("collective", "preparing", &[("mark-ready-to-ship", "ready_to_ship"), ("mark-shipped", "shipped")]),
    ("pre_order", "awaiting_availability", &[("mark-available", "available")]),
    ("backorder", "awaiting_restock", &[("mark-restocked", "restocked")]),
    ("production", "paid", &[("start-production", "production_started"), ("cancel", "cancelled")]),
    ("production", "production_finished", &[("mark-preparing", "preparing")]),
];

// proves: ORD-048, ORD-049, ORD-050, FLO-013, FLO-028, FLO-030, FLO-042
#[tokio::test]
async fn each_workflow_offers_what_its_table_says() {
    let bench = Bench::start(unlimited()).await;
    for (workflow, status, actions) in TABLE {
        let data = possible(&bench, workflow, status).await;
        assert_eq!(data["current_status"], json!(status));
        assert_eq!(data["workflow_type"], json!(workflow));
        let offered: Vec<_> = data["next_actions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|action| (action["action"].as_str().unwrap(), action["target_status"].as_str().unwrap()))
            .collect();
        assert_eq!(offered, *actions, "{workflow} {status}");
    }
}

/// The actions of an order of a workflow that was moved to a status.
async fn possible(bench: &Bench, workflow: &str, status: &str) -> Value {
    let rows = bench.get(&format!("/api/v1/sellers/orders?workflow={workflow}&limit=1")).await.data();
    let number = rows[0]["order_number"].as_str().unwrap();
    assert!(bench.control().orders().set_status("loja-1", number, status));
    bench.get(&format!("/api/v1/sellers/orders/{number}/possible-statuses")).await.data()
}

// proves: ORD-052, ORD-053, FLO-001
#[tokio::test]
async fn a_payload_schema_says_what_a_transition_takes() {
    let bench = Bench::start(unlimited()).await;
    let schema = |data: &Value, target: &str| {
        let actions = data["next_actions"].as_array().unwrap().clone();
        let action = actions.into_iter().find(|action| action["target_status"] == target).unwrap();
        action["payload_schema"].clone()
    };
    let paid = possible(&bench, "standard", "paid").await;
    assert_eq!(schema(&paid, "preparing"), json!(null));
    let reason = schema(&paid, "cancelled");
    assert_eq!(reason["required"], json!(["reason"]));
    let limits = json!({"type": "string", "minLength": 10, "maxLength": 500});
    assert_eq!(reason["properties"]["reason"], limits);
    let preparing = possible(&bench, "standard", "preparing").await;
    assert_eq!(schema(&preparing, "shipped")["properties"]["tracking_code"]["maxLength"], json!(100));
    let ready = possible(&bench, "in_store_pickup", "ready_for_pickup").await;
    assert_eq!(schema(&ready, "picked_up")["required"], json!(["confirmation_code"]));
    assert_eq!(schema(&ready, "pickup_expired")["required"], json!(["reason"]));
}

// proves: ORD-051
#[tokio::test]
async fn a_label_is_that_of_the_target_status() {
    let bench = Bench::start(unlimited()).await;
    let paid = possible(&bench, "standard", "paid").await;
    assert_eq!(paid["next_actions"][0]["label"], json!("Em preparação"));
}
