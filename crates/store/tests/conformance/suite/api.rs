//! The HTTP API's reads and writes.

use std::collections::{BTreeSet, HashSet};

use espelho_model::push::CommandKind;
use espelho_store::{
    ApiTable, Batch, ColumnKind, Comparison, DesiredPrice, DesiredStock, Filter, FilterValue, HIDDEN_COLUMNS,
    HIDDEN_TABLES, NewCommand, Op, Position, RequestKey, RowPage, RowQuery, TakenOrder, Written, WrittenRow,
    api_tables,
};

use crate::{
    examples::{decimal, order, time},
    kinds::KINDS,
    world::{World, minha_loja, store_key},
};

fn table(name: &str) -> &'static ApiTable {
    ApiTable::named(name).unwrap()
}

async fn read(world: &World, name: &str, query: &RowQuery) -> RowPage {
    world.store.api().rows(table(name), query).await.unwrap()
}

fn all() -> RowQuery {
    RowQuery { limit: 1_000, ..RowQuery::default() }
}

fn where_(column: &'static str, comparison: Comparison, value: FilterValue) -> RowQuery {
    RowQuery { filters: vec![Filter { column, comparison, value }], ..all() }
}

fn text(text: &str) -> FilterValue {
    FilterValue::Text(text.to_owned())
}

fn fits(kind: ColumnKind, declared: &str, is_view: bool) -> bool {
    match (kind, declared) {
        // An expression of a view has no type on SQLite.
        (_, "") => is_view,
        (ColumnKind::Text, "TEXT" | "text") => true,
        (ColumnKind::Integer, "INTEGER" | "INT" | "bigint" | "integer") => true,
        (ColumnKind::Number, "NUMERIC" | "NUM" | "numeric") => true,
        (ColumnKind::Flag, "INTEGER" | "boolean") => true,
        (ColumnKind::Time, "TEXT" | "timestamp with time zone") => true,
        (ColumnKind::Json, "TEXT" | "jsonb") => true,
        _ => false,
    }
}

pub(crate) async fn every_table_and_column_is_read_or_hidden_by_name(world: &World) {
    let described: BTreeSet<&str> = api_tables().iter().map(|table| table.name).collect();
    let names = world.tables.names().await;
    for name in &names {
        let (is_read, is_hidden) =
            (described.contains(name.as_str()), HIDDEN_TABLES.contains(&name.as_str()));
        assert!(is_read != is_hidden, "{name} is read ({is_read}) or hidden ({is_hidden})");
    }
    for name in described.iter().chain(HIDDEN_TABLES) {
        assert!(names.iter().any(|known| known == name), "there is no {name}");
    }
    for table in api_tables() {
        let columns = world.tables.columns(table.name).await;
        let shown: BTreeSet<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        assert_eq!(shown.len(), table.columns.len(), "{}: a column twice", table.name);
        let is_shown = |name: &str| !HIDDEN_COLUMNS.contains(&name);
        let there: BTreeSet<&str> =
            columns.iter().map(|column| column.name.as_str()).filter(|name| is_shown(name)).collect();
        assert_eq!(shown, there, "{}", table.name);
        for column in columns.iter().filter(|column| is_shown(&column.name)) {
            let kind = table.kind_of(&column.name).unwrap();
            let fits = fits(kind, &column.declared, table.is_view());
            assert!(fits, "{}.{}: {kind:?} and {}", table.name, column.name, column.declared);
        }
        if !table.is_view() {
            let key: Vec<&str> = table.key.iter().map(|part| part.column).collect();
            assert_eq!(key, world.tables.primary_key(table.name).await, "{}", table.name);
        }
    }
}

pub(crate) async fn every_table_is_read_with_every_column(world: &World) {
    let lease = world.lease().await;
    for kind in KINDS {
        kind.keep(world, &lease, &["1", "2"], "antes").await;
        let rows = read(world, kind.table, &RowQuery { with_raw: true, ..all() }).await.rows;
        assert_eq!(rows.len(), 2, "{}", kind.table);
        let json = serde_json::to_value(&rows[0]).unwrap();
        assert_eq!(json.as_object().unwrap().len(), table(kind.table).columns.len(), "{}", kind.table);
        assert!(json["raw"].is_object(), "{}: {json}", kind.table);
        assert_eq!(json["store"], "minha-loja");
    }
    for table in api_tables() {
        let page = read(world, table.name, &all()).await;
        assert!(page.next.is_none(), "{}", table.name);
        for row in &page.rows {
            let json = serde_json::to_value(row).unwrap();
            assert!(json.get("raw").is_none(), "{}: {json}", table.name);
        }
    }
}

