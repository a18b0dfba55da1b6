//! Orders that the marketplace denies: read again over a day, and accepted as gone if it persists.

use std::{collections::HashSet, time::Duration};

use espelho_sandbox::Fault;
use espelho_sync_engine::plan::schedule::Sweep;

use crate::support::{Kind, Rig, STORE, Setup, live::only, refused_with};

/// How often the sweep of a test runs.
const OFTEN: Duration = Duration::from_secs(60);
/// A denial counts when this much time has passed since the one before.
const HALF_A_DAY: Duration = Duration::from_secs(12 * 3_600);

const MISSING: &str = "SELECT key || ' ' || CAST(confirmations AS TEXT) FROM missing ORDER BY key";
const GONE: &str = "SELECT order_number FROM orders WHERE gone_at IS NOT NULL ORDER BY order_number";
/// The first page of a sweep for new orders.
const NEWEST: &str = "/orders?sort=-created_at&limit=100&page=1";
const FAILURES: &str = "SELECT key || ' ' || code FROM sync_failures WHERE resource = 'orders'";

async fn mirrored(orders: usize) -> Rig {
    let setup =
        Setup::on(Kind::Sqlite).with(|setup| (setup.world.orders, setup.world.products) = (orders, 4));
    let mut rig = setup.start().await;
    rig.stop().await;
    rig
}

impl Rig {
    /// Records a denial as if it had come hours ago.
    async fn deny(&self, number: &str, hours_ago: i64, confirmations: u32) {
        let at = |hours| (self.parts.clock.now() - chrono::TimeDelta::hours(hours)).format("%FT%T%.6fZ");
        let sql = format!(
            "INSERT OR REPLACE INTO missing VALUES ('{STORE}', 'orders', '{number}', '{}', {confirmations}, '{}')",
            at(30),
            at(hours_ago)
        );
        self.tables.execute(&sql).await;
    }
}

// withstands: F059
#[tokio::test]
async fn a_denied_order_is_gone_with_the_third_denial_over_a_day() {
    let mut rig = mirrored(5).await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    rig.kept_in_step(only(&[Sweep::OpenOrders], OFTEN), true).await;
    let row = format!("SELECT CAST(raw AS TEXT) FROM orders WHERE order_number = '{number}'");
    let before = rig.ask(&row).await;
    assert!(rig.control().orders().remove(&rig.key(), &number));
    for confirmed in [1, 2] {
        rig.shown(MISSING, |rows| rows == [format!("{number} {confirmed}")]).await;
        // The sweep reads it every minute, and none of that counts before half a day has passed.
        let reads = rig.requests(&format!("/orders/{number}")).len();
        rig.pass(Duration::from_secs(300)).await;
        assert!(rig.requests(&format!("/orders/{number}")).len() > reads, "it is read again");
        assert_eq!(rig.ask(MISSING).await, [format!("{number} {confirmed}")]);
        assert!(rig.ask(GONE).await.is_empty());
        rig.leap(HALF_A_DAY);
    }
    rig.shown(GONE, |rows| rows == [&*number]).await;
    assert!(rig.ask(MISSING).await.is_empty());
    assert_eq!(rig.ask(&row).await, before, "the row is kept whole");
    let told = format!("SELECT op FROM changes WHERE entity = 'order' AND key = '{number}' AND op = 'gone'");
    assert_eq!(rig.ask(&told).await, ["gone"]);
    rig.stop().await;
}

