//! The views for people.

use chrono::TimeDelta;
use espelho_model::{
    Clock as _,
    fiscal::FiscalDocument,
    media::MediaImage,
    order::{Order, STATUSES, TERMINAL_STATUSES},
    sync::Resource,
};
use espelho_store::{Failure, Figures, FiscalQueue, Listed, Op, OrderList, Spellings};

use crate::{
    examples::{bare_order, order, time},
    specimens::{campaign, image, invoice, order_number, text},
    world::{World, minha_loja, store_key},
};

async fn gone(world: &World, lease: &espelho_store::Lease, number: &str) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.mirror().mark_gone(Resource::Orders, vec![number.to_owned()]).await.unwrap();
    tx.commit().await.unwrap();
}

pub(crate) async fn an_order_is_open_until_a_status_has_ended_it(world: &World) {
    let lease = world.lease().await;
    let mut orders: Vec<Order> = STATUSES.iter().map(|status| order(status, status)).collect();
    orders.push(bare_order("without"));
    world.write_orders(&lease, Op::Insert, orders).await;
    gone(world, &lease, "paid").await;
    let mut open = world.tables.list("SELECT order_number FROM v_orders_open").await;
    open.sort();
    let still_open = |status: &&&str| !TERMINAL_STATUSES.contains(status) && **status != "paid";
    let mut expected: Vec<&str> = STATUSES.iter().filter(still_open).copied().chain(["without"]).collect();
    expected.sort_unstable();
    assert_eq!(open, expected);
}

pub(crate) async fn an_open_order_says_how_old_it_is(world: &World) {
    let lease = world.lease().await;
    let created = |number: &str, at: &str| Order { created_at: Some(time(at)), ..order(number, "paid") };
    let orders = vec![
        created("older", "2020-01-01T00:00:00.75Z"),
        created("newer", "2020-01-02T03:04:05.25Z"),
        bare_order("ageless"),
    ];
    world.write_orders(&lease, Op::Insert, orders).await;
    let ages = "SELECT CAST(age_seconds AS TEXT) FROM v_orders_open ORDER BY order_number";
    let ages: Vec<Option<i64>> = world.tables.list(ages).await.iter().map(|age| age.parse().ok()).collect();
    let [None, Some(newer), Some(older)] = ages[..] else { panic!("{ages:?}") };
    assert_eq!(older - newer, 27 * 3_600 + 4 * 60 + 5);
    // The databases use their own clocks; some years have passed since.
    assert!(newer > 5 * 365 * 86_400, "{newer}");
}

fn due(number: &str, status: &str, payment: Option<&str>, release: Option<&str>) -> Order {
    Order {
        payment_expires_at: payment.map(time),
        release_at: release.map(time),
        ship_by: None,
        invoice_by: None,
        pick_by: None,
        ..order(number, status)
    }
}

const EARLY: Option<&str> = Some("2026-11-27T09:00:00Z");
const LATE: Option<&str> = Some("2026-11-28T00:00:00Z");

pub(crate) async fn the_next_deadline_of_an_order_is_the_nearest(world: &World) {
    let lease = world.lease().await;
    let orders = vec![
        due("1", "waiting_payment", EARLY, LATE),
        due("2", "waiting_payment", LATE, EARLY),
        due("3", "waiting_payment", EARLY, None),
        due("4", "awaiting_campaign_conclusion", None, LATE),
        due("5", "preparing", None, LATE),
        due("6", "paid", None, None),
    ];
    world.write_orders(&lease, Op::Insert, orders).await;
    let mut rows = world.tables.all("v_orders_open").await;
    rows.sort_by_key(|row| row.get("order_number").map(str::to_owned));
    let next: Vec<_> = rows.iter().map(|row| row.get("next_deadline")).collect();
    let [early, late] = [Some("2026-11-27T09:00:00.000000Z"), Some("2026-11-28T00:00:00.000000Z")];
    assert_eq!(next, [early, early, early, late, None, None]);
}

