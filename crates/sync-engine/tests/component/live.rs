//! The live mirror: sweeps, refreshes of what deliveries hint at, and outages.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::StoreKey;
use espelho_sandbox::{Fault, NewCampaign};
use espelho_sync_engine::{live::Handled, plan::schedule::Sweep};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::support::{Kind, Rig, STORE, Setup, live::only};

/// How often the sweep of a test runs.
const OFTEN: Duration = Duration::from_secs(60);

async fn mirrored() -> Rig {
    let setup = Setup::on(Kind::Sqlite).with(|setup| (setup.world.orders, setup.world.products) = (4, 6));
    let mut rig = setup.start().await;
    rig.stop().await;
    rig
}

/// Something that changes at the marketplace and that one sweep finds: the change, and what the mirror then shows.
struct Found {
    sweep: Sweep,
    change: fn(&Rig, &str, &str) -> String,
    sql: &'static str,
}

/// `{}` stands for what the change returns.
const FOUND: [Found; 6] = [
    Found {
        sweep: Sweep::NewOrders,
        change: |rig, _, sku| rig.sell("standard", sku),
        sql: "SELECT status FROM orders WHERE order_number = '{}' AND status = 'paid'",
    },
    Found {
        sweep: Sweep::OpenOrders,
        change: |rig, order, _| {
            assert!(rig.control().orders().set_status(&rig.key(), order, "preparing"));
            order.to_owned()
        },
        sql: "SELECT status FROM orders WHERE order_number = '{}' AND status = 'preparing'",
    },
    Found {
        sweep: Sweep::Products,
        change: |rig, _, sku| {
            assert!(rig.control().products().edit_price(&rig.key(), sku, Decimal::new(12_345, 2)));
            sku.to_owned()
        },
        sql: "SELECT sku FROM products WHERE sku = '{}' AND CAST(price AS REAL) = 123.45",
    },
    Found {
        sweep: Sweep::Subresources,
        change: |rig, order, _| {
            // A parcel moves without a change of its order.
            let parcel = rig.control().shipments().of_order(&rig.key(), order).remove(0);
            assert!(rig.control().shipments().scan(&rig.key(), &parcel, "in_transit"));
            order.to_owned()
        },
        sql: "SELECT id FROM shipments WHERE order_number = '{}' AND status = 'in_transit'",
    },
    Found {
        sweep: Sweep::Campaigns,
        change: |rig, _, _| rig.control().campaigns().create(&NewCampaign::default()).unwrap().to_string(),
        sql: "SELECT id FROM campaigns WHERE id = '{}'",
    },
    Found {
        sweep: Sweep::Counts,
        change: |rig, _, sku| rig.sell("standard", sku),
        // The count shows that an order is missing, and wakes the sweep that finds it.
        sql: "SELECT status FROM orders WHERE order_number = '{}'",
    },
];

#[tokio::test]
async fn the_rows_are_counted_again_as_soon_as_the_first_reading_has_ended() {
    let setup = Setup::on(Kind::Sqlite).with(|setup| (setup.world.orders, setup.world.products) = (4, 6));
    let mut rig = setup.open().await;
    // Counts are due once; only new orders are swept again.
    rig.keep_in_step(only(&[Sweep::NewOrders], OFTEN), false).await;
    let counts = "SELECT kind || ' ' || CAST(remote - local AS TEXT) FROM remote_counts ORDER BY kind";
    rig.shown(counts, |rows| rows == ["open_orders 0", "orders 0", "products 0"]).await;
    rig.stop().await;
}

// withstands: F031
#[tokio::test]
async fn each_sweep_finds_what_no_delivery_reported() {
    for Found { sweep, change, sql } in FOUND {
        let mut rig = mirrored().await;
        let sku = rig.goods().await[0].sku.clone();
        let order = rig.sell("standard", &sku);
        if sweep == Sweep::Subresources {
            assert!(rig.control().orders().set_status(&rig.key(), &order, "ready_to_ship"));
        }
        let outside = rig.kept_in_step(only(&[sweep], OFTEN), true).await;
        let before = outside.told().swept.iter().filter(|swept| **swept == sweep).count();
        let changed = change(&rig, &order, &sku);
        let sql = sql.replace("{}", &changed);
        assert!(rig.ask(&sql).await.is_empty(), "{sweep:?}: it shows already");
        rig.shown(&sql, |rows| !rows.is_empty()).await;
        rig.until("the sweep is recorded", async || {
            outside.told().swept.iter().filter(|swept| **swept == sweep).count() > before
        })
        .await;
        assert!(outside.told().failed.is_empty(), "{sweep:?}: {:?}", outside.told().failed);
        rig.stop().await;
    }
}

