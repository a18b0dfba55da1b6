//! The engine is dropped at any await point, and another one starts on the same database.

use std::collections::BTreeSet;

use espelho_sandbox::JournalEntry;
use espelho_sync_engine::Options;
use serde_json::json;

use crate::support::{Kind, Rig, STORE, Setup};

/// Readings of the clock between two kills: the clock is read at least once for each request.
const STEP: usize = 3;

/// The requests that had their effect.
fn effective(writes: &[JournalEntry]) -> usize {
    writes.iter().filter(|entry| (200..300).contains(&entry.status)).count()
}

// withstands: F002, F003
#[tokio::test]
async fn a_movement_happens_once_wherever_the_engine_is_killed() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    rig.stop().await;
    let goods = rig.goods().await.remove(0);
    let (mut expected, mut kills) = (goods.quantity, 0);
    for readings in (1..).step_by(STEP) {
        let id =
            rig.give("stock.adjust", &goods.sku, &json!({"location_id": goods.location, "delta": 1})).await;
        expected += 1;
        rig.start_mortal(readings).await;
        let is_over = format!("SELECT state FROM commands WHERE id = {id}");
        let died = rig.dies_before(async |rig| rig.ask(&is_over).await == ["done"]).await;
        if died {
            kills += 1;
            rig.start().await;
            assert_eq!(rig.outcome(id, |state| state == "done").await[0], "done");
        }
        rig.kill().await;
        assert_eq!(rig.stock_of(&goods).await, expected, "after a kill at reading {readings}");
        if !died {
            break;
        }
    }
    assert!(kills > 5, "it was killed {kills} times");
    assert_eq!(
        effective(&rig.writes("/stock")) as i64,
        expected - goods.quantity,
        "each had its effect once"
    );
}

// withstands: F002, F115
#[tokio::test]
async fn a_level_and_a_price_are_as_wanted_wherever_the_engine_is_killed() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    rig.stop().await;
    let goods = rig.goods().await.remove(0);
    let sql = "SELECT sku || '|' || CAST(price AS TEXT) FROM products WHERE price_type = 'default' AND price > 2 LIMIT 1";
    let row = rig.ask(sql).await.remove(0);
    let (sku, price) = row.split_once('|').unwrap();
    let price: f64 = price.parse().unwrap();
    let mut kills = 0;
    for (turn, readings) in (1..).step_by(STEP).enumerate() {
        let quantity = goods.quantity + 1 + turn as i64;
        rig.set_stock(&goods, &quantity.to_string()).await;
        rig.set_price(sku, 1, &format!("{:.2}", price + 0.01 * (turn + 1) as f64)).await;
        let open = "SELECT state FROM erp_stock WHERE state <> 'done' UNION ALL \
                    SELECT state FROM erp_prices WHERE state <> 'done'";
        rig.start_mortal(readings as u64).await;
        let died = rig.dies_before(async |rig| rig.ask(open).await.is_empty()).await;
        if died {
            kills += 1;
            rig.start().await;
            rig.shown(open, <[String]>::is_empty).await;
        }
        rig.kill().await;
        assert_eq!(rig.stock_of(&goods).await, quantity, "after a kill at reading {readings}");
        // Written more than three times within an hour, a price would be held as one that somebody changes back.
        rig.journal.execute("DELETE FROM effects WHERE state NOT IN ('planned', 'sent')").await;
        if !died {
            break;
        }
    }
    assert!(kills > 5, "it was killed {kills} times");
    assert_eq!(rig.ask("SELECT key FROM v_drift WHERE entity = 'stock'").await, Vec::<String>::new());
}

// withstands: F115
#[tokio::test]
async fn a_reconciliation_that_is_killed_at_each_page_reads_at_most_two_pages_again() {
    let setup = Setup::on(Kind::Sqlite).with(|setup| (setup.world.orders, setup.world.products) = (320, 110));
    let rig = setup.open().await;
    let options = Options { kind: "manual", ..Options::default() };
    let count =
        "SELECT CAST(count(*) AS TEXT) FROM orders UNION ALL SELECT CAST(count(*) AS TEXT) FROM products";
    let (mut seen, mut kills) = (BTreeSet::new(), 0);
    loop {
        let before = rig.ask(count).await;
        let page_committed = async {
            rig.until("a page is committed", async || rig.ask(count).await != before).await;
        };
        tokio::select! {
            biased;
            () = page_committed => kills += 1,
            report = rig.reconcile(&options) => {
                assert!(report.problems().next().is_none(), "{report:?}");
                break;
            }
        }
        assert!(seen.insert(rig.ask(count).await), "each run goes on where the last one ended");
    }
    assert!(kills >= 4, "it was killed {kills} times");
    assert_eq!(rig.ask(count).await, ["320", "110"]);
    let stats = rig.sandbox.stats();
    assert!(stats.repeated_details <= kills * 200, "{} details for {kills} kills", stats.repeated_details);
    let runs = format!("SELECT state FROM sync_runs WHERE store = '{STORE}' AND finished_at IS NOT NULL");
    assert_eq!(rig.ask(&runs).await.last().map(String::as_str), Some("complete"));
    // Nothing was told twice in the feed.
    let twice = "SELECT key FROM changes WHERE entity = 'order' GROUP BY key HAVING count(*) > 1";
    assert_eq!(rig.ask(twice).await, Vec::<String>::new());
}
