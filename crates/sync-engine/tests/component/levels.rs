//! Stock: levels and movements.

use std::time::Duration;

use espelho_sandbox::Fault;
use espelho_store::IntentKind;
use espelho_sync_engine::{plan::guards::Guards, push::Basis};
use rust_decimal::Decimal;
use serde_json::json;

use crate::support::{
    Decision, Goods, Kind, Rig, Setup, cut_after, cut_before, live::Outside, on_both_databases, refused_with,
};

on_both_databases![
    a_level_that_the_erp_writes_reaches_the_marketplace_once_and_the_row_says_so,
    levels_that_cannot_be_are_refused_with_words_and_nothing_is_sent,
    available_stock_is_what_is_left_after_what_is_reserved,
    a_level_written_with_a_dispatch_that_waits_for_its_invoice_is_there_before_and_after_it,
    a_shop_that_would_be_emptied_at_once_is_held_until_somebody_releases_it,
];

const STATES: &str = "SELECT state AS s FROM erp_stock";
const POST_STOCK: &str = "POST /api/products/{id}/stock";

async fn a_level_that_the_erp_writes_reaches_the_marketplace_once_and_the_row_says_so(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let goods = rig.goods().await;
    rig.set_stock(&goods[0], "3").await;
    rig.set_stock(&goods[1], &(goods[1].quantity + 7).to_string()).await;
    rig.set_stock(&goods[2], &goods[2].quantity.to_string()).await;
    rig.shown(STATES, |states| states.len() == 3 && states.iter().all(|state| state == "done")).await;
    assert_eq!((rig.stock_of(&goods[0]).await, rig.stock_of(&goods[1]).await), (3, goods[1].quantity + 7));
    assert_eq!(rig.writes("/stock").len(), 2, "what is there already is not sent");
    assert_eq!(rig.ask("SELECT key FROM v_drift WHERE entity = 'stock'").await, Vec::<String>::new());
    // The same value again, and another value: one more call.
    rig.set_stock(&goods[0], "3").await;
    rig.set_stock(&goods[1], "1").await;
    rig.shown("SELECT state AS s FROM erp_stock WHERE state <> 'done'", <[String]>::is_empty).await;
    assert_eq!((rig.stock_of(&goods[1]).await, rig.writes("/stock").len()), (1, 3));
    rig.stop().await;
}

#[tokio::test]
async fn a_level_that_an_old_reading_shows_is_not_done_before_the_marketplace_is_read() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    rig.pass(Duration::from_secs(61 * 60)).await;
    rig.write("UPDATE webhook_watch SET heard_at = NULL").await;
    rig.write("UPDATE products SET content_hash = 1").await;
    for (goods, quantity) in goods.iter().zip(["0", "3"]) {
        let Goods { sku, .. } = goods;
        rig.write(&format!("UPDATE product_stock SET quantity = {quantity} WHERE sku = '{sku}'")).await;
        rig.set_stock(goods, quantity).await;
    }
    rig.shown(STATES, |states| states == ["done", "done"]).await;
    assert_eq!((rig.stock_of(&goods[0]).await, rig.stock_of(&goods[1]).await), (0, 3));
    rig.stop().await;
}

#[tokio::test]
async fn a_level_that_the_mirror_shows_is_sent_where_the_delivery_of_its_change_was_lost() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    rig.pass(Duration::from_secs(60)).await;
    for (goods, by) in goods.iter().zip([7, -2]) {
        assert!(rig.control().products().set_stock(&rig.key(), &goods.id, goods.quantity + by));
        rig.set_stock(goods, &goods.quantity.to_string()).await;
    }
    rig.shown(STATES, |states| states == ["done", "done"]).await;
    for goods in &goods[..2] {
        assert_eq!(rig.stock_of(goods).await, goods.quantity);
    }
    assert_eq!(rig.writes("/stock").len(), 2);
    rig.stop().await;
}

