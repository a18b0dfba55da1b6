//! Writes intents for the command line and CSV files: into the ERP's own tables, all or nothing.

use espelho_model::{StoreKey, push::CommandKind};
use rust_decimal::Decimal;

use crate::{
    Error,
    driver::{Insert, Value},
    intents::{Commands, Intents},
    mirror::rows::last_of_each,
};

pub(crate) const STOCK: Insert = Insert {
    operation: "write wanted stock",
    head: "INSERT INTO erp_stock (store, sku, location_id, quantity)",
    columns: 4,
    tail: "ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity",
};
pub(crate) const PRICES: Insert = Insert {
    operation: "write wanted prices",
    head: "INSERT INTO erp_prices (store, sku, min_quantity, price, discount_percent, package_weight, package_height, \
           package_width, package_length)",
    columns: 9,
    tail: "ON CONFLICT (store, sku, min_quantity) DO UPDATE SET price = excluded.price, \
           discount_percent = excluded.discount_percent, package_weight = COALESCE(excluded.package_weight, \
           erp_prices.package_weight), \
           package_height = COALESCE(excluded.package_height, erp_prices.package_height), package_width = \
           COALESCE(excluded.package_width, erp_prices.package_width), \
           package_length = COALESCE(excluded.package_length, erp_prices.package_length)",
};
pub(crate) const COMMAND: &str =
    "INSERT INTO commands (store, kind, key, data) VALUES ($1, $2, $3, $4) RETURNING id";

/// A desired level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredStock {
    /// The SKU.
    pub sku: String,
    /// The location.
    pub location: String,
    /// The quantity.
    pub quantity: Decimal,
}

/// A desired tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredPrice {
    /// The SKU.
    pub sku: String,
    /// The smallest quantity of the tier.
    pub min_quantity: i64,
    /// The unit price.
    pub price: Option<Decimal>,
    /// The discount in per cent.
    pub discount_percent: Option<Decimal>,
    /// The package's weight in kg, then height, width and length in cm.
    pub package: [Option<Decimal>; 4],
}

/// The values of a row of `erp_stock`, for [`STOCK`].
pub(crate) fn stock_values(store: &StoreKey, row: DesiredStock) -> [Value; 4] {
    [store.as_str().into(), row.sku.into(), row.location.into(), Some(row.quantity).into()]
}

/// The values of a row of `erp_prices`, for [`PRICES`].
pub(crate) fn price_values(store: &StoreKey, row: DesiredPrice) -> [Value; 9] {
    let [weight, height, width, length] = row.package.map(Value::from);
    [
        store.as_str().into(),
        row.sku.into(),
        row.min_quantity.into(),
        row.price.into(),
        row.discount_percent.into(),
        weight,
        height,
        width,
        length,
    ]
}

impl Intents<'_> {
    /// Writes desired levels, all or none. The last one of each key counts.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_desired_stock(self, store: &StoreKey, desired: Vec<DesiredStock>) -> Result<(), Error> {
        let desired = last_of_each(desired, |row| (row.sku.clone(), row.location.clone()));
        let values = desired.into_iter().flat_map(|row| stock_values(store, row));
        let values = values.collect();
        let mut tx = self.database.begin().await?;
        tx.insert(&STOCK, values).await?;
        tx.commit().await
    }

    /// Writes desired tiers, all or none. The last one of each key counts.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_desired_prices(self, store: &StoreKey, desired: Vec<DesiredPrice>) -> Result<(), Error> {
        let desired = last_of_each(desired, |row| (row.sku.clone(), row.min_quantity));
        let values = desired.into_iter().flat_map(|row| price_values(store, row));
        let values = values.collect();
        let mut tx = self.database.begin().await?;
        tx.insert(&PRICES, values).await?;
        tx.commit().await
    }
}

impl Commands<'_> {
    /// Writes a command; returns its number.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn command(
        self,
        store: &StoreKey,
        kind: CommandKind,
        key: &str,
        data: Option<String>,
    ) -> Result<i64, Error> {
        let values: Vec<Value> =
            vec![store.as_str().into(), kind.as_str().into(), key.into(), Value::Json(data)];
        let mut tx = self.database.begin().await?;
        let rows = tx.fetch("give a command", COMMAND.to_owned(), values).await?;
        let id = rows.first().map_or(Ok(0), |row| row.int(0))?;
        tx.commit().await?;
        Ok(id)
    }
}
