//! Who hears of the changes that a push made.

use chrono::{DateTime, Utc};
use espelho_model::OrderNumber;
use espelho_store::EffectState;

/// Receives the changes that a push made, so that the mirror reads them again.
pub trait ChangeListener: Send + Sync {
    /// An order, or one of its sub-resources, changed.
    fn order(&self, number: &OrderNumber);
    /// Listings joined a campaign.
    fn campaigns(&self);
    /// A test delivery was requested after this time, and the marketplace has just accepted the request.
    fn tested(&self, at: DateTime<Utc>) {
        let _ = at;
    }
    /// An effect whose answer was lost is settled by evidence: its kind, and its new state.
    fn settled(&self, kind: &str, state: EffectState) {
        let _ = (kind, state);
    }
}

/// Ignores all reports, for one-shot runs.
pub struct NoopListener;

impl ChangeListener for NoopListener {
    fn order(&self, _: &OrderNumber) {}
    fn campaigns(&self) {}
}