/// A row that began anew would look as if it had been written with the dispatch, and its goods would be on sale again.
#[tokio::test]
async fn a_level_that_the_mirror_shows_is_not_raised_once_the_erp_has_asked_for_a_dispatch_of_its_goods() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await.swap_remove(0);
    rig.pass(Duration::from_secs(60)).await;
    assert!(rig.control().products().set_stock(&rig.key(), &goods.id, goods.quantity - 1));
    rig.set_stock(&goods, &goods.quantity.to_string()).await;
    rig.shown(STATES, |states| states == ["sending"]).await;
    dispatch_that_waits(&mut rig, &goods).await;
    rig.shown(STATES, |states| states == ["failed"]).await;
    assert_eq!((rig.stock_of(&goods).await, rig.writes("/stock").len()), (goods.quantity - 1, 0));
    rig.stop().await;
}

#[tokio::test]
async fn a_level_that_the_mirror_shows_does_not_wait_for_an_order_that_the_marketplace_lists_and_denies() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await.swap_remove(0);
    rig.pass(Duration::from_secs(60)).await;
    let number = rig.sell("standard", &goods.sku);
    rig.fault(&format!("/orders/{number}"), None, refused_with(404, "NOT_FOUND"));
    assert!(rig.control().products().set_stock(&rig.key(), &goods.id, goods.quantity - 1));
    rig.set_stock(&goods, &goods.quantity.to_string()).await;
    rig.shown(STATES, |states| states == ["failed"]).await;
    assert_eq!(rig.ask("SELECT error_code FROM erp_stock").await, ["stock_conflict"]);
    assert_eq!((rig.stock_of(&goods).await, rig.writes("/stock").len()), (goods.quantity - 1, 0));
    rig.stop().await;
}

// withstands: F012
async fn levels_that_cannot_be_are_refused_with_words_and_nothing_is_sent(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let goods = rig.goods().await;
    rig.set_stock(&goods[0], "-1").await;
    rig.set_stock(&goods[1], "2.5").await;
    rig.set_stock(&Goods { sku: "NADA-1".into(), ..goods[2].clone() }, "2").await;
    rig.set_stock(&Goods { location: "999999".into(), ..goods[3].clone() }, "2").await;
    rig.shown(STATES, |states| states.len() == 4 && states.iter().all(|state| state == "failed")).await;
    let codes = rig.ask("SELECT error_code AS c FROM erp_stock ORDER BY 1").await;
    assert_eq!(codes, ["invalid_data", "invalid_data", "unknown_location", "unknown_sku"]);
    assert_eq!(rig.writes("/stock").len(), 0);
    let words = rig.ask("SELECT error || hint AS w FROM erp_stock WHERE error <> '' AND hint <> ''").await;
    assert_eq!(words.len(), 4, "each says what is wrong and what to do: {words:?}");
    // A corrected row is processed without further action.
    rig.set_stock(&goods[0], "4").await;
    rig.shown("SELECT state AS s FROM erp_stock WHERE error_code IS NULL", |states| states == ["done"]).await;
    rig.stop().await;
}

// withstands: F004, F007
#[tokio::test]
async fn a_level_whose_answer_was_lost_is_proved_by_reading_and_not_sent_again() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    rig.fault(POST_STOCK, 1, cut_after());
    rig.set_stock(&goods[0], "2").await;
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!((rig.stock_of(&goods[0]).await, rig.writes("/stock").len()), (2, 1));
    // An error before the work: proved not to have happened, and sent again.
    rig.fault(POST_STOCK, 1, Fault::Html(502));
    rig.set_stock(&goods[0], "1").await;
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!((rig.stock_of(&goods[0]).await, rig.writes("/stock").len()), (1, 3));
    rig.stop().await;
}