// withstands: F059
#[tokio::test]
async fn an_order_that_answers_again_between_two_denials_is_there_and_counts_anew() {
    let mut rig = mirrored(2).await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    rig.kept_in_step(only(&[Sweep::OpenOrders], OFTEN), true).await;
    let path = format!("/orders/{number}");
    for round in 0..4 {
        // Its change makes the sweep read it; denied, it is read again each time.
        assert!(rig.control().orders().set_notes(&rig.key(), &number, Some(&format!("nota {round}"))));
        rig.fault(&path, None, refused_with(404, "NOT_FOUND"));
        rig.shown(MISSING, |rows| rows == [format!("{number} 1")]).await;
        rig.control().faults().clear();
        rig.shown(MISSING, <[String]>::is_empty).await;
        rig.leap(HALF_A_DAY);
    }
    assert!(rig.ask(GONE).await.is_empty(), "four denials over two days, and each was taken back");
    rig.stop().await;
}

// withstands: F059
#[tokio::test]
async fn a_missing_order_is_asked_for_again_when_its_time_has_come() {
    let mut rig = mirrored(10).await;
    let numbers = rig.ask("SELECT order_number FROM orders ORDER BY order_number LIMIT 3").await;
    let [removed, there, early] = numbers.as_slice() else { panic!("{numbers:?}") };
    let outside = rig.kept_in_step(only(&[Sweep::AgedOrders], OFTEN), true).await;
    for number in [removed, early] {
        assert!(rig.control().orders().remove(&rig.key(), number));
    }
    for (number, hours) in [(removed, 13), (there, 13), (early, 11)] {
        rig.deny(number, hours, 2).await;
    }
    rig.shown(MISSING, |rows| rows == [format!("{early} 2")]).await;
    rig.shown(GONE, |rows| rows == [removed.as_str()]).await;
    assert!(outside.told().failed.is_empty(), "{:?}", outside.told().failed);
    rig.stop().await;
}

// withstands: F059
#[tokio::test]
async fn a_denial_that_was_a_moments_mistake_is_forgotten_when_the_order_is_listed() {
    let mut rig = mirrored(5).await;
    rig.kept_in_step(only(&[Sweep::NewOrders], OFTEN), true).await;
    let newest = "SELECT order_number FROM orders ORDER BY created_at DESC LIMIT 1";
    let number = rig.ask(newest).await.remove(0);
    rig.deny(&number, 4, 1).await;
    rig.shown(MISSING, <[String]>::is_empty).await;
    assert!(rig.ask(GONE).await.is_empty());
    rig.stop().await;
}

// withstands: F059, F060
#[tokio::test]
async fn when_too_many_orders_are_denied_none_is_gone_by_itself() {
    let mut rig = mirrored(60).await;
    rig.kept_in_step(only(&[Sweep::AgedOrders], OFTEN), true).await;
    // First the fault: a reading that succeeds would take a denial away.
    rig.fault("GET /api/v1/sellers/orders/{id}", None, refused_with(404, "NOT_FOUND"));
    for number in &rig.ask("SELECT order_number FROM orders ORDER BY order_number").await[..55] {
        rig.deny(number, 13, 2).await;
    }
    let asked = rig.requests("/api/v1/sellers/orders/").len();
    rig.until("they are asked for", async || rig.requests("/api/v1/sellers/orders/").len() >= asked + 50)
        .await;
    rig.pass(OFTEN).await;
    assert_eq!((rig.ask(MISSING).await.len(), rig.ask(GONE).await.len()), (55, 0));
    // They were never away: the answers come back, and the denials go.
    rig.control().faults().clear();
    rig.shown(MISSING, <[String]>::is_empty).await;
    assert!(rig.ask(GONE).await.is_empty());
    rig.stop().await;
}

#[tokio::test]
async fn an_order_that_was_never_mirrored_and_is_denied_leaves_a_failure_and_no_row() {
    let mut rig = mirrored(2).await;
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let data = serde_json::json!({"order_number": "NUNCA-1", "status": "paid", "store_id": 1});
    rig.deliver(&outside, "order.paid", &data).await;
    rig.until("it is handled", async || !outside.told().handled.is_empty()).await;
    rig.shown(FAILURES, |rows| rows == ["NUNCA-1 not_found"]).await;
    assert!(rig.ask(MISSING).await.is_empty() && rig.ask(GONE).await.is_empty());
    assert!(rig.ask("SELECT status FROM orders WHERE order_number = 'NUNCA-1'").await.is_empty());
    let reads = rig.requests("/orders/NUNCA-1").len();
    assert!((2..=12).contains(&reads), "a replica may be behind: {reads} reads");
    rig.stop().await;
}

