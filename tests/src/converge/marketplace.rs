//! Reads the whole marketplace of a store over plain HTTP, and the contents of its deliveries from their bodies.

use std::collections::{BTreeMap, BTreeSet};

use espelho_sandbox::Sandbox;
use serde_json::{Value, json};

use super::{Contents, row};
use crate::truth::{Reader, text};

const ORDERS: &str = "/api/v1/sellers/orders";
const CAMPAIGNS: &str = "/api/seller/discounts/campaigns";

/// A reader with a credential of its own, so that espelho's token stays valid.
#[derive(Debug)]
pub struct Marketplace {
    reader: Reader,
}

impl Marketplace {
    /// Adds a credential to the first store and logs in with it.
    ///
    /// # Panics
    /// When the sandbox refuses the login.
    pub async fn of(sandbox: &Sandbox) -> Self {
        let store = sandbox.stores().remove(0).key;
        let access =
            sandbox.control().credentials().create(&store).expect("the store takes another credential");
        Self { reader: Reader::log_in_with(sandbox, &access).await }
    }

    /// Returns the SKUs of all products, and the numbers of all orders.
    pub async fn names(&self) -> (Vec<String>, Vec<String>) {
        let products = self.reader.all("/api/products?per_page=100").await;
        let orders = self.reader.all(&format!("{ORDERS}?limit=100")).await;
        let of = |rows: Vec<Value>, name: &str| rows.iter().map(|row| text(&row[name])).collect();
        (of(products, "sku"), of(orders, "order_number"))
    }

    /// Sends a POST; returns whether it succeeded.
    pub async fn post(&self, path: &str, body: &Value) -> bool {
        self.reader.post(path, body).await < 300
    }

    /// Returns whether an order may still change.
    pub async fn is_open(&self, order: &str) -> bool {
        let order = self.reader.try_data(&format!("{ORDERS}/{order}")).await.unwrap_or_default();
        !["delivered", "cancelled", "completed", "payment_expired"].contains(&text(&order["status"]).as_str())
    }

    /// Returns the listings that could join a campaign.
    pub async fn eligible(&self, campaign: u64) -> Vec<String> {
        let page =
            self.reader.try_data(&format!("{CAMPAIGNS}/{campaign}/eligible-products?per_page=100")).await;
        let rows = page.map(|mut page| page["data"].take()).unwrap_or_default();
        rows.as_array().into_iter().flatten().map(|row| text(&row["item_id"])).collect()
    }

    /// Returns everything that routes show. An ended campaign is visible only to a reader that has seen it before:
    /// `seen`.
    pub async fn contents(&self, seen: &BTreeSet<String>) -> (Contents, BTreeSet<String>) {
        let mut contents = Contents::new();
        for listed in self.reader.all(&format!("{ORDERS}?limit=100&sort=created_at")).await {
            self.add_order(&mut contents, &text(&listed["order_number"])).await;
        }
        for listed in self.reader.all("/api/products?per_page=100").await {
            self.add_product(&mut contents, &text(&listed["id"])).await;
        }
        let open = self.add_campaigns(&mut contents, seen).await;
        for image in self.reader.all("/api/media?per_page=100").await {
            add(&mut contents, "media_images", &text(&image["id"]), &image);
        }
        let session = self.reader.data("/api/stores/auth/session").await;
        add(&mut contents, "store_profiles", "", &session);
        // All stock of a store is in the same locations.
        let places = contents.entry("stock_locations").or_default();
        places.sort();
        places.dedup();
        (contents, open)
    }

    async fn add_order(&self, contents: &mut Contents, number: &str) {
        let path = format!("{ORDERS}/{number}");
        let order = self.reader.data(&path).await;
        add(contents, "orders", &format!("{number} {}", text(&order["status"])), &order);
        for item in list(&order["items"]) {
            add(contents, "order_items", &format!("{number} {}", text(&item["id"])), item);
        }
        let fiscal = self.reader.data(&format!("{path}/fiscal")).await;
        add_all(contents, "order_invoices", number, &fiscal["documents"]);
        add_all(contents, "order_events", number, &self.reader.data(&format!("{path}/events")).await);
        let money = self.reader.data(&format!("{path}/financial")).await;
        add_all(contents, "order_splits", number, &money["splits"]);
        add_all(contents, "order_commissions", number, &money["commission_audit"]);
        add_all(contents, "order_benefits", number, &money["applied_benefits"]);
        let shipments = self.reader.try_data(&format!("{path}/shipments")).await.unwrap_or_default();
        for shipment in list(&shipments["shipments"]) {
            let id = text(&shipment["id"]);
            add(contents, "shipments", &format!("{number} {id} {}", text(&shipment["status"])), shipment);
            for label in list(&shipment["labels"]) {
                let owner = format!("{number} {id} {} {}", text(&label["id"]), text(&label["status"]));
                add(contents, "shipment_labels", &owner, label);
            }
        }
        let tracking = self.reader.data(&format!("{path}/tracking")).await;
        add_all(contents, "tracking", number, &tracking["shipments"]);
    }

