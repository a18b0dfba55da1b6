//! Shipments and labels (API document, "Shipments and labels").
//!
//! A label's file is had in three steps: generate ([`labels`]), read the labels until one is ready ([`LabelPolling`]
//! says when to look), then ask for its signed address ([`download`]) and fetch that
//! ([`Client::fetch_signed`](crate::Client::fetch_signed)).

pub mod download;
pub mod labels;
pub mod list;
pub mod polling;

pub use download::LabelFile;
pub use labels::{Labels, QueuedLabels};
pub use polling::LabelPolling;
