//! The vocabulary of the mirror: identifiers, exact numbers, time, orders, products and the terms of a
//! reconciliation. Nothing here does I/O; every other crate of the workspace may depend on this one.
//!
//! Reading order: [`ids`] and [`StoreKey`] are the identifiers. [`Timestamp`](time) and [`clock`] handle time;
//! [`watch`] detects stalled tasks, [`containment`] contains panics, [`fault`] provokes them in tests. [`raw`] and
//! [`hash`] keep received data. [`order`] (with its [`timeline`], [`fiscal`] and [`financial`] sub-resources),
//! [`shipment`], [`tracking`], [`product`], [`campaign`], [`price_list`], [`media`], [`listing`], [`store_profile`],
//! [`occurrence`] and [`conversation`] are the mirrored aggregates. [`privacy`] is the policy for people's data,
//! [`person`] tells a person in them. [`pause`] has what operators stop, [`sync`] the states and counts of a run. [`next_step`]
//! says what mends rows, [`program`] how command lines call the program, [`symptom`] how something elsewhere fails.
//! [`mod@text`] has the texts for people.
#![deny(missing_docs)]

pub mod campaign;
pub mod clock;
pub mod containment;
pub mod conversation;
pub mod doubled_names;
pub mod fault;
pub mod financial;
pub mod fiscal;
#[doc(hidden)]
pub mod fuzzing;
pub mod hash;
pub mod ids;
pub mod listing;
pub mod media;
pub mod money;
pub mod next_step;
pub mod occurrence;
pub mod order;
pub mod pause;
pub mod person;
pub mod price_list;
pub mod privacy;
pub mod product;
pub mod program;
pub mod push;
pub mod raw;
pub mod shipment;
pub mod store_key;
pub mod store_profile;
pub mod symptom;
pub mod sync;
pub mod text;
pub mod time;
pub mod timeline;
pub mod tracking;
pub mod watch;

pub use clock::Clock;
pub use hash::ContentHash;
pub use ids::{
    CampaignId, CategoryId, ConversationId, DepartmentId, ItemId, LabelId, LineId, LocationId, MediaId,
    MessageId, OccurrenceId, OrderNumber, PriceListId, ProductId, ShipmentId, Sku, StoreId,
};
pub use raw::RawJson;
pub use store_key::StoreKey;
