//! Commands whose answer says less than was done, or more: what the row then says, and what is sent once more.

use espelho_model::push::CommandKind;
use espelho_sandbox::{Fault, NewCampaign};
use espelho_store::IntentKind;
use espelho_sync_engine::plan::guards::Guards;
use serde_json::{Value, json};

use crate::{
    goods::png,
    kinds::{stage, wanted},
    support::{Decision, Kind, Rig, Setup, cut_after},
};

/// An answer that claims success; nothing is done.
fn claimed(data: &Value) -> Fault {
    let answer = json!({
        "success": true, "code": 200, "message_code": "OK", "description": "", "data": data, "errors": [], "meta": [],
    });
    Fault::RawJson(answer.to_string())
}

#[tokio::test]
async fn a_product_that_is_not_as_it_was_sent_is_said_so_and_not_sent_again() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let sku = rig.goods().await[0].sku.clone();
    rig.fault("PUT /api/products/{id}", 1, claimed(&json!({"id": 1})));
    let answer = rig.command("product.update", &sku, &json!({"name": "Outro nome"})).await;
    assert_eq!((answer[0].as_str(), answer[1].as_str()), ("failed", "not_as_sent"), "{answer:?}");
    assert_eq!(rig.writes("/api/products/").len(), 1);
    // Once somebody asks for it again, it is sent again.
    let id = rig.ask("SELECT CAST(max(id) AS TEXT) FROM commands").await.remove(0);
    rig.decide(IntentKind::Command, &id, Decision::Retry).await;
    let id = id.parse().unwrap();
    let again = rig.outcome(id, |state| state == "done" || state == "failed").await;
    assert_eq!((again[0].as_str(), rig.writes("/api/products/").len()), ("done", 2), "{again:?}");
    // What is there already is done without a request.
    let name = rig.ask(&format!("SELECT name FROM products WHERE sku = '{sku}'")).await.remove(0);
    let before = rig.writes("/api/products/").len();
    assert_eq!(rig.command("product.update", &sku, &json!({"name": name})).await[0], "done");
    assert_eq!(rig.writes("/api/products/").len(), before);
    rig.stop().await;
}

#[tokio::test]
async fn a_tier_that_is_still_there_is_removed_once_somebody_asks_again() {
    let mut rig = stage().await;
    let (sku, data) = wanted(&mut rig, CommandKind::PriceDeleteTier).await;
    let sent = |rig: &Rig| rig.writes("/prices/").iter().filter(|entry| entry.method == "DELETE").count();
    rig.fault("DELETE /api/products/{id}/prices", 1, claimed(&json!({})));
    let answer = rig.command("price.delete_tier", &sku, &data).await;
    assert_eq!((answer[0].as_str(), answer[1].as_str()), ("failed", "not_as_sent"), "{answer:?}");
    assert_eq!(sent(&rig), 1, "it is not sent again by itself");
    let id = rig.ask("SELECT CAST(max(id) AS TEXT) FROM commands").await.remove(0);
    rig.decide(IntentKind::Command, &id, Decision::Retry).await;
    let again = rig.outcome(id.parse().unwrap(), |state| state == "done" || state == "failed").await;
    assert_eq!((again[0].as_str(), sent(&rig)), ("done", 2), "{again:?}");
    rig.stop().await;
}

#[tokio::test]
async fn an_order_that_did_not_move_is_moved_once_more_whatever_was_answered() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    let unmoved = json!({"order_number": number, "status": "paid"});
    rig.fault("POST /api/v1/sellers/orders/{id}/status", 1, claimed(&unmoved));
    let answer = rig.command("order.status", &number, &json!({"status": "preparing"})).await;
    assert_eq!(answer[0], "done", "{answer:?}");
    assert_eq!(rig.writes(&format!("{number}/status")).len(), 2);
    rig.stop().await;
}

