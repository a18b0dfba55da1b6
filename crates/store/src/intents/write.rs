//! Writing what is wanted, as the command line and CSV files do: into the ERP's own tables, all or nothing.

use espelho_model::{StoreKey, push::CommandKind};
use rust_decimal::Decimal;

use crate::{
    Error, Store,
    driver::{Insert, Value},
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
           discount_percent = excluded.discount_percent, package_weight = COALESCE(excluded.package_weight, erp_prices.package_weight), \
           package_height = COALESCE(excluded.package_height, erp_prices.package_height), package_width = COALESCE(excluded.package_width, erp_prices.package_width), \
           package_length = COALESCE(excluded.package_length, erp_prices.package_length)",
};
pub(crate) const COMMAND: &str =
    "INSERT INTO commands (store, kind, key, data) VALUES ($1, $2, $3, $4) RETURNING id";

/// A level to want: SKU, location, quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredStock {
    /// Whose stock.
    pub sku: String,
    /// Where.
    pub location: String,
    /// How much.
    pub quantity: Decimal,
}

/// A tier to want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredPrice {
    /// Whose price.
    pub sku: String,
    /// From which quantity on.
    pub min_quantity: i64,
    /// The unit price.
    pub price: Option<Decimal>,
    /// The discount in per cent.
    pub discount_percent: Option<Decimal>,
    /// The package's weight in kg, then height, width and length in cm.
    pub package: [Option<Decimal>; 4],
}

impl Store {
    /// Writes levels that are wanted, all or none. Of one key the last counts.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_desired_stock(&self, store: &StoreKey, wishes: Vec<DesiredStock>) -> Result<(), Error> {
        let wishes = crate::rows::last_of_each(wishes, |wish| (wish.sku.clone(), wish.location.clone()));
        let values = wishes.into_iter().flat_map(|wish| -> [Value; 4] {
            [store.as_str().into(), wish.sku.into(), wish.location.into(), Some(wish.quantity).into()]
        });
        let values = values.collect();
        let mut tx = self.database.begin().await?;
        tx.insert(&STOCK, values).await?;
        tx.commit().await
    }

    /// Writes tiers that are wanted, all or none. Of one key the last counts.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_desired_prices(&self, store: &StoreKey, wishes: Vec<DesiredPrice>) -> Result<(), Error> {
        let wishes = crate::rows::last_of_each(wishes, |wish| (wish.sku.clone(), wish.min_quantity));
        let values = wishes.into_iter().flat_map(|wish| -> [Value; 9] {
            let [weight, height, width, length] = wish.package.map(Value::from);
            [
                store.as_str().into(),
                wish.sku.into(),
                wish.min_quantity.into(),
                wish.price.into(),
                wish.discount_percent.into(),
                weight,
                height,
                width,
                length,
            ]
        });
        let values = values.collect();
        let mut tx = self.database.begin().await?;
        tx.insert(&PRICES, values).await?;
        tx.commit().await
    }

    /// Gives a command; gives its number.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn command(
        &self,
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
