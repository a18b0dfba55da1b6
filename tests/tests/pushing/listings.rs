//! A new listing: image, simulation, draft, review; and interruptions in between.

use std::fs;

use espelho_sandbox::{Fault, FaultRule};
use espelho_tests::{Kind, on_both_databases, until};
use serde_json::{Value, json};

use crate::{erp::Erp, rest::png};

on_both_databases![a_listing_goes_from_a_picture_to_its_review_once_whatever_ends_in_between,];

const PUBLISH: &str = "PUT /api/items/{id}/publish";

/// Builds a T-shirt: the attributes that its category requires, and one variation.
fn shirt(title: &str, sku: &str, image: &str) -> Value {
    json!({
        "title": title,
        "category_id": 40_101,
        "gtin": {"type": 13, "value": "7891234567895"},
        "attributes": [{"id": 10, "value_id": null, "value": "Acme"}, {"id": 15, "value_id": 1501, "value": null}],
        "variations": [{
            "seller_sku": sku,
            "attributes": [
                {"attribute_id": 30, "attribute_name": "Cor", "value": "Preto"},
                {"attribute_id": 31, "attribute_name": "Tamanho", "value": "P"},
            ],
            "images": [{"id": image}],
        }],
        "images": [{"id": image}],
        "description": {"layout": "markdown", "raw_content": "De algodão."},
        "technical_sheets": [],
    })
}

/// Returns the result of the last command.
async fn result(erp: &Erp) -> Value {
    let rows = erp.ask("SELECT CAST(result AS TEXT) AS r FROM commands ORDER BY id DESC LIMIT 1").await;
    serde_json::from_str(&rows[0]).unwrap()
}

async fn upload(erp: &Erp) -> String {
    fs::write(erp.dir().join("foto.png"), png()).unwrap();
    let uploaded = erp.command("media.upload", "foto", &json!({"path": "foto.png"})).await;
    assert_eq!(uploaded[0], "done", "{uploaded:?}");
    result(erp).await["image_id"].as_str().unwrap().to_owned()
}

// withstands: F006, F025, F027
async fn a_listing_goes_from_a_picture_to_its_review_once_whatever_ends_in_between(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let sku = erp.goods().await[0].sku.clone();
    let image = upload(&erp).await;
    // The draft is created, and the marketplace answers its publication with 429. The service is killed during that
    // wait.
    erp.control().faults().add(FaultRule { route: PUBLISH.into(), times: Some(1), kind: Fault::TooMany(4) });
    let mut wanted = shirt("Camiseta básica", &sku, &image);
    wanted["publish"] = json!(true);
    let id = erp.give("listing.create", "camiseta", &wanted).await;
    let journal = erp.installation.journal().await;
    let refused = "SELECT code FROM effects WHERE kind = 'listing.publish' AND state = 'refuted'";
    until("the publication was refused", async || journal.ask(refused).await.len() == 1).await;
    erp.kill().await;
    erp.start();
    let published = erp.outcome(id, |state| !["new", "waiting", "sending"].contains(&state)).await;
    assert_eq!(published[0], "done", "{published:?}");
    assert_eq!((erp.writes("/items/create").len(), erp.writes("/publish").len()), (1, 2));
    let result = result(&erp).await;
    let item = result["item_id"].as_str().unwrap();
    assert_eq!(result["status"], "pending_review");
    assert_eq!(erp.control().listings().get(&erp.key(), item).unwrap()["status"]["value"], "pending_review");
    let mirrored = format!("SELECT status || ' ' || title AS l FROM listings WHERE id = '{item}'");
    assert_eq!(erp.ask(&mirrored).await, ["pending_review Camiseta básica"]);
    // In two steps, as two commands.
    let draft = erp.command("listing.create", "outra", &shirt("Camiseta lisa", &sku, &image)).await;
    assert_eq!(draft[0], "done", "{draft:?}");
    let item = self::result(&erp).await["item_id"].as_str().unwrap().to_owned();
    let mirrored = format!("SELECT status AS s FROM listings WHERE id = '{item}'");
    assert_eq!(erp.ask(&mirrored).await, ["draft"]);
    assert_eq!(erp.command("listing.publish", &item, &json!({})).await[0], "done");
    assert_eq!(erp.ask(&mirrored).await, ["pending_review"]);
    // No route reads a listing: one whose answer is lost may or may not exist.
    let route = "POST /api/items/create".to_owned();
    erp.control().faults().add(FaultRule { route, times: Some(1), kind: Fault::ResetAfter });
    let lost = erp.command("listing.create", "terceira", &shirt("Camiseta longa", &sku, &image)).await;
    assert_eq!((lost[0].as_str(), erp.writes("/items/create").len()), ("doubtful", 3), "{lost:?}");
    assert!(lost[3].contains("Confira no portal") && lost[3].contains("espelho ignore"), "{lost:?}");
    erp.stop().await;
}
