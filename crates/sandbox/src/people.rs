//! The buyers, whom all stores share.

use std::sync::Arc;

/// A buyer.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) uid: u128,
    pub(crate) name: Box<str>,
    /// The name as a search compares it.
    pub(crate) folded: Box<str>,
    pub(crate) city: Arc<str>,
    pub(crate) state: Arc<str>,
}

impl Person {
    /// The position that a customer identifier stands for: identifiers count from 1.
    pub(crate) fn position(id: &str) -> Option<u32> {
        id.parse::<u32>().ok()?.checked_sub(1)
    }
}