#[tokio::test]
async fn a_listed_order_that_is_denied_is_a_failure_until_it_can_be_read_or_is_listed_no_more() {
    for is_readable in [true, false] {
        let mut rig = mirrored(2).await;
        rig.kept_in_step(only(&[Sweep::NewOrders], OFTEN), true).await;
        let number = rig.control().orders().insert(&rig.key());
        let path = format!("/orders/{number}");
        rig.fault(&path, None, refused_with(404, "NOT_FOUND"));
        rig.shown(FAILURES, |rows| rows == [format!("{number} NOT_FOUND")]).await;
        assert_eq!(rig.requests(&path).len(), 3, "the routes may be behind each other for some seconds");
        rig.pass(OFTEN * 3).await;
        assert_eq!(rig.ask(FAILURES).await, [format!("{number} NOT_FOUND")]);
        let reads = rig.requests(&path).len();
        assert!((4..=7).contains(&reads), "it is read again with each sweep: {reads}");
        match is_readable {
            true => rig.control().faults().clear(),
            false => assert!(rig.control().orders().remove(&rig.key(), &number)),
        }
        rig.shown(FAILURES, <[String]>::is_empty).await;
        let mirrored = format!("SELECT order_number FROM orders WHERE order_number = '{number}'");
        assert_eq!(rig.ask(&mirrored).await.len(), usize::from(is_readable));
        rig.stop().await;
    }
}

/// More orders than are searched for in four sweeps.
const MANY: usize = 24;

impl Rig {
    /// Sells orders whose details are denied; returns their numbers when all are failures on record.
    async fn many_denied(&mut self, many: usize) -> Vec<String> {
        self.kept_in_step(only(&[Sweep::NewOrders], OFTEN), true).await;
        self.fault("GET /api/v1/sellers/orders/{id}", None, refused_with(404, "NOT_FOUND"));
        let numbers = (0..many).map(|_| self.control().orders().insert(&self.key())).collect();
        self.shown(FAILURES, |rows| rows.len() == many).await;
        numbers
    }
}

#[tokio::test]
async fn listed_orders_that_were_denied_are_all_read_by_the_sweep_that_lists_them() {
    let mut rig = mirrored(2).await;
    let numbers = rig.many_denied(60).await;
    rig.control().faults().clear();
    let sweeps = rig.requests(NEWEST).len();
    rig.shown(FAILURES, <[String]>::is_empty).await;
    // The search alone reads five with each sweep; some come before 50 s have passed since the denials.
    assert!(rig.requests(NEWEST).len() - sweeps <= 6, "{} sweeps", rig.requests(NEWEST).len() - sweeps);
    assert_eq!(rig.live("orders").await, 2 + numbers.len());
    rig.stop().await;
}