async fn available_stock_is_what_is_left_after_what_is_reserved(kind: Kind) {
    let mut rig = Setup::on(kind).with(|setup| setup.push.basis = Basis::Available).start().await;
    let goods = rig.goods().await;
    let before = rig.truth.data(&format!("/api/products/{}", goods[0].id)).await;
    let reserved = before["product"]["reserved_quantity"].as_f64().unwrap() as i64;
    rig.sell("standard", &goods[0].sku);
    rig.set_stock(&goods[0], "4").await;
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!(rig.stock_of(&goods[0]).await, 4 + reserved + 1);
    rig.stop().await;
}

async fn a_level_written_with_a_dispatch_that_waits_for_its_invoice_is_there_before_and_after_it(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let goods = rig.goods().await;
    let left = goods[0].quantity - 1;
    let dispatch = dispatch_that_waits(&mut rig, &goods[0]).await;
    rig.set_stock(&goods[0], &left.to_string()).await;
    if kind == Kind::Postgres {
        // Time is real there: the level waits two minutes for its dispatch.
        let earlier = format!(
            "UPDATE commands SET created_at = created_at - INTERVAL '2 minutes' WHERE id = {}",
            dispatch.1
        );
        rig.write(&earlier).await;
    }
    // The level does not wait for the invoice: it may be of goods that were sold elsewhere.
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!(rig.stock_of(&goods[0]).await, left);
    ship(&rig, dispatch).await;
    rig.until("the goods were taken off once", async || rig.stock_of(&goods[0]).await == left).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!(rig.writes("/stock").len(), 2, "before the dispatch and after it");
    // A level that is written after the dispatch is an ordinary one.
    rig.set_stock(&goods[0], &(left - 1).to_string()).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!((rig.stock_of(&goods[0]).await, rig.writes("/stock").len()), (left - 1, 3));
    rig.stop().await;
}

/// Prepares an order of one piece whose dispatch waits for the invoice; its number, and the command that ships it.
async fn dispatch_that_waits(rig: &mut Rig, goods: &Goods) -> (String, i64) {
    let number = rig.sell("standard", &goods.sku);
    rig.mirror_again().await;
    assert_eq!(rig.command("order.status", &number, &json!({"status": "preparing"})).await[0], "done");
    let ready = rig.give("order.status", &number, &json!({"status": "ready_to_ship"})).await;
    assert_eq!(rig.outcome(ready, |state| state == "waiting").await[1], "waiting_invoice");
    let shipped = rig.give("order.status", &number, &json!({"status": "shipped"})).await;
    (number, shipped)
}

/// Starts with a level that is `pieces` lower, or zero, and that was set while the dispatch of its goods waits: the goods, the
/// level, and the dispatch.
async fn level_ahead_of_its_dispatch(pieces: i64) -> (Rig, Goods, i64, (String, i64)) {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await.swap_remove(0);
    let left = goods.quantity - pieces.min(goods.quantity);
    let dispatch = dispatch_that_waits(&mut rig, &goods).await;
    rig.set_stock(&goods, &left.to_string()).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    (rig, goods, left, dispatch)
}

async fn ship(rig: &Rig, (number, shipped): (String, i64)) {
    rig.control().orders().issue_invoice(&rig.key(), &number, "nfe").unwrap();
    assert_eq!(rig.outcome(shipped, |state| state == "done").await[0], "done");
}

#[tokio::test]
async fn the_same_level_again_with_a_dispatch_is_not_taken_off_twice() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let left = goods[0].quantity - 1;
    // Written when the goods were picked, and again when they leave: with the invoice there already, and without.
    for is_there in [true, false] {
        let left = if is_there { left } else { left - 1 };
        rig.set_stock(&goods[0], &left.to_string()).await;
        rig.shown(STATES, |states| states == ["done"]).await;
        let number = rig.sell("standard", &goods[0].sku);
        rig.mirror_again().await;
        assert_eq!(rig.command("order.status", &number, &json!({"status": "preparing"})).await[0], "done");
        if is_there {
            rig.control().orders().issue_invoice(&rig.key(), &number, "nfe").unwrap();
        }
        let shipped = rig.give("order.status", &number, &json!({"status": "shipped"})).await;
        rig.set_stock(&goods[0], &left.to_string()).await;
        if !is_there {
            assert_eq!(rig.outcome(shipped, |state| state == "waiting").await[1], "waiting_invoice");
            rig.shown(STATES, |states| states == ["done"]).await;
            rig.control().orders().issue_invoice(&rig.key(), &number, "nfe").unwrap();
        }
        assert_eq!(rig.outcome(shipped, |state| state == "done").await[0], "done");
        rig.until("the goods were taken off once", async || rig.stock_of(&goods[0]).await == left).await;
        rig.shown(STATES, |states| states == ["done"]).await;
    }
    rig.stop().await;
}

