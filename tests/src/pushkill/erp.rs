//! An ERP that writes continuously, and buyers beside it: levels, movements, prices, order transitions and labels, by
//! plain SQL. It records the last desired values.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use espelho_sandbox::NewOrder;
use serde_json::{Value, json};

use super::{Plan, Stage};
use crate::{Random, installation::STORE, truth::text};

/// The initial stock of every product.
pub(super) const START: i64 = 1_000_000;
/// The most rows that are open at once: a service that is killed all the time makes little progress.
const OPEN: usize = 24;
/// The most orders in progress at once.
const ORDERS: usize = 16;
/// Products with movements: a movement that was cut off blocks its product for most of a minute.
const DELTAS: usize = 18;
const STATES_OPEN: &str = "('new', 'waiting', 'sending')";

/// A product, as the marketplace names it.
#[derive(Clone, Debug)]
pub(super) struct Goods {
    pub(super) id: String,
    pub(super) sku: String,
    pub(super) location: String,
    price: f64,
}

/// A command that the ERP wrote.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) kind: &'static str,
    pub(super) key: String,
    pub(super) data: Value,
    pub(super) state: String,
}

/// An order in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Sale {
    pub(super) lines: Vec<(String, i64)>,
    step: usize,
    has_invoice: bool,
    with_labels: bool,
    at_once: bool,
    /// The open command.
    waits: Option<i64>,
}

/// The steps of an order, one command each.
const STEPS: [&str; 4] = ["preparing", "ready_to_ship", "labels", "shipped"];

pub(super) struct Erp<'s> {
    stage: &'s Stage,
    plan: Plan,
    random: Random,
    pub(super) levels: Vec<Goods>,
    pub(super) deltas: Vec<Goods>,
    pub(super) priced: Vec<Goods>,
    /// By SKU: the last desired level, and the number of requests by then.
    pub(super) wanted_levels: BTreeMap<String, (i64, u64)>,
    pub(super) wanted_prices: BTreeMap<String, String>,
    pub(super) commands: BTreeMap<i64, Given>,
    pub(super) sales: BTreeMap<String, Sale>,
    pub(super) writes: u64,
    open: BTreeSet<i64>,
    on_their_way: BTreeSet<String>,
}

impl<'s> Erp<'s> {
    pub(super) async fn of(stage: &'s Stage, plan: Plan) -> Self {
        let mut goods = Vec::new();
        for product in stage.truth.all("/api/products?per_page=100").await {
            let id = text(&product["id"]);
            let detail = stage.truth.data(&format!("/api/products/{id}")).await;
            if let Some(found) = goods_of(id, &detail) {
                goods.push(found);
            }
        }
        assert!(goods.len() >= 12 + DELTAS, "too few products with a price of their own: {}", goods.len());
        let (levels, rest) = goods.split_at(6);
        let (deltas, rest) = rest.split_at(DELTAS);
        Self {
            stage,
            plan,
            random: Random::seeded(plan.seed),
            levels: levels.to_vec(),
            deltas: deltas.to_vec(),
            priced: rest[..6].to_vec(),
            wanted_levels: BTreeMap::new(),
            wanted_prices: BTreeMap::new(),
            commands: BTreeMap::new(),
            sales: BTreeMap::new(),
            writes: 0,
            open: BTreeSet::new(),
            on_their_way: BTreeSet::new(),
        }
    }

    /// Writes continuously until `over` is set.
    pub(super) async fn work(&mut self, over: &Cell<bool>) {
        let mut ticks = tokio::time::interval(Duration::from_millis(6));
        while !over.get() {
            self.hear().await;
            self.lead_orders().await;
            if self.open_rows().await.len() < OPEN {
                self.want_something().await;
            }
            ticks.tick().await;
        }
    }

    /// Writes only what orders in progress still need, and waits until nothing is open.
    pub(super) async fn finish(&mut self) {
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        loop {
            self.hear().await;
            self.lead_orders().await;
            if self.on_their_way.is_empty() && self.open_rows().await.is_empty() {
                break;
            }
            ticks.tick().await;
        }
        self.hear().await;
    }

    /// Returns the open rows as text.
    pub(super) async fn open_rows(&self) -> Vec<String> {
        let sql = format!(
            "SELECT kind || ' ' || key || ' ' || CAST(id AS TEXT) || ' ' || state || ' ' || COALESCE(error_code, '') AS o FROM commands WHERE state IN {STATES_OPEN} \
             UNION ALL SELECT 'level ' || sku || ' ' || state FROM erp_stock WHERE state IN {STATES_OPEN} \
             UNION ALL SELECT 'price ' || sku || ' ' || state FROM erp_prices WHERE state IN {STATES_OPEN}"
        );
        self.stage.ask(&sql).await
    }

    /// Reads the results of the commands.
    async fn hear(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let ids: Vec<String> = self.open.iter().map(ToString::to_string).collect();
        let sql = format!(
            "SELECT CAST(id AS TEXT) || '|' || state AS s FROM commands WHERE id IN ({}) AND state NOT IN {STATES_OPEN}",
            ids.join(", ")
        );
        for row in self.stage.ask(&sql).await {
            let (id, state) = row.split_once('|').expect("two words");
            let id: i64 = id.parse().expect("a number");
            self.open.remove(&id);
            if let Some(given) = self.commands.get_mut(&id) {
                given.state = state.to_owned();
            }
        }
    }

    async fn give(&mut self, kind: &'static str, key: &str, data: Value) -> i64 {
        let sql = format!(
            "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', '{kind}', '{key}', '{data}') RETURNING CAST(id AS TEXT) AS id"
        );
        let id = self.stage.ask(&sql).await[0].parse().expect("a number");
        let given = Given { kind, key: key.to_owned(), data, state: "new".to_owned() };
        self.commands.insert(id, given);
        self.open.insert(id);
        self.writes += 1;
        id
    }

