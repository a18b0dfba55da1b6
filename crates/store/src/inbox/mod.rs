//! The inbox: webhook deliveries until they are handled, and the secrets and addresses of webhooks.

pub(crate) mod deliveries;
pub(crate) mod replay;
pub(crate) mod waiting_stores;
pub(crate) mod watch;
pub(crate) mod webhook_addresses;
pub(crate) mod webhook_secrets;

use std::sync::Arc;

use espelho_model::{Clock, privacy::Privacy};

use crate::{driver::Database, notifications::Notifications};

/// Webhook deliveries, and the secrets and addresses of the webhooks.
#[derive(Clone, Copy)]
pub struct Inbox<'s> {
    pub(crate) database: &'s Database,
    pub(crate) inbox: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
    pub(crate) privacy: &'s Privacy,
    pub(crate) notifications: &'s Notifications,
    pub(crate) waiting: &'s waiting_stores::WaitingStores,
}
