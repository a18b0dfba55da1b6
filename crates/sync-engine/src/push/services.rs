//! What the handlers of commands work with.

use std::sync::Arc;

use espelho_api_client::Client;

use super::{
    dispatch_timeline::DispatchTimeline, guard_history::GuardHistory, images::ImageUploads,
    invoice_waits::InvoiceWaits, journal::Journal, label_waits::LabelWaits, listener::ChangeListener,
    options::PushOptions, prices::PricePusher, products::Products,
};
use crate::StoreContext;

/// The components that a handler may use. Each keeps its own state.
pub(crate) struct Services<'c> {
    pub(crate) context: &'c StoreContext,
    pub(crate) options: &'c PushOptions,
    pub(crate) listener: &'c dyn ChangeListener,
    /// Reads, and sends in the lane of pushes.
    pub(crate) client: Client,
    pub(crate) journal: Arc<Journal<'c>>,
    pub(crate) guards: Arc<GuardHistory<'c>>,
    pub(crate) products: Arc<Products<'c>>,
    pub(crate) dispatches: Arc<DispatchTimeline<'c>>,
    pub(crate) prices: Arc<PricePusher<'c>>,
    pub(crate) images: ImageUploads<'c>,
    pub(crate) invoices: InvoiceWaits,
    pub(crate) labels: LabelWaits,
}
