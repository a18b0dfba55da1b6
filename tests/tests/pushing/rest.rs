//! Commands about products, images, listings, campaigns, price lists, the page and webhooks; the command line and CSV
//! files.

use std::fs;

use espelho_sandbox::{Fault, FaultRule, NewCampaign};
use espelho_tests::{Kind, on_both_databases};
use serde_json::json;

use crate::erp::Erp;

on_both_databases![
    a_product_is_created_once_and_changed_and_pictured,
    a_listing_is_simulated_created_and_handed_in,
    a_campaign_is_joined_once_and_not_after_its_deadline,
    what_the_policy_would_join_is_held_and_joins_when_it_is_released,
    what_no_route_reads_stays_in_doubt_when_its_answer_is_lost,
    the_command_line_and_csv_files_write_the_same_tables,
];

// withstands: F024
async fn a_product_is_created_once_and_changed_and_pictured(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    erp.control().faults().add(FaultRule {
        route: "POST /api/products".into(),
        times: Some(1),
        kind: Fault::ResetAfter,
    });
    let data = json!({"name": "Caneca azul", "base_unit": "un", "dimensions": {"height": 10, "width": 8, "length": 8, "weight": 0.35}});
    let made = erp.command("product.create", "CAN-AZUL", &data).await;
    assert_eq!(made[0], "done", "{made:?}");
    let found = erp.until("SELECT id AS i FROM products WHERE sku = 'CAN-AZUL'", |ids| ids.len() == 1).await;
    assert_eq!(erp.command("product.create", "CAN-AZUL", &data).await[1], "sku_exists");
    let changed = erp.command("product.update", "CAN-AZUL", &json!({"name": "Caneca azul 350 ml"})).await;
    assert_eq!(changed[0], "done", "{changed:?}");
    let product = erp.truth.data(&format!("/api/products/{}", found[0])).await;
    assert_eq!(product["product"]["name"], "Caneca azul 350 ml");
    assert_eq!(erp.command("product.update", "CAN-AZUL", &json!({"nome": "x"})).await[1], "invalid_data");
    fs::write(erp.dir().join("foto.png"), png()).unwrap();
    let first = erp.command("media.upload", "foto", &json!({"path": "foto.png"})).await;
    assert_eq!(first[0], "done", "{first:?}");
    assert_eq!(erp.command("media.upload", "foto", &json!({"path": "foto.png"})).await[0], "done");
    assert_eq!(erp.writes("/media/upload").len(), 1, "the same file is uploaded once");
    assert_eq!(erp.command("gallery.add", "CAN-AZUL", &json!({"path": "foto.png"})).await[0], "done");
    assert_eq!((erp.writes("/media/upload").len(), erp.writes("/gallery").len()), (1, 1));
    assert_eq!(erp.command("gallery.add", "CAN-AZUL", &json!({"path": "foto.png"})).await[0], "done");
    assert_eq!(erp.writes("/gallery").len(), 1);
    fs::write(erp.dir().join("nota.txt"), "isto não é uma foto").unwrap();
    assert_eq!(erp.command("media.upload", "nota", &json!({"path": "nota.txt"})).await[1], "invalid_data");
    assert_eq!(erp.command("media.upload", "nada", &json!({"path": "nada.png"})).await[1], "invalid_data");
    erp.stop().await;
}

async fn a_listing_is_simulated_created_and_handed_in(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let bad = erp.command("listing.create", "anuncio-1", &json!({"title": ""})).await;
    assert_eq!(bad[1], "invalid_data", "{bad:?}");
    let poor = erp.command("listing.create", "anuncio-2", &json!({"title": "Caneca"})).await;
    assert_eq!(poor[0], "failed", "the simulation says what is missing: {poor:?}");
    assert_eq!(erp.writes("/items/create").len(), 0);
    assert_eq!(erp.command("listing.publish", "nada", &json!({})).await[1], "invalid_data");
    erp.stop().await;
}