#[tokio::test]
async fn a_listing_of_orders_that_are_denied_takes_a_few_readings_and_keeps_no_order_out() {
    let mut rig = mirrored(2).await;
    let outside = rig.kept_in_step(only(&[Sweep::NewOrders], OFTEN), true).await;
    let fakes: HashSet<String> = (0..300).map(|_| rig.control().orders().insert(&rig.key())).collect();
    for number in &fakes {
        rig.fault(&format!("/orders/{number}"), None, refused_with(404, "NOT_FOUND"));
    }
    let readings = || {
        let is_fake = |path: &str| path.rsplit('/').next().is_some_and(|number| fakes.contains(number));
        rig.requests("/api/v1/sellers/orders/").iter().filter(|entry| is_fake(&entry.path)).count()
    };
    rig.shown(FAILURES, |rows| !rows.is_empty()).await;
    rig.pass(Duration::from_secs(15)).await;
    // Twenty denials, five probes, and what four workers have begun meanwhile.
    assert!(readings() <= 29, "{} readings", readings());
    let number = rig.control().orders().insert(&rig.key());
    let data = serde_json::json!({"order_number": number, "status": "paid", "store_id": 1});
    rig.deliver(&outside, "order.paid", &data).await;
    let mirrored = format!("SELECT order_number FROM orders WHERE order_number = '{number}'");
    rig.shown(&mirrored, |rows| rows.len() == 1).await;
    let (before, at_first) = (readings(), rig.requests(NEWEST).len());
    rig.until("three more sweeps", async || rig.requests(NEWEST).len() >= at_first + 3).await;
    let (after, sweeps) = (readings() - before, rig.requests(NEWEST).len() - at_first);
    // Five probes, and five that were searched for.
    assert!(after <= 10 * (sweeps + 1), "{after} readings for {sweeps} sweeps");
    rig.control().faults().clear();
    rig.until("all are mirrored", async || rig.live("orders").await == 2 + 1 + fakes.len()).await;
    rig.shown(FAILURES, <[String]>::is_empty).await;
    rig.stop().await;
}

#[tokio::test]
async fn denied_orders_of_which_a_search_tells_nothing_are_read_in_turn() {
    let mut rig = mirrored(2).await;
    let numbers = rig.many_denied(MANY).await;
    // All pages and all searches show one other order.
    let mut others = rig.listing("/api/v1/sellers/orders?limit=100").await;
    others.retain(|row| !numbers.iter().any(|number| row["order_number"] == number.as_str()));
    others.truncate(1);
    assert_eq!(others.len(), 1);
    let meta = serde_json::json!({"page": 1, "limit": 100, "last_page": 1, "total": 1});
    let page = serde_json::json!({"data": others, "meta": meta}).to_string();
    rig.fault("GET /api/v1/sellers/orders", None, Fault::RawJson(page));
    let reads = |number: &String| rig.requests(&format!("/orders/{number}")).len();
    let before: Vec<usize> = numbers.iter().map(reads).collect();
    let sweeps = rig.requests(NEWEST).len();
    let are_read = || numbers.iter().zip(&before).all(|(number, before)| reads(number) > *before);
    rig.until("each of them is read again", async || are_read()).await;
    // Five with each sweep; some come before 50 s have passed since the denials.
    assert!(rig.requests(NEWEST).len() - sweeps <= 8, "{} sweeps", rig.requests(NEWEST).len() - sweeps);
    let failures = rig.ask(FAILURES).await;
    assert!(numbers.iter().all(|number| failures.iter().any(|row| row.contains(number))), "{failures:?}");
    rig.stop().await;
}

#[tokio::test]
async fn a_marketplace_that_is_down_denies_nothing() {
    let mut rig = mirrored(3).await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    rig.kept_in_step(only(&[Sweep::OpenOrders], OFTEN), true).await;
    let path = format!("/orders/{number}");
    for fault in [Fault::Html(503), Fault::Html200, Fault::ResetBefore, Fault::TooMany(1)] {
        assert!(rig.control().orders().set_notes(&rig.key(), &number, Some(&format!("{fault:?}"))));
        rig.fault(&path, None, fault.clone());
        let asked = rig.requests(&path).len();
        rig.until("it is read in vain", async || rig.requests(&path).len() > asked).await;
        rig.pass(Duration::from_secs(30)).await;
        assert!(rig.ask(MISSING).await.is_empty(), "{fault:?} is no denial");
        rig.control().faults().clear();
        let notes = format!("SELECT notes FROM orders WHERE order_number = '{number}'");
        rig.shown(&notes, |rows| rows == [format!("{fault:?}")]).await;
    }
    rig.stop().await;
}
