//! The tables that the ERP writes, as people name them.

/// A table of the ERP's intents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum IntentKind {
    /// `erp_stock`; keys are `sku/location_id`.
    Stock,
    /// `erp_prices`; keys are `sku/min_quantity`.
    Price,
    /// `commands`; keys are their numbers.
    Command,
}

impl IntentKind {
    /// All of them.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The word in `v_errors` and on the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The name of a row of the table in the record of acts; with a SKU and a slash as the key, the beginning of the names of
    /// all rows of the SKU.
    pub fn row_name(self, store: &str, key: &str) -> String {
        format!("{store} {} {key}", self.as_str())
    }
}
