//! The figures, the lists and the search of the status page.

use chrono::TimeDelta;
use espelho_model::{Clock as _, order::STATUSES};
use espelho_store::{Figures, Op, OrderList, Spellings};

use super::views::{gone, new_orders};
use crate::{
    examples::order,
    world::{World, minha_loja, store_key},
};

pub(crate) async fn the_figures_of_a_day_count_what_the_views_show(world: &World) {
    let lease = world.lease().await;
    world.store.mirror().identify(&minha_loja(), "sandbox", "https://m.example").await.unwrap();
    let orders = STATUSES.iter().map(|status| order(status, status)).collect();
    world.write_orders(&lease, Op::Insert, orders).await;
    gone(world, &lease, "paid").await;
    let past = "UPDATE orders SET ship_by = '2020-01-01T00:00:00.000000Z' WHERE order_number = 'preparing'";
    world.tables.execute(past).await;
    let now = world.clock.now();
    let bounds = std::array::from_fn(|n| now + TimeDelta::days(n as i64));
    let end = now + TimeDelta::days(30);
    let all = world.store.overview().figures(None, end, &bounds).await.unwrap();
    let due = "SELECT key FROM v_deadlines WHERE kind = 'ship_by'";
    assert_eq!(all.dispatch, world.tables.list(due).await.len() as u64);
    let late: Vec<&str> = all.first_late.iter().map(|(_, number, _)| number.as_str()).collect();
    assert_eq!((all.late, late), (1, vec!["preparing"]));
    assert_eq!(all.awaiting_invoice, 1);
    assert_eq!((all.not_taken, all.erp_takes), (0, false), "nothing is counted for an ERP that takes none");
    let open: u64 = all.by_status.iter().map(|(_, orders)| orders).sum();
    assert_eq!(open, world.tables.count("v_orders_open").await as u64);
    let ship_by = &all.by_hour.iter().find(|(kind, _)| kind == "ship_by").unwrap().1;
    assert_eq!((ship_by.len(), ship_by[0], ship_by.iter().sum()), (9, 1, all.dispatch));
    let one = world.store.overview().figures(Some(&minha_loja()), end, &bounds).await.unwrap();
    assert_eq!(one, all, "there is no other store");
    let other = world.store.overview().figures(Some(&store_key("outra")), end, &bounds).await.unwrap();
    assert_eq!(other, Figures::default());
    world
        .tables
        .execute("INSERT INTO erp_orders (store, order_number) VALUES ('minha-loja', 'preparing')")
        .await;
    let taken = world.store.overview().figures(None, end, &bounds).await.unwrap();
    assert_eq!((taken.not_taken, taken.erp_takes), (new_orders(world).await.len() as u64, true));
    assert!(taken.not_taken > 1);
    let one = world.store.overview().figures(Some(&minha_loja()), end, &bounds).await.unwrap();
    assert_eq!(one, taken);
    let other = world.store.overview().figures(Some(&store_key("outra")), end, &bounds).await.unwrap();
    assert_eq!((other.not_taken, other.erp_takes), (0, false), "the other store's ERP takes none");
    world.tables.execute("DELETE FROM orders").await;
    let none = world.store.overview().figures(None, end, &bounds).await.unwrap();
    assert_eq!((none.dispatch, none.late, none.awaiting_invoice), (0, 0, 0), "a sum over nothing is none");
}

pub(crate) async fn the_first_rows_in_trouble_of_a_cause_are_named_the_oldest_first(world: &World) {
    let given = "INSERT INTO commands (id, store, kind, key) VALUES (7, 'minha-loja', 'order.status', 'N-1'), \
        (8, 'outra', 'order.status', 'N-2')";
    world.tables.execute(given).await;
    for sku in ["A", "B", "C", "D"] {
        let level = format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', '{sku}', '1', 1)"
        );
        world.tables.execute(&level).await;
    }
    let fails = |table: &str, state: &str, code: &str, minute: &str, which: &str| {
        format!(
            "UPDATE {table} SET state = '{state}', error_code = '{code}', error = 'e', \
             updated_at = '2026-11-27T06:{minute}:00.000000Z' WHERE {which}"
        )
    };
    for (table, state, code, minute, which) in [
        ("erp_stock", "failed", "unknown_sku", "05", "sku IN ('A', 'B', 'C')"),
        ("erp_stock", "failed", "unknown_sku", "04", "sku = 'D'"),
        ("commands", "held", "many_listings", "03", "id = 7"),
        ("commands", "failed", "impossible_transition", "02", "id = 8"),
    ] {
        world.tables.execute(&fails(table, state, code, minute, which)).await;
    }
    let bounds = [world.clock.now(); 9];
    let names = async |of: Option<&espelho_model::StoreKey>| -> Vec<String> {
        let figures = world.store.overview().figures(of, world.clock.now(), &bounds).await.unwrap();
        let rows = figures.first_in_trouble.into_iter();
        rows.map(|row| format!("{} {} {} {} {}", row.entity, row.key, row.state, row.kind, row.subject))
            .collect()
    };
    let [other, command] = ["command 8 failed order.status N-2", "command 7 held order.status N-1"];
    let levels = ["stock D/1 failed  ", "stock A/1 failed  ", "stock B/1 failed  "];
    assert_eq!(names(None).await, [&[other, command][..], &levels[..]].concat());
    assert_eq!(names(Some(&minha_loja())).await, [&[command][..], &levels[..]].concat());
}

