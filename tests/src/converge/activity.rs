//! A busy marketplace: buyers, carriers, the platform and the seller, each acting now and then.

use std::collections::BTreeMap;

use espelho_sandbox::{CampaignDiscount, Control, NewCampaign, NewOccurrence, NewOrder, Sandbox};
use rust_decimal::Decimal;
use serde_json::json;

use super::marketplace::{Marketplace, opt_in};
use crate::Random;

/// Keeps a store of the sandbox busy. The same seed repeats the same actions, as far as the marketplace allows.
#[derive(Debug)]
pub struct Activity {
    control: Control,
    store: String,
    seller: Marketplace,
    random: Random,
    orders: Vec<String>,
    skus: Vec<String>,
    campaigns: Vec<u64>,
    occurrences: Vec<u64>,
    talks: Vec<u64>,
    /// How often each action was performed.
    pub done: BTreeMap<&'static str, u64>,
}

/// The actions; frequent ones are repeated.
const CHANGES: [&str; 32] = [
    "pay",
    "pay",
    "pay",
    "pay",
    "prepare",
    "prepare",
    "prepare",
    "invoice",
    "invoice",
    "invoice",
    "reprint",
    "ready",
    "ready",
    "ship",
    "ship",
    "scan",
    "scan",
    "scan",
    "cancel",
    "refund",
    "notes",
    "line",
    "stock",
    "stock",
    "price",
    "shelf",
    "campaign",
    "join",
    "listing",
    "occurrence",
    "talk",
    "labels",
];

impl Activity {
    /// Reads the first store of a sandbox.
    pub async fn of(sandbox: &Sandbox, seed: u64) -> Self {
        let seller = Marketplace::of(sandbox).await;
        let (skus, orders) = seller.names().await;
        Self {
            control: sandbox.control(),
            store: sandbox.stores().remove(0).key,
            seller,
            random: Random::seeded(seed),
            orders,
            skus,
            campaigns: Vec::new(),
            occurrences: Vec::new(),
            talks: Vec::new(),
            done: BTreeMap::new(),
        }
    }

    /// Returns the seller's access, which also reads.
    pub fn marketplace(&self) -> &Marketplace {
        &self.seller
    }

    /// Places a buyer's order.
    pub fn order(&mut self) {
        let workflow = match self.random.up_to(12) {
            1 => "in_store_pickup",
            2 => "collective",
            3 => "pre_order",
            4 => "backorder",
            5 => "production",
            _ => "standard",
        };
        let carrier = ["platform", "seller", "driver", "none"][self.random.up_to(4) as usize - 1];
        let is_paid = self.random.up_to(3) == 1;
        let shipments = if self.random.up_to(5) == 1 { 2 } else { 1 };
        let order = NewOrder { is_paid, shipments, carrier: carrier.to_owned(), ..NewOrder::of(workflow) };
        let number = self.control.orders().place(&self.store, order);
        assert!(!number.is_empty(), "no order was placed");
        self.orders.push(number);
        *self.done.entry("order").or_default() += 1;
    }

    /// Makes a change: retries until something has changed, or nothing can.
    pub async fn change(&mut self) {
        for _ in 0..100 {
            let what = CHANGES[self.random.up_to(CHANGES.len() as u64) as usize - 1];
            let is_done = match what {
                "stock" | "price" | "shelf" => self.change_goods(what),
                "campaign" | "join" | "listing" => self.change_offers(what).await,
                "occurrence" | "talk" => self.talk(what),
                _ => self.change_order(what).await,
            };
            if is_done {
                *self.done.entry(what).or_default() += 1;
                return;
            }
        }
    }

    /// Picks an order, mostly one of the latest.
    fn some_order(&mut self) -> String {
        let among = if self.random.up_to(4) == 1 { self.orders.len() } else { self.orders.len().min(60) };
        self.orders[self.orders.len() - self.random.up_to(among as u64) as usize].clone()
    }

    fn some_sku(&mut self) -> String {
        self.skus[self.random.up_to(self.skus.len() as u64) as usize - 1].clone()
    }

