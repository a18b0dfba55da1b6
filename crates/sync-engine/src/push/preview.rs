//! What would be sent now, from what the mirror knows: for people who want to see it before it happens. Nothing is asked of the
//! marketplace for it.

use espelho_api_client::resources::products::stock::{Movement, Quantity};
use espelho_model::{StoreKey, product::PriceTier};
use espelho_store::{Command, Error as StoreError, Store, WantedPrices, WantedStock};
use rust_decimal::Decimal;

use super::{
    Basis, PushOptions,
    prices::{current_tier, is_asked, is_wanted, overlaid, step_in_words, tier_of},
};
use crate::plan::tiers::{Mode, plan};

/// Something that would be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCall {
    /// `stock`, `price` or `command`.
    pub entity: &'static str,
    /// Which row.
    pub key: String,
    /// What the marketplace has, and what it would have.
    pub diff: String,
    /// The calls that change something.
    pub calls: Vec<String>,
    /// What it costs, with the reads before and after.
    pub requests: u32,
    /// Why nothing is sent, or what is not known yet.
    pub note: Option<String>,
}

/// Everything that is wanted and not dealt with, as it would be sent.
///
/// # Errors
/// When the database does not answer.
pub async fn preview(
    store: &Store,
    key: &StoreKey,
    options: &PushOptions,
) -> Result<Vec<PlannedCall>, StoreError> {
    let mut calls: Vec<PlannedCall> =
        store.open_stock(key).await?.iter().map(|row| level(row, options)).collect();
    for wanted in store.open_prices(key).await? {
        calls.push(prices(store, key, &wanted, options).await?);
    }
    calls.extend(store.open_commands(key).await?.iter().map(command));
    Ok(calls)
}

fn level(row: &WantedStock, options: &PushOptions) -> PlannedCall {
    let mut planned = PlannedCall {
        entity: "stock",
        key: super::stock::key_in_table(row),
        diff: format!("{} → {}", row.mirrored.map_or_else(|| "?".to_owned(), |n| n.to_string()), row.written),
        calls: Vec::new(),
        requests: 0,
        note: None,
    };
    let Some(product) = &row.product else {
        planned.note = Some("unknown_sku".to_owned());
        return planned;
    };
    let reserved = match options.basis {
        Basis::Physical => Decimal::ZERO,
        Basis::Available => row.reserved.unwrap_or_default(),
    };
    let target = row.quantity.map(|wanted| wanted + reserved);
    if target.is_some() && target == row.mirrored {
        planned.note = Some("nothing to send".to_owned());
        return planned;
    }
    match target.map(Quantity::new) {
        Some(Ok(quantity)) => {
            planned.calls.push(Movement::Set(quantity).request(product, &row.location).in_full());
            planned.requests = if options.basis == Basis::Available { 3 } else { 2 };
        }
        _ => planned.note = Some("invalid_data".to_owned()),
    }
    planned
}

async fn prices(
    store: &Store,
    key: &StoreKey,
    wanted: &WantedPrices,
    options: &PushOptions,
) -> Result<PlannedCall, StoreError> {
    let mut planned = PlannedCall {
        entity: "price",
        key: wanted.sku.as_str().to_owned(),
        diff: String::new(),
        calls: Vec::new(),
        requests: 0,
        note: None,
    };
    let Some(product) = &wanted.product else {
        planned.note = Some("unknown_sku".to_owned());
        return Ok(planned);
    };
    let rows = store.wanted_tiers(key, &wanted.sku).await?;
    let (price_type, automatic, tiers) = store.mirrored_prices(key, product).await?;
    let mode = match (price_type.as_deref(), automatic) {
        (Some("wholesale"), true) => Mode::Auto,
        (Some("wholesale"), false) => Mode::Manual,
        _ => Mode::Default,
    };
    let current: Vec<_> = tiers.iter().filter_map(current_tier).collect();
    let asked: Vec<_> =
        rows.iter().filter(|row| is_wanted(row)).filter_map(|row| tier_of(row).ok()).collect();
    planned.diff = diff(&tiers, &rows);
    let named: Vec<i64> = rows.iter().map(|row| row.min_quantity).collect();
    match plan(mode, &current, &overlaid(&asked, &current, &named, options.remove_missing_tiers)) {
        Ok(steps) => {
            planned.calls = steps.iter().map(|step| step_in_words(*step, product)).collect();
            planned.requests = u32::try_from(steps.len()).unwrap_or(u32::MAX).saturating_add(2);
        }
        Err(forbidden) => planned.note = Some(forbidden.to_string()),
    }
    Ok(planned)
}

fn diff(tiers: &[PriceTier], rows: &[espelho_store::WantedTier]) -> String {
    let open = rows.iter().filter(|row| is_asked(row));
    let lines = open.map(|row| {
        let now = tiers.iter().find(|tier| tier.min_quantity == row.min_quantity).and_then(|tier| tier.value);
        let now = now.map_or_else(|| "–".to_owned(), |value| value.to_string());
        format!("{}+: {now} → {}", row.min_quantity, row.value())
    });
    lines.collect::<Vec<_>>().join(", ")
}

fn command(command: &Command) -> PlannedCall {
    PlannedCall {
        entity: "command",
        key: command.id.to_string(),
        diff: format!("{} {} {}", command.kind, command.key, command.data),
        calls: Vec::new(),
        requests: 2,
        note: Some("what is sent depends on what the marketplace offers then".to_owned()),
    }
}