#[tokio::test]
async fn listings_that_a_campaign_did_not_take_are_named() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let campaign = rig.control().campaigns().create(&NewCampaign::default()).unwrap().to_string();
    let listings = rig.control().listings().active(&rig.key());
    let ids: Vec<&str> =
        listings.iter().take(3).map(|listing| listing["item_id"].as_str().unwrap()).collect();
    assert_eq!(
        rig.command("campaign.opt_in", &campaign, &json!({"publication_ids": ids[..1]})).await[0],
        "done"
    );
    rig.fault("/opt-in", 1, claimed(&json!({})));
    let answer = rig.command("campaign.opt_in", &campaign, &json!({"publication_ids": ids})).await;
    assert_eq!((answer[0].as_str(), answer[1].as_str()), ("failed", "not_enrolled"), "{answer:?}");
    assert!(
        answer[2].contains(ids[1]) && answer[2].contains(ids[2]) && !answer[2].contains(ids[0]),
        "{answer:?}"
    );
    assert_eq!(rig.writes("/opt-in").len(), 2);
    let last = rig.journal.ask("SELECT request FROM effects ORDER BY id DESC LIMIT 1").await.remove(0);
    assert!(!last.contains(ids[0]), "what has joined is not sent again: {last}");
    rig.stop().await;
}

#[tokio::test]
async fn a_listing_whose_answer_names_no_item_is_left_to_a_person() {
    let mut rig = stage().await;
    let (key, mut data) = wanted(&mut rig, CommandKind::ListingCreate).await;
    data["publish"] = json!(true);
    rig.fault("POST /api/items/create", 1, claimed(&json!({})));
    let answer = rig.command("listing.create", &key, &data).await;
    assert_eq!((answer[0].as_str(), answer[1].as_str()), ("done", "no_id"), "{answer:?}");
    assert!(!answer[2].is_empty(), "{answer:?}");
    assert_eq!((rig.writes("/items/create").len(), rig.writes("/publish").len()), (1, 0));
    rig.stop().await;
}

#[tokio::test]
async fn more_listings_than_an_hour_may_have_are_held_until_somebody_releases_them() {
    let guards = Guards { listings_per_hour: 1, ..Guards::default() };
    let setup = Setup::on(Kind::Sqlite).with(|setup| setup.push.guards = guards);
    let mut rig = setup.start().await;
    let (_, data) = wanted(&mut rig, CommandKind::ListingCreate).await;
    assert_eq!(rig.command("listing.create", "primeira", &data).await[0], "done");
    let id = rig.give("listing.create", "segunda", &data).await;
    assert_eq!(rig.outcome(id, |state| state == "held").await[1], "many_listings");
    assert_eq!(rig.writes("/items/create").len(), 1);
    rig.decide(IntentKind::Command, &id.to_string(), Decision::Release).await;
    assert_eq!(rig.outcome(id, |state| state == "done" || state == "failed").await[0], "done");
    assert_eq!(rig.writes("/items/create").len(), 2);
    // An hour later the next one needs nobody's word.
    rig.leap(std::time::Duration::from_secs(3_700));
    assert_eq!(rig.command("listing.create", "terceira", &data).await[0], "done");
    rig.stop().await;
}

#[tokio::test]
async fn an_answer_with_the_id_alone_does_not_empty_a_price_list() {
    let mut rig = stage().await;
    let (list, _) = wanted(&mut rig, CommandKind::PriceListUpdate).await;
    let row = format!("SELECT name || ' ' || mode FROM price_lists WHERE id = '{list}'");
    assert_eq!(rig.ask(&row).await, ["Revenda manual"]);
    rig.fault("PUT /api/seller/price-lists/{id}", 1, claimed(&json!({"id": list})));
    assert_eq!(rig.command("price_list.update", &list, &json!({"is_active": false})).await[0], "done");
    assert_eq!(rig.ask(&row).await, ["Revenda manual"], "what the answer does not tell stays");
    rig.fault("PUT /api/seller/price-lists/{id}", 1, claimed(&json!([])));
    assert_eq!(rig.command("price_list.update", &list, &json!({"name": "Atacado"})).await[0], "done");
    assert_eq!(rig.ask(&row).await.len(), 1);
    rig.stop().await;
}

#[tokio::test]
async fn a_command_about_a_sku_that_does_not_exist_fails_and_sends_nothing() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    for (kind, data) in [
        ("product.update", json!({"name": "Caneca"})),
        ("stock.adjust", json!({"location_id": 1, "delta": 1})),
        ("price.delete_tier", json!({"min_quantity": 10})),
        ("gallery.add", json!({"path": "foto.png"})),
    ] {
        let answer = rig.command(kind, "NADA-9", &data).await;
        assert_eq!((answer[0].as_str(), answer[1].as_str()), ("failed", "unknown_sku"), "{kind}: {answer:?}");
    }
    assert!(rig.writes("/api/").is_empty());
    rig.stop().await;
}

