//! Reads what the marketplace sends, strict about being JSON and tolerant about its shape; and writes the exact form
//! of what it is sent.

pub(crate) mod envelope;
pub mod fields;
pub mod list;
pub(crate) mod masked;
pub(crate) mod outward;
pub mod rows;
pub(crate) mod shape;
pub(crate) mod within;