#[tokio::test]
async fn the_last_pieces_leave_once_too() {
    let (mut rig, goods, _, dispatch) = level_ahead_of_its_dispatch(i64::MAX).await;
    ship(&rig, dispatch).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    rig.until("it is set again", async || rig.writes("/stock").len() == 2).await;
    rig.until("the level is zero", async || rig.stock_of(&goods).await == 0).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_lost_request_after_a_dispatch_is_not_taken_for_done_because_of_that_dispatch() {
    let (mut rig, goods, left, dispatch) = level_ahead_of_its_dispatch(1).await;
    rig.fault(POST_STOCK, 1, Fault::Html(502));
    ship(&rig, dispatch).await;
    rig.until("the goods were taken off once", async || rig.stock_of(&goods).await == left).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    assert_eq!(rig.writes("/stock").len(), 3, "before the dispatch, the lost one, and once more");
    rig.stop().await;
}

#[tokio::test]
async fn what_others_did_while_a_dispatch_waited_is_not_overwritten_after_it() {
    let (mut rig, goods, left, dispatch) = level_ahead_of_its_dispatch(1).await;
    // Somebody takes two pieces off in the portal.
    assert!(rig.control().products().set_stock(&rig.key(), &goods.id, left - 2));
    ship(&rig, dispatch).await;
    rig.until("the goods were taken off once", async || rig.stock_of(&goods).await == left - 2).await;
    rig.shown(STATES, |states| states == ["done"]).await;
    rig.stop().await;
}

async fn a_shop_that_would_be_emptied_at_once_is_held_until_somebody_releases_it(kind: Kind) {
    let guards = Guards { zero_max_rows: 2, zero_max_percent: 10.into(), ..Guards::default() };
    let mut rig = Setup::on(kind).with(|setup| setup.push.guards = guards).start().await;
    rig.stop().await;
    let goods = rig.goods().await;
    for one in &goods[..4] {
        rig.set_stock(one, "0").await;
    }
    rig.start().await;
    rig.shown(STATES, |states| states.len() == 4 && states.iter().all(|state| state == "held")).await;
    assert_eq!(rig.writes("/stock").len(), 0);
    let held = rig.ask("SELECT error FROM erp_stock").await;
    assert!(held.iter().all(|error| error.contains("iriam a zero de uma vez")), "{held:?}");
    let key = |goods: &Goods| format!("{}/{}", goods.sku, goods.location);
    rig.decide(IntentKind::Stock, &key(&goods[0]), Decision::Release).await;
    rig.shown("SELECT state AS s FROM erp_stock ORDER BY sku", |states| {
        states == ["done", "held", "held", "held"]
    })
    .await;
    for one in &goods[1..4] {
        rig.decide(IntentKind::Stock, &key(one), Decision::Release).await;
    }
    rig.shown(STATES, |states| states.iter().all(|state| state == "done")).await;
    assert_eq!((rig.stock_of(&goods[3]).await, rig.writes("/stock").len()), (0, 4));
    rig.stop().await;
}

// withstands: F001
#[tokio::test]
async fn a_movement_happens_once_though_its_answer_was_lost() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let data = |delta: i64| json!({"location_id": goods[0].location, "delta": delta});
    let done = rig.command("stock.adjust", &goods[0].sku, &data(5)).await;
    assert_eq!(done, ["done", "", "", ""]);
    assert_eq!(rig.stock_of(&goods[0]).await, goods[0].quantity + 5);
    rig.fault(POST_STOCK, 1, cut_after());
    assert_eq!(rig.command("stock.adjust", &goods[0].sku, &data(-2)).await[0], "done");
    rig.fault(POST_STOCK, 1, cut_before());
    assert_eq!(rig.command("stock.adjust", &goods[0].sku, &data(4)).await[0], "done");
    assert_eq!(rig.stock_of(&goods[0]).await, goods[0].quantity + 7);
    let [state, code, error, _] = rig.command("stock.adjust", &goods[0].sku, &data(-1_000_000)).await;
    assert_eq!((state.as_str(), code.as_str()), ("failed", "too_little_stock"));
    assert!(error.contains("em estoque"), "{error}");
    assert_eq!(rig.command("stock.adjust", &goods[0].sku, &json!({"delta": 1})).await[1], "invalid_data");
    rig.stop().await;
}

