//! Shipments and labels (API document, "Shipments and labels").
//!
//! Fetching a label's file takes three steps: generate the labels ([`labels`]), list them until one is ready
//! ([`LabelPolling`] sets the intervals), then request its signed address ([`download`]) and fetch it
//! ([`SignedFiles::fetch`](super::SignedFiles::fetch)).

pub mod download;
pub mod labels;
pub mod list;
pub mod polling;

pub use download::LabelFile;
pub use labels::{Labels, QueuedLabels};
pub use polling::LabelPolling;
