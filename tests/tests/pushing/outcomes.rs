//! The fate of intents when something intervenes: a rolled back transaction, a kill, a restored backup; and the exit
//! codes of `plan --apply`.

use espelho_sandbox::{CampaignDiscount, NewCampaign};
use espelho_tests::{Kind, Mirror, installation::STORE, on_both_databases};
use serde_json::json;

use crate::erp::Erp;

on_both_databases![
    what_is_rolled_back_is_not_wanted_and_what_is_committed_survives_a_kill,
    plan_apply_says_by_its_exit_code_what_is_left,
    a_price_that_was_frozen_for_a_campaign_and_does_not_fit_any_more_is_shown,
    a_row_of_a_store_that_nobody_has_is_answered_and_returns_when_it_is_corrected,
];

const STATES: &str = "SELECT state AS s FROM erp_stock ORDER BY sku";

// withstands: F029
async fn what_is_rolled_back_is_not_wanted_and_what_is_committed_survives_a_kill(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let level = |at: usize, quantity: i64| {
        let (sku, location) = (&goods[at].sku, &goods[at].location);
        format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', '{sku}', '{location}', {quantity})"
        )
    };
    let command = |at: usize| {
        let (sku, location) = (&goods[at].sku, &goods[at].location);
        format!(
            "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', 'stock.adjust', '{sku}', \
             '{{\"location_id\": \"{location}\", \"delta\": 2}}')"
        )
    };
    // The ERP's change and its intent are one transaction.
    erp.transaction(&[level(0, 3), command(1)], "ROLLBACK").await;
    erp.transaction(&[level(2, 3), command(3)], "COMMIT").await;
    erp.kill().await;
    erp.start();
    erp.until("SELECT state AS s FROM commands", |states| states == ["done"]).await;
    erp.until(STATES, |states| states == ["done"]).await;
    assert_eq!((erp.stock_of(&goods[2]).await, erp.stock_of(&goods[3]).await), (3, goods[3].quantity + 2));
    let untouched = (erp.stock_of(&goods[0]).await, erp.stock_of(&goods[1]).await);
    assert_eq!(untouched, (goods[0].quantity, goods[1].quantity));
    erp.stop().await;
}

// withstands: F104
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_since_a_backup_is_not_done_again_when_the_backup_is_put_back() {
    let mut erp = Erp::with(Kind::Sqlite, "").await;
    let goods = erp.goods().await;
    let data = |delta: i64| json!({"location_id": goods[0].location, "delta": delta});
    assert_eq!(erp.command("stock.adjust", &goods[0].sku, &data(3)).await[0], "done");
    // Intents that are not done when the backup is made; one is in progress.
    erp.stop().await;
    let open = erp.give("stock.adjust", &goods[0].sku, &data(-2)).await;
    let other =
        erp.give("stock.adjust", &goods[1].sku, &json!({"location_id": goods[1].location, "delta": 4})).await;
    let backup = erp.dir().join("backup").display().to_string();
    erp.installation.run(&["backup", &backup]).await.expect(0);
    erp.start();
    for id in [open, other] {
        assert_eq!(erp.outcome(id, |state| state == "done").await[0], "done");
    }
    erp.stop().await;
    let (sent, stock) = (erp.writes("/stock").len(), erp.stock_of(&goods[0]).await);
    let Mirror::Sqlite(pool) = &erp.mirror else { unreachable!("it is SQLite") };
    pool.close().await;
    erp.installation.run(&["restore", "--replace", &backup]).await.expect(0);
    erp.mirror = erp.installation.mirror().await;
    let states = "SELECT state AS s FROM commands ORDER BY id";
    assert_eq!(erp.ask(states).await, ["done", "new", "new"]);
    erp.start();
    erp.until(states, |states| states == ["done", "done", "done"]).await;
    assert_eq!((erp.writes("/stock").len(), erp.stock_of(&goods[0]).await), (sent, stock));
    erp.stop().await;
}

