//! Reading what the marketplace sends: strict about being JSON, tolerant about its shape.

pub(crate) mod envelope;
pub mod fields;
pub mod list;
pub(crate) mod within;
