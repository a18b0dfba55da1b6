//! Pauses of the way up, by the binary.

use espelho_tests::{Kind, on_both_databases};

use crate::erp::Erp;

on_both_databases![nothing_is_sent_while_sending_is_paused_and_all_of_it_is_afterwards];

const STATES: &str = "SELECT state AS s FROM erp_stock";

async fn nothing_is_sent_while_sending_is_paused_and_all_of_it_is_afterwards(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    erp.stop().await;
    // No service runs.
    let paused = erp.installation.run(&["pause", "--only", "push", "--for", "1h", "--json"]).await.expect(0);
    assert_eq!(paused.json()["pauses"][0]["scope"], "push");
    erp.set_stock(&goods[0], "3").await;
    for _ in 0..2 {
        erp.start();
        // Reading goes on.
        let number = erp.sell("standard", &goods[1].sku);
        let mirrored = format!("SELECT order_number AS n FROM orders WHERE order_number = '{number}'");
        erp.until(&mirrored, |rows| rows == [number.as_str()]).await;
        erp.until("SELECT code AS c FROM v_alarms", |codes| codes.contains(&"paused".to_owned())).await;
        assert_eq!(erp.writes("/stock").len(), 0);
        assert_eq!(erp.ask(STATES).await, ["new"]);
        erp.kill().await;
    }
    erp.start();
    erp.installation.run(&["pause", "--only", "stock", "--for", "1h"]).await.expect(0);
    let left = erp.installation.run(&["resume", "--only", "push", "--json"]).await.expect(0).json();
    assert_eq!((&left["ended"], &left["pauses"][0]["scope"]), (&1.into(), &"stock".into()), "{left}");
    // Of the way up only stock is paused now.
    erp.set_price(&goods[2].sku, 1, "77.70").await;
    erp.until("SELECT state AS s FROM erp_prices", |states| states == ["done"]).await;
    assert_eq!((erp.ask(STATES).await, erp.writes("/stock").len()), (vec!["new".to_owned()], 0));
    erp.installation.run(&["resume"]).await.expect(0);
    erp.until(STATES, |states| states == ["done"]).await;
    assert_eq!((erp.stock_of(&goods[0]).await, erp.writes("/stock").len()), (3, 1));
    erp.stop().await;
}
