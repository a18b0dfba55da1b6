//! The guard of stock levels and its release by the command line. `crates/sync-engine/tests/component` has the rest.

use espelho_tests::{Kind, on_both_databases};

use crate::erp::Erp;

on_both_databases![a_shop_that_would_be_emptied_at_once_is_held_until_somebody_releases_it,];

const STATES: &str = "SELECT state AS s FROM erp_stock";

async fn a_shop_that_would_be_emptied_at_once_is_held_until_somebody_releases_it(kind: Kind) {
    let more = "[guards]\nzero_max_rows = 2\nzero_max_percent = 10.0\n";
    let mut erp = Erp::with(kind, more).await;
    erp.stop().await;
    let goods = erp.goods().await;
    for one in &goods[..4] {
        erp.set_stock(one, "0").await;
    }
    erp.start();
    erp.until(STATES, |states| states.len() == 4 && states.iter().all(|state| state == "held")).await;
    assert_eq!(erp.writes("/stock").len(), 0);
    let held = erp.installation.run_in_portuguese(&["held"]).await.expect(0);
    for words in ["a zero de uma vez", "espelho ignore --all --state held --code many_to_zero"] {
        assert!(held.stdout.contains(words), "{}", held.stdout);
    }
    let key = format!("{}/{}", goods[0].sku, goods[0].location);
    erp.installation.run_in_portuguese(&["release", "stock", &key]).await.expect(0);
    erp.until(STATES, |states| states == ["done", "held", "held", "held"]).await;
    erp.installation.run_in_portuguese(&["release", "--all"]).await.expect(2).says("--yes");
    erp.installation.run_in_portuguese(&["release", "--all", "--yes"]).await.expect(0);
    erp.until(STATES, |states| states.iter().all(|state| state == "done")).await;
    assert_eq!((erp.stock_of(&goods[3]).await, erp.writes("/stock").len()), (0, 4));
    erp.stop().await;
}
