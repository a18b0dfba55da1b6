//! Commands about orders: status, labels.

use espelho_sandbox::{Fault, FaultRule};
use espelho_tests::{Kind, on_both_databases};
use serde_json::{Value, json};

use crate::erp::Erp;

on_both_databases![
    an_order_goes_its_way_and_waits_for_its_invoice,
    labels_are_made_once_and_what_is_ready_is_not_thrown_away,
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
