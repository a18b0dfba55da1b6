//! `espelho audit`.

use espelho_sandbox::{NewCampaign, Options};
use espelho_tests::{
    Installation, Kind, Reply, on_both_databases,
    pages::{ready, stopped},
    sandbox_of,
    shop::{LOGIN, ORDERS, Order},
    until,
};
use serde_json::{Value, json};

use super::set_up;

on_both_databases![
    an_audit_finds_what_differs_and_changes_nothing,
    an_audit_beside_a_service_compares_campaigns_images_and_the_profile_too,
];

async fn an_audit_finds_what_differs_and_changes_nothing(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(12)).await;
    installation.resync(&[]).await.expect(0);
    let equal = installation.run(&["audit", "--json"]).await.expect(0);
    assert_eq!((&equal.store()["state"], equal.count("orders", "sampled")), (&json!("equal"), 12));

    let mirror = installation.mirror().await;
    mirror.execute("UPDATE orders SET content_hash = 0 WHERE order_number = 'P00003'").await;
    shop.change(|orders| {
        orders.retain(|order| order.number != "P00001");
        let second = orders.iter_mut().find(|order| order.number == "P00002").unwrap();
        second.row["status"] = json!("preparing");
        second.detail["status"] = json!("preparing");
        // The listing differs, but a second read gives the same: the mirror has what the order itself says.
        let fourth = orders.iter_mut().find(|order| order.number == "P00004").unwrap();
        fourth.row["status"] = json!("preparing");
        orders.push(Order::ordinary("P00013"));
    });
    let before = mirror.everything().await;
    let found = installation.run(&["audit", "--sample", "100", "--json"]).await.expect(3);
    let named: Vec<String> = found.resource("orders")["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {}", row["key"].as_str().unwrap(), row["difference"].as_str().unwrap()))
        .collect();
    assert_eq!(named, ["P00001 surplus", "P00002 listing", "P00003 detail", "P00013 missing"], "{found}");
    assert_eq!(mirror.everything().await, before);
    let shown = installation.run(&["audit", "--store", "loja-1", "--sample", "0"]).await.expect(3);
    assert!(
        shown.stdout.contains("P00013: missing in the mirror") && shown.stdout.contains("--resync --deep"),
        "{shown}"
    );

    // A marketplace that refuses the limit is called without it, as in a run.
    shop.rule(|call| {
        let refused = || Reply::refusal(422, "VALIDATION_ERROR", "limit", &json!({"limit": ["too large"]}));
        (call.path == ORDERS && call.query.contains_key("limit")).then(refused)
    });
    let again = installation.run(&["audit", "--json"]).await.expect(3);
    assert_eq!((again.count("orders", "listed"), again.count("orders", "differing")), (12, 4));
    shop.rule(|_| None);

    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    shop.take_calls();
    let found = installation.run(&["audit", "--json"]).await.expect(3);
    assert!(found.stderr.contains("the service that holds the store does the audit"), "{found}");
    let named = found.resource("orders")["differences"].to_string();
    assert!(named.contains("P00003") && named.contains("detail"), "no run has read it again: {found}");
    let asked = shop.take_calls();
    assert!(!asked.iter().any(|call| call.path == LOGIN), "the service's token lives on");
    stopped(service).await;

    // Without the service's address, the command contacts nobody.
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    installation.write_main("");
    shop.take_calls();
    installation.run(&["audit"]).await.expect(6);
    assert!(!shop.take_calls().iter().any(|call| call.path == LOGIN), "a store that another holds");
    stopped(service).await;
}

async fn an_audit_beside_a_service_compares_campaigns_images_and_the_profile_too(kind: Kind) {
    let sandbox = sandbox_of(Options { orders: 4, products: 4, ..Options::default() }).await;
    let campaign = NewCampaign {
        name: "Semana do espelho".into(),
        kind: "standard".into(),
        status: "active".into(),
        starts_in: Some(-60),
        ends_in: Some(86_400),
        opt_in_closes_in: Some(3_600),
        discount: None,
    };
    sandbox.control().campaigns().create(&campaign).unwrap();
    let installation = Installation::on(kind).await;
    let access = sandbox.stores().remove(0);
    installation.write_store("loja-1", &sandbox.base_url(), &access.username, &access.password);
    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    let mirror = installation.mirror().await;
    let swept = "SELECT kind FROM sweeps WHERE kind IN ('campaigns', 'media', 'profile') AND succeeded_at IS NOT NULL";
    until("everything was swept", async || mirror.try_ask(swept).await.len() == 3).await;

    let equal = installation.run(&["audit", "--json"]).await.expect(0);
    for subject in ["campaigns", "media_images", "profile"] {
        assert_eq!(equal.count(subject, "differing"), 0);
        assert!(equal.count(subject, "listed") > 0, "nothing of {subject} in {equal}");
        assert_eq!(equal.count(subject, "listed"), equal.count(subject, "mirrored"), "{equal}");
    }
    let note = equal.resource("price_lists")["note"].to_string();
    assert!(note.contains("no route"), "{equal}");

    let first = |table: &str, key: &str| format!("{key} = (SELECT min({key}) FROM {table})");
    for (table, change, row) in [
        ("campaigns", "content_hash = 0", first("campaigns", "id")),
        ("campaign_listings", "gone_at = mirrored_at", first("campaign_listings", "item_id")),
        ("store_profiles", "content_hash = 0", "1 = 1".to_owned()),
        ("media_images", "content_hash = 0", first("media_images", "id")),
    ] {
        mirror.execute(&format!("UPDATE {table} SET {change} WHERE {row}")).await;
    }
    let before = mirror.everything().await;
    let found =
        installation.run(&["audit", "--only", "campaigns,media_images,profile", "--json"]).await.expect(3);
    assert_eq!(mirror.everything().await, before);
    let kinds = |subject: &str| {
        let named = found.resource(subject)["differences"].as_array().unwrap().clone();
        let of = |row: &Value| row["difference"].as_str().unwrap().to_owned();
        let mut kinds: Vec<String> = named.iter().map(of).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds("campaigns"), ["detail", "missing"], "{found}");
    assert_eq!((kinds("media_images"), kinds("profile")), (vec!["detail".into()], vec!["detail".into()]));
    let status = installation.run(&["status", "--store", "loja-1", "--json"]).await.json();
    let resources = status["stores"][0]["resources"].as_array().unwrap();
    let profile = resources.iter().find(|row| row["resource"] == json!("profile")).unwrap();
    assert_eq!(profile["drift"]["differing"], json!(1), "{status}");
    stopped(service).await;
}