async fn plan_apply_says_by_its_exit_code_what_is_left(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    erp.stop().await;
    erp.set_stock(&goods[0], "4").await;
    let applied = erp.installation.run_in_portuguese(&["plan", "--apply"]).await.expect(0);
    assert!(applied.stdout.contains("✓ 0 abertos, 0 retidos, 0 com erro"), "{}", applied.stdout);
    erp.set_price(&goods[1].sku, 1, "0").await;
    let held = erp.installation.run_in_portuguese(&["plan", "--apply"]).await.expect(5);
    assert!(held.stdout.contains("1 retido"), "{}", held.stdout);
    erp.set_stock(&goods[2], "-4").await;
    let failed = erp.installation.run_in_portuguese(&["plan", "--apply"]).await.expect(3);
    assert!(failed.stdout.contains("1 com erro"), "{}", failed.stdout);
    // Rows that wait for a person are no reason to say that nothing waits.
    let left = erp.installation.run_in_portuguese(&["plan"]).await.expect(0).stdout;
    for words in ["1 registro com falha: espelho explain stock ", "1 registro retido por uma proteção: "] {
        assert!(left.contains(words), "no {words:?} in\n{left}");
    }
    assert!(!left.contains("nenhum registro do ERP espera"), "{left}");
    assert_eq!(erp.stock_of(&goods[0]).await, 4);
}

async fn a_price_that_was_frozen_for_a_campaign_and_does_not_fit_any_more_is_shown(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let (sku, key) = (erp.goods().await[0].sku.clone(), erp.key());
    let item = erp.control().listings().create(&key, "Caneca", &[&sku]).unwrap();
    assert!(erp.control().listings().set_status(&key, &item, "active"));
    let discount = Some(CampaignDiscount { kind: "percentage".into(), value: "10".into() });
    let campaign = NewCampaign { discount, ..NewCampaign::default() };
    let [joined, other] = [(); 2].map(|()| erp.control().campaigns().create(&campaign).unwrap().to_string());
    let opted = erp.command("campaign.opt_in", &joined, &json!({"publication_ids": [item]})).await;
    assert_eq!(opted[0], "done", "{opted:?}");
    let frozen = format!(
        "SELECT item_id AS i FROM campaign_listings WHERE campaign_id = '{joined}' AND authorized_discount_price IS NOT NULL"
    );
    erp.until(&frozen, |items| items == [item.clone()]).await;
    let drift = format!("SELECT item_id AS i FROM v_campaign_drift WHERE campaign_id = '{joined}'");
    assert_eq!(erp.ask(&drift).await, Vec::<String>::new(), "what was agreed on fits");
    // The price falls below the frozen one, so that buyers in the campaign would pay more. The other campaign shows
    // it.
    assert!(erp.control().products().edit_price(&key, &sku, rust_decimal::Decimal::ONE));
    let seller = erp.control().listings().active(&key);
    let third = seller.iter().find(|listing| listing["item_id"] != json!(item)).unwrap();
    let again = erp.command("campaign.opt_in", &other, &json!({"publication_ids": [third["item_id"]]})).await;
    assert_eq!(again[0], "done", "{again:?}");
    assert_eq!(erp.until(&drift, |items| !items.is_empty()).await, std::slice::from_ref(&item));
    // The other campaign's offers go. What the listing costs was told, and nobody has said otherwise since.
    let gone = "UPDATE campaign_listings SET gone_at = '2099-01-01T00:00:00.000000Z' WHERE campaign_id = ";
    erp.mirror.execute(&format!("{gone}'{other}'")).await;
    assert_eq!(erp.ask(&drift).await, std::slice::from_ref(&item));
    let shown =
        erp.ask("SELECT key || ': ' || error || hint AS e FROM v_errors WHERE code = 'campaign_price'").await;
    assert!(shown[0].starts_with(&format!("{joined}/{item}: O preço congelado")), "{shown:?}");
    erp.stop().await;
}

// withstands: F141
async fn a_row_of_a_store_that_nobody_has_is_answered_and_returns_when_it_is_corrected(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await.remove(0);
    let wrong = STORE.to_uppercase();
    let level = format!(
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{wrong}', '{}', '{}', '7.0')",
        goods.sku, goods.location
    );
    erp.mirror.execute(&level).await;
    let answered = "SELECT state || ' ' || error_code || ': ' || error || ' ' || hint AS s FROM erp_stock";
    let words = erp.until(answered, |rows| rows.len() == 1).await.remove(0);
    assert!(words.starts_with(&format!("failed unknown_store: Não existe a loja “{wrong}”")), "{words}");
    assert!(words.contains(&format!("Troque store para {STORE},")), "{words}");
    erp.mirror.execute(&format!("UPDATE erp_stock SET store = '{STORE}'")).await;
    erp.until(STATES, |states| states == ["done"]).await;
    erp.stop().await;
}