#[tokio::test]
async fn one_picture_that_two_commands_name_is_uploaded_once() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    rig.stop().await;
    for (name, extra) in [("uma.png", 1), ("mesma.png", 1), ("outra.png", 2)] {
        let mut picture = png();
        picture.push(extra);
        std::fs::write(rig.dir().join(name), picture).unwrap();
        rig.give("media.upload", name, &json!({"path": name})).await;
    }
    rig.fault("/media/upload", 1, cut_after());
    rig.start().await;
    rig.shown("SELECT state FROM commands", |states| states.iter().all(|state| state == "done")).await;
    assert_eq!(rig.writes("/media/upload").len(), 2, "two pictures");
    let ids = rig.ask("SELECT CAST(result AS TEXT) FROM commands ORDER BY id").await;
    assert!(ids[0] == ids[1] && ids[0] != ids[2], "{ids:?}");
    rig.stop().await;
}

// withstands: F022
#[tokio::test]
async fn labels_that_are_there_are_not_made_again_without_a_persons_word() {
    let mut rig = stage().await;
    let (number, data) = wanted(&mut rig, CommandKind::LabelsGenerate).await;
    let made = |rig: &Rig| rig.writes("shipment-labels/generate").len();
    assert_eq!((rig.command("labels.generate", &number, &data).await[0].as_str(), made(&rig)), ("done", 1));
    for data in [json!({"format": "zebra"}), json!({}), json!({"format": null, "regenerate": false})] {
        let answer = rig.command("labels.generate", &number, &data).await;
        assert_eq!((answer[0].as_str(), made(&rig)), ("done", 1), "{data}: {answer:?}");
    }
    let again = rig.command("labels.generate", &number, &json!({"regenerate": true})).await;
    assert_eq!((again[0].as_str(), made(&rig)), ("done", 2), "{again:?}");
    rig.stop().await;
}

// withstands: F022
#[tokio::test]
async fn labels_whose_answer_was_lost_are_made_once_though_the_engine_is_killed_before_it_knows() {
    let mut rig = stage().await;
    let (number, data) = wanted(&mut rig, CommandKind::LabelsGenerate).await;
    let made = |rig: &Rig| rig.writes("shipment-labels/generate").len();
    rig.fault("shipment-labels/generate", 1, cut_after());
    let id = rig.give("labels.generate", &number, &data).await;
    rig.until("the labels were asked for", async || made(&rig) == 1).await;
    rig.kill().await;
    rig.start().await;
    let over = rig.outcome(id, |state| !["new", "waiting", "sending"].contains(&state)).await;
    assert_eq!((over[0].as_str(), made(&rig)), ("done", 1), "{over:?}");
    rig.stop().await;
}

// withstands: F026
#[tokio::test]
async fn notes_that_a_person_wrote_are_overwritten_only_by_force_or_with_a_persons_word() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    rig.mirror_again().await;
    let path = format!("/api/v1/sellers/orders/{number}");
    for (round, (data, expected)) in [
        (json!({"notes": "nossa"}), "failed"),
        (json!({"notes": "nossa", "force": false}), "failed"),
        (json!({"notes": "nossa", "force": "true"}), "failed"),
        (json!({"notes": "nossa", "base": null}), "failed"),
        (json!({"notes": "nossa", "base": "outra coisa"}), "failed"),
        (json!({"notes": "nossa", "force": true}), "done"),
    ]
    .into_iter()
    .enumerate()
    {
        let theirs = format!("da pessoa {round}");
        assert!(rig.control().orders().set_notes(&rig.key(), &number, Some(&theirs)));
        let answer = rig.command("order.notes", &number, &data).await;
        assert_eq!(answer[0], expected, "{data}: {answer:?}");
        let there = rig.truth.data(&path).await["notes"].as_str().unwrap().to_owned();
        assert_eq!(there, if expected == "done" { "nossa" } else { &theirs }, "{data}");
    }
    assert!(rig.control().orders().set_notes(&rig.key(), &number, Some("da pessoa")));
    let id = rig.give("order.notes", &number, &json!({"notes": "de novo"})).await;
    assert_eq!(rig.outcome(id, |state| state == "failed").await[1], "notes_conflict");
    rig.decide(IntentKind::Command, &id.to_string(), Decision::Release).await;
    assert_eq!(rig.outcome(id, |state| state == "done").await[0], "done");
    assert_eq!(rig.truth.data(&path).await["notes"], "de novo");
    rig.stop().await;
}