pub(crate) async fn every_deadline_is_a_row_until_it_no_longer_matters(world: &World) {
    let lease = world.lease().await;
    let orders = vec![
        due("1", "waiting_payment", EARLY, LATE),
        due("2", "payment_expired", EARLY, None),
        due("3", "preparing", None, LATE),
        due("4", "paid", None, LATE),
        due("5", "waiting_payment", EARLY, None),
    ];
    world.write_orders(&lease, Op::Insert, orders).await;
    gone(world, &lease, "5").await;
    let mut over = campaign(8, "a");
    over.status = text("finished");
    let mut endless = campaign(9, "a");
    (endless.opt_in_deadline, endless.status) = (None, None);
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_campaigns(vec![campaign(7, "a"), over, endless, campaign(10, "a")]).await.unwrap();
    tx.mirror().mark_listed_gone(Listed::Campaigns, vec!["10".to_owned()]).await.unwrap();
    tx.commit().await.unwrap();
    let rows = world.tables.all("v_deadlines").await;
    let mut shown: Vec<String> = rows
        .iter()
        .map(|row| ["entity", "key", "kind", "at"].map(|column| row.get(column).unwrap()).join(" "))
        .collect();
    shown.sort();
    let expected = [
        "campaign 7 ends_at 2026-11-30T02:59:59.000000Z",
        "campaign 7 opt_in_deadline 2026-11-28T03:00:00.000000Z",
        "campaign 9 ends_at 2026-11-30T02:59:59.000000Z",
        "order 1 payment_expires_at 2026-11-27T09:00:00.000000Z",
        "order 1 release_at 2026-11-28T00:00:00.000000Z",
        "order 4 release_at 2026-11-28T00:00:00.000000Z",
    ];
    assert_eq!(shown, expected);
    assert!(rows.iter().all(|row| row.get("store") == Some("minha-loja")));
}

// withstands: F065
pub(crate) async fn the_invoice_that_counts_is_neither_replaced_nor_gone(world: &World) {
    let lease = world.lease().await;
    let of = |id: &str, is_current| FiscalDocument { is_current, ..invoice(id, "issued") };
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_invoices(&order_number(), vec![of("old", false), of("lost", true)]).await.unwrap();
    tx.mirror().write_invoices(&order_number(), vec![of("old", false), of("new", true)]).await.unwrap();
    tx.commit().await.unwrap();
    let current = "SELECT order_number || ' ' || id || ' ' || invoice_number FROM v_invoice_current";
    assert_eq!(world.tables.list(current).await, ["N-1 new 000123"]);
    let said = world.store.lookups().current_invoices(&minha_loja(), &order_number()).await.unwrap();
    assert_eq!(said, ["new issued"], "another one is no news");
}

