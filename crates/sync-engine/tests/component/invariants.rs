//! What must hold while a request is under way: no transaction is open, the journal has it as sent, and nothing that
//! was read before it overwrites what was read after it.

use std::time::Duration;

use espelho_api_client::limit::Lane;
use espelho_model::{
    push::CommandKind,
    sync::{Resource, Target},
};
use espelho_sandbox::{Fault, NewCampaign};
use espelho_sync_engine::Options;
use rust_decimal::Decimal;
use serde_json::json;

use crate::{
    kinds::{CASES, stage_on, wanted},
    support::{Kind, Rig, Setup, live::only, on_both_databases},
};

on_both_databases![
    a_transaction_that_is_held_open_is_noticed,
    no_transaction_is_open_while_a_pass_waits_for_the_marketplace,
    a_command_under_way_has_no_transaction_open_and_is_in_the_journal_as_sent,
    a_row_of_the_erp_under_way_has_no_transaction_open_and_is_in_the_journal_as_sent,
];

/// Longer than any test lasts.
const FOR_EVER: Duration = Duration::from_secs(600);
const TRANSACTIONS: &str = "SELECT state FROM pg_stat_activity WHERE datname = current_database() \
                            AND state LIKE 'idle in transaction%'";

impl Rig {
    /// The next request to a route never ends.
    fn hang(&self, route: &str) {
        self.fault(route, 1, Fault::Stall(FOR_EVER));
    }

    /// Waits until the request that never ends is under way.
    async fn hangs(&self) {
        self.until("the request is under way", async || !self.control().faults().has_any()).await;
    }

    /// Asserts that nobody holds a transaction: on SQLite both files take a writer, on PostgreSQL no session is idle in
    /// one. Work that is still going on ends, since only the request hangs.
    async fn nobody_holds_a_transaction(&self, kind: Kind) {
        match kind {
            Kind::Sqlite => {
                self.tables.execute("BEGIN IMMEDIATE; COMMIT").await;
                self.journal.execute("BEGIN IMMEDIATE; COMMIT").await;
            }
            Kind::Postgres => drop(self.shown(TRANSACTIONS, <[String]>::is_empty).await),
        }
    }

    /// Kills the engine, and with it the request that never ends.
    async fn kill_what_hangs(&mut self) {
        self.kill().await;
        // The request was never answered, and is not under way any more.
        self.control().reset_stats();
    }
}

/// The proof that the others can fail.
async fn a_transaction_that_is_held_open_is_noticed(kind: Kind) {
    let rig = Setup::on(kind).open().await;
    let (holder, other) = (rig.second_connection().await, rig.second_connection().await);
    match kind {
        Kind::Sqlite => {
            holder.execute("BEGIN IMMEDIATE").await;
            let writing =
                async move { other.execute("PRAGMA busy_timeout = 1; BEGIN IMMEDIATE; COMMIT").await };
            assert!(tokio::spawn(writing).await.unwrap_err().is_panic());
        }
        Kind::Postgres => {
            holder.execute("BEGIN; SELECT 1").await;
            assert_eq!(other.ask(TRANSACTIONS).await, ["idle in transaction"]);
            holder.execute("COMMIT").await;
            assert!(other.ask(TRANSACTIONS).await.is_empty());
        }
    }
}

/// What a run reads, and the route at which it waits.
const READ: [(Target, &str); 9] = [
    (Target::Listed(Resource::Orders), "GET /api/v1/sellers/orders"),
    (Target::Listed(Resource::Orders), "GET /api/v1/sellers/orders/{id}"),
    (Target::Listed(Resource::Products), "GET /api/products"),
    (Target::Listed(Resource::Products), "GET /api/products/{id}"),
    (Target::Financial, "/financial"),
    (Target::Shipments, "/shipments"),
    (Target::Campaigns, "/eligible-products"),
    (Target::MediaImages, "/api/media"),
    (Target::Profile, "/api/stores/page"),
];

async fn no_transaction_is_open_while_a_pass_waits_for_the_marketplace(kind: Kind) {
    let setup = Setup::on(kind).with(|setup| (setup.world.orders, setup.world.store_page) = (4, true));
    let mut rig = setup.start().await;
    rig.stop().await;
    rig.control().campaigns().create(&NewCampaign::default()).unwrap();
    for (target, route) in READ {
        let options = Options { only: vec![target], deep: true, kind: "manual", ..Options::default() };
        rig.hang(route);
        let looking_on = async {
            rig.hangs().await;
            rig.nobody_holds_a_transaction(kind).await;
        };
        tokio::select! {
            biased;
            () = looking_on => (),
            report = rig.reconcile(&options) => panic!("{target:?} did not wait at {route}: {report:?}"),
        }
        rig.control().reset_stats();
    }
}

