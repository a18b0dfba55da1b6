//! The events of a day, each at its time.

use std::{collections::BTreeMap, time::Duration};

use espelho_sandbox::{Fault, FaultRule, NewOrder};
use espelho_tests::{Random, Surface, installation::STORE, until};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{Plan, alarms::Alarms, store::Store};

/// How often `/status` is read.
const LOOK: f64 = 10.0;
/// How often `espelho status` is run.
const STATUS: f64 = 600.0;
/// The longest time for the mirror to become complete, at the start and at the end.
const SETTLING: Duration = Duration::from_secs(1_800);
/// Alarms that an outage of the marketplace may raise.
const OUTAGE: &[&str] =
    &["marketplace_unreachable", "marketplace_errors", "throttled", "late", "unknown", "warning", "failing"];
/// Alarms that a restart may raise.
const RESTART: &[&str] = &["service_stopped", "late", "unknown", "warning", "failing", "(no answer)"];

/// A scheduled event.
#[derive(Clone, Debug)]
enum Deed {
    Look,
    Status,
    Sale,
    Pay(String),
    /// The next step of an order: its number and the index in [`STEPS`].
    Step(String, usize),
    Arrive(String),
    Level,
    Price,
    Outage,
    OutageEnds,
    Restart,
}

/// The steps of an order after its payment.
const STEPS: [&str; 5] = ["preparing", "invoice", "ready_to_ship", "labels", "shipped"];

/// A product: SKU, location, and price.
type Goods = (String, String, f64);

struct Life<'p> {
    plan: &'p Plan,
    store: Store,
    began: Instant,
    due: BTreeMap<(u64, u64), Deed>,
    added: u64,
    random: Random,
    goods: Vec<Goods>,
    alarms: Alarms,
    done: BTreeMap<&'static str, u64>,
    outages: u64,
}

/// Runs the day and prints a report. Returns whether every alarm had a cause.
pub(crate) async fn live(plan: &Plan) -> bool {
    let store = Store::open(plan.seed).await;
    is_mirrored(&store).await;
    let goods = goods(&store).await;
    let (random, alarms) = (Random::seeded(plan.seed), Alarms::none());
    let mut life = Life {
        plan,
        store,
        began: Instant::now(),
        due: BTreeMap::new(),
        added: 0,
        random,
        goods,
        alarms,
        done: BTreeMap::new(),
        outages: 0,
    };
    life.begin();
    life.go_on().await;
    life.end().await
}

/// Waits until the mirror is complete and all is well.
async fn is_mirrored(store: &Store) {
    let well = until("all is well", async || {
        let complete = store.ask("SELECT 'x' AS x FROM sync_runs WHERE state = 'complete'").await;
        !complete.is_empty() && store.surfaces.status().await.0 == 0
    });
    let is_well = tokio::time::timeout(SETTLING, well).await.is_ok();
    println!("mirrored{}", if is_well { "" } else { ", though status does not end with 0" });
}

async fn goods(store: &Store) -> Vec<Goods> {
    let sql = "SELECT p.sku || '|' || s.location_id || '|' || CAST(t.value AS TEXT) AS g FROM products p \
        JOIN product_stock s ON s.store = p.store AND s.sku = p.sku \
        JOIN product_prices t ON t.store = p.store AND t.product_id = p.id AND t.min_quantity = 1 \
        WHERE p.price_type = 'default' AND p.base_unit IN ('un', 'pc', 'cx', 'pct')";
    let rows = store.ask(sql).await;
    let goods: Vec<Goods> = rows
        .iter()
        .filter_map(|row| {
            let mut cells = row.split('|').map(str::to_owned);
            Some((cells.next()?, cells.next()?, cells.next()?.parse().ok()?))
        })
        .collect();
    assert!(goods.len() >= 5, "too few products: {}", goods.len());
    goods
}