    async fn add_product(&self, contents: &mut Contents, id: &str) {
        let detail = self.reader.data(&format!("/api/products/{id}")).await;
        add(contents, "products", &format!("{id} {}", text(&detail["product"]["sku"])), &detail["product"]);
        add_all(contents, "product_prices", id, &detail["prices"]);
        for level in list(&detail["stock"]) {
            let owner = format!("{id} {} {}", text(&level["product_sku"]), text(&level["location_stock"]));
            add(contents, "product_stock", &owner, level);
        }
        let stock = self.reader.data(&format!("/api/products/{id}/stock")).await;
        for location in list(&stock["locations"]) {
            add(contents, "stock_locations", &text(&location["location_id"]), location);
        }
    }

    async fn add_campaigns(&self, contents: &mut Contents, seen: &BTreeSet<String>) -> BTreeSet<String> {
        let calendar = self.reader.all(&format!("{CAMPAIGNS}/calendar?per_page=100")).await;
        let open: BTreeSet<String> = calendar.iter().map(|campaign| text(&campaign["id"])).collect();
        for id in open.union(seen) {
            let campaign = self.reader.data(&format!("{CAMPAIGNS}/{id}")).await;
            add(contents, "campaigns", &format!("{id} {}", text(&campaign["status"])), &campaign);
        }
        for id in &open {
            let enrolled = self.reader.all(&format!("{CAMPAIGNS}/{id}/my-products?per_page=100")).await;
            for listing in &enrolled {
                let owner = format!("{id} {} 1", text(&listing["publication_id"]));
                add(contents, "campaign_listings", &owner, listing);
            }
            for listing in self.reader.all(&format!("{CAMPAIGNS}/{id}/eligible-products?per_page=100")).await
            {
                add(
                    contents,
                    "campaign_listings",
                    &format!("{id} {} 0", text(&listing["item_id"])),
                    &listing,
                );
            }
        }
        open
    }
}

/// Adds what only the deliveries with these bodies report, whatever order they came in.
///
/// # Panics
/// When a body is not a delivery.
pub fn add_told(contents: &mut Contents, bodies: &BTreeSet<String>) {
    let mut told: BTreeMap<(&'static str, String), (bool, String)> = BTreeMap::new();
    for body in bodies {
        let body: Value = serde_json::from_str(body).expect("a delivery is JSON");
        let data = &body["data"];
        let id = |name: &str| text(&data[name]);
        let of = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
        let (key, is_later, rest) = match body["event"].as_str().unwrap_or_default() {
            event @ ("occurrence.created" | "occurrence.resolved") => {
                (("occurrences", id("occurrence_id")), event == "occurrence.resolved", of("status"))
            }
            "conversation.opened" => (("conversations", id("conversation_id")), false, "open ".to_owned()),
            "conversation.closed" => {
                (("conversations", id("conversation_id")), true, format!("closed {}", of("reason")))
            }
            "conversation.message" => {
                let owner = format!("{} {}", id("conversation_id"), id("message_id"));
                (("conversation_messages", owner), false, of("body"))
            }
            // Each listing is reviewed once here.
            "publication.approved" => (("listings", id("item_id")), true, format!("{} active ", of("title"))),
            "publication.rejected" => (("listings", id("item_id")), true, format!(" draft {}", of("reason"))),
            _ => continue,
        };
        let known = told.entry(key).or_insert((is_later, rest.clone()));
        if is_later {
            *known = (is_later, rest);
        }
    }
    for ((table, id), (_, rest)) in told {
        let owner = format!("{id} {rest}");
        let line = if table == "listings" { owner } else { row(&owner, &Value::Null) };
        contents.entry(table).or_default().push(line);
    }
}

/// Builds the body that opts listings into a campaign.
pub(super) fn opt_in(listings: &[String]) -> Value {
    json!({"publication_ids": listings})
}

fn add(contents: &mut Contents, table: &'static str, owner: &str, object: &Value) {
    contents.entry(table).or_default().push(row(owner, object));
}

fn add_all(contents: &mut Contents, table: &'static str, owner: &str, objects: &Value) {
    for object in list(objects) {
        add(contents, table, owner, object);
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
