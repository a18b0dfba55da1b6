//! A new listing: image, simulation, draft, review; and interruptions in between.

use std::{fs, time::Duration};

use espelho_sandbox::Fault;
use serde_json::{Value, json};

use crate::{
    goods::png,
    support::{Kind, Rig, on_both_databases},
};

on_both_databases![a_listing_goes_from_a_picture_to_its_review_once_whatever_ends_in_between,];

const PUBLISH: &str = "PUT /api/items/{id}/publish";

/// Builds a T-shirt: the attributes that its category requires, and one variation.
pub(crate) fn shirt(title: &str, sku: &str, image: &str) -> Value {
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
async fn result(rig: &Rig) -> Value {
    let rows = rig.ask("SELECT CAST(result AS TEXT) AS r FROM commands ORDER BY id DESC LIMIT 1").await;
    serde_json::from_str(&rows[0]).unwrap()
}

async fn upload(rig: &Rig) -> String {
    fs::write(rig.dir().join("foto.png"), png()).unwrap();
    let uploaded = rig.command("media.upload", "foto", &json!({"path": "foto.png"})).await;
    assert_eq!(uploaded[0], "done", "{uploaded:?}");
    result(rig).await["image_id"].as_str().unwrap().to_owned()
}

// withstands: F006, F025, F027
async fn a_listing_goes_from_a_picture_to_its_review_once_whatever_ends_in_between(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let sku = rig.goods().await[0].sku.clone();
    let image = upload(&rig).await;
    // The draft is created, and the marketplace answers its publication with 429. The service is killed during that
    // wait.
    rig.fault(PUBLISH, 1, Fault::TooMany(4));
    let mut wanted = shirt("Camiseta básica", &sku, &image);
    wanted["publish"] = json!(true);
    let id = rig.give("listing.create", "camiseta", &wanted).await;
    let refused = "SELECT code FROM effects WHERE kind = 'listing.publish' AND state = 'refuted'";
    rig.until("the publication was refused", async || rig.journal.ask(refused).await.len() == 1).await;
    rig.kill().await;
    rig.start().await;
    let published = rig.outcome(id, |state| !["new", "waiting", "sending"].contains(&state)).await;
    assert_eq!(published[0], "done", "{published:?}");
    assert_eq!((rig.writes("/items/create").len(), rig.writes("/publish").len()), (1, 2));
    let result = result(&rig).await;
    let item = result["item_id"].as_str().unwrap();
    assert_eq!(result["status"], "pending_review");
    assert_eq!(rig.control().listings().get(&rig.key(), item).unwrap()["status"]["value"], "pending_review");
    let mirrored = format!("SELECT status || ' ' || title AS l FROM listings WHERE id = '{item}'");
    assert_eq!(rig.ask(&mirrored).await, ["pending_review Camiseta básica"]);
    // In two steps, as two commands.
    let draft = rig.command("listing.create", "outra", &shirt("Camiseta lisa", &sku, &image)).await;
    assert_eq!(draft[0], "done", "{draft:?}");
    let item = self::result(&rig).await["item_id"].as_str().unwrap().to_owned();
    let mirrored = format!("SELECT status AS s FROM listings WHERE id = '{item}'");
    assert_eq!(rig.ask(&mirrored).await, ["draft"]);
    assert_eq!(rig.command("listing.publish", &item, &json!({})).await[0], "done");
    assert_eq!(rig.ask(&mirrored).await, ["pending_review"]);
    // No route reads a listing: one whose answer is lost may or may not exist.
    let route = "POST /api/items/create";
    rig.fault(route, 1, Fault::ResetAfter);
    let lost = rig.command("listing.create", "terceira", &shirt("Camiseta longa", &sku, &image)).await;
    assert_eq!((lost[0].as_str(), rig.writes("/items/create").len()), ("doubtful", 3), "{lost:?}");
    assert!(lost[3].contains("Confira no portal") && lost[3].contains("espelho ignore"), "{lost:?}");
    rig.stop().await;
}

// withstands: F027
#[tokio::test]
async fn a_picture_that_was_loose_for_two_days_is_uploaded_again_before_a_listing_uses_it() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let first = upload(&rig).await;
    assert_eq!((upload(&rig).await, rig.writes("/media/upload").len()), (first.clone(), 1));
    // Two days later; the marketplace still has the image.
    rig.pass(Duration::from_secs(49 * 3_600)).await;
    let second = upload(&rig).await;
    assert_ne!(second, first);
    assert_eq!(rig.writes("/media/upload").len(), 2);
    // An image that the marketplace has removed meanwhile is uploaded again too.
    rig.pass(Duration::from_secs(73 * 3_600)).await;
    assert_ne!(upload(&rig).await, second);
    rig.stop().await;
}
