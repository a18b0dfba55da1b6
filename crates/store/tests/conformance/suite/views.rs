//! The views that people ask.

use espelho_model::{
    fiscal::FiscalDocument,
    order::{Order, STATUSES, TERMINAL_STATUSES},
    sync::Resource,
};
use espelho_store::{Failure, Listed, Op};

use crate::{
    examples::{bare_order, order, time},
    specimens::{campaign, invoice, order_number, text},
    world::World,
};

async fn gone(world: &World, lease: &espelho_store::Lease, number: &str) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.mark_gone(Resource::Orders, vec![number.to_owned()]).await.unwrap();
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
    // The databases have clocks of their own; some years have passed since.
    assert!(newer > 5 * 365 * 86_400, "{newer}");
}

fn due(number: &str, status: &str, payment: Option<&str>, release: Option<&str>) -> Order {
    Order { payment_expires_at: payment.map(time), release_at: release.map(time), ..order(number, status) }
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
    tx.write_campaigns(vec![campaign(7, "a"), over, endless, campaign(10, "a")]).await.unwrap();
    tx.mark_listed_gone(Listed::Campaigns, vec!["10".to_owned()]).await.unwrap();
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
    tx.write_invoices(&order_number(), vec![of("old", false), of("lost", true)]).await.unwrap();
    tx.write_invoices(&order_number(), vec![of("old", false), of("new", true)]).await.unwrap();
    tx.commit().await.unwrap();
    let current = "SELECT order_number || ' ' || id || ' ' || invoice_number FROM v_invoice_current";
    assert_eq!(world.tables.list(current).await, ["N-1 new 000123"]);
}

pub(crate) async fn an_error_is_shown_with_its_row_and_its_next_step(world: &World) {
    let lease = world.lease().await;
    let failure = Failure {
        key: "N-1".to_owned(),
        code: "http_500".to_owned(),
        error: "não veio".to_owned(),
        hint: "tente de novo".to_owned(),
        said: None,
    };
    let mut tx = world.store.begin(&lease).await.unwrap();
    for resource in Resource::ALL {
        tx.note_failures(resource, std::slice::from_ref(&failure)).await.unwrap();
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
    tx.clear_failures(Resource::Orders, vec!["N-1".to_owned()]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(world.tables.list("SELECT entity FROM v_errors").await, ["product"]);
}
