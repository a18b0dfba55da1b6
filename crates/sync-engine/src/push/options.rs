//! The options of the push.

use std::{collections::HashMap, path::PathBuf};

use rust_decimal::Decimal;

use crate::plan::{guards::Guards, policy::Policy, push::stock_level::Basis};

/// The options of the push.
#[derive(Clone, Debug)]
pub struct PushOptions {
    /// Whether `erp_stock` is pushed; else its rows stay as they are.
    pub stock: bool,
    /// Whether `erp_prices` is pushed.
    pub prices: bool,
    /// Whether `commands` are executed.
    pub commands: bool,
    /// The meaning of `erp_stock.quantity`.
    pub basis: Basis,
    /// True if the store's webhook asks for `product.stock_updated`; else no delivery reports a changed level.
    pub has_stock_events: bool,
    /// Whether tiers that the ERP does not write are deleted; else they stay.
    pub remove_missing_tiers: bool,
    /// The limits beyond which a row is held until a person releases it.
    pub guards: Guards,
    /// The price floors of SKUs that have their own.
    pub floors: HashMap<String, Decimal>,
    /// The policy by which listings join campaigns automatically.
    pub campaigns: Policy,
    /// The base folder of relative file paths.
    pub files: PathBuf,
}

impl Default for PushOptions {
    fn default() -> Self {
        Self {
            stock: true,
            prices: true,
            commands: true,
            basis: Basis::default(),
            has_stock_events: false,
            remove_missing_tiers: false,
            guards: Guards::default(),
            floors: HashMap::new(),
            campaigns: Policy::default(),
            files: PathBuf::from("."),
        }
    }
}
