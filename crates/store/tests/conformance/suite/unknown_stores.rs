//! Rows whose store is in no configuration.

use std::collections::BTreeSet;

use espelho_model::StoreKey;
use espelho_store::RowWords;

use crate::world::{World, minha_loja, store_key};

const ROWS: &str = "SELECT store || ' ' || state || ' ' || COALESCE(error_code, '-') || ' ' || COALESCE(error, '-') FROM (\
    SELECT store, state, error_code, error FROM erp_stock UNION ALL SELECT store, state, error_code, error FROM erp_prices \
    UNION ALL SELECT store, state, error_code, error FROM commands) AS rows_of_all ORDER BY 1";

async fn wants(world: &World, store: &str) {
    for sql in [
        format!("INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{store}', 'A', '1', 1)"),
        format!("INSERT INTO erp_prices (store, sku, price) VALUES ('{store}', 'A', 1)"),
        format!("INSERT INTO commands (store, kind, key) VALUES ('{store}', 'order.notes', 'N-1')"),
    ] {
        assert_eq!(world.tables.execute(&sql).await, 1);
    }
}

async fn answers(world: &World, known: &[StoreKey]) -> Vec<String> {
    let known: BTreeSet<StoreKey> = known.iter().cloned().collect();
    let say = |name: &str| RowWords {
        error: format!("sem {name}"),
        hint: "troque".into(),
        message: r#"{"id":"store-unknown-store"}"#.into(),
    };
    world.store.intents().answer_unknown_stores(&known, &say).await.unwrap()
}

pub(crate) async fn a_row_of_a_store_that_nobody_has_is_answered(world: &World) {
    wants(world, "MINHA LOJA").await;
    wants(world, "minha-loja").await;
    assert_eq!(answers(world, &[minha_loja()]).await, ["MINHA LOJA"]);
    let mut expected = vec!["MINHA LOJA failed unknown_store sem MINHA LOJA"; 3];
    expected.extend(["minha-loja new - -"; 3]);
    let mut rows = world.tables.list(ROWS).await;
    rows.sort();
    assert_eq!(rows, expected);
    let said = "SELECT said FROM erp_stock WHERE hint = 'troque' UNION ALL SELECT said FROM commands WHERE done_at IS NOT NULL";
    assert_eq!(world.tables.list(said).await.len(), 2);
    assert_eq!(world.tables.count("v_errors").await, 3);
    assert_eq!(answers(world, &[minha_loja()]).await, Vec::<String>::new(), "they are answered once");
    // A row written again gets an answer again.
    world.tables.execute("UPDATE erp_stock SET quantity = 2 WHERE store = 'MINHA LOJA'").await;
    assert_eq!(
        world.tables.list("SELECT state FROM erp_stock WHERE said IS NULL AND quantity = 2").await,
        ["new"]
    );
    assert_eq!(answers(world, &[minha_loja()]).await, ["MINHA LOJA"]);
}

pub(crate) async fn a_row_whose_store_is_no_text_is_answered_once_and_seen(world: &World) {
    // PostgreSQL accepts text only, and no other encoding of it.
    for store in world.tables.either(vec!["x'ff'", "x'6c6f6a61'", "CAST(x'61ff' AS TEXT)"], vec![]) {
        for sql in [
            format!(
                "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ({store}, 'A', '1', 1)"
            ),
            format!("INSERT INTO erp_prices (store, sku, price) VALUES ({store}, 'A', 1)"),
            format!("INSERT INTO commands (store, kind, key) VALUES ({store}, 'order.notes', 'N-1')"),
        ] {
            assert_eq!(world.tables.execute(&sql).await, 1);
        }
        assert_eq!(answers(world, &[minha_loja()]).await.len(), 1, "{store}");
        assert_eq!(answers(world, &[minha_loja()]).await, Vec::<String>::new(), "{store} is answered once");
    }
    let states = "SELECT state || ' ' || error_code FROM (SELECT state, error_code FROM erp_stock UNION ALL \
        SELECT state, error_code FROM erp_prices UNION ALL SELECT state, error_code FROM commands) AS rows_of_all";
    let rows = world.tables.list(states).await;
    assert_eq!(rows, world.tables.either(vec!["failed unknown_store"; 9], vec![]));
    let troubled = world.store.overview().rows_in_trouble().await.unwrap();
    assert_eq!(troubled.iter().map(|rows| rows.rows).sum::<u64>(), world.tables.either(9, 0));
    assert_eq!(world.store.history().errors(None, 10).await.unwrap().len(), world.tables.either(9, 0));
}

pub(crate) async fn a_store_that_another_works_on_is_not_unknown(world: &World) {
    wants(world, "outra").await;
    let theirs = world.lease_of(&store_key("outra")).await;
    assert_eq!(answers(world, &[minha_loja()]).await, Vec::<String>::new());
    theirs.release().await.unwrap();
    // A restarting machine keeps its store; on SQLite there is no other machine.
    let unknown = answers(world, &[minha_loja()]).await;
    assert_eq!(unknown, world.tables.either(vec!["outra"], vec![]));
}

pub(crate) async fn a_row_returns_when_its_store_is_configured(world: &World) {
    wants(world, "nova").await;
    assert_eq!(answers(world, &[minha_loja()]).await, ["nova"]);
    world.store.intents().reopen_known_stores(&[minha_loja()].into()).await.unwrap();
    assert_eq!(world.tables.count("v_errors").await, 3, "it is still unknown");
    world.store.intents().reopen_known_stores(&[minha_loja(), store_key("nova")].into()).await.unwrap();
    assert_eq!(world.tables.list(ROWS).await, ["nova new - -"; 3]);
}

pub(crate) async fn an_order_that_the_erp_took_for_a_store_that_was_never_here_is_in_trouble(world: &World) {
    world.store.mirror().identify(&minha_loja(), "sandbox", "https://m.example").await.unwrap();
    for (store, number) in [("minha-loja", "1"), ("MINHA-LOJA", "2"), ("MINHA-LOJA", "3"), ("z", "4")] {
        let taken = format!("INSERT INTO erp_orders (store, order_number) VALUES ('{store}', '{number}')");
        world.tables.execute(&taken).await;
    }
    let mut troubled = world.store.overview().rows_in_trouble().await.unwrap();
    troubled.sort_by(|one, other| one.store.cmp(&other.store));
    let troubled: Vec<_> =
        troubled.iter().map(|rows| (&*rows.store, &*rows.code, rows.rows, &*rows.key)).collect();
    assert_eq!(troubled, [("MINHA-LOJA", "unknown_store", 2, "2"), ("z", "unknown_store", 1, "4")]);
}
