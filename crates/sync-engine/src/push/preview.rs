//! A preview of what would be sent now, from the mirror's data, for people who want to see it first. It sends nothing
//! to the marketplace.

use espelho_api_client::{
    Invalid,
    resources::products::{
        ProductDetail, ProductExtras,
        stock::{Movement, Quantity},
    },
};
use espelho_model::{
    ProductId, RawJson, StoreKey,
    product::{PriceTier, Product},
    text,
    text::Text,
};
use espelho_store::{Command, Error as StoreError, PriceIntent, StockIntent, Store};
use rust_decimal::Decimal;
use serde_json::Value;

use super::{
    handler::CommandHandler,
    kinds::handler_of,
    options::PushOptions,
    price_requests::{current_tiers, mode_of, request_of},
    products::shared,
    row_answers::key_in_table,
};
use crate::plan::{
    push::{
        price_rows::{PriceChange, held_by_price_guard, held_message, is_asked, merge_tiers, tier_of},
        price_step::is_desired,
        stock_level::{Basis, empties, many_to_zero, validate},
    },
    tiers::plan,
};

/// A change that would be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCall {
    /// `stock`, `price` or `command`.
    pub entity: &'static str,
    /// The key of the row.
    pub key: String,
    /// The marketplace's value, and the value that it would have.
    pub diff: String,
    /// The calls that change something.
    pub calls: Vec<String>,
    /// The number of requests, with the reads before and after.
    pub requests: u32,
    /// Why nothing is sent, or what is not known yet.
    pub note: Option<Text>,
}

/// Returns all open intents with the calls that would be sent.
///
/// # Errors
/// When the database does not answer.
pub async fn preview(
    store: &Store,
    key: &StoreKey,
    options: &PushOptions,
) -> Result<Vec<PlannedCall>, StoreError> {
    let zeroes = store.intents().open_zeroes(key).await?;
    let above = store.lookups().stocked_levels(key).await?;
    let is_held = options.guards.holds_zeroes(zeroes, above);
    let (mut calls, mut after) = (Vec::new(), None);
    loop {
        let page = store.intents().open_stock_page(key, after.as_ref()).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.clone());
        // A level comes once for each product of its SKU.
        for rows in page.chunk_by(|one, other| (&one.sku, &one.location) == (&other.sku, &other.location)) {
            let mut planned = level(&rows[0], options);
            let products: Vec<ProductId> = rows.iter().filter_map(|row| row.product.clone()).collect();
            if let Some(shared) = shared(rows[0].sku.as_str(), &products) {
                planned.send_nothing(shared.text);
            } else if is_held && empties(&rows[0]) {
                planned.hold(many_to_zero(zeroes, above).text);
            }
            calls.push(planned);
        }
    }
    let mut after = None;
    loop {
        let page = store.intents().open_prices_page(key, after.as_ref()).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.sku.clone());
        for desired in &page {
            calls.push(prices(store, key, desired, options).await?);
        }
    }
    let mut after = i64::MIN;
    loop {
        let page = store.commands().open_page(key, after).await?;
        let Some(last) = page.last() else { return Ok(calls) };
        after = last.id;
        for row in &page {
            if let Some(one) = store.commands().read(key, row.id).await? {
                calls.push(command(store, key, &one).await?);
            }
        }
    }
}

impl PlannedCall {
    /// Notes that a guard will hold the change.
    fn hold(&mut self, why: Text) {
        self.send_nothing(text!("push-plan-held", why = why));
    }

    fn send_nothing(&mut self, why: Text) {
        self.calls.clear();
        self.requests = 0;
        self.note = Some(why);
    }
}

fn level(row: &StockIntent, options: &PushOptions) -> PlannedCall {
    let mut planned = PlannedCall {
        entity: "stock",
        key: key_in_table(row),
        diff: format!("{} → {}", row.mirrored.map_or_else(|| "?".to_owned(), |n| n.to_string()), row.written),
        calls: Vec::new(),
        requests: 0,
        note: None,
    };
    let Some(product) = &row.product else {
        planned.note = Some(text!("push-unknown-sku", sku = row.sku.as_str()));
        return planned;
    };
    let reserved = match options.basis {
        Basis::Physical => Decimal::ZERO,
        Basis::Available => row.reserved.unwrap_or_default(),
    };
    let target = match validate(row) {
        Ok(desired) => desired + reserved,
        Err(message) => {
            planned.note = Some(message.text);
            return planned;
        }
    };
    if Some(target) == row.mirrored {
        // A reading of late answers for the marketplace; else the level is read once.
        planned.note = Some(text!("push-plan-nothing"));
        planned.requests = 1;
        return planned;
    }
    match Quantity::new(target) {
        Ok(quantity) => {
            planned.calls.push(Movement::Set(quantity).request(product, &row.location).in_full());
            // Read, set, read; a level that goes to zero is not read first.
            planned.requests = if options.basis == Basis::Physical && target.is_zero() { 2 } else { 3 };
        }
        Err(error) => planned.note = Some(error.text()),
    }
    planned
}