// withstands: F001
#[tokio::test]
async fn a_movement_that_cannot_be_proved_is_in_doubt_and_shown() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    // The answer is lost, and before the verification the portal changes the same stock by another amount.
    rig.fault(POST_STOCK, 1, cut_after());
    let slow = Fault::Stall(Duration::from_millis(150));
    let before = rig.writes("/stock").len();
    rig.fault("GET /api/products/{id}/stock", 1, slow);
    let id =
        rig.give("stock.adjust", &goods[0].sku, &json!({"location_id": goods[0].location, "delta": 3})).await;
    rig.until("it was sent", async || rig.writes("/stock").len() > before).await;
    assert!(rig.control().products().set_stock(
        &rig.key(),
        &goods[0].id,
        Decimal::from(goods[0].quantity + 40)
    ));
    let [state, _, error, hint] = rig.outcome(id, |state| state == "doubtful").await;
    assert_eq!(state, "doubtful");
    assert!(error.contains("nada prova") && hint.contains("espelho retry command"), "{error} {hint}");
    assert_eq!(rig.writes("/stock").len(), before + 1, "never sent again");
    rig.decide(IntentKind::Command, &id.to_string(), Decision::Ignore).await;
    rig.shown("SELECT state AS s FROM commands", |states| states == ["ignored"]).await;
    rig.stop().await;
}

// withstands: F001
#[tokio::test]
async fn a_movement_that_somebody_took_back_is_in_doubt_where_the_changes_were_told() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let (goods, outside) = (rig.goods().await.swap_remove(0), Outside::default());
    rig.fault(POST_STOCK, 1, cut_after());
    let slow = Fault::Stall(Duration::from_millis(150));
    rig.fault("GET /api/products/{id}/stock", 1, slow);
    let location: i64 = goods.location.parse().unwrap();
    let id = rig.give("stock.adjust", &goods.sku, &json!({"location_id": location, "delta": 9})).await;
    rig.until("it was sent", async || !rig.writes("/stock").is_empty()).await;
    let back = json!({"location_id": location, "quantity": 9, "decrement": true});
    rig.truth.post(&format!("/api/products/{}/stock", goods.id), &back).await;
    for (old, new) in [(goods.quantity, goods.quantity + 9), (goods.quantity + 9, goods.quantity)] {
        let told = json!({"store_id": 1, "product_sku_id": goods.id, "old_quantity": old,
            "new_quantity": new, "location_id": location});
        rig.deliver(&outside, "product.stock_updated", &told).await;
    }
    let [_, code, error, hint] = rig.outcome(id, |state| state == "doubtful" || state == "done").await;
    assert_eq!((code.as_str(), rig.stock_of(&goods).await), ("unprovable", goods.quantity));
    assert!(error.contains("alguém mexeu") && hint.contains("espelho retry command"), "{error} {hint}");
    let effects = "SELECT CAST(count(*) AS TEXT) AS n FROM effects";
    assert_eq!(rig.journal.ask(effects).await, ["1"], "never sent again");
    rig.stop().await;
}