// withstands: F028
async fn a_campaign_is_joined_once_and_not_after_its_deadline(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let campaign = erp.control().campaigns().create(&NewCampaign::default()).unwrap();
    let listings = erp.control().listings().active(&erp.key());
    let ids: Vec<String> =
        listings.iter().take(2).map(|l| l["item_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 2, "{listings:?}");
    let route = "POST /api/seller/discounts/campaigns/{id}/opt-in";
    erp.control().faults().add(FaultRule { route: route.into(), times: Some(1), kind: Fault::ResetAfter });
    let key = campaign.to_string();
    let joined = erp.command("campaign.opt_in", &key, &json!({"publication_ids": ids})).await;
    assert_eq!(joined[0], "done", "{joined:?}");
    assert_eq!(erp.writes("/opt-in").len(), 1);
    let mine = erp.truth.data(&format!("/api/seller/discounts/campaigns/{campaign}/my-products")).await;
    assert_eq!(mine["data"].as_array().unwrap().len(), 2);
    assert_eq!(erp.command("campaign.opt_in", &key, &json!({"publication_ids": ids})).await[0], "done");
    assert_eq!(erp.writes("/opt-in").len(), 1);
    erp.control().campaigns().set_deadline(campaign, Some(60));
    let third = listings[2]["item_id"].as_str().unwrap();
    let late = erp.command("campaign.opt_in", &key, &json!({"publication_ids": [third]})).await;
    assert_eq!(late[1], "campaign_closed", "{late:?}");
    assert_eq!(
        erp.command("campaign.opt_in", "x", &json!({"publication_ids": ids})).await[1],
        "invalid_data"
    );
    assert_eq!(erp.writes("/opt-in").len(), 1);
    erp.stop().await;
}

async fn what_the_policy_would_join_is_held_and_joins_when_it_is_released(kind: Kind) {
    let mut erp = Erp::with(kind, "[campaigns]\njoin = \"dry\"\nmax_discount_percent = 99.0\n").await;
    let held = erp
        .until("SELECT error_code AS c FROM commands WHERE kind = 'campaign.opt_in'", |c| !c.is_empty())
        .await;
    assert!(held.iter().all(|code| code == "policy_dry"), "{held:?}");
    assert_eq!(erp.writes("/opt-in").len(), 0, "dry unless said otherwise");
    let id = erp.ask("SELECT CAST(min(id) AS TEXT) AS i FROM commands").await.remove(0);
    erp.installation.run(&["release", "command", &id]).await.expect(0);
    let [state, code, ..] =
        erp.outcome(id.parse().unwrap(), |state| ["done", "failed"].contains(&state)).await;
    assert_eq!(state, "done", "{code}");
    assert_eq!(erp.writes("/opt-in").len(), 1);
    erp.until(
        "SELECT item_id AS i FROM campaign_listings WHERE authorized_discount_price IS NOT NULL",
        |i| !i.is_empty(),
    )
    .await;
    erp.stop().await;
}

// withstands: F025
async fn what_no_route_reads_stays_in_doubt_when_its_answer_is_lost(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let made = erp.command("price_list.create", "", &json!({"name": "Atacado", "mode": "manual"})).await;
    assert_eq!(made[0], "done", "{made:?}");
    let result = erp.ask("SELECT CAST(result AS TEXT) AS r FROM commands").await;
    let result: serde_json::Value = serde_json::from_str(&result[0]).unwrap();
    let list = espelho_tests::truth::text(&result["id"]);
    assert_eq!(erp.command("price_list.update", &list, &json!({"is_active": false})).await[0], "done");
    assert_eq!(
        erp.command("price_lists.settings", "", &json!({"price_lists_enabled": true})).await[0],
        "done"
    );
    assert_eq!(
        erp.command("price_list.create", "", &json!({"name": "x", "mode": "livre"})).await[1],
        "invalid_data"
    );
    erp.control().faults().add(FaultRule {
        route: "POST /api/seller/price-lists".into(),
        times: Some(1),
        kind: Fault::ResetAfter,
    });
    let calls = erp.writes("/price-lists").len();
    let lost = erp.command("price_list.create", "", &json!({"name": "Varejo", "mode": "auto"})).await;
    assert_eq!(lost[0], "doubtful", "{lost:?}");
    assert!(lost[3].contains("espelho retry command"), "{lost:?}");
    assert_eq!(erp.writes("/price-lists").len(), calls + 1, "at most once");
    let page = erp.command("store_page.update", "", &json!({"description": "Loja"})).await;
    assert_eq!(page[0], "failed", "integration tokens may not: {page:?}");
    assert!(page[3].contains("portal"), "{page:?}");
    let test = erp.command("webhook.test", "", &json!({})).await;
    assert!(["done", "failed"].contains(&test[0].as_str()), "{test:?}");
    erp.stop().await;
}

async fn the_command_line_and_csv_files_write_the_same_tables(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let run = async |arguments: &[&str], code: i32| {
        erp.installation.run_in_portuguese(arguments).await.expect(code)
    };
    run(&["stock", "set", &goods[0].sku, &goods[0].location, "6"], 0).await;
    run(&["stock", "adjust", &goods[1].sku, &goods[1].location, "-1"], 0).await;
    let number = erp.sell("standard", &goods[2].sku);
    run(&["orders", "advance", &number, "preparing"], 0).await;
    run(&["stock", "set", &goods[0].sku, &goods[0].location, "seis"], 2).await;
    erp.until("SELECT state AS s FROM commands", |states| states == ["done", "done"]).await;
    erp.until("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    assert_eq!((erp.stock_of(&goods[0]).await, erp.stock_of(&goods[1]).await), (6, goods[1].quantity - 1));
    let explained = erp.installation.run_in_portuguese(&["explain", "command", "1"]).await.expect(0);
    assert!(
        explained.stdout.contains("stock.adjust") && explained.stdout.contains("confirmada"),
        "{}",
        explained.stdout
    );
    let csv = format!(
        "sku;location_id;quantity\n{};{};2\n{};{};x\n",
        goods[3].sku, goods[3].location, goods[4].sku, goods[4].location
    );
    fs::write(erp.dir().join("ruim.csv"), &csv).unwrap();
    let path = erp.dir().join("ruim.csv").display().to_string();
    let refused = run(&["import", "stock", &path], 1).await;
    assert!(refused.stderr.contains("linha 3: quantity"), "{}", refused.stderr);
    assert_eq!(erp.ask("SELECT sku AS s FROM erp_stock").await.len(), 1, "nothing of it is imported");
    fs::write(erp.dir().join("ruim.csv"), csv.replace(";x", ";3")).unwrap();
    run(&["import", "stock", &path], 0).await;
    erp.until("SELECT state AS s FROM erp_stock", |states| states == ["done", "done", "done"]).await;
    assert_eq!((erp.stock_of(&goods[3]).await, erp.stock_of(&goods[4]).await), (2, 3));
    erp.stop().await;
    // Without a service: shows what would be sent, and then sends it.
    erp.set_stock(&goods[0], "1").await;
    let plan = erp.installation.run(&["plan"]).await.expect(0);
    assert!(plan.stdout.contains("POST /api/products/") && plan.stdout.contains("6 → 1"), "{}", plan.stdout);
    let calls = erp.writes("/stock").len();
    erp.installation.run(&["plan", "--apply"]).await.expect(0);
    assert_eq!((erp.stock_of(&goods[0]).await, erp.writes("/stock").len()), (1, calls + 1));
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