    async fn change_order(&mut self, what: &str) -> bool {
        let (number, lot) = (self.some_order(), self.random.up_to(1_000));
        let (control, store) = (&self.control, &self.store);
        let to = async |status: &str| {
            let path = format!("/api/v1/sellers/orders/{number}/status");
            self.seller.post(&path, &json!({"status": status})).await
        };
        // No sweep reads the parcels of an order that has ended.
        if matches!(what, "scan" | "labels") && !self.seller.is_open(&number).await {
            return false;
        }
        match what {
            "pay" => control.orders().pay(store, &number),
            "prepare" => to("preparing").await,
            "invoice" => control.orders().issue_invoice(store, &number, "nfe").is_some(),
            "reprint" if lot % 2 == 0 => control.orders().replace_invoice(store, &number).is_some(),
            "reprint" => control.orders().reprocess_invoice(store, &number).is_some(),
            "ready" => to("ready_to_ship").await || to("ready_for_pickup").await,
            "ship" => to("shipped").await,
            "scan" => {
                let scan = ["in_transit", "out_for_delivery", "delivered", "failed"][lot as usize % 4];
                let shipments = control.shipments().of_order(store, &number);
                let at = lot as usize / 4 % shipments.len().max(1);
                shipments.get(at).is_some_and(|shipment| control.shipments().scan(store, shipment, scan))
            }
            "cancel" => lot % 3 == 0 && control.orders().cancel(store, &number, "desistência do comprador"),
            "refund" => control.orders().refund(store, &number),
            "notes" => control.orders().set_notes(store, &number, Some(&format!("nota {lot}"))),
            "line" => {
                let status = ["awaiting_restock", "in_production", "sold_reserved"][lot as usize % 3];
                control.orders().set_line_stock(store, &number, 0, status)
            }
            _ => {
                let path = format!("/api/v1/sellers/orders/{number}/shipment-labels/generate");
                self.seller.post(&path, &json!({})).await
            }
        }
    }

    fn change_goods(&mut self, what: &str) -> bool {
        let (sku, lot) = (self.some_sku(), self.random.up_to(500));
        let (control, store) = (&self.control, &self.store);
        match what {
            "stock" => control.products().set_stock(store, &sku, if lot % 7 == 0 { 0 } else { lot }),
            "price" => control.products().edit_price(store, &sku, Decimal::new(1_000 + lot as i64, 2)),
            _ if lot % 2 == 0 => control.products().reserve_stock(store, &sku, 1),
            _ => control.products().release_stock(store, &sku, 1),
        }
    }

    async fn change_offers(&mut self, what: &str) -> bool {
        let lot = self.random.up_to(1_000);
        match what {
            "campaign" if self.campaigns.len() < 4 => {
                let new = NewCampaign {
                    name: format!("Campanha {lot}"),
                    kind: "standard".into(),
                    status: "active".into(),
                    starts_in: Some(-60),
                    ends_in: Some(86_400),
                    opt_in_closes_in: Some(3_600),
                    discount: Some(CampaignDiscount { kind: "percentage".into(), value: "10".into() }),
                };
                let made = self.control.campaigns().create(&new);
                self.campaigns.extend(made);
                made.is_some()
            }
            "campaign" => {
                let id = self.campaigns.remove(lot as usize % self.campaigns.len());
                match lot % 3 {
                    0 => self.control.campaigns().set_status(id, "cancelled"),
                    1 => self.control.campaigns().set_status(id, "finished"),
                    _ => self.control.campaigns().set_deadline(id, Some(lot as i64)),
                }
            }
            "join" => {
                let Some(id) = self.campaigns.last().copied() else { return false };
                let listings: Vec<String> = self.seller.eligible(id).await.into_iter().take(2).collect();
                let path = format!("/api/seller/discounts/campaigns/{id}/opt-in");
                !listings.is_empty() && self.seller.post(&path, &opt_in(&listings)).await
            }
            _ => {
                let sku = self.some_sku();
                let (control, store) = (&self.control, &self.store);
                let Some(id) = control.listings().create(store, &format!("Anúncio {lot}"), &[&sku]) else {
                    return false;
                };
                control.listings().set_status(store, &id, "pending_review")
                    && match lot % 2 {
                        0 => control.listings().approve(store, &id),
                        _ => control.listings().reject(store, &id, "imagem ilegível"),
                    }
            }
        }
    }

    fn talk(&mut self, what: &str) -> bool {
        let (number, lot) = (self.some_order(), self.random.up_to(1_000));
        let (control, store) = (&self.control, &self.store);
        match (what, lot % 3) {
            ("occurrence", 0) => {
                let Some(id) = self.occurrences.pop() else { return false };
                control.support_cases().end_occurrence(store, id, ["resolved", "cancelled"][lot as usize % 2])
            }
            ("occurrence", _) => {
                let opened = control.support_cases().open_occurrence(store, NewOccurrence::default());
                self.occurrences.extend(opened);
                opened.is_some()
            }
            (_, 0) => {
                let opened = control.support_cases().open_conversation(store, &number, "order");
                self.talks.extend(opened);
                opened.is_some()
            }
            (_, 1) => {
                let Some(id) = self.talks.last().copied() else { return false };
                control.support_cases().say(store, id, "customer", &format!("pergunta {lot}")).is_some()
            }
            _ => self
                .talks
                .pop()
                .is_some_and(|id| control.support_cases().close_conversation(store, id, "resolvido")),
        }
    }
}