impl Life<'_> {
    fn begin(&mut self) {
        for (deed, after) in [
            (Deed::Look, LOOK),
            (Deed::Status, STATUS),
            (Deed::Sale, 1.0),
            (Deed::Level, 30.0),
            (Deed::Price, 300.0),
            (Deed::Outage, 1_500.0),
            (Deed::Restart, self.plan.hours * 1_800.0),
        ] {
            self.later(after, deed);
        }
    }

    fn later(&mut self, seconds: f64, deed: Deed) {
        let at = self.began.elapsed().as_secs_f64() + seconds;
        self.added += 1;
        self.due.insert(((at * 1_000.0) as u64, self.added), deed);
    }

    /// Returns a random number of seconds between half of this and half as much again.
    fn about(&mut self, seconds: f64) -> f64 {
        seconds * (0.5 + self.random.up_to(1_000) as f64 / 1_000.0)
    }

    async fn go_on(&mut self) {
        let end = (self.plan.hours * 3_600_000.0) as u64;
        while let Some(((at, _), deed)) = self.due.pop_first() {
            if at >= end {
                break;
            }
            tokio::time::sleep_until(self.began + Duration::from_millis(at)).await;
            self.act(deed).await;
        }
    }

    async fn act(&mut self, deed: Deed) {
        match deed {
            Deed::Look => {
                self.look().await;
                self.later(LOOK, Deed::Look);
            }
            Deed::Status => {
                let (_, status) = self.store.surfaces.status().await;
                let deadlines = self.deadlines().await;
                self.alarms.judge(status.as_ref(), deadlines);
                self.note("espelho status");
                self.later(STATUS, Deed::Status);
            }
            Deed::Sale => self.sell(),
            Deed::Pay(number) => {
                let is_paid = self.store.control().orders().pay(STORE, &number);
                assert!(is_paid, "{number} can be paid");
                let after = self.about(600.0);
                self.later(after, Deed::Step(number, 0));
            }
            Deed::Step(number, step) => self.lead(number, step).await,
            Deed::Arrive(number) => {
                assert!(self.store.control().orders().set_status(STORE, &number, "delivered"));
                self.note("delivered");
            }
            Deed::Level => self.write_level().await,
            Deed::Price => self.write_price().await,
            Deed::Outage => self.go_away(),
            Deed::OutageEnds => {
                self.store.gateway.mend().await;
                self.store.control().faults().clear();
                self.alarms.over(OUTAGE);
                let after = self.about(2_800.0);
                self.later(after, Deed::Outage);
            }
            Deed::Restart => {
                self.alarms.cause(RESTART);
                self.store.stop().await;
                self.store.start();
                until("the pages are back", async || self.store.surfaces.page("/livez").await.is_some())
                    .await;
                self.alarms.over(RESTART);
                self.note("restart");
            }
        }
    }

    async fn look(&mut self) {
        let shown = self.store.surfaces.read(Surface::Http).await;
        let status: Option<Value> = shown.and_then(|shown| serde_json::from_str(&shown.text).ok());
        let deadlines = self.deadlines().await;
        self.alarms.judge(status.as_ref(), deadlines);
    }

    /// Returns the number of orders with a deadline that ends within a day, or has ended.
    async fn deadlines(&self) -> usize {
        let within = "strftime('%Y-%m-%dT%H:%M:%S', 'now', '+1 day')";
        let mirrored = self
            .store
            .ask(&format!("SELECT key FROM v_deadlines WHERE entity = 'order' AND at < {within}"))
            .await;
        // A prepared order has a day for its invoice.
        let prepared =
            self.store.ask("SELECT order_number AS n FROM orders WHERE status = 'preparing'").await;
        mirrored.len() + prepared.len()
    }

    fn sell(&mut self) {
        let is_paid = self.random.up_to(5) > 1;
        let workflow = NewOrder { is_paid, ..NewOrder::default() };
        let number = self.store.control().orders().place(STORE, workflow);
        assert!(!number.is_empty(), "an order is placed");
        self.note("order");
        if is_paid {
            let after = self.about(900.0);
            self.later(after, Deed::Step(number, 0));
        } else {
            let after = self.about(600.0);
            self.later(after, Deed::Pay(number));
        }
        // Few at four in the morning, many at four in the afternoon.
        let hour = self.began.elapsed().as_secs_f64() / 3_600.0;
        let rhythm = 1.0 - 0.9 * ((hour - 4.0) / 24.0 * std::f64::consts::TAU).cos();
        let after = self.about(86_400.0 / self.plan.orders_a_day / rhythm);
        self.later(after, Deed::Sale);
    }

    /// Gives an order's next command once the previous one is done. The ERP knows only what the tables show.
    async fn lead(&mut self, number: String, step: usize) {
        let open = format!(
            "SELECT state AS s FROM commands WHERE key = '{number}' AND state <> 'done' UNION ALL \
             SELECT 'unknown' WHERE NOT EXISTS (SELECT 1 FROM orders WHERE order_number = '{number}' AND status <> 'waiting_payment')"
        );
        if !self.store.ask(&open).await.is_empty() {
            return self.later(60.0, Deed::Step(number, step));
        }
        match STEPS[step] {
            "invoice" => {
                assert!(
                    self.store.control().orders().issue_invoice(STORE, &number, "nfe").is_some(),
                    "{number}"
                );
            }
            "labels" => self.give("labels.generate", &number, &json!({})).await,
            status => self.give("order.status", &number, &json!({ "status": status })).await,
        }
        let (after, next) = match step + 1 {
            last if last == STEPS.len() => (self.about(14_400.0), Deed::Arrive(number)),
            next => (self.about(1_200.0), Deed::Step(number, next)),
        };
        self.later(after, next);
    }

    async fn give(&mut self, kind: &str, key: &str, data: &Value) {
        let sql = format!(
            "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', '{kind}', '{key}', '{data}')"
        );
        self.store.write(&sql).await;
        self.note("command");
    }

    async fn write_level(&mut self) {
        let (sku, location, _) = self.one_of_goods();
        let quantity = 200 + self.random.up_to(800);
        let sql = format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', '{sku}', '{location}', {quantity}) \
             ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity"
        );
        self.store.write(&sql).await;
        self.note("level");
        let after = self.about(60.0);
        self.later(after, Deed::Level);
    }

    async fn write_price(&mut self) {
        let (sku, _, price) = self.one_of_goods();
        let price = format!("{:.2}", price * (1.0 + self.random.up_to(10) as f64 / 100.0));
        let sql = format!(
            "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('{STORE}', '{sku}', 1, {price}) \
             ON CONFLICT (store, sku, min_quantity) DO UPDATE SET price = excluded.price"
        );
        self.store.write(&sql).await;
        self.note("price");
        let after = self.about(600.0);
        self.later(after, Deed::Price);
    }

    /// Makes the marketplace unavailable for some seconds, each time in another way.
    fn go_away(&mut self) {
        self.alarms.cause(OUTAGE);
        let kind = match self.outages % 5 {
            0 => None,
            1 => Some(Fault::Html(502)),
            2 => Some(Fault::ResetBefore),
            3 => Some(Fault::Stall(Duration::from_secs(25))),
            _ => Some(Fault::TooMany(3)),
        };
        match kind {
            None => self.store.gateway.cut(),
            Some(kind) => {
                self.store.control().faults().add(FaultRule { route: String::new(), times: None, kind });
            }
        }
        self.outages += 1;
        self.note("outage");
        let seconds = 4 + self.random.up_to(36);
        self.later(seconds as f64, Deed::OutageEnds);
    }

    fn one_of_goods(&mut self) -> Goods {
        self.goods[self.random.up_to(self.goods.len() as u64) as usize - 1].clone()
    }

    fn note(&mut self, what: &'static str) {
        *self.done.entry(what).or_default() += 1;
    }

    /// Waits until all open work is done, and prints the report.
    async fn end(mut self) -> bool {
        let orders = self.store.control().orders().count(STORE);
        let open = "SELECT 'command ' || id || ' ' || state AS s FROM commands WHERE state <> 'done' UNION ALL \
            SELECT 'stock ' || sku || ' ' || state FROM erp_stock WHERE state <> 'done' UNION ALL \
            SELECT 'price ' || sku || ' ' || state FROM erp_prices WHERE state <> 'done'";
        let (mut left, mut mirrored) = (Vec::new(), 0);
        let settled = until("everything is done", async || {
            left = self.store.ask(open).await;
            mirrored = self.store.mirror.live("orders").await;
            left.is_empty() && mirrored == orders
        });
        let is_settled = tokio::time::timeout(SETTLING, settled).await.is_ok();
        let log = std::fs::read_to_string(self.store.log()).unwrap_or_default();
        let lines = |level: &str| log.lines().filter(|line| line.contains(level)).count();
        let stats = self.store.sandbox.stats();
        println!("done: {:?}", self.done);
        println!(
            "marketplace: {} requests, {} refused with 429, {} logins, most in 60 s {}",
            stats.requests, stats.rate_limited, stats.logins, stats.max_in_60s
        );
        println!("log: {} WARN, {} ERROR", lines("WARN"), lines("ERROR"));
        let alarms = &self.alarms;
        println!("looks: {}, of them ok {}, unanswered {}", alarms.looks, alarms.looks_ok, alarms.unanswered);
        println!("alarms with a cause, in looks: {:?}", alarms.rightly);
        println!("FALSE alarms, in looks: {:?}", alarms.falsely);
        if !is_settled {
            println!("not settled: {mirrored} of {orders} orders are mirrored; {left:?}");
        }
        self.store.stop().await;
        is_settled && self.alarms.falsely.is_empty()
    }
}
