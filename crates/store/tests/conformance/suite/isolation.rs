//! Many stores in one database never meet.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use espelho_model::sync::Resource;
use espelho_store::Op;
use proptest::{collection::vec, prelude::any};

use crate::{
    examples::order_of,
    generated::{apply, for_all, step},
    tables::Line,
    world::{World, store_key},
};

// withstands: F109
pub(crate) async fn one_order_number_in_two_stores_is_two_rows(world: &World) {
    let (a, b) = (world.lease_of(&store_key("a")).await, world.lease_of(&store_key("b")).await);
    world.write_orders(&a, Op::Insert, vec![order_of("1", "paid", &["1", "2"])]).await;
    world.write_orders(&b, Op::Insert, vec![order_of("1", "shipped", &["1"])]).await;
    world.write_orders(&b, Op::Update, vec![order_of("1", "delivered", &[])]).await;
    let mut tx = world.store.begin(&b).await.unwrap();
    tx.mirror().mark_gone(Resource::Orders, vec!["1".to_owned()]).await.unwrap();
    tx.commit().await.unwrap();
    let rows = "SELECT store, status FROM orders WHERE gone_at IS NULL";
    assert_eq!(world.tables.texts(rows).await, [["a", "paid"].map(|text| Some(text.to_owned()))]);
    assert_eq!(world.tables.count("orders").await, 2);
    assert_eq!(world.tables.list("SELECT store FROM order_items WHERE gone_at IS NULL").await, ["a", "a"]);
    for (store, live) in [("a", &["1"][..]), ("b", &[])] {
        assert_eq!(
            world.store.mirror().live_keys(&store_key(store), Resource::Orders, "").await.unwrap(),
            live
        );
        assert_eq!(world.store.mirror().count(&store_key(store), Resource::Orders).await.unwrap(), 1);
    }
}

/// A store with busy neighbours has the same content as alone.
// withstands: F109
pub(crate) async fn what_happens_in_one_store_is_the_same_whatever_happens_in_another(world: &World) {
    let case = AtomicUsize::new(0);
    for_all(12, &vec((any::<bool>(), step()), 1..10), async |steps| {
        let n = case.fetch_add(1, Ordering::SeqCst);
        let names = ["mine", "alone", "theirs"].map(|name| format!("{name}-{n}"));
        let [mine, alone, theirs] = names.each_ref().map(|name| store_key(name));
        let [mine, alone, theirs] =
            [world.lease_of(&mine).await, world.lease_of(&alone).await, world.lease_of(&theirs).await];
        for (own, step) in steps {
            world.clock.advance(Duration::from_secs(1));
            if own {
                apply(&world.store, &mine, step.clone()).await;
                apply(&world.store, &alone, step).await;
            } else {
                apply(&world.store, &theirs, step).await;
            }
        }
        for table in ["orders", "order_items", "products", "product_prices", "product_stock", "changes"] {
            assert_eq!(contents(world, table, &names[0]).await, contents(world, table, &names[1]).await);
        }
        for lease in [mine, alone, theirs] {
            lease.release().await.unwrap();
        }
    });
}

/// The rows of a store without the store's name and without counts over all stores.
async fn contents(world: &World, table: &str, store: &str) -> Vec<Line> {
    let lines = world.tables.of_store(table, store).await.into_iter().map(|line| line.without("store"));
    let mut lines: Vec<Line> = match table {
        "changes" => lines.map(|line| line.without("seq")).collect(),
        _ => lines.collect(),
    };
    lines.sort();
    lines
}
