//! Entry points of the fuzz targets (`tests/fuzz`), and of the test that replays their inputs. Nothing else uses them.

use std::{hint::black_box, slice};

use chrono::DateTime;
use espelho_model::{LocationId, ProductId, Sku, money::parse_decimal, push::PushState};
use espelho_store::{Command, StockIntent, TierIntent};
use rust_decimal::Decimal;
use serde_json::Value;

use crate::{
    plan::{
        guards::Guards,
        push::{
            price_rows::{PriceChange, held_by_mode_guard, held_by_price_guard, merge_tiers, tier_of},
            product::number,
            stock_level::{self, Basis},
        },
        tiers::{self, Mode, Tier},
    },
    push::kinds::{handler_of, subject_key},
};

/// Reads the lines of a text as a command: its kind, its key, its data.
pub fn command(text: &str) {
    let mut lines = text.splitn(3, '\n');
    let [kind, key, data] = std::array::from_fn(|_| lines.next().unwrap_or_default().to_owned());
    let state = Some(PushState::New);
    let command =
        Command { id: 1, kind, key, data, state, created_at: Some(DateTime::UNIX_EPOCH), code: None };
    black_box((subject_key(&command), command.fingerprint()));
    let Some(handler) = handler_of(&command.kind) else { return };
    black_box((handler.conflicting_key(&command), handler.sequence_key(&command)));
    let Ok(data) = serde_json::from_str::<Value>(&command.data) else { return };
    black_box((handler.planned_request(&command, &data, Some(&ProductId::new("1"))), number(&data)));
}

/// Reads the first line of a text as a row of `erp_prices`, the others as the tiers that the product has.
pub fn price(text: &str) {
    let mut rows = text.lines().map(row);
    let Some(wanted) = rows.next() else { return };
    let current: Vec<Tier> = rows.filter_map(|row| tier_of(&row).ok()).collect();
    let Ok(tier) = tier_of(&wanted) else { return };
    for mode in [Mode::Default, Mode::Manual, Mode::Auto] {
        let desired = merge_tiers(&[tier], &current, &[wanted.min_quantity], false);
        let rows = slice::from_ref(&wanted);
        let change = PriceChange { mode, current: &current, desired: &desired, rows };
        black_box(held_by_price_guard(&Guards::default(), None, &wanted, &change));
        black_box(held_by_mode_guard(&Guards::default(), None, [Mode::Manual, mode], &current));
        let _ = black_box(tiers::plan(mode, &current, &desired));
        black_box(tiers::holds(mode, &current, &desired));
    }
}

/// Reads the lines of a text as a row of `erp_stock`: its quantity, then what is mirrored, reserved and available.
pub fn level(text: &str) {
    let mut lines = text.lines();
    let written = lines.next().unwrap_or_default().to_owned();
    let [mirrored, reserved, available] = std::array::from_fn(|_| lines.next().and_then(parse_decimal));
    let quantity = parse_decimal(&written);
    let level = StockIntent {
        sku: Sku::new("A"),
        location: LocationId::new("1"),
        written,
        quantity,
        state: Some(PushState::New),
        updated_at: None,
        product: Some(ProductId::new("1")),
        base_unit: lines.next().map(str::to_owned),
        mirrored,
        reserved,
        available,
        code: None,
        revision: 1,
    };
    let Ok(quantity) = stock_level::validate(&level) else { return };
    for basis in [Basis::Physical, Basis::Available] {
        let target = stock_level::target(basis, quantity, reserved);
        black_box(stock_level::decide(&level, mirrored, target, &[], false, DateTime::UNIX_EPOCH));
    }
}

/// `MIN_QUANTITY PRICE DISCOUNT WEIGHT HEIGHT WIDTH LENGTH`, each of which may be missing.
fn row(line: &str) -> TierIntent {
    let mut words = line.split(' ').map(|word| Some(word).filter(|word| !word.is_empty()));
    let min_quantity = words.next().flatten().and_then(|word| word.parse().ok()).unwrap_or(1);
    let [price, discount_percent] = std::array::from_fn(|_| words.next().flatten().map(str::to_owned));
    let package: [Option<Decimal>; 4] =
        std::array::from_fn(|_| words.next().flatten().and_then(parse_decimal));
    TierIntent {
        min_quantity,
        price,
        discount_percent,
        package,
        package_written: String::new(),
        state: Some(PushState::New),
        updated_at: None,
        code: None,
    }
}
