//! `[push]`, `[guards]` and `[price_floors]` of a store's file: which intents are carried out, and which are held.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use espelho_model::{text, text::Text};
use espelho_sync_engine::{
    plan::{
        guards::Guards,
        policy::{Joining, Policy},
    },
    push::{Basis, PushOptions},
};
use rust_decimal::Decimal;
use serde::Deserialize;

/// `[push]`, as written.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Push {
    stock: bool,
    prices: bool,
    commands: bool,
    stock_basis: StockBasis,
    remove_missing_tiers: bool,
    files: Option<PathBuf>,
    pub(super) inbox: Option<PathBuf>,
}

impl Default for Push {
    fn default() -> Self {
        Self {
            stock: true,
            prices: true,
            commands: true,
            stock_basis: StockBasis::Physical,
            remove_missing_tiers: false,
            files: None,
            inbox: None,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StockBasis {
    Physical,
    Available,
}

/// `[campaigns]`, as written. A policy that does not say that listings join by it first shows which ones would.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Campaigns {
    join: Join,
    max_discount_percent: f64,
    floor: f64,
    floors: BTreeMap<String, f64>,
    categories: Vec<String>,
}

impl Default for Campaigns {
    fn default() -> Self {
        Self {
            join: Join::Dry,
            max_discount_percent: 20.0,
            floor: 0.0,
            floors: BTreeMap::new(),
            categories: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Join {
    No,
    Dry,
    Yes,
}

impl Campaigns {
    fn check(self) -> Result<Policy, (&'static str, Text)> {
        let mut floors = std::collections::HashMap::new();
        for (item, floor) in &self.floors {
            floors.insert(item.clone(), number("floors", *floor)?);
        }
        Ok(Policy {
            joining: match self.join {
                Join::No => Joining::Never,
                Join::Dry => Joining::Held,
                Join::Yes => Joining::Joins,
            },
            max_discount_percent: number("max_discount_percent", self.max_discount_percent)?,
            floors,
            floor: number("floor", self.floor)?,
            categories: self.categories.into_iter().collect(),
        })
    }
}

/// Returns a number exactly as the file has it.
pub(super) fn number(name: &'static str, value: f64) -> Result<Decimal, (&'static str, Text)> {
    let exact = Decimal::from_str_exact(&value.to_string()).ok().filter(|number| *number >= Decimal::ZERO);
    exact.ok_or_else(|| (name, text!("config-number", field = name, value = value.to_string())))
}

/// The part of `[guards]` that concerns intents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) price_max_fall_percent: f64,
    pub(super) price_max_rise_percent: f64,
    pub(super) price_floor: f64,
    pub(super) zero_max_rows: usize,
    pub(super) zero_max_percent: f64,
    pub(super) listings_per_hour: usize,
}

impl Push {
    /// Checks the section; a mistake comes with its key.
    pub(super) fn check(
        self,
        held: Held,
        floors: &BTreeMap<String, f64>,
        campaigns: Option<Campaigns>,
        dir: &Path,
    ) -> Result<PushOptions, (&'static str, Text)> {
        let mut checked = std::collections::HashMap::new();
        for (sku, floor) in floors {
            checked.insert(sku.clone(), number("price_floors", *floor)?);
        }
        Ok(PushOptions {
            stock: self.stock,
            prices: self.prices,
            commands: self.commands,
            basis: match self.stock_basis {
                StockBasis::Physical => Basis::Physical,
                StockBasis::Available => Basis::Available,
            },
            has_stock_events: false,
            remove_missing_tiers: self.remove_missing_tiers,
            guards: Guards {
                price_max_fall_percent: number("price_max_fall_percent", held.price_max_fall_percent)?,
                price_max_rise_percent: number("price_max_rise_percent", held.price_max_rise_percent)?,
                price_floor: number("price_floor", held.price_floor)?,
                zero_max_rows: held.zero_max_rows,
                zero_max_percent: number("zero_max_percent", held.zero_max_percent)?,
                listings_per_hour: held.listings_per_hour,
            },
            floors: checked,
            campaigns: campaigns.map_or_else(|| Ok(Policy::default()), Campaigns::check)?,
            files: self.files.map_or_else(|| dir.to_owned(), |files| dir.join(files)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Result<Policy, (&'static str, Text)> {
        toml::from_str::<Campaigns>(text).unwrap().check()
    }

    #[test]
    fn a_policy_is_dry_unless_it_says_otherwise_and_has_floors_of_its_own() {
        let read =
            policy("max_discount_percent = 12.5\nfloor = 5.0\n[floors]\n\"MPB-0000000000001\" = 49.9\n")
                .unwrap();
        assert_eq!((read.joining, read.max_discount_percent), (Joining::Held, "12.5".parse().unwrap()));
        assert_eq!(read.floor, Decimal::from(5));
        assert_eq!(read.floors["MPB-0000000000001"], "49.9".parse().unwrap());
        assert_eq!(policy("join = \"yes\"").unwrap().joining, Joining::Joins);
        assert_eq!(policy("join = \"no\"").unwrap().joining, Joining::Never);
        let (key, problem) = policy("[floors]\na = -1.0\n").unwrap_err();
        assert!(key == "floors" && problem.to_string().contains("0 or more"), "{key}: {problem}");
    }
}