async fn prices(
    store: &Store,
    key: &StoreKey,
    desired: &PriceIntent,
    options: &PushOptions,
) -> Result<PlannedCall, StoreError> {
    let mut planned = PlannedCall {
        entity: "price",
        key: desired.sku.as_str().to_owned(),
        diff: String::new(),
        calls: Vec::new(),
        requests: 0,
        note: None,
    };
    let Some(product) = &desired.product else {
        planned.note = Some(text!("push-unknown-sku", sku = desired.sku.as_str()));
        return Ok(planned);
    };
    let products = store.lookups().products_by_sku(key, desired.sku.as_str()).await?;
    let shared = shared(desired.sku.as_str(), &products);
    let rows = store.intents().tier_intents(key, &desired.sku).await?;
    let (price_type, automatic, tiers) = store.lookups().mirrored_prices(key, product).await?;
    let detail = as_mirrored(product, price_type, automatic, tiers);
    let (mode, current) = (mode_of(&detail), current_tiers(&detail));
    let asked: Vec<_> =
        rows.iter().filter(|row| is_desired(row)).filter_map(|row| tier_of(row).ok()).collect();
    planned.diff = diff(&detail.product.prices, &rows);
    if let Some(shared) = shared {
        planned.send_nothing(shared.text);
        return Ok(planned);
    }
    let named: Vec<i64> = rows.iter().map(|row| row.min_quantity).collect();
    let tiers = merge_tiers(&asked, &current, &named, options.remove_missing_tiers);
    let floor = options.floors.get(desired.sku.as_str()).copied();
    let open: Vec<_> = rows.iter().filter(|row| is_asked(row)).cloned().collect();
    let change = PriceChange { mode, current: &current, desired: &tiers, rows: &open };
    for row in &open {
        if let Some((held, price)) = held_by_price_guard(&options.guards, floor, row, &change) {
            planned.hold(held_message(desired.sku.as_str(), &held, price).text);
            return Ok(planned);
        }
    }
    match plan(mode, &current, &tiers) {
        Ok(steps) => {
            let request = |step| request_of(step, product, &detail).map(|request| request.in_full());
            match steps.iter().copied().map(request).collect::<Result<Vec<String>, Invalid>>() {
                Ok(calls) => {
                    planned.requests = u32::try_from(calls.len()).unwrap_or(u32::MAX).saturating_add(2);
                    planned.calls = calls;
                }
                Err(invalid) => planned.note = Some(invalid.text()),
            }
        }
        Err(forbidden) => planned.note = Some(forbidden.text()),
    }
    Ok(planned)
}

fn diff(tiers: &[PriceTier], rows: &[espelho_store::TierIntent]) -> String {
    let open = rows.iter().filter(|row| is_asked(row));
    let lines = open.map(|row| {
        let now = tiers.iter().find(|tier| tier.min_quantity == row.min_quantity).and_then(|tier| tier.value);
        let now = now.map_or_else(|| "–".to_owned(), |value| value.to_string());
        format!("{}+: {now} → {}", row.min_quantity, row.value())
    });
    lines.collect::<Vec<_>>().join(", ")
}

/// Builds a product from its mirrored prices: enough for a preview, not for sending.
fn as_mirrored(
    product: &ProductId,
    price_type: Option<String>,
    is_automatic: bool,
    tiers: Vec<PriceTier>,
) -> ProductDetail {
    let product = Product {
        id: product.clone(),
        sku: None,
        name: None,
        base_unit: None,
        price_type,
        is_available_for_sale: None,
        auto_wholesale_pricing: Some(is_automatic),
        height: None,
        width: None,
        length: None,
        weight: None,
        price: None,
        quantity: None,
        reserved_quantity: None,
        available_quantity: None,
        prices: tiers,
        stock: Vec::new(),
        raw: RawJson::new("{}"),
    };
    let extras = ProductExtras::default();
    ProductDetail { product, locations: Vec::new(), has_prices: true, has_stock: false, extras }
}

async fn command(store: &Store, key: &StoreKey, command: &Command) -> Result<PlannedCall, StoreError> {
    let sku = command.key.trim();
    let products = store.lookups().products_by_sku(key, sku).await?;
    let product = products.first().filter(|_| products.len() == 1);
    let data: Value = serde_json::from_str(&command.data).unwrap_or_default();
    let handler = handler_of(&command.kind);
    let call = handler.and_then(|own| own.planned_request(command, &data, product));
    let call = call.map(|request| request.in_full());
    let note = match &call {
        Some(_) => text!("push-plan-unless"),
        None => text!("push-plan-depends"),
    };
    let mut planned = PlannedCall {
        entity: "command",
        key: command.id.to_string(),
        diff: format!("{} {} {}", command.kind, command.key, command.data),
        calls: call.into_iter().collect(),
        requests: handler.map_or(0, CommandHandler::cost),
        note: Some(note),
    };
    if let Some(shared) = shared(sku, &products)
        && handler.is_some_and(CommandHandler::changes_product)
    {
        planned.send_nothing(shared.text);
    }
    Ok(planned)
}