#[tokio::test]
async fn orders_that_the_first_pass_reads_are_not_read_by_a_sweep_too() {
    let setup = Setup::on(Kind::Sqlite).with(|setup| {
        (setup.world.orders, setup.world.products, setup.budget) = (60, 2, 30);
    });
    let mut rig = setup.open().await;
    let outside = rig.keep_in_step(only(&[Sweep::NewOrders], Duration::from_secs(10)), false).await;
    rig.until("the first pass has ended", async || outside.told().reconciled > 0).await;
    let numbers = rig.ask("SELECT order_number FROM orders").await;
    assert_eq!(numbers.len(), 60);
    let times = |route: &str| {
        let requests = rig.requests(route);
        requests.iter().filter(|request| request.path.split('?').next() == Some(route)).count()
    };
    let reading = |number: &&String| times(&format!("/api/v1/sellers/orders/{number}"));
    let twice: Vec<_> = numbers.iter().filter(|number| reading(number) != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    let listed = times("/api/v1/sellers/orders");
    assert!(listed > 1, "the sweep ran meanwhile");
    rig.stop().await;
}

/// At 300 requests a minute each sub-resource that is read beside them keeps orders and products waiting.
#[tokio::test]
async fn a_first_reading_reads_the_open_orders_first_and_no_sub_resource_before_its_end() {
    let setup = Setup::on(Kind::Sqlite).with(|setup| {
        (setup.world.orders, setup.world.products, setup.budget) = (60, 4, 300);
    });
    let mut rig = setup.open().await;
    let often = Duration::from_secs(10);
    let outside = rig.keep_in_step(only(&[Sweep::Subresources], often), false).await;
    rig.until("the first reading has ended", async || outside.told().reconciled > 0).await;
    rig.shown("SELECT order_number FROM orders WHERE unread_since IS NOT NULL", <[String]>::is_empty).await;
    let open = "status NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')";
    let open = rig.ask(&format!("SELECT order_number FROM orders WHERE {open}")).await;
    let all = rig.ask("SELECT order_number FROM orders").await;
    assert!(all.len() == 60 && !open.is_empty() && open.len() < 60, "{} of {}", open.len(), all.len());
    let requests = rig.requests("/api/");
    let last = |is_meant: &dyn Fn(&str) -> bool| requests.iter().rposition(|request| is_meant(&request.path));
    let first = |is_meant: &dyn Fn(&str) -> bool| requests.iter().position(|request| is_meant(&request.path));
    let detail = |number: &String| format!("/api/v1/sellers/orders/{number}");
    let (of_open, of_closed): (Vec<_>, Vec<_>) = all.iter().partition(|number| open.contains(number));
    let (of_open, of_closed): (Vec<String>, Vec<String>) =
        (of_open.into_iter().map(detail).collect(), of_closed.into_iter().map(detail).collect());
    let is_of = |paths: &[String], path: &str| paths.iter().any(|known| known == path);
    let last_open = last(&|path| is_of(&of_open, path)).unwrap();
    assert!(last_open < first(&|path| is_of(&of_closed, path)).unwrap(), "open orders come first");
    let details = of_open.len() + of_closed.len();
    let read =
        requests.iter().filter(|request| is_of(&of_open, &request.path) || is_of(&of_closed, &request.path));
    assert_eq!(read.count(), details, "each order is read once");
    let is_below = |path: &str| all.iter().any(|number| path.starts_with(&format!("{}/", detail(number))));
    // The rotation reads products again, later.
    let products = rig.ask("SELECT id FROM products").await;
    let first_reads = products.iter().map(|id| first(&|path| path == format!("/api/products/{id}")).unwrap());
    let last_product = first_reads.max().unwrap();
    let below = first(&is_below).unwrap();
    // On a busy machine the clock passes while the engine waits, and the head start may end before the products.
    let at = |index: usize| requests[index].at.parse::<DateTime<Utc>>().unwrap();
    let has_waited = at(below) - at(0) >= TimeDelta::seconds(110);
    assert!(last_product < below || has_waited, "orders and products come before sub-resources");
    rig.stop().await;
}

#[tokio::test]
async fn every_sweep_is_recorded_and_not_repeated_by_the_next_engine() {
    let mut rig = mirrored().await;
    rig.kept_in_step(only(&[], OFTEN), false).await;
    let recorded = "SELECT kind FROM sweeps WHERE succeeded_at IS NOT NULL AND problem IS NULL \
        AND kind <> 'webhook_test' ORDER BY kind";
    let mut expected: Vec<&str> = Sweep::ALL.iter().map(|sweep| sweep.as_str()).collect();
    expected.retain(|name| *name != Sweep::WebhookTest.as_str());
    expected.sort_unstable();
    rig.shown(recorded, |names| *names == expected[..]).await;
    rig.kill().await;
    let campaigns = rig.requests("/discounts/campaigns").len();
    let outside = rig.keep_in_step(only(&[], OFTEN), false).await;
    rig.until("it has caught up", async || outside.told().reconciled > 0).await;
    rig.pass(Duration::from_secs(600)).await;
    assert_eq!(rig.requests("/discounts/campaigns").len(), campaigns, "the sweep was not due");
    rig.stop().await;
}

/// Each sweep's route fails, is reported under the sweep's name, and goes well later.
#[tokio::test]
async fn a_sweep_that_fails_is_reported_and_tried_again() {
    for (sweep, route) in [
        (Sweep::Campaigns, "/discounts/campaigns"),
        (Sweep::Media, "/media"),
        (Sweep::NewOrders, "GET /api/v1/sellers/orders"),
    ] {
        let mut rig = mirrored().await;
        let outside = rig.kept_in_step(only(&[sweep], OFTEN), false).await;
        let is_listed = rig.requests(route.trim_start_matches("GET ")).is_empty();
        assert!(!is_listed, "{sweep:?} asks for {route}");
        rig.fault(route, None, Fault::Html(503));
        rig.until("it failed", async || outside.told().failed.iter().any(|(failed, _)| *failed == sweep))
            .await;
        let problem = format!("SELECT problem FROM sweeps WHERE kind = '{}'", sweep.as_str());
        rig.shown(&problem, |rows| !rows.is_empty()).await;
        rig.control().faults().clear();
        rig.shown(&problem, <[String]>::is_empty).await;
        rig.stop().await;
    }
}

/// Returns the data of the last event of a name.
fn last(rig: &Rig, event: &str) -> Value {
    let events = rig.control().orders().announced_events(&rig.key());
    let (_, mut data) = events.into_iter().rev().find(|(name, _)| name == event).unwrap();
    data["store_id"] = json!(1);
    data
}

/// A lower number may appear late: PostgreSQL commits it later, or somebody asks for an old delivery again.
#[tokio::test]
async fn an_old_delivery_is_handled_though_new_ones_come_without_a_pause() {
    let mut rig = mirrored().await;
    rig.make_webhook();
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let test = json!({"source": "integration.webhook-test"});
    rig.deliver(&outside, "webhook.test", &test).await;
    let first = "SELECT CAST(id AS TEXT) FROM webhook_inbox WHERE handled_at IS NOT NULL ORDER BY id LIMIT 1";
    rig.until("it is handled", async || !rig.journal.ask(first).await.is_empty()).await;
    let id: i64 = rig.journal.ask(first).await[0].parse().unwrap();
    assert_eq!(rig.parts.store.inbox().replay(&StoreKey::new(STORE).unwrap(), vec![id]).await.unwrap(), 1);
    let open = format!("SELECT event FROM webhook_inbox WHERE handled_at IS NULL AND id = {id}");
    let mut rounds = 0;
    while !rig.journal.ask(&open).await.is_empty() {
        assert!(rounds < 30, "it waits until no other comes");
        rounds += 1;
        rig.deliver(&outside, "webhook.test", &test).await;
        rig.pass(Duration::from_secs(1)).await;
    }
    rig.stop().await;
}

// withstands: F032
#[tokio::test]
async fn a_delivery_is_a_hint_and_the_row_is_read() {
    let mut rig = mirrored().await;
    let sku = rig.goods().await[0].sku.clone();
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let number = rig.sell("standard", &sku);
    let created = last(&rig, "order.created");
    // What it tells about the status is older than the row: the row is what the marketplace says now.
    rig.deliver(&outside, "order.created", &created).await;
    let status = format!("SELECT status FROM orders WHERE order_number = '{number}'");
    rig.shown(&status, |rows| rows == ["paid"]).await;
    // Twice the same, and then an event of another change.
    rig.deliver(&outside, "order.created", &created).await;
    assert!(rig.control().orders().cancel(&rig.key(), &number, "desistência"));
    rig.deliver(&outside, "order.cancelled", &last(&rig, "order.cancelled")).await;
    rig.shown(&status, |rows| rows == ["cancelled"]).await;
    let open = "SELECT event FROM webhook_inbox WHERE handled_at IS NULL";
    rig.until("all are handled", async || {
        outside.told().handled.len() >= 3 && rig.journal.ask(open).await.is_empty()
    })
    .await;
    assert!(outside.told().handled.iter().all(|handled| *handled == Handled::Read));
    assert!(outside.told().missed.is_empty(), "{:?}", outside.told().missed);
    rig.stop().await;
}

#[tokio::test]
async fn deliveries_that_mean_nothing_are_put_aside_and_hold_up_no_other() {
    let mut rig = mirrored().await;
    let sku = rig.goods().await[0].sku.clone();
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let number = rig.sell("standard", &sku);
    let mut foreign = last(&rig, "order.created");
    foreign["store_id"] = json!(4_711);
    rig.deliver_bytes(&outside, "order.created", b"{\"event\": ".to_vec()).await;
    rig.deliver(&outside, "order.created", &foreign).await;
    rig.deliver(&outside, "moon.risen", &json!({"store_id": 1})).await;
    rig.deliver(&outside, "order.created", &last(&rig, "order.created")).await;
    rig.shown(&format!("SELECT status FROM orders WHERE order_number = '{number}'"), |rows| !rows.is_empty())
        .await;
    for what in [Handled::Malformed, Handled::Foreign, Handled::Unknown, Handled::Read] {
        rig.until(&format!("it is {what:?}"), async || outside.told().handled.contains(&what)).await;
    }
    let failures = "SELECT resource FROM sync_failures WHERE resource = 'webhooks'";
    assert_eq!(rig.ask(failures).await.len(), 2);
    rig.stop().await;
}

// withstands: F115
#[tokio::test]
async fn a_delivery_that_was_kept_before_a_kill_is_read_by_the_next_engine() {
    let mut rig = mirrored().await;
    let sku = rig.goods().await[0].sku.clone();
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let number = rig.sell("standard", &sku);
    rig.fault("GET /api/v1/sellers/orders/{id}", None, Fault::Html(503));
    rig.deliver(&outside, "order.created", &last(&rig, "order.created")).await;
    rig.until("it was tried", async || !rig.requests(&format!("/orders/{number}")).is_empty()).await;
    rig.kill().await;
    let open = "SELECT event FROM webhook_inbox WHERE handled_at IS NULL";
    assert_eq!(rig.journal.ask(open).await, ["order.created"], "not handled before it is written");
    rig.control().faults().clear();
    rig.keep_in_step(only(&[], OFTEN), true).await;
    rig.shown(&format!("SELECT status FROM orders WHERE order_number = '{number}'"), |rows| rows == ["paid"])
        .await;
    rig.until("it is handled", async || rig.journal.ask(open).await.is_empty()).await;
    rig.stop().await;
}

#[tokio::test]
async fn an_order_whose_change_does_not_show_yet_is_read_again_until_it_does() {
    let mut rig = mirrored().await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let status = format!("SELECT status FROM orders WHERE order_number = '{number}'");
    assert_eq!(rig.ask(&status).await, ["paid"]);
    // The routes that read orders are a minute behind the deliveries.
    assert!(rig.control().orders().lag(&rig.key(), 50));
    assert!(rig.control().orders().cancel(&rig.key(), &number, "desistência"));
    let reads = rig.requests(&format!("/orders/{number}")).len();
    rig.deliver(&outside, "order.cancelled", &last(&rig, "order.cancelled")).await;
    rig.shown(&status, |rows| rows == ["cancelled"]).await;
    let reads = rig.requests(&format!("/orders/{number}")).len() - reads;
    assert!((2..=12).contains(&reads), "{reads} reads: after 2, 10 and 60 s, with sub-resources");
    rig.stop().await;
}

#[tokio::test]
async fn an_intent_is_carried_out_beside_everything_else_and_its_order_is_read_again() {
    let mut rig = mirrored().await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    rig.kept_in_step(only(&[], OFTEN), true).await;
    let done = rig.command("order.status", &number, &json!({"status": "preparing"})).await;
    assert_eq!(done[0], "done", "{done:?}");
    // No delivery and no sweep tells it: the push itself does.
    let status = format!("SELECT status FROM orders WHERE order_number = '{number}'");
    rig.shown(&status, |rows| rows == ["preparing"]).await;
    rig.stop().await;
}