pub(crate) async fn orders_with_the_same_need_are_listed_by_it(world: &World) {
    let lease = world.lease().await;
    world.store.mirror().identify(&minha_loja(), "sandbox", "https://m.example").await.unwrap();
    world
        .write_orders(&lease, Op::Insert, STATUSES.iter().map(|status| order(status, status)).collect())
        .await;
    let listed = async |list, status: &str| -> Vec<String> {
        let rows = world.store.overview().orders(list, Some(&minha_loja()), status, 100).await.unwrap();
        let mut numbers: Vec<String> = rows.into_iter().map(|row| row.number).collect();
        numbers.sort();
        numbers
    };
    assert_eq!(listed(OrderList::NotTaken, "").await, new_orders(world).await);
    assert_eq!(listed(OrderList::AwaitingInvoice, "").await, ["preparing"]);
    assert_eq!(listed(OrderList::Open, "paid").await, ["paid"]);
    let open = world.tables.list("SELECT order_number FROM v_orders_open ORDER BY order_number").await;
    assert_eq!(listed(OrderList::Open, "").await, open);
    let due = "SELECT key FROM v_deadlines WHERE kind = 'ship_by' ORDER BY key";
    let dispatch = OrderList::Dispatch(world.clock.now() + TimeDelta::days(30));
    assert_eq!(listed(dispatch, "").await, world.tables.list(due).await);
    assert_eq!(world.store.overview().orders(OrderList::Open, None, "", 2).await.unwrap().len(), 2);
}

pub(crate) async fn a_name_is_found_in_every_store_and_a_row_by_its_state(world: &World) {
    let lease = world.lease().await;
    world.store.mirror().identify(&minha_loja(), "sandbox", "https://m.example").await.unwrap();
    world.write_orders(&lease, Op::Insert, vec![order("8", "paid")]).await;
    let written = "INSERT INTO commands (id, store, kind, key) VALUES (8, 'minha-loja', 'order.status', '8')";
    world.tables.execute(written).await;
    let level =
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'A', '1', 1)";
    world.tables.execute(level).await;
    let failed = "UPDATE erp_stock SET state = 'failed', error_code = 'x', error = 'e', hint = 'h'";
    world.tables.execute(failed).await;
    world
        .tables
        .execute("INSERT INTO erp_orders (store, order_number, erp_id) VALUES ('minha-loja', '8', 'PED')")
        .await;
    let found = async |name: &str| -> Vec<String> {
        let found = world.store.history().find_anywhere(name).await.unwrap();
        found.into_iter().map(|(store, entity, key)| format!("{store} {entity} {key}")).collect()
    };
    assert_eq!(found("8").await, ["minha-loja command 8", "minha-loja order 8"]);
    assert_eq!(found("PED").await, ["minha-loja order 8"]);
    assert_eq!(found("A").await, ["minha-loja product A"]);
    assert!(found("nothing").await.is_empty());
    let queue = async |state: &str| -> Vec<String> {
        let rows = world.store.overview().queue(None, state, 10).await.unwrap();
        rows.into_iter().map(|row| format!("{} {} {}", row.entity, row.key, row.state)).collect()
    };
    assert_eq!(queue("failed").await, ["stock A/1 failed"]);
    assert_eq!(queue("new").await, ["command 8 new"]);
    assert_eq!(queue("").await.len(), 2);
}