/// Kinds that wait for nothing but the marketplace: on PostgreSQL time is the machine's.
const PROMPT: [CommandKind; 5] = [
    CommandKind::OrderStatus,
    CommandKind::ProductCreate,
    CommandKind::ProductUpdate,
    CommandKind::StockAdjust,
    CommandKind::PriceListCreate,
];

async fn a_command_under_way_has_no_transaction_open_and_is_in_the_journal_as_sent(kind: Kind) {
    let mut rig = stage_on(kind).await;
    for case in &CASES {
        if kind == Kind::Postgres && !PROMPT.contains(&case.kind) {
            continue;
        }
        let (key, data) = wanted(&mut rig, case.kind).await;
        let before = case.sent(&rig);
        rig.hang(case.route);
        let id = rig.give(case.kind.as_str(), &key, &data).await;
        rig.hangs().await;
        let sent = format!(
            "SELECT request FROM effects WHERE command_id = {id} AND state = 'sent' AND sent_at IS NOT NULL"
        );
        let sent = rig.journal.ask(&sent).await;
        assert_eq!(sent.len(), 1, "{:?}: {sent:?}", case.kind);
        rig.nobody_holds_a_transaction(kind).await;
        rig.kill_what_hangs().await;
        rig.start().await;
        if kind == Kind::Postgres {
            // What may still be under way is not sent again for forty seconds of the machine's time.
            continue;
        }
        // It had no effect: it is sent again only where a reading proves that.
        let answer = rig.outcome(id, |state| !["new", "waiting", "sending"].contains(&state)).await;
        let is_proved = case.is_provable && case.kind != CommandKind::LabelsGenerate;
        let expected = if is_proved { ("done", 1) } else { ("doubtful", 0) };
        let again = case.sent(&rig) - before;
        assert_eq!((answer[0].as_str(), again), expected, "{:?}: {answer:?}", case.kind);
    }
    rig.stop().await;
}

async fn a_row_of_the_erp_under_way_has_no_transaction_open_and_is_in_the_journal_as_sent(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let goods = rig.goods().await.remove(0);
    let sql = "SELECT sku || '|' || CAST(price AS TEXT) FROM products \
               WHERE price_type = 'default' AND price > 2 LIMIT 1";
    let row = rig.ask(sql).await.remove(0);
    let (sku, price) = row.split_once('|').unwrap();
    let price: Decimal = price.parse().unwrap();
    for (table, route) in [("erp_stock", "POST /api/products/{id}/stock"), ("erp_prices", "/prices")] {
        rig.hang(route);
        match table {
            "erp_stock" => rig.set_stock(&goods, &(goods.quantity + 3).to_string()).await,
            _ => rig.set_price(sku, 1, &(price + Decimal::ONE).to_string()).await,
        }
        rig.hangs().await;
        let sent =
            rig.journal.ask("SELECT key FROM effects WHERE state = 'sent' AND sent_at IS NOT NULL").await;
        assert_eq!(sent.len(), 1, "{table}: {sent:?}");
        rig.nobody_holds_a_transaction(kind).await;
        rig.kill_what_hangs().await;
        rig.start().await;
        rig.shown(&format!("SELECT state FROM {table}"), |rows| rows == ["done"]).await;
    }
    assert_eq!(rig.stock_of(&goods).await, goods.quantity + 3);
    assert_eq!((rig.writes("/stock").len(), rig.writes("/prices").len()), (1, 1));
    rig.stop().await;
}

/// Every request that changes something stands in the journal as one effect that was sent, whatever is lost.
#[tokio::test]
async fn each_request_that_changes_something_is_one_effect_of_the_journal() {
    let mut rig = stage_on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    for (round, fault) in [None, Some(Fault::ResetAfter), Some(Fault::ResetBefore), Some(Fault::Html(502))]
        .into_iter()
        .enumerate()
    {
        for (at, one) in goods[..4].iter().enumerate() {
            let number = rig.sell("standard", &one.sku);
            for route in ["POST /api/products/{id}/stock", "POST /api/v1/sellers/orders/{id}/status"] {
                fault.iter().for_each(|fault| rig.fault(route, 1, fault.clone()));
            }
            rig.set_stock(one, &(10 + round * 4 + at).to_string()).await;
            rig.give("order.status", &number, &json!({"status": "preparing"})).await;
            rig.give("stock.adjust", &goods[5].sku, &json!({"location_id": goods[5].location, "delta": 1}))
                .await;
        }
        let open = "SELECT state FROM commands WHERE state NOT IN ('done', 'doubtful') UNION ALL \
                    SELECT state FROM erp_stock WHERE state <> 'done'";
        rig.shown(open, <[String]>::is_empty).await;
        rig.control().faults().clear();
    }
    let sent = rig.journal.ask("SELECT kind FROM effects WHERE sent_at IS NOT NULL").await;
    assert_eq!(rig.writes("/api/").len(), sent.len(), "{sent:?}");
    let unsettled = "SELECT kind FROM effects WHERE state IN ('planned', 'sent')";
    assert!(rig.journal.ask(unsettled).await.is_empty());
    rig.stop().await;
}

