//! Ownership of stores: leases, the locks behind them, and the heartbeat that proves them.

pub(crate) mod heartbeat;
pub(crate) mod held_stores;
pub(crate) mod in_flight;
pub(crate) mod lease;
pub(crate) mod lease_guard;
pub(crate) mod lock_inspection;
pub(crate) mod lock_table;
pub(crate) mod locks;
pub(crate) mod server_locks;

use std::sync::Arc;

use espelho_model::{Clock, privacy::Privacy};

use self::locks::Locks;
use crate::{driver::Database, notifications::Notifications};

/// The leases of stores: taking them, and finding their holders.
#[derive(Clone, Copy)]
pub struct Leases<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
    pub(crate) locks: &'s Locks,
    pub(crate) notifications: &'s Arc<Notifications>,
    pub(crate) privacy: &'s Arc<Privacy>,
}