pub(crate) async fn pages_show_each_row_once_whatever_is_written_meanwhile(world: &World) {
    let lease = world.lease().await;
    // Numbers sort as text, and new ones fall before, between and after those that were read.
    let number = |n: u32| format!("N-{n}");
    let orders = |of: std::ops::Range<u32>| of.map(|n| order(&number(n), "paid")).collect();
    world.write_orders(&lease, Op::Insert, orders(0..250)).await;
    let (mut after, mut seen, mut written) = (Position::default(), Vec::new(), 250);
    loop {
        let page = read(world, "orders", &RowQuery { limit: 7, after, ..RowQuery::default() }).await;
        assert!(page.rows.len() <= 7);
        seen.extend(page.rows.iter().map(|row| row.text("order_number").unwrap().to_owned()));
        let Some(next) = page.next else { break };
        after = next;
        if written < 400 {
            world.write_orders(&lease, Op::Insert, orders(written..written + 5)).await;
            written += 5;
        }
    }
    let distinct: HashSet<&String> = seen.iter().collect();
    assert_eq!(distinct.len(), seen.len(), "a row was shown twice");
    assert!((0..250).all(|n| distinct.contains(&number(n))), "a row was lost");
}

pub(crate) async fn views_are_paged_in_the_order_of_their_key(world: &World) {
    let many = "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ";
    let rows: Vec<String> = (0..30).map(|n| format!("('minha-loja', 'S-{n:02}', '1', 1)")).collect();
    world.tables.execute(&format!("{many}{}", rows.join(", "))).await;
    let (mut after, mut seen) = (Position::default(), Vec::new());
    loop {
        let page = read(world, "v_drift", &RowQuery { limit: 4, after, ..RowQuery::default() }).await;
        seen.extend(page.rows.iter().map(|row| row.text("key").unwrap().to_owned()));
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    assert_eq!(seen, (0..30).map(|n| format!("S-{n:02}/1")).collect::<Vec<_>>());
    // `service_stopped` concerns all stores.
    let alarms = read(world, "v_alarms", &RowQuery { stores: Some(vec![]), limit: 1, ..all() }).await;
    assert_eq!(alarms.rows[0].text("code"), Some("service_stopped"));
}

pub(crate) async fn rows_are_filtered_by_every_kind_of_column(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid"), order("2", "shipped")]).await;
    let total = read(world, "orders", &all()).await.rows[0].number("total_order").unwrap();
    for (query, expected) in [
        (all(), 2),
        (where_("status", Comparison::Eq, text("paid")), 1),
        (where_("status", Comparison::Eq, text("PAID")), 0),
        (where_("total_order", Comparison::Gte, FilterValue::Number(total)), 2),
        (where_("total_order", Comparison::Gt, FilterValue::Number(total)), 0),
        (where_("total_order", Comparison::Eq, FilterValue::Number(total)), 2),
        (where_("total_order", Comparison::Lt, FilterValue::Number(decimal("1000000000000"))), 2),
        (where_("total_order", Comparison::Lt, FilterValue::Number(decimal("0.5"))), 0),
        (where_("mirrored_at", Comparison::Gt, FilterValue::Time(time("1999-01-01T00:00:00Z"))), 2),
        (where_("mirrored_at", Comparison::Lt, FilterValue::Time(time("1999-01-01T00:00:00Z"))), 0),
        (RowQuery { gone: Some(true), ..all() }, 0),
        (RowQuery { gone: Some(false), ..all() }, 2),
        (RowQuery { stores: Some(vec!["minha-loja".into(), "outra".into()]), ..all() }, 2),
        (RowQuery { stores: Some(vec!["outra".into()]), ..all() }, 0),
        (RowQuery { stores: Some(Vec::new()), ..all() }, 0),
    ] {
        assert_eq!(read(world, "orders", &query).await.rows.len(), expected, "{query:?}");
    }
    world
        .tables
        .execute(
            "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('minha-loja', 'A', 10, 9.9)",
        )
        .await;
    for (min, expected) in [(10, 1), (9, 0)] {
        let query = where_("min_quantity", Comparison::Lte, FilterValue::Integer(min));
        assert_eq!(read(world, "erp_prices", &query).await.rows.len(), expected);
    }
    let is = read(world, "orders", &all()).await.rows[0].is_true("is_collective");
    for (truth, expected) in [(is, 2), (!is, 0)] {
        let query = where_("is_collective", Comparison::Eq, FilterValue::Flag(truth));
        assert_eq!(read(world, "orders", &query).await.rows.len(), expected, "{truth}");
    }
}

fn level(sku: &str, quantity: &str) -> (espelho_model::StoreKey, DesiredStock) {
    let desired = DesiredStock { sku: sku.into(), location: "1".into(), quantity: decimal(quantity) };
    (minha_loja(), desired)
}

fn key(key: &str, fingerprint: &str) -> RequestKey {
    RequestKey { token: "erp".into(), key: key.into(), fingerprint: fingerprint.into() }
}

fn told(rows: &[WrittenRow]) -> String {
    rows.iter().map(|row| format!("{} {};", row.state, row.revision.is_some())).collect()
}

pub(crate) async fn a_batch_is_written_with_the_state_and_revision_of_each_row(world: &World) {
    let write = async |batch| world.store.api().write(batch, None, |rows| format!("{rows:?}")).await.unwrap();
    let states = |written: &Written| {
        let Written::Now(answer) = written else { panic!("{written:?}") };
        answer.matches("state: \"new\"").count()
    };
    let rows = (0..137).map(|n| level(&format!("S-{n}"), "1.5")).chain([level("S-0", "7")]).collect();
    assert_eq!(states(&write(Batch::Stock(rows)).await), 138);
    assert_eq!(world.tables.count("erp_stock").await, 137);
    let last = "SELECT CAST(quantity AS TEXT) FROM erp_stock WHERE sku = 'S-0'";
    assert_eq!(world.tables.numbers(last).await, ["7"], "the last one of each key counts");
    let price = DesiredPrice {
        sku: "A".into(),
        min_quantity: 1,
        price: Some(decimal("19.90")),
        discount_percent: None,
        package: [None; 4],
    };
    assert_eq!(states(&write(Batch::Prices(vec![(minha_loja(), price)])).await), 1);
    let command = |key: &str| NewCommand {
        store: minha_loja(),
        kind: CommandKind::OrderNotes,
        key: key.into(),
        data: Some("{\"notes\": \"oi\"}".into()),
    };
    let Written::Now(answer) = write(Batch::Commands(vec![command("1"), command("2")])).await else {
        panic!("it is new")
    };
    let ids = world.tables.list("SELECT CAST(id AS TEXT) FROM commands ORDER BY id").await;
    assert!(ids.len() == 2 && ids.iter().all(|id| answer.contains(&format!("Some({id})"))), "{answer}");
    let revision = "SELECT CAST(revision AS TEXT) FROM erp_prices";
    let [revision] = <[String; 1]>::try_from(world.tables.list(revision).await).unwrap();
    assert!(revision.parse::<i64>().unwrap() > 0);
}

pub(crate) async fn an_order_is_claimed_once_and_what_was_said_of_it_stays(world: &World) {
    let order = |number: &str, erp_id: Option<&str>| TakenOrder {
        store: minha_loja(),
        order_number: number.into(),
        erp_id: erp_id.map(str::to_owned),
        note: None,
    };
    let write = async |rows, claims| {
        let batch = Batch::Orders { rows, claims };
        let answer =
            |rows: &[WrittenRow]| rows.iter().map(|row| row.state.clone()).collect::<Vec<_>>().join(" ");
        world.store.api().write(batch, None, answer).await.unwrap()
    };
    let now = |words: &str| Written::Now(words.to_owned());
    assert_eq!(write(vec![order("1", Some("NF 1"))], true).await, now("taken"));
    assert_eq!(
        write(vec![order("1", Some("NF 2")), order("2", None)], true).await,
        now("already_taken taken")
    );
    assert_eq!(write(vec![order("1", None)], false).await, now("taken"));
    let ids = "SELECT COALESCE(erp_id, '-') FROM erp_orders ORDER BY order_number";
    assert_eq!(world.tables.list(ids).await, ["NF 1", "-"]);
}

pub(crate) async fn a_request_that_is_sent_again_writes_once(world: &World) {
    let write = async |batch, request: &RequestKey| {
        world.store.api().write(batch, Some(request), told).await.unwrap()
    };
    let levels = |quantity| Batch::Stock(vec![level("A", quantity)]);
    let first = write(levels("1"), &key("k", "f")).await;
    assert_eq!(first, Written::Now("new true;".into()));
    world.tables.execute("UPDATE erp_stock SET quantity = 5").await;
    assert_eq!(write(levels("1"), &key("k", "f")).await, Written::Before("new true;".into()));
    let quantity = "SELECT CAST(quantity AS TEXT) FROM erp_stock";
    assert_eq!(world.tables.numbers(quantity).await, ["5"], "it was not written again");
    assert_eq!(write(levels("2"), &key("k", "g")).await, Written::OtherRequest);
    let other_token = RequestKey { token: "outro".into(), ..key("k", "g") };
    assert_eq!(write(levels("3"), &other_token).await, Written::Now("new true;".into()));
    assert_eq!(world.store.api().forget_old_requests().await.unwrap(), 0);
    world.clock.advance(std::time::Duration::from_secs(24 * 3_600));
    assert_eq!(world.store.api().forget_old_requests().await.unwrap(), 0, "a day is kept");
    world.clock.advance(std::time::Duration::from_secs(25 * 3_600));
    assert_eq!(world.store.api().forget_old_requests().await.unwrap(), 2);
    assert_eq!(write(levels("4"), &key("k", "h")).await, Written::Now("new true;".into()));
}

pub(crate) async fn of_twenty_equal_requests_at_once_one_writes(world: &World) {
    let one =
        NewCommand { store: minha_loja(), kind: CommandKind::WebhookTest, key: String::new(), data: None };
    let tasks = (0..20).map(|_| {
        let (store, one) = (world.store.clone(), one.clone());
        tokio::spawn(async move {
            store.api().write(Batch::Commands(vec![one]), Some(&key("k", "f")), told).await.unwrap()
        })
    });
    let mut now = 0;
    for task in tasks.collect::<Vec<_>>() {
        match task.await.unwrap() {
            Written::Now(_) => now += 1,
            Written::Before(answer) => assert_eq!(answer, "new false;"),
            Written::UnderWay => {}
            Written::OtherRequest => panic!("they are equal"),
        }
    }
    assert_eq!((now, world.tables.count("commands").await), (1, 1));
}

pub(crate) async fn a_request_that_fails_leaves_neither_rows_nor_its_key(world: &World) {
    let stopped = tokio::spawn({
        let store = world.store.clone();
        async move {
            let answer = |_: &[WrittenRow]| panic!("the process ends between the rows and the answer");
            store.api().write(Batch::Stock(vec![level("A", "1")]), Some(&key("k", "f")), answer).await
        }
    });
    assert!(stopped.await.unwrap_err().is_panic());
    assert_eq!(world.tables.count("erp_stock").await, 0);
    assert_eq!(world.tables.count("api_requests").await, 0);
    let again =
        world.store.api().write(Batch::Stock(vec![level("A", "1")]), Some(&key("k", "f")), told).await;
    assert_eq!(again.unwrap(), Written::Now("new true;".into()));
    // The rows of another store in the same batch are refused with it.
    let rows = vec![level("B", "1"), (store_key("outra"), level("C\0", "1").1)];
    let refused = world.store.api().write(Batch::Stock(rows), Some(&key("l", "f")), told).await;
    match world.tables.either(true, false) {
        true => assert!(refused.is_ok(), "SQLite keeps whatever it is given"),
        false => {
            assert!(refused.unwrap_err().concerns_a_row());
            assert_eq!(world.tables.count("erp_stock").await, 1);
            assert_eq!(world.tables.count("api_requests").await, 1);
        }
    }
}
