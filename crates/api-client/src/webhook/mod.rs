//! Reads what the marketplace pushes (API document, "Events"), purely: whether a delivery is genuine, and which
//! resource it names.
//!
//! A delivery is a hint. It may be late, duplicated or out of order, so its payload never becomes state if a route
//! can supply the data ([`event_only_data`] covers the rest). It names the resource to read again, and when it was
//! built. `webhook_id` identifies the webhook and not the delivery, and genuine events repeat, so neither identifies
//! a delivery.

pub mod delivery;
pub mod event;
pub mod event_only_data;
pub mod product_value;
pub mod signature;

pub use delivery::{Delivery, InvalidDelivery};
pub use event::{EventGroup, EventName};
pub use event_only_data::EventOnlyData;
pub use product_value::{ProductField, ProductValue};
pub use signature::{SIGNATURE_HEADER, verify};
