//! Commands about products, images, listings, campaigns, price lists, the page and webhooks.

use std::fs;

use espelho_sandbox::{Fault, NewCampaign};
use serde_json::json;

use crate::support::{Kind, Rig, truth::text};

// withstands: F024
#[tokio::test]
async fn a_product_is_created_once_and_changed_and_pictured() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    rig.fault("POST /api/products", 1, Fault::ResetAfter);
    let data = json!({"name": "Caneca azul", "base_unit": "un", "dimensions": {"height": 10, "width": 8, "length": 8, "weight": 0.35}});
    let made = rig.command("product.create", "CAN-AZUL", &data).await;
    assert_eq!(made[0], "done", "{made:?}");
    let found = rig.shown("SELECT id AS i FROM products WHERE sku = 'CAN-AZUL'", |ids| ids.len() == 1).await;
    assert_eq!(rig.command("product.create", "CAN-AZUL", &data).await[1], "sku_exists");
    let changed = rig.command("product.update", "CAN-AZUL", &json!({"name": "Caneca azul 350 ml"})).await;
    assert_eq!(changed[0], "done", "{changed:?}");
    let product = rig.truth.data(&format!("/api/products/{}", found[0])).await;
    assert_eq!(product["product"]["name"], "Caneca azul 350 ml");
    assert_eq!(rig.command("product.update", "CAN-AZUL", &json!({"nome": "x"})).await[1], "invalid_data");
    fs::write(rig.dir().join("foto.png"), png()).unwrap();
    let first = rig.command("media.upload", "foto", &json!({"path": "foto.png"})).await;
    assert_eq!(first[0], "done", "{first:?}");
    assert_eq!(rig.command("media.upload", "foto", &json!({"path": "foto.png"})).await[0], "done");
    assert_eq!(rig.writes("/media/upload").len(), 1, "the same file is uploaded once");
    assert_eq!(rig.command("gallery.add", "CAN-AZUL", &json!({"path": "foto.png"})).await[0], "done");
    assert_eq!((rig.writes("/media/upload").len(), rig.writes("/gallery").len()), (1, 1));
    assert_eq!(rig.command("gallery.add", "CAN-AZUL", &json!({"path": "foto.png"})).await[0], "done");
    assert_eq!(rig.writes("/gallery").len(), 1);
    fs::write(rig.dir().join("nota.txt"), "isto não é uma foto").unwrap();
    assert_eq!(rig.command("media.upload", "nota", &json!({"path": "nota.txt"})).await[1], "invalid_data");
    assert_eq!(rig.command("media.upload", "nada", &json!({"path": "nada.png"})).await[1], "invalid_data");
    rig.stop().await;
}

#[tokio::test]
async fn a_listing_is_simulated_created_and_handed_in() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let bad = rig.command("listing.create", "anuncio-1", &json!({"title": ""})).await;
    assert_eq!(bad[1], "invalid_data", "{bad:?}");
    let poor = rig.command("listing.create", "anuncio-2", &json!({"title": "Caneca"})).await;
    assert_eq!(poor[0], "failed", "the simulation says what is missing: {poor:?}");
    assert_eq!(rig.writes("/items/create").len(), 0);
    assert_eq!(rig.command("listing.publish", "nada", &json!({})).await[1], "invalid_data");
    rig.stop().await;
}

// withstands: F028
#[tokio::test]
async fn a_campaign_is_joined_once_and_not_after_its_deadline() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let campaign = rig.control().campaigns().create(&NewCampaign::default()).unwrap();
    let listings = rig.control().listings().active(&rig.key());
    let ids: Vec<String> =
        listings.iter().take(2).map(|l| l["item_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 2, "{listings:?}");
    let route = "POST /api/seller/discounts/campaigns/{id}/opt-in";
    rig.fault(route, 1, Fault::ResetAfter);
    let key = campaign.to_string();
    let joined = rig.command("campaign.opt_in", &key, &json!({"publication_ids": ids})).await;
    assert_eq!(joined[0], "done", "{joined:?}");
    assert_eq!(rig.writes("/opt-in").len(), 1);
    let mine = rig.truth.data(&format!("/api/seller/discounts/campaigns/{campaign}/my-products")).await;
    assert_eq!(mine["data"].as_array().unwrap().len(), 2);
    assert_eq!(rig.command("campaign.opt_in", &key, &json!({"publication_ids": ids})).await[0], "done");
    assert_eq!(rig.writes("/opt-in").len(), 1);
    rig.control().campaigns().set_deadline(campaign, Some(60));
    let third = listings[2]["item_id"].as_str().unwrap();
    let late = rig.command("campaign.opt_in", &key, &json!({"publication_ids": [third]})).await;
    assert_eq!(late[1], "campaign_closed", "{late:?}");
    assert_eq!(
        rig.command("campaign.opt_in", "x", &json!({"publication_ids": ids})).await[1],
        "invalid_data"
    );
    assert_eq!(rig.writes("/opt-in").len(), 1);
    rig.stop().await;
}

// withstands: F025
#[tokio::test]
async fn what_no_route_reads_stays_in_doubt_when_its_answer_is_lost() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let made = rig.command("price_list.create", "", &json!({"name": "Atacado", "mode": "manual"})).await;
    assert_eq!(made[0], "done", "{made:?}");
    let result = rig.ask("SELECT CAST(result AS TEXT) AS r FROM commands").await;
    let result: serde_json::Value = serde_json::from_str(&result[0]).unwrap();
    let list = text(&result["id"]);
    assert_eq!(rig.command("price_list.update", &list, &json!({"is_active": false})).await[0], "done");
    assert_eq!(
        rig.command("price_lists.settings", "", &json!({"price_lists_enabled": true})).await[0],
        "done"
    );
    assert_eq!(
        rig.command("price_list.create", "", &json!({"name": "x", "mode": "livre"})).await[1],
        "invalid_data"
    );
    rig.fault("POST /api/seller/price-lists", 1, Fault::ResetAfter);
    let calls = rig.writes("/price-lists").len();
    let lost = rig.command("price_list.create", "", &json!({"name": "Varejo", "mode": "auto"})).await;
    assert_eq!(lost[0], "doubtful", "{lost:?}");
    assert!(lost[3].contains("espelho retry command"), "{lost:?}");
    assert_eq!(rig.writes("/price-lists").len(), calls + 1, "at most once");
    let page = rig.command("store_page.update", "", &json!({"description": "Loja"})).await;
    assert_eq!(page[0], "failed", "integration tokens may not: {page:?}");
    assert!(page[3].contains("portal"), "{page:?}");
    let test = rig.command("webhook.test", "", &json!({})).await;
    assert!(["done", "failed"].contains(&test[0].as_str()), "{test:?}");
    rig.stop().await;
}

/// Returns the smallest possible image.
pub(crate) fn png() -> Vec<u8> {
    let header = [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A];
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let mut bytes = u32::try_from(data.len()).unwrap().to_be_bytes().to_vec();
        bytes.extend(kind);
        bytes.extend(data);
        bytes.extend(crc(&bytes[4..]).to_be_bytes());
        bytes
    };
    let mut picture = header.to_vec();
    picture.extend(chunk(b"IHDR", &[0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]));
    picture.extend(chunk(
        b"IDAT",
        &[0x78, 0x01, 0x01, 0x02, 0x00, 0xFD, 0xFF, 0x00, 0x80, 0x00, 0x82, 0x00, 0x81],
    ));
    picture.extend(chunk(b"IEND", &[]));
    picture
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 },
        )
    };
    !bytes.iter().fold(u32::MAX, step)
}
