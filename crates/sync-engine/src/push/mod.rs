//! Push: carries each intent of the ERP to the marketplace once, and writes the result to its row.
//!
//! [`Pusher`] puts the components together, and each keeps its own state. [`Pusher::work`] runs `intent_queue`: it scans
//! the open work, and its workers process it, the most urgent first, until nothing is due. `journal` is the only way in
//! which a request changes the marketplace. `stock` and `prices` carry out rows, `commands` runs the handler of a
//! command's kind, and `kinds` has a file for each kind. `settlements` settles effects whose answer was lost.

mod campaign_policy;
mod command_context;
mod commands;
mod dispatch_timeline;
pub(crate) mod fields;
mod guard_history;
mod handler;
mod images;
mod intent_queue;
mod invoice_waits;
mod journal;
pub(crate) mod kinds;
mod label_files;
mod label_waits;
mod listener;
mod options;
mod preview;
mod price_requests;
mod prices;
mod products;
mod refused;
mod row_answers;
mod services;
mod settlements;
mod stock;

use std::{sync::Arc, time::Duration};

use espelho_api_client::limit::Lane;
use tokio::sync::Notify;

pub use listener::{ChangeListener, NoopListener};
pub use options::PushOptions;
pub use preview::{PlannedCall, preview};
pub use price_requests::{current_tiers, mode_of, request_of};

pub use crate::plan::push::{Message, Verdict, stock_level::Basis};
use crate::{Error, StoreContext};
use campaign_policy::CampaignPolicy;
use commands::CommandHandlers;
use dispatch_timeline::DispatchTimeline;
use guard_history::GuardHistory;
use images::ImageUploads;
use intent_queue::{Executors, IntentQueue};
use invoice_waits::InvoiceWaits;
use journal::Journal;
use label_waits::LabelWaits;
use prices::PricePusher;
use products::Products;
use row_answers::RowAnswers;
use services::Services;
use settlements::Settlements;
use stock::{StockPusher, StockTools};

/// Carries out the intents of one store.
pub struct Pusher<'c> {
    queue: IntentQueue<'c>,
    policy: Arc<CampaignPolicy<'c>>,
    stock: Arc<StockPusher<'c>>,
}

impl<'c> Pusher<'c> {
    /// Creates a pusher for a store whose lease we hold.
    pub fn new(
        context: &'c StoreContext,
        options: &'c PushOptions,
        listener: &'c dyn ChangeListener,
    ) -> Self {
        let client = context.client.in_lane(Lane::Push);
        let journal = Arc::new(Journal::new(context, listener, client.clone()));
        let answers = Arc::new(RowAnswers::new(context, options.basis));
        let guards = Arc::new(GuardHistory::new(context));
        let products = Arc::new(Products::new(context, client.clone()));
        let dispatches = Arc::new(DispatchTimeline::new(context, client.clone()));
        let prices = PricePusher::new(context, options, journal.clone(), answers.clone(), products.clone());
        let prices = Arc::new(prices);
        let tools = StockTools {
            journal: journal.clone(),
            answers: answers.clone(),
            guards: guards.clone(),
            products: products.clone(),
            dispatches: dispatches.clone(),
        };
        let stock = Arc::new(StockPusher::new(context, options, client.clone(), tools));
        let services = Arc::new(Services {
            context,
            options,
            listener,
            images: ImageUploads::new(context, options, client.clone(), journal.clone()),
            client,
            journal: journal.clone(),
            guards: guards.clone(),
            products,
            dispatches,
            prices: prices.clone(),
            invoices: InvoiceWaits::default(),
            labels: LabelWaits::default(),
        });
        let settlements = Settlements::new(journal.clone(), stock.clone(), prices.clone(), services.clone());
        let settlements = Arc::new(settlements);
        let (kept, levels) = (settlements.clone(), stock.clone());
        let commands =
            CommandHandlers::new(context, journal.clone(), answers.clone(), kept, services, levels);
        let policy = Arc::new(CampaignPolicy::new(context, &options.campaigns, answers.clone()));
        let executors = Executors {
            journal,
            answers,
            guards,
            policy: policy.clone(),
            settlements,
            stock: stock.clone(),
            prices,
            commands,
        };
        Self { queue: IntentQueue::new(context, options, executors), policy, stock }
    }

    /// Processes all open work, the most urgent first, until nothing is due. Returns the time until something is due,
    /// where anything waits. `written` signals new rows.
    ///
    /// # Errors
    /// Only an error that ends the work on the store: all others are in the rows.
    pub async fn work(&self, written: &Notify) -> Result<Option<Duration>, Error> {
        self.queue.work(written).await
    }

    /// Notes that new products were mirrored, so that the next scan looks at unknown SKUs again.
    pub(crate) fn products_were_mirrored(&self) {
        self.stock.products_were_mirrored();
    }

    /// Notes that the campaigns were read again, so that the policy is applied once more.
    pub(crate) fn campaigns_were_read(&self) {
        self.policy.campaigns_were_read();
    }
}
