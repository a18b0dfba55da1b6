//! Commands about products, images, listings, campaigns, price lists, the page and webhooks; the command line and CSV
//! files.

use std::fs;

use espelho_tests::{Kind, on_both_databases};

use crate::erp::Erp;

on_both_databases![
    what_the_policy_would_join_is_held_and_joins_when_it_is_released,
    the_command_line_and_csv_files_write_the_same_tables,
];

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
