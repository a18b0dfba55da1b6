//! Events: what a change reports, as plain data ("Events" of the document).

use serde_json::Value;

/// An event that is still to be announced. `data` lacks only `store_id`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// Such as `order.paid`.
    pub(crate) name: &'static str,
    pub(crate) data: Value,
}

impl Event {
    pub(crate) fn new(name: &'static str, data: Value) -> Self {
        Self { name, data }
    }
}
