//! Runs that reject a result, were not asked for something, or could not finish.

use espelho_tests::{
    Installation, Kind, Reply, Shop, on_both_databases, sandbox,
    shop::{ORDERS, Order},
};
use serde_json::{Value, json};

use super::{LIST, PRODUCT, joined, routes};

on_both_databases![
    many_missing_orders_are_not_believed_until_somebody_accepts_them,
    an_empty_listing_is_never_believed,
    a_day_is_given_a_day_of_overlap_whatever_zone_the_marketplace_means_it_in,
    only_reads_what_was_asked_for,
    an_interrupted_run_is_resumed_and_restart_begins_anew,
    what_seems_gone_half_way_through_a_pass_is_decided_by_a_complete_one_only,
];

// withstands: F060
async fn many_missing_orders_are_not_believed_until_somebody_accepts_them(kind: Kind) {
    let sandbox = sandbox(40, 5).await;
    let installation = joined(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.rows("orders").await;
    for row in &before[10..14] {
        assert!(sandbox.control().orders().remove("loja-1", &row["order_number"]));
    }
    let run = installation.resync(&[]).await.expect(5).says("4 of 40").says("--accept-gone");
    assert_eq!(run.count("orders", "gone"), 0);
    assert_eq!(run.resource("orders")["error"]["code"], "too_many_gone");
    assert_eq!(run.resource("products")["state"], "complete", "the guard stops orders, not products");
    assert_eq!(mirror.rows("orders").await, before);
    let accepted = installation.resync(&["--accept-gone"]).await.expect(0);
    assert_eq!(accepted.count("orders", "gone"), 4);
    assert_eq!(mirror.live("orders").await, 36);
    installation.resync(&[]).await.expect(0);
}

// withstands: F060
async fn an_empty_listing_is_never_believed(kind: Kind) {
    let shop = Shop::open(Order::many(2)).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.rows("orders").await;
    shop.change(Vec::clear);
    installation.resync(&[]).await.expect(5).says("2 of 2");
    assert_eq!(mirror.rows("orders").await, before);
}

// withstands: F057
async fn a_day_is_given_a_day_of_overlap_whatever_zone_the_marketplace_means_it_in(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    installation.resync(&["--only", "orders", "--since", "2026-03-01"]).await.expect(0);
    let calls = shop.take_calls().into_iter().filter(|call| call.path == ORDERS);
    let asked: Vec<_> =
        calls.map(|mut call| (call.query.remove("date_from"), call.query.remove("date_to"))).collect();
    assert!(!asked.is_empty());
    for (from, to) in asked {
        assert_eq!((from.as_deref(), to), (Some("2026-02-28"), None), "a day before, and no end");
    }
}

async fn only_reads_what_was_asked_for(kind: Kind) {
    let sandbox = sandbox(10, 10).await;
    let installation = joined(kind, &sandbox).await;
    let run = installation.resync(&["--only", "products"]).await.expect(0);
    assert!(run.store()["resources"]["orders"].is_null());
    assert!(!routes(&sandbox).contains_key(LIST) && routes(&sandbox)[PRODUCT] == 10);
    let mirror = installation.mirror().await;
    assert_eq!([mirror.live("orders").await, mirror.live("products").await], [0, 10]);
    installation.resync(&["--only", "orders,products"]).await.expect(0);
    assert_eq!(mirror.live("orders").await, 10);
    installation.run(&["--resync", "--only", "pedidos"]).await.expect(2).says("orders, products");
}

async fn an_interrupted_run_is_resumed_and_restart_begins_anew(kind: Kind) {
    let no = || Some(Reply::refusal(403, "FORBIDDEN", "Agora não.", &json!([])));
    let breaks_at_3 = move |call: &espelho_tests::Call| if call.is_order_page(3) { no() } else { None };
    let shop = Shop::with_rule(Order::many(450), breaks_at_3).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    let pages = |shop: &Shop| -> Vec<String> {
        let calls = shop.take_calls().into_iter().filter(|call| call.path == ORDERS);
        calls.map(|mut call| call.query.remove("page").unwrap_or_default()).collect()
    };
    let run = installation.resync(&["--only", "orders"]).await.expect(3).says("Agora não.");
    assert_eq!(
        (run.count("orders", "changed"), pages(&shop)),
        (200, ["1", "2", "3"].map(String::from).to_vec())
    );
    let run = installation.resync(&["--only", "orders"]).await.expect(3);
    assert_eq!((&run.resource("orders")["resumed_at_page"], pages(&shop)), (&json!(3), vec!["3".to_owned()]));
    let run = installation.resync(&["--only", "orders", "--restart"]).await.expect(3);
    assert_eq!(run.resource("orders")["resumed_at_page"], Value::Null);
    assert_eq!(pages(&shop), ["1", "2", "3"]);
    shop.rule(|_| None);
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(
        (run.count("orders", "seen"), pages(&shop)),
        (450, ["3", "4", "5"].map(String::from).to_vec())
    );
    assert_eq!(installation.mirror().await.live("orders").await, 450);
}

// withstands: F061
async fn what_seems_gone_half_way_through_a_pass_is_decided_by_a_complete_one_only(kind: Kind) {
    let shop = Shop::open(Order::many(450)).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    installation.resync(&["--only", "orders"]).await.expect(0);
    let mirror = installation.mirror().await;
    shop.change(|orders| drop(orders.remove(4)));
    shop.rule(|call| {
        call.is_order_page(3).then(|| Reply::refusal(403, "FORBIDDEN", "Agora não.", &json!([])))
    });
    // Neither the order that no longer exists nor those of the unread pages are marked as gone.
    for _ in 0..2 {
        let run = installation.resync(&["--only", "orders"]).await.expect(3);
        assert_eq!(run.count("orders", "gone"), 0);
        assert_eq!(mirror.live("orders").await, 450);
    }
    shop.rule(|_| None);
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!((run.count("orders", "gone"), mirror.live("orders").await), (1, 449));
}