/// An answer that comes late, by the machine's clock. Meanwhile the clock of the test stands still.
const LATE: Fault = Fault::Stall(Duration::from_secs(4));

#[tokio::test]
async fn a_pass_does_not_overwrite_an_order_that_was_read_after_it() {
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.world.orders = 6).start().await;
    rig.stop().await;
    let outside = rig.kept_in_step(only(&[], FOR_EVER), true).await;
    let numbers = rig.ask("SELECT order_number FROM orders ORDER BY order_number").await;
    let (read, slow) = (&numbers[0], &numbers[1]);
    let (path, notes) =
        (format!("/orders/{read}"), format!("SELECT notes FROM orders WHERE order_number = '{read}'"));
    assert!(rig.control().orders().set_notes(&rig.key(), read, Some("antes")));
    rig.fault(&format!("/orders/{slow}"), 1, LATE);
    let before = rig.requests(&path).len();
    let options = Options {
        only: vec![Resource::Orders.into()],
        deep: true,
        lane: Some(Lane::Backfill),
        kind: "manual",
        ..Options::default()
    };
    let meanwhile = async {
        // The pass has read the row as it was, and waits for another one of the page before it writes.
        rig.until("the pass waits", async || {
            !rig.control().faults().has_any() && rig.requests(&path).len() > before
        })
        .await;
        assert!(rig.control().orders().set_notes(&rig.key(), read, Some("depois")));
        let data = json!({"store_id": 1, "order_number": read, "status": "paid"});
        rig.deliver(&outside, "order.paid", &data).await;
        rig.shown(&notes, |rows| rows == ["depois"]).await;
    };
    let (report, ()) = tokio::join!(rig.request_reconciliation(&outside, options), meanwhile);
    assert!(report.problems().next().is_none(), "{report:?}");
    assert_eq!(rig.ask(&notes).await, ["depois"], "what was read earlier has overwritten it");
    rig.orders_are_the_marketplaces().await;
    rig.stop().await;
}

#[tokio::test]
async fn a_pass_does_not_overwrite_a_product_that_was_read_after_it() {
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.world.products = 6).start().await;
    rig.stop().await;
    let outside = rig.kept_in_step(only(&[], FOR_EVER), true).await;
    let goods = rig.goods().await;
    let slow = rig
        .ask(&format!("SELECT id FROM products WHERE id <> '{}' ORDER BY id", goods[0].id))
        .await
        .remove(0);
    let (path, key) = (format!("/products/{}", goods[0].id), rig.key());
    let price = format!("SELECT CAST(price AS TEXT) FROM products WHERE id = '{}'", goods[0].id);
    let is_now = |rows: &[String], cents| rows[0].parse::<Decimal>().unwrap() == Decimal::new(cents, 2);
    assert!(rig.control().products().edit_price(&key, &goods[0].id, Decimal::new(1_111, 2)));
    rig.fault(&format!("/products/{slow}"), 1, LATE);
    let before = rig.requests(&path).len();
    let options = Options {
        only: vec![Resource::Products.into()],
        deep: true,
        lane: Some(Lane::Backfill),
        kind: "manual",
        ..Options::default()
    };
    let meanwhile = async {
        rig.until("the pass waits", async || {
            !rig.control().faults().has_any() && rig.requests(&path).len() > before
        })
        .await;
        assert!(rig.control().products().edit_price(&key, &goods[0].id, Decimal::new(2_222, 2)));
        let data =
            json!({"store_id": 1, "product_sku_id": goods[0].id, "location_id": 1, "new_price": 22.22});
        rig.deliver(&outside, "product.price_updated", &data).await;
        rig.shown(&price, |rows| is_now(rows, 2_222)).await;
    };
    let (report, ()) = tokio::join!(rig.request_reconciliation(&outside, options), meanwhile);
    assert!(report.problems().next().is_none(), "{report:?}");
    assert!(is_now(&rig.ask(&price).await, 2_222), "what was read earlier has overwritten it");
    rig.stop().await;
}