pub(crate) async fn a_search_knows_other_spellings_and_a_thing_knows_the_rows_to_decide_about(world: &World) {
    let lease = world.lease().await;
    world.store.mirror().identify(&minha_loja(), "sandbox", "https://m.example").await.unwrap();
    world.write_orders(&lease, Op::Insert, vec![order("000123", "paid")]).await;
    let at = "'2026-01-01T00:00:00.000000Z'";
    for sql in [
        format!(
            "INSERT INTO products (store, id, listing_hash, content_hash, mirrored_at, sku, name, price, raw) \
             VALUES ('minha-loja', 'p1', 1, 1, {at}, 'Can-01', 'Caneta AZUL SÃO', 19.9, '{{}}')"
        ),
        format!(
            "INSERT INTO products (store, id, listing_hash, content_hash, mirrored_at, sku, name, price, raw) \
             VALUES ('minha-loja', 'p0', 1, 1, {at}, 'Vel-01', 'Vela azul', 9.9, '{{}}')"
        ),
        format!(
            "INSERT INTO product_stock (store, sku, location_id, product_id, mirrored_at, quantity, reserved_quantity, raw) \
             VALUES ('minha-loja', 'Can-01', '1', 'p1', {at}, 7, 2, '{{}}')"
        ),
        format!(
            "INSERT INTO order_invoices (store, order_number, id, content_hash, mirrored_at, invoice_number, raw) \
             VALUES ('minha-loja', '000123', 'N', 1, {at}, '000000077', '{{}}')"
        ),
        "INSERT INTO commands (id, store, kind, key) VALUES (8, 'minha-loja', 'order.status', '000123')"
            .to_owned(),
        "UPDATE commands SET state = 'doubtful', error_code = 'unprovable', error = 'e', hint = 'h'"
            .to_owned(),
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'Can-01', '1', 1)"
            .to_owned(),
        "UPDATE erp_stock SET state = 'ignored', error_code = 'x', error = 'e', hint = 'h'".to_owned(),
    ] {
        world.tables.execute(&sql).await;
    }
    let history = || world.store.history();
    let names = |found: Vec<espelho_store::Found>| -> Vec<String> {
        found.into_iter().map(|(_, entity, key)| format!("{entity} {key}")).collect()
    };
    let words = |all: &[&str]| all.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let spellings = Spellings {
        orders: words(&["123", "000123"]),
        invoices: words(&["77", "000000077"]),
        skus: words(&["CAN-01", "can-01"]),
        ..Spellings::default()
    };
    assert_eq!(names(history().find_spelt(&spellings).await.unwrap()), ["order 000123"]);
    let only = Spellings { invoices: words(&["000000077"]), ..Spellings::default() };
    assert_eq!(names(history().find_spelt(&only).await.unwrap()), ["order 000123"]);
    assert!(history().find_spelt(&Spellings::default()).await.unwrap().is_empty());
    for (name, lower, expected) in [
        ("%azul s_o%", "azul são", &["product Can-01"][..]),
        ("%sao%", "sao", &["product Can-01"]),
        ("%can-01%", "can-01", &["product Can-01"]),
        ("%azul%", "azul", &["product Vel-01", "product Can-01"]),
        ("%100!%%", "100%", &[]),
    ] {
        let asked = Spellings { name: name.into(), lower: lower.into(), ..Spellings::default() };
        assert_eq!(names(history().find_products(&minha_loja(), &asked).await.unwrap()), expected, "{name}");
    }
    let product = history().mirrored_product(&minha_loja(), "p1").await.unwrap().unwrap();
    assert_eq!((product.name.as_str(), product.price), ("Caneta AZUL SÃO", "19.9".parse().ok()));
    assert_eq!(product.levels[0].quantity, "7".parse().ok());
    assert_eq!(history().mirrored_product(&minha_loja(), "p2").await.unwrap(), None);
    let decidable = async |entity: &str, key: &str| -> Vec<String> {
        let rows = world.store.overview().decidable(&minha_loja(), entity, key).await.unwrap();
        rows.into_iter().map(|row| format!("{} {} {}", row.entity, row.key, row.state)).collect()
    };
    assert_eq!(decidable("order", "000123").await, ["command 8 doubtful"]);
    assert_eq!(decidable("command", "8").await, ["command 8 doubtful"]);
    assert!(decidable("product", "Can-01").await.is_empty(), "what is ignored is decided");
    assert!(decidable("product", "000123").await.is_empty() && decidable("order", "8").await.is_empty());
    let ignored = world.store.overview().queue(None, "ignored", 10).await.unwrap();
    assert_eq!(ignored.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(), ["Can-01/1"]);
    assert_eq!(world.store.overview().queue(None, "", 10).await.unwrap().len(), 1, "ignored rows are apart");
    assert_eq!(world.store.overview().handled_deliveries(None, "").await.unwrap(), 0);
}
