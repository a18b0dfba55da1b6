//! Many orders moved at random by everybody at once: what must hold after every step, whatever happened.

use std::collections::BTreeMap;

use crate::support::{Bench, unlimited};
use espelho_sandbox::{Control, NewOrder};
use serde_json::{Value, json};

const STORE: &str = "loja-1";
const WORKFLOWS: [&str; 6] =
    ["standard", "production", "in_store_pickup", "pre_order", "backorder", "collective"];
const CARRIERS: [&str; 4] = ["platform", "seller", "driver", "none"];
const SCANS: [&str; 5] = ["in_transit", "out_for_delivery", "delivered", "failed", "cancelled"];
const STOCK: [&str; 3] = ["awaiting_restock", "in_production", "sold_reserved"];

/// A generator that gives the same walk every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

fn place(control: &Control, dice: &mut Dice) -> String {
    let order = NewOrder {
        carrier: dice.pick(&CARRIERS).to_owned(),
        is_paid: dice.below(3) > 0,
        release_after: 60 + dice.below(4000) as u32,
        shipments: 1 + dice.below(3) as u8,
        ..NewOrder::of(dice.pick(&WORKFLOWS))
    };
    control.orders().place(STORE, order)
}

/// Something that somebody does to an order; it may be refused.
async fn step(bench: &Bench, number: &str, dice: &mut Dice) {
    let control = bench.control();
    match dice.below(10) {
        0..5 => {
            let path = format!("/api/v1/sellers/orders/{number}/possible-statuses");
            let actions = bench.get(&path).await.data()["next_actions"].as_array().unwrap().clone();
            if !actions.is_empty() {
                let target = actions[dice.below(actions.len())]["target_status"].as_str().unwrap();
                let data = json!({"reason": "não há mais estoque", "confirmation_code": "1"});
                let reply = bench.ask(number, target, data).await;
                assert!(reply.status == 200 || reply.status == 422);
            }
        }
        5 => {
            control.orders().issue_invoice(STORE, number, "nfe");
        }
        6 => {
            if let Some(shipment) = control.shipments().of_order(STORE, number).first() {
                control.shipments().scan(STORE, shipment, dice.pick(&SCANS));
            }
        }
        7 => {
            control.orders().set_line_stock(STORE, number, dice.below(2), dice.pick(&STOCK));
        }
        8 => match dice.below(8) {
            0 => drop(control.orders().cancel(STORE, number, "a plataforma quis assim")),
            1 => drop(control.orders().refund(STORE, number)),
            _ => drop(control.orders().pay(STORE, number)),
        },
        _ => drop(control.forward(dice.below(900) as u32)),
    }
}

/// Follows what was told and checks that it makes one story.
#[derive(Default)]
struct Listener {
    heard: usize,
    status: BTreeMap<String, String>,
    shipments: BTreeMap<String, String>,
    paid: BTreeMap<String, usize>,
}

impl Listener {
    fn hear(&mut self, told: &[(String, Value)]) {
        let text = |data: &Value, field: &str| data[field].as_str().unwrap().to_owned();
        for (event, data) in &told[self.heard..] {
            match event.as_str() {
                "order.created" => {
                    self.status.insert(text(data, "order_number"), text(data, "status"));
                }
                "order.paid" => *self.paid.entry(text(data, "order_number")).or_default() += 1,
                "order.status_changed" => {
                    let new = text(data, "new_status");
                    let old = self.status.insert(text(data, "order_number"), new.clone());
                    assert_eq!(old, Some(text(data, "old_status")), "{data}");
                    assert_ne!(old, Some(new));
                }
                "shipment.created" => {
                    self.shipments.insert(text(data, "shipment_id"), "pending".to_owned());
                }
                "shipment.status_changed" => {
                    let old = self.shipments.insert(text(data, "shipment_id"), text(data, "to"));
                    assert_eq!(old, Some(text(data, "from")), "{data}");
                }
                "order.item_stock_status_changed" => {
                    let blocks = |field| ["awaiting_restock", "in_production"].contains(&&*text(data, field));
                    assert_ne!(blocks("old_stock_status"), blocks("new_stock_status"), "{data}");
                    assert_eq!(data["is_blocking_stock"], json!(blocks("new_stock_status")));
                }
                _ => {}
            }
        }
        self.heard = told.len();
    }
}

async fn check(bench: &Bench, listener: &Listener, number: &str) {
    let path = format!("/api/v1/sellers/orders/{number}");
    let order = bench.order(number).await;
    assert_eq!(order["status"], json!(listener.status[number]));
    assert!(listener.paid.get(number).is_none_or(|times| *times == 1), "paid once");
    let events = bench.get(&format!("{path}/events")).await.data();
    let changes = events.as_array().unwrap().iter().filter(|event| event["type"] == "status_change");
    let mut last = &Value::Null;
    for change in changes {
        assert_eq!(change["old_status"], *last);
        last = &change["new_status"];
    }
    assert_eq!(*last, order["status"]);
    let shipments = bench.get(&format!("{path}/shipments")).await;
    if shipments.status == 200 {
        for shipment in shipments.data()["shipments"].as_array().unwrap() {
            assert_eq!(shipment["status"], json!(listener.shipments[shipment["id"].as_str().unwrap()]));
        }
    }
    let money = bench.get(&format!("{path}/financial")).await.data();
    let cents = |value: &Value| (value.as_f64().unwrap() * 100.0).round() as i64;
    let sum: i64 = money["splits"].as_array().unwrap().iter().map(|split| cents(&split["amount"])).sum();
    assert_eq!(sum, cents(&order["totals"]["order"]));
}

/// Whatever is reserved is on the shelf, and nothing is less than nothing.
async fn check_shelves(bench: &Bench) {
    let products = bench.get("/api/products?per_page=100").await.data();
    for product in products.as_array().unwrap() {
        let number = |field: &str| product[field].as_f64().unwrap();
        assert!(number("reserved_quantity") >= 0.0 && number("available_quantity") >= 0.0, "{product}");
    }
}

#[tokio::test]
async fn events_timeline_shipments_and_money_tell_one_story_on_every_walk() {
    for seed in 0..4 {
        let bench = Bench::start(unlimited()).await;
        let (control, mut dice, mut listener) = (bench.control(), Dice(seed), Listener::default());
        let numbers: Vec<String> = (0..12).map(|_| place(&control, &mut dice)).collect();
        for _ in 0..150 {
            let number = &numbers[dice.below(numbers.len())];
            step(&bench, number, &mut dice).await;
            let told = control.orders().announced_events(STORE);
            assert!(told.len() < 1000, "the walk must not outrun what is kept");
            listener.hear(&told);
            check(&bench, &listener, number).await;
        }
        check_shelves(&bench).await;
    }
}