    async fn want_something(&mut self) {
        match self.random.up_to(100) {
            1..=25 => self.want_level().await,
            26..=65 => self.want_movement().await,
            66..=75 => self.want_price().await,
            _ if self.on_their_way.len() < ORDERS => self.sell(),
            _ => self.want_movement().await,
        }
    }

    /// Writes a level. Levels are ten apart, so that one never equals another minus what was sold meanwhile; there
    /// are few, so that they repeat.
    async fn want_level(&mut self) {
        let goods = self.one_of(&self.levels.clone());
        let quantity = START + 10 * self.random.up_to(4) as i64;
        let Goods { sku, location, .. } = &goods;
        let sql = format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', '{sku}', '{location}', {quantity}) \
             ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity"
        );
        let requests = self.stage.sandbox.stats().requests;
        self.stage.mirror.execute(&sql).await;
        self.wanted_levels.insert(sku.clone(), (quantity, requests));
        self.writes += 1;
    }

    /// Writes a movement as small as the buyers' purchases, so that the two could be confused.
    async fn want_movement(&mut self) {
        let goods = self.one_of(&self.deltas.clone());
        let size = self.random.up_to(4) as i64;
        let delta = if self.random.up_to(2) == 1 { size } else { -size };
        let data = json!({"location_id": goods.location, "delta": delta});
        self.give("stock.adjust", &goods.sku, data).await;
    }

    async fn want_price(&mut self) {
        let goods = self.one_of(&self.priced.clone());
        let price = format!("{:.2}", goods.price * (1.0 + self.random.up_to(20) as f64 / 100.0));
        let sku = &goods.sku;
        let sql = format!(
            "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('{STORE}', '{sku}', 1, {price}) \
             ON CONFLICT (store, sku, min_quantity) DO UPDATE SET price = excluded.price"
        );
        self.stage.mirror.execute(&sql).await;
        self.wanted_prices.insert(sku.clone(), price);
        self.writes += 1;
    }

    /// Places a buyer's order for goods of both kinds.
    fn sell(&mut self) {
        let mut lines = vec![(self.one_of(&self.deltas.clone()).sku, self.random.up_to(3) as i64)];
        if self.random.up_to(2) == 1 {
            lines.push((self.one_of(&self.levels.clone()).sku, 1));
        }
        let order = NewOrder {
            lines: lines.iter().map(|(sku, quantity)| (sku.clone(), *quantity as u32)).collect(),
            ..NewOrder::default()
        };
        let number = self.stage.control().orders().place(&self.stage.key, order);
        assert!(!number.is_empty(), "the order is placed");
        let with_labels = self.plan.labels && self.random.up_to(12) == 1;
        let at_once = self.random.up_to(3) == 1;
        self.sales.insert(number.clone(), Sale { lines, with_labels, at_once, ..Sale::default() });
        self.on_their_way.insert(number);
    }

    /// Gives each order its next command once the previous one is done. The ERP knows an order when the mirror has
    /// it.
    async fn lead_orders(&mut self) {
        let mirrored: BTreeSet<String> = match self.on_their_way.is_empty() {
            true => BTreeSet::new(),
            false => {
                let numbers: Vec<String> = self.on_their_way.iter().map(|n| format!("'{n}'")).collect();
                let sql = format!(
                    "SELECT DISTINCT order_number AS n FROM order_items WHERE store = '{STORE}' AND order_number IN ({})",
                    numbers.join(", ")
                );
                self.stage.ask(&sql).await.into_iter().collect()
            }
        };
        for number in self.on_their_way.clone() {
            if mirrored.contains(&number) {
                self.lead(&number).await;
            }
        }
    }

    async fn lead(&mut self, number: &str) {
        let mut sale = self.sales[number].clone();
        let is_over = |erp: &Self, id: i64| !erp.open.contains(&id);
        // The transition is blocked until the invoice exists, which is issued while the command waits.
        if sale.step >= 1 && !sale.has_invoice {
            sale.has_invoice =
                self.stage.control().orders().issue_invoice(&self.stage.key, number, "nfe").is_some();
        }
        if sale.waits.is_none_or(|id| is_over(self, id)) {
            if sale.step == STEPS.len() {
                self.on_their_way.remove(number);
            } else if sale.step != 1 || sale.has_invoice || sale.at_once {
                sale.waits = match STEPS[sale.step] {
                    "labels" if sale.with_labels => {
                        Some(self.give("labels.generate", number, json!({})).await)
                    }
                    "labels" => None,
                    status => Some(self.give("order.status", number, json!({"status": status})).await),
                };
                sale.step += 1;
            }
        }
        self.sales.insert(number.to_owned(), sale);
    }

    fn one_of(&mut self, goods: &[Goods]) -> Goods {
        goods[self.random.up_to(goods.len() as u64) as usize - 1].clone()
    }
}

/// Returns a product with one price and one location, in whole units.
fn goods_of(id: String, detail: &Value) -> Option<Goods> {
    let product = &detail["product"];
    let is_plain = product["price_type"] == "default"
        && product["is_available_for_sale"] == true
        && ["un", "pc", "cx", "pct"].contains(&product["base_unit"].as_str()?);
    let level = detail["stock"]
        .as_array()?
        .iter()
        .find(|level| level["quantity"].as_f64().is_some_and(|quantity| quantity as i64 == START))?;
    let location = text(&level["location_stock"]);
    let price = detail["prices"][0]["value"].as_f64()?;
    is_plain.then(|| Goods { id, sku: text(&product["sku"]), location, price })
}
