//! What the marketplace pushes (API document, "Events"), read purely: whether it is genuine, and what it points at.
//!
//! A delivery is a hint. It may be late, doubled or out of order, so nothing of its payload becomes state where a route
//! tells it better ([`event_only_data`] is the rest): it says which resource to look at again, and when it was built. `webhook_id` names the webhook and not the delivery, and
//! genuine events repeat, so neither tells one delivery from another.

pub mod delivery;
pub mod event;
pub mod event_only_data;
pub mod signature;

pub use delivery::{Delivery, InvalidDelivery};
pub use event::{EventGroup, EventName};
pub use event_only_data::EventOnlyData;
pub use signature::{SIGNATURE_HEADER, verify};
