//! The journal of effects: each request to the marketplace, durable before it leaves.

pub(crate) mod effects;

use std::sync::Arc;

use espelho_model::{Clock, privacy::Privacy};

use crate::driver::Database;

/// The journal of effects, in the same database as the inbox.
#[derive(Clone, Copy)]
pub struct Journal<'s> {
    pub(crate) database: &'s Database,
    pub(crate) inbox: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
    pub(crate) privacy: &'s Privacy,
}
