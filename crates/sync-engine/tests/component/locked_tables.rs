//! Tables that the ERP keeps locked: their rows wait until the lock ends, and no others.

use espelho_sandbox::NewOrder;
use sqlx::{Postgres, Transaction};

use crate::support::{Goods, Kind, Rig, STORE, database::Tables};

/// A rig without its engine, on PostgreSQL: SQLite has no locks of single tables.
async fn rig() -> (Rig, Vec<Goods>) {
    let mut rig = Rig::on(Kind::Postgres).await;
    let goods = rig.goods().await;
    rig.stop().await;
    (rig, goods)
}

async fn lock(rig: &Rig, sql: &'static str) -> Transaction<'static, Postgres> {
    let Tables::Postgres(pool) = rig.second_connection().await else { unreachable!("it is PostgreSQL") };
    #[expect(clippy::disallowed_methods, reason = "it is PostgreSQL, and what an ERP does")]
    let mut locking = pool.begin().await.unwrap();
    sqlx::query(sql).execute(&mut *locking).await.unwrap();
    locking
}

/// Writes a price that no guard holds.
async fn raise_price(rig: &Rig, sku: &str) {
    rig.write(&format!(
        "INSERT INTO erp_prices (store, sku, price) SELECT '{STORE}', sku, round(price * 1.02, 2) FROM products WHERE sku = '{sku}'"
    ))
    .await;
}

async fn give_notes(rig: &Rig) -> i64 {
    let number = rig.control().orders().place(&rig.key(), NewOrder::default());
    rig.give("order.notes", &number, &serde_json::json!({"notes": "x"})).await
}

#[tokio::test]
async fn while_levels_are_locked_commands_and_prices_are_carried_out() {
    let (mut rig, goods) = rig().await;
    rig.set_stock(&goods[0], "3").await;
    raise_price(&rig, &goods[1].sku).await;
    let before = give_notes(&rig).await;
    let locking = lock(&rig, "TRUNCATE erp_stock").await;
    rig.start().await;
    rig.outcome(before, |state| state == "done").await;
    rig.shown("SELECT state AS s FROM erp_prices", |states| states == ["done"]).await;
    let meanwhile = give_notes(&rig).await;
    rig.outcome(meanwhile, |state| state == "done").await;
    assert_eq!(rig.stock_of(&goods[0]).await, goods[0].quantity);
    locking.rollback().await.unwrap();
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    assert_eq!(rig.stock_of(&goods[0]).await, 3);
    rig.stop().await;
}

#[tokio::test]
async fn while_prices_are_locked_levels_and_commands_are_carried_out() {
    let (mut rig, goods) = rig().await;
    rig.set_stock(&goods[0], "3").await;
    raise_price(&rig, &goods[1].sku).await;
    let command = give_notes(&rig).await;
    let locking = lock(&rig, "LOCK TABLE erp_prices IN ACCESS EXCLUSIVE MODE").await;
    rig.start().await;
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    rig.outcome(command, |state| state == "done").await;
    locking.rollback().await.unwrap();
    rig.shown("SELECT state AS s FROM erp_prices", |states| states == ["done"]).await;
    rig.stop().await;
}

/// A level may be of goods that an unread command dispatches: told first, they would be taken off twice.
#[tokio::test]
async fn while_commands_are_locked_only_levels_of_late_wait_for_them() {
    let (mut rig, goods) = rig().await;
    for (one, quantity) in [(&goods[0], "3"), (&goods[1], "0"), (&goods[2], "4")] {
        rig.set_stock(one, quantity).await;
    }
    let sku = &goods[2].sku;
    rig.write(&format!("UPDATE erp_stock SET updated_at = '2020-01-01' WHERE sku = '{sku}'")).await;
    raise_price(&rig, &goods[3].sku).await;
    let command = give_notes(&rig).await;
    let locking = lock(&rig, "LOCK TABLE commands IN ACCESS EXCLUSIVE MODE").await;
    rig.start().await;
    let states = format!("SELECT state AS s FROM erp_stock WHERE sku <> '{}'", goods[0].sku);
    rig.shown(&states, |states| states == ["done", "done"]).await;
    rig.shown("SELECT state AS s FROM erp_prices", |states| states == ["done"]).await;
    assert_eq!(rig.stock_of(&goods[0]).await, goods[0].quantity, "it is of late");
    locking.rollback().await.unwrap();
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"; 3]).await;
    rig.outcome(command, |state| state == "done").await;
    rig.stop().await;
}
