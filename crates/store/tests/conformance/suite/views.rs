//! The views for people.

use chrono::TimeDelta;
use espelho_model::{
    Clock as _,
    fiscal::FiscalDocument,
    media::MediaImage,
    order::{Order, STATUSES, TERMINAL_STATUSES},
    sync::Resource,
};
use espelho_store::{Failure, FiscalQueue, Listed, Op, OrderList};

use crate::{
    examples::{bare_order, order, time},
    specimens::{campaign, image, invoice, order_number, text},
    world::{World, minha_loja},
};

pub(super) async fn gone(world: &World, lease: &espelho_store::Lease, number: &str) {
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

pub(super) async fn new_orders(world: &World) -> Vec<String> {
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
        release_at: LATE.map(time),
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
    // An uncertain refund stays visible, and a certain one waits for its cancellation.
    assert_eq!(world.tables.count("v_orders_open").await, 6);
    let dispatched =
        "SELECT order_number FROM v_orders_open WHERE next_deadline IS NULL ORDER BY order_number";
    assert_eq!(world.tables.list(dispatched).await, ["1-paid", "2-preparing", "5-gone-out"]);
    // The figures and the lists of the page agree with the views, where the ERP takes orders.
    let taken = "INSERT INTO erp_orders (store, order_number) VALUES ('minha-loja', 'of-another-day')";
    world.tables.execute(taken).await;
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