pub(crate) async fn an_error_is_shown_with_its_row_and_its_next_step(world: &World) {
    let lease = world.lease().await;
    let failure = Failure {
        key: "N-1".to_owned(),
        code: "http_500".to_owned(),
        error: "não veio".to_owned(),
        hint: "tente de novo".to_owned(),
        message: None,
    };
    let mut tx = world.store.begin(&lease).await.unwrap();
    for resource in Resource::ALL {
        tx.failures().note_failures(resource, std::slice::from_ref(&failure)).await.unwrap();
    }
    tx.commit().await.unwrap();
    let mut shown = world.tables.all("v_errors").await;
    shown.sort_by_key(|row| row.get("entity").map(str::to_owned));
    let columns = ["store", "entity", "key", "code", "error", "hint", "at"];
    for (row, entity) in shown.iter().zip(["order", "product"]) {
        let expected = [
            "minha-loja",
            entity,
            "N-1",
            "http_500",
            "não veio",
            "tente de novo",
            "2026-11-27T06:30:00.123456Z",
        ];
        assert_eq!(columns.map(|column| row.get(column).unwrap()), expected);
    }
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.failures().clear_failures(Resource::Orders, vec!["N-1".to_owned()]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(world.tables.list("SELECT entity FROM v_errors").await, ["product"]);
}

// withstands: F013
pub(crate) async fn a_price_of_zero_is_an_error_while_its_product_is_for_sale_or_the_erp_has_a_row_for_it(
    world: &World,
) {
    let at = "'2026-11-27T06:30:00.123456Z'";
    for (id, is_for_sale, price) in [
        ("A", "(1 = 1)", "0"),
        ("B", "(1 = 0)", "0"),
        ("C", "NULL", "0"),
        ("D", "(1 = 1)", "1.5"),
        ("E", "(1 = 0)", "0"),
    ] {
        let product = format!(
            "INSERT INTO products (store, id, listing_hash, content_hash, mirrored_at, sku, is_available_for_sale, raw) \
             VALUES ('minha-loja', '{id}', 1, 1, {at}, 'S-{id}', {is_for_sale}, '{{}}')"
        );
        let tier = format!(
            "INSERT INTO product_prices (store, product_id, min_quantity, mirrored_at, value, raw) \
             VALUES ('minha-loja', '{id}', 10, {at}, {price}, '{{}}')"
        );
        world.tables.execute(&product).await;
        world.tables.execute(&tier).await;
    }
    let row = "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('minha-loja', 'S-E', 10, 2)";
    world.tables.execute(row).await;
    let told = async || {
        let shown =
            world.tables.list("SELECT key FROM v_errors WHERE code = 'price_zero' ORDER BY key").await;
        let all = world.store.overview().zero_prices().await.unwrap();
        let zeroes = all.get("minha-loja");
        assert_eq!(zeroes.map_or(0, |zeroes| zeroes.tiers), shown.len() as u64);
        assert_eq!(zeroes.map(|zeroes| &zeroes.key), shown.first());
        shown
    };
    assert_eq!(told().await, ["S-A/10", "S-C/10", "S-E/10"]);
    world
        .tables
        .execute("UPDATE erp_prices SET state = 'failed', error_code = 'x', error = 'e', hint = 'h'")
        .await;
    assert_eq!(told().await, ["S-A/10", "S-C/10"], "the row says it itself");
    world.tables.execute("UPDATE erp_prices SET state = 'ignored'").await;
    assert_eq!(told().await, ["S-A/10", "S-C/10", "S-E/10"], "something else was given up");
    world.tables.execute("UPDATE erp_prices SET error_code = 'price_zero'").await;
    assert_eq!(told().await, ["S-A/10", "S-C/10"], "the zero is meant");
    world.tables.execute("UPDATE product_prices SET value = 1 WHERE product_id = 'A'").await;
    world.tables.execute(&format!("UPDATE product_prices SET gone_at = {at} WHERE product_id = 'C'")).await;
    assert_eq!(told().await, [""; 0]);
}

async fn deadlines(world: &World) -> Vec<String> {
    let mut shown: Vec<String> = world
        .tables
        .all("v_deadlines")
        .await
        .iter()
        .map(|row| ["key", "kind", "at"].map(|column| row.get(column).unwrap()).join(" "))
        .collect();
    shown.sort();
    shown
}

pub(crate) async fn a_deadline_of_the_marketplace_is_shown_until_it_is_met(world: &World) {
    let lease = world.lease().await;
    let with = |number: &str, status: &str| Order {
        payment_expires_at: None,
        release_at: None,
        ..order(number, status)
    };
    let orders = vec![
        with("N-1", "preparing"),
        with("N-2", "waiting_payment"),
        with("N-3", "ready_to_ship"),
        with("N-4", "shipped"),
        with("N-5", "cancelled"),
        with("N-6", "a_status_of_tomorrow"),
    ];
    world.write_orders(&lease, Op::Insert, orders).await;
    let [ship, invoice, pick] = [
        "ship_by 2026-11-28T21:00:00.000000Z",
        "invoice_by 2026-11-28T02:59:59.000000Z",
        "pick_by 2026-11-28T18:00:00.000000Z",
    ];
    let expected = |number: &str, kinds: &[&str]| -> Vec<String> {
        kinds.iter().map(|kind| format!("{number} {kind}")).collect()
    };
    let all = [
        expected("N-1", &[invoice, pick, ship]),
        expected("N-3", &[invoice, ship]),
        expected("N-6", &[invoice, pick, ship]),
    ];
    assert_eq!(deadlines(world).await, all.concat());
    let next = "SELECT order_number FROM v_orders_open WHERE next_deadline = ship_by ORDER BY order_number";
    assert_eq!(world.tables.list(next).await, ["N-1", "N-3", "N-6"]);
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_invoices(&order_number(), vec![invoice_of("1")]).await.unwrap();
    tx.mirror().write_media_images(vec![loose_image("7")]).await.unwrap();
    tx.commit().await.unwrap();
    let all = [
        expected("7", &["cleanup_at 2026-11-30T06:00:00.250000Z"]),
        expected("N-1", &[pick, ship]),
        expected("N-3", &[invoice, ship]),
        expected("N-6", &[invoice, pick, ship]),
    ];
    assert_eq!(deadlines(world).await, all.concat(), "the invoice is there");
}

fn invoice_of(id: &str) -> FiscalDocument {
    FiscalDocument { is_current: true, ..invoice(id, "issued") }
}

fn loose_image(id: &str) -> MediaImage {
    MediaImage { in_use: Some(false), created_at: Some(time("2026-11-27T06:00:00.25Z")), ..image(id, "a") }
}

pub(crate) async fn orders_at_the_fiscal_gate_are_counted_once_a_store_is_a_week_old(world: &World) {
    let lease = world.lease().await;
    let key = minha_loja();
    world.store.mirror().identify(&key, "sandbox", "https://m.example").await.unwrap();
    let mut orders: Vec<_> = (0..16).map(|n| order(&format!("N-{n}"), "preparing")).collect();
    orders.extend([order("paid", "paid"), order("gone", "preparing")]);
    world.write_orders(&lease, Op::Insert, orders).await;
    gone(world, &lease, "gone").await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_invoices(&order_number(), vec![invoice_of("1")]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(world.store.overview().fiscal_queues().await.unwrap(), [], "nobody knows what is usual");
    world.tables.execute("UPDATE stores SET first_seen_at = '2020-01-01T00:00:00.000000Z'").await;
    let queue = FiscalQueue { store: key.to_string(), waiting: 15, usual: 3 };
    assert_eq!(world.store.overview().fiscal_queues().await.unwrap(), [queue]);
}

async fn new_orders(world: &World) -> Vec<String> {
    world.tables.list("SELECT order_number FROM v_orders_new ORDER BY order_number").await
}

pub(crate) async fn an_order_is_new_until_the_erp_has_taken_it(world: &World) {
    let lease = world.lease().await;
    let mut orders: Vec<Order> = STATUSES.iter().map(|status| order(status, status)).collect();
    orders.push(bare_order("without"));
    world.write_orders(&lease, Op::Insert, orders).await;
    gone(world, &lease, "paid").await;
    const NOT_TAKEN: [&str; 6] = [
        "waiting_payment",
        "awaiting_campaign_conclusion",
        "cancelled",
        "payment_expired",
        "pickup_expired",
        // Gone.
        "paid",
    ];
    let mut expected: Vec<&str> = STATUSES.into_iter().filter(|status| !NOT_TAKEN.contains(status)).collect();
    expected.sort_unstable();
    assert_eq!(new_orders(world).await, expected);
    let taken = "INSERT INTO erp_orders (store, order_number, erp_id) SELECT store, order_number, 'PED-1' FROM v_orders_new \
        WHERE order_number <> 'preparing'";
    world.tables.execute(taken).await;
    assert_eq!(new_orders(world).await, ["preparing"]);
    let columns = "SELECT status_label || ' ' || customer_city || ' ' || customer_state FROM v_orders_new \
        WHERE ship_by IS NOT NULL AND total_order > 100";
    assert_eq!(world.tables.list(columns).await, ["Pago Ji-Paraná RO"]);
    // Another store has an order of the same number.
    world.tables.execute("UPDATE erp_orders SET store = 'outra' WHERE order_number = 'shipped'").await;
    assert_eq!(new_orders(world).await, ["preparing", "shipped"]);
}

pub(crate) async fn a_refunded_order_with_its_goods_still_here_is_neither_new_nor_due(world: &World) {
    let lease = world.lease().await;
    world.store.mirror().identify(&minha_loja(), "sandbox", "https://m.example").await.unwrap();
    let with = |number: &str, status: &str, payment: &str| Order {
        payment_status: text(payment),
        payment_expires_at: None,
        release_at: None,
        ..order(number, status)
    };
    let orders = vec![
        with("1-paid", "paid", "refunded"),
        with("2-preparing", "preparing", "refunded"),
        with("3-partial", "preparing", "partially_refunded"),
        with("4-capitals", "paid", "REFUNDED"),
        with("5-gone-out", "shipped", "refunded"),
        with("6-unknown", "a_status_of_tomorrow", "refunded"),
    ];
    world.write_orders(&lease, Op::Insert, orders).await;
    let refunded = "SELECT order_number || ' ' || status FROM v_orders_refunded ORDER BY 1";
    assert_eq!(world.tables.list(refunded).await, ["1-paid paid", "2-preparing preparing"]);
    assert_eq!(new_orders(world).await, ["3-partial", "4-capitals", "5-gone-out", "6-unknown"]);
    let due = "SELECT DISTINCT key FROM v_deadlines ORDER BY key";
    assert_eq!(world.tables.list(due).await, ["3-partial", "4-capitals", "6-unknown"]);
    // What is uncertain stays visible, and what is certain waits for its cancellation.
    assert_eq!(world.tables.count("v_orders_open").await, 6);
    let dispatched =
        "SELECT order_number FROM v_orders_open WHERE next_deadline IS NULL ORDER BY order_number";
    assert_eq!(world.tables.list(dispatched).await, ["1-paid", "2-preparing", "5-gone-out"]);
    // The figures and the lists of the page agree with the views.
    let now = world.clock.now();
    let bounds = std::array::from_fn(|n| now + TimeDelta::days(n as i64));
    let figures = world.store.overview().figures(None, now + TimeDelta::days(30), &bounds).await.unwrap();
    assert_eq!((figures.not_taken, figures.awaiting_invoice, figures.dispatch), (4, 1, 3));
    let listed = async |list| -> usize {
        world.store.overview().orders(list, Some(&minha_loja()), "", 100).await.unwrap().len()
    };
    assert_eq!((listed(OrderList::NotTaken).await, listed(OrderList::AwaitingInvoice).await), (4, 1));
}

pub(crate) async fn what_waits_is_shown_with_what_it_waits_for(world: &World) {
    let given = "INSERT INTO commands (id, store, kind, key) VALUES (8, 'minha-loja', 'order.status', 'N-1'), \
        (9, 'minha-loja', 'order.status', 'N-2')";
    world.tables.execute(given).await;
    world
        .tables
        .execute(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'A', '1', 1)",
        )
        .await;
    let waits = |table: &str| {
        format!(
            "UPDATE {table} SET state = 'waiting', error_code = 'invoice', error = 'sem NF-e', hint = 'emita'"
        )
    };
    world.tables.execute(&format!("{} WHERE id = 8", waits("commands"))).await;
    world.tables.execute(&waits("erp_stock")).await;
    let waiting = "SELECT entity || ' ' || key || ' ' || code || ' ' || error || ' ' || hint FROM v_waiting \
        WHERE store = 'minha-loja' AND since IS NOT NULL ORDER BY 1";
    assert_eq!(
        world.tables.list(waiting).await,
        ["command 8 invoice sem NF-e emita", "stock A/1 invoice sem NF-e emita"]
    );
    assert_eq!(world.tables.count("v_errors").await, 0, "what waits is no error");
}

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
    assert_eq!((all.not_taken, all.erp_takes), (new_orders(world).await.len() as u64, false));
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
    assert_eq!((taken.not_taken, taken.erp_takes), (all.not_taken - 1, true));
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
