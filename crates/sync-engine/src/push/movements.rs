//! Movements of stock (`stock.adjust`): a delta that happens once. What was read before is written down with it; where its answer
//! is lost, the ledger equation tells whether it happened ([`crate::plan::ledger`]).

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::resources::{orders::OrderQuery, products::stock::Movement};
use espelho_model::{LocationId, OrderNumber, ProductId, Sku, sync::Resource};
use espelho_store::Effect;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    Pusher,
    commands::Ask,
    journal::{Acted, Evidence},
    products::number,
    stock::invalid,
    verdict::{Cause, Said, Verdict},
};
use crate::plan::ledger::{Around, Moved, moved};

/// Times of the marketplace have whole seconds, and its clock and ours differ.
const BLUR: TimeDelta = TimeDelta::seconds(2);
/// Orders that are read as evidence, at most.
const MOST_ORDERS: usize = 60;
/// Pages of new orders that are looked through.
const MOST_PAGES: u64 = 10;
/// How often a stock that changes while it is read is read again.
const READINGS: usize = 5;

impl Pusher<'_> {
    /// `stock.adjust`.
    pub(super) async fn adjust_stock(&self, ask: &Ask<'_>) -> Result<Verdict, Cause> {
        if ask.confirmed("stock.adjust").is_some() {
            return Ok(Verdict::Done(None));
        }
        let location = match &ask.data["location_id"] {
            Value::String(text) if !text.is_empty() => LocationId::new(text.clone()),
            Value::Number(number) => LocationId::new(number.to_string()),
            _ => {
                return Ok(Verdict::Failed(invalid(
                    "data.location_id is missing: {\"location_id\": 1, \"delta\": -2}",
                )));
            }
        };
        let Some(delta) = number(&ask.data["delta"]) else {
            return Ok(Verdict::Failed(invalid(
                "data.delta is not a number: {\"location_id\": 1, \"delta\": -2}",
            )));
        };
        let movement = match Movement::by(delta) {
            Ok(movement) => movement,
            Err(error) => return Ok(Verdict::Failed(invalid(&error.to_string()))),
        };
        let sku = Sku::new(ask.command.key.clone());
        let Some(product) = self.product_of(sku.as_str()).await? else {
            return self.unknown_sku(sku.as_str()).await;
        };
        // What leaves the shelf from here on counts: it may be before the reading, or after it.
        let from = self.context.clock.now();
        let detail = self.read_product(&product).await?;
        if unit_has_no_half(detail.product.base_unit.as_deref(), delta) {
            return Ok(Verdict::Failed(invalid("there is no half of this unit")));
        }
        let Some(level) = detail.product.stock.iter().find(|level| level.location_id == location) else {
            return Ok(Verdict::Failed(invalid(&format!("the product has no stock at location {location}"))));
        };
        let before = level.quantity.unwrap_or_default();
        if before + delta < Decimal::ZERO {
            return Ok(Verdict::Failed(too_little(before, delta)));
        }
        let request = movement.request(&product, &location);
        let evidence = json!({
            "product": product.as_str(), "sku": sku.as_str(), "location": location.as_str(),
            "delta": delta.to_string(), "before": before.to_string(), "from": from.to_rfc3339(),
            "places": detail.product.stock.len(),
        });
        match self.act(ask.effect("stock.adjust", &request, &evidence), &request).await? {
            Acted::Applied(_) => {
                self.read_product(&product).await?;
                Ok(Verdict::Done(None))
            }
            Acted::Refused(error) => super::refused(error),
            Acted::Unknown => Ok(Verdict::Again(Duration::ZERO)),
        }
    }

    /// Whether a movement happened whose answer was lost.
    pub(super) async fn evidence_of_movement(&self, effect: &Effect) -> Result<Evidence, Cause> {
        let known: Value =
            effect.evidence.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let text = |name: &str| known[name].as_str().unwrap_or_default().to_owned();
        let decimal = |name: &str| text(name).parse::<Decimal>().ok();
        let from = text("from").parse::<DateTime<Utc>>().unwrap_or(effect.planned_at);
        let (Some(delta), Some(before), Some(sent_at)) =
            (decimal("delta"), decimal("before"), effect.sent_at)
        else {
            return Ok(Evidence::Unprovable(unprovable("its evidence cannot be read")));
        };
        // Who does not know the orders yet cannot tell what was sold.
        if !self.context.store.has_complete_run(&self.context.key).await? {
            return Ok(Evidence::NotYet(Duration::from_secs(5)));
        }
        let (product, location) = (ProductId::new(text("product")), LocationId::new(text("location")));
        let sku = Sku::new(text("sku"));
        let Some((after, sales)) = self.settled_reading(&product, &sku, &location, from, sent_at).await?
        else {
            return Ok(Evidence::NotYet(Duration::from_secs(3)));
        };
        // Nobody tells from which place a sale was taken.
        let is_alone = known["places"].as_u64().is_none_or(|places| places <= 1);
        let around = match is_alone {
            true => Around { before, after, dispatched: sales.certain, perhaps: sales.perhaps },
            false => {
                Around { before, after, dispatched: Decimal::ZERO, perhaps: sales.certain + sales.perhaps }
            }
        };
        Ok(match moved(delta, around) {
            Moved::Yes => Evidence::Happened { answer: None, how: "the quantity has moved by it" },
            Moved::No => Evidence::DidNot { how: "the quantity has not moved" },
            Moved::Unclear if sales.is_young => Evidence::NotYet(Duration::from_secs(3)),
            Moved::Unclear => Evidence::Unprovable(unprovable(&format!(
                "{before} before, {after} now, {} sold in between, and {delta} was asked for",
                sales.certain
            ))),
        })
    }

    /// Reads quantity and sales until neither changes while the other is read.
    async fn settled_reading(
        &self,
        product: &ProductId,
        sku: &Sku,
        location: &LocationId,
        from: DateTime<Utc>,
        sent_at: DateTime<Utc>,
    ) -> Result<Option<(Decimal, Sales)>, Cause> {
        let mut last = None;
        for _ in 0..READINGS {
            let stock = self.client.product_stock(product, sku).await?.value;
            let level = stock.levels.iter().find(|level| level.location_id == *location);
            let Some(quantity) = level.and_then(|level| level.quantity) else { return Ok(None) };
            let sales = self.sales_since(sku, from, sent_at).await?;
            if last == Some((quantity, sales)) {
                return Ok(last);
            }
            last = Some((quantity, sales));
        }
        Ok(None)
    }

    /// What left at dispatch since `from`, by the timelines of all orders that may hold the SKU.
    async fn sales_since(
        &self,
        sku: &Sku,
        from: DateTime<Utc>,
        sent_at: DateTime<Utc>,
    ) -> Result<Sales, Cause> {
        let mut sales = Sales::default();
        let mut orders = self.context.store.orders_with_sku(&self.context.key, sku, from - BLUR).await?;
        orders.extend(self.unmirrored_orders().await?);
        if orders.len() > MOST_ORDERS {
            sales.perhaps = Decimal::ONE;
            return Ok(sales);
        }
        for number in orders {
            let Some((quantity, at)) = self.dispatch_of(&number, sku).await? else { continue };
            if at <= from - BLUR {
                continue;
            }
            match at < from + BLUR {
                true => sales.perhaps += quantity,
                false => sales.certain += quantity,
            }
        }
        sales.is_young = self.context.clock.now() - sent_at < TimeDelta::seconds(20);
        Ok(sales)
    }

    /// Orders that the mirror has not heard of yet: they may have come and gone since it last looked.
    async fn unmirrored_orders(&self) -> Result<Vec<OrderNumber>, Cause> {
        let mut strangers = Vec::new();
        for page in 1..=MOST_PAGES {
            let query = OrderQuery {
                limit: Some(100),
                page,
                page_parameter: self.context.page_parameter.clone(),
                ..OrderQuery::default()
            };
            let keys: Vec<String> =
                self.client.list_orders(&query).await?.rows.into_iter().map(|row| row.key).collect();
            let known = self.context.store.known(&self.context.key, Resource::Orders, keys.clone()).await?;
            let before = strangers.len();
            strangers.extend(keys.into_iter().filter(|key| !known.contains_key(key)).map(OrderNumber::new));
            if strangers.len() == before {
                break;
            }
        }
        Ok(strangers)
    }

    /// How much of a SKU an order took off the shelf, and when.
    async fn dispatch_of(
        &self,
        number: &OrderNumber,
        sku: &Sku,
    ) -> Result<Option<(Decimal, DateTime<Utc>)>, Cause> {
        let order = self.client.order(number).await?.value;
        let is_ours = |item: &&espelho_model::order::OrderItem| {
            item.sku.as_deref() == Some(sku.as_str()) && item.stock_status.as_deref() == Some("committed")
        };
        let quantity: Decimal = order.items.iter().filter(is_ours).filter_map(|item| item.quantity).sum();
        if quantity.is_zero() {
            return Ok(None);
        }
        let events = self.client.order_events(number).await?.value;
        let leaves = |status: Option<&str>| matches!(status, Some("shipped" | "picked_up" | "delivered"));
        let at = events
            .iter()
            .filter(|event| leaves(event.new_status.as_deref()))
            .filter_map(|event| event.created_at)
            .min();
        Ok(at.or(order.updated_at).map(|at| (quantity, at)))
    }
}

/// What left at dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sales {
    certain: Decimal,
    perhaps: Decimal,
    /// Whether what is unclear may become clear by waiting.
    is_young: bool,
}

fn unit_has_no_half(unit: Option<&str>, delta: Decimal) -> bool {
    matches!(unit, Some("un" | "pc" | "cx" | "pct")) && !delta.fract().is_zero()
}

fn too_little(before: Decimal, delta: Decimal) -> Said {
    Said::new(
        "too_little_stock",
        [
            &format!("há {before} em estoque e a baixa pedida é de {}", -delta),
            "confira a quantidade e envie um novo comando",
        ],
        [
            &format!("{before} are there, and {} were to be taken", -delta),
            "check the quantity and send another command",
        ],
    )
}

fn unprovable(why: &str) -> Said {
    Said::new(
        "unprovable",
        [
            "o ajuste foi enviado e nada prova se entrou",
            "conte o estoque: se faltar, espelho retry command ID; se já entrou, espelho ignore command ID",
        ],
        [
            &format!("it was sent, and nothing proves whether it happened: {why}"),
            "count the stock: where it is missing, espelho retry command ID; where it is in, espelho ignore command ID",
        ],
    )
}
