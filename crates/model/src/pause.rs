//! Pauses: what an operator has stopped for a while, per store (PRODUCT contract 1, `pause`).

use chrono::{DateTime, Utc};

use crate::StoreKey;

/// The work that a pause stops.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum PauseScope {
    /// All that the service does by itself for the store.
    All,
    /// Nothing is sent to the marketplace.
    Push,
    /// Nothing is read by sweeps, reconciliations, label polls and audits.
    Pull,
    /// Deliveries are received and kept, and nothing is read for them.
    Webhooks,
    /// Levels of `erp_stock` are not sent.
    Stock,
    /// Prices of `erp_prices` are not sent.
    Prices,
    /// `commands` are not carried out.
    Commands,
}

impl PauseScope {
    /// All scopes.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns the word of the command line and of `pauses.scope`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A pause, standing or over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The store.
    pub store: StoreKey,
    /// The work that it stops.
    pub scope: PauseScope,
    /// Its beginning.
    pub since: DateTime<Utc>,
    /// Its end: the planned one, or when somebody ended it.
    pub until: DateTime<Utc>,
    /// Who began it.
    pub paused_by: String,
}

impl Pause {
    /// Tells whether it lasts at this time.
    pub fn lasts(&self, at: DateTime<Utc>) -> bool {
        self.until > at
    }
}
