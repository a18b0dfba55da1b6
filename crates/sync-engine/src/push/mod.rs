//! The way up: what the ERP wants reaches the marketplace once, and its row says what became of it.
//!
//! [`Pusher::work`] does everything that is wanted, the most urgent first, until nothing is due. `journal` is the one way in which something is asked of the marketplace; `commands` finds who knows a kind of
//! command; each file after it knows an area: what to read before, what to send, and which evidence settles it.

mod campaigns;
mod catalogue;
mod cause;
mod commands;
mod dispatch_timeline;
mod evidence;
mod job;
mod journal;
mod label_files;
mod labels;
mod listings;
mod lists;
mod media;
mod movements;
mod notes;
mod orders;
mod policy;
mod preview;
mod prices;
mod products;
mod stock;
mod worker_pool;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_api_client::{Client, limit::Lane};
use espelho_model::{OrderNumber, push::PushState};
use espelho_store::{Command, EffectState, IntentKind, Outcome};
use rust_decimal::Decimal;

pub use preview::{PlannedCall, preview};
pub use prices::{current_tiers, mode_of, request_of};

pub use crate::plan::push::{Message, Verdict, stock_level::Basis};
use crate::{
    StoreContext,
    plan::{guards::Guards, policy::Policy, push::job_queue::JobQueue},
};
use cause::Cause;
use job::Work;

/// How what the ERP wants is carried out.
#[derive(Clone, Debug)]
pub struct PushOptions {
    /// Whether `erp_stock` is; else its rows stay as they are.
    pub stock: bool,
    /// Whether `erp_prices` is.
    pub prices: bool,
    /// Whether `commands` are.
    pub commands: bool,
    /// What `erp_stock.quantity` means.
    pub basis: Basis,
    /// Whether tiers that the ERP does not write are deleted; else they stay.
    pub remove_missing_tiers: bool,
    /// What is held until a person releases it.
    pub guards: Guards,
    /// Which SKUs have a floor of their own.
    pub floors: HashMap<String, Decimal>,
    /// Which listings join campaigns by themselves.
    pub campaigns: Policy,
    /// The folder that relative paths of files are looked for in.
    pub files: PathBuf,
}

impl Default for PushOptions {
    fn default() -> Self {
        Self {
            stock: true,
            prices: true,
            commands: true,
            basis: Basis::default(),
            remove_missing_tiers: false,
            guards: Guards::default(),
            floors: HashMap::new(),
            campaigns: Policy::default(),
            files: PathBuf::from("."),
        }
    }
}

/// Hears what was done, so that the mirror looks at it again.
pub trait ChangeListener: Send + Sync {
    /// An order, or what hangs on it, is not as it was.
    fn order(&self, number: &OrderNumber);
    /// Listings have joined a campaign.
    fn campaigns(&self);
    /// An effect whose answer was lost is settled by what was read; its kind, and what became of it.
    fn settled(&self, kind: &str, state: EffectState) {
        let _ = (kind, state);
    }
}

/// Nobody looks: one-shot runs.
pub struct NoopListener;

impl ChangeListener for NoopListener {
    fn order(&self, _: &OrderNumber) {}
    fn campaigns(&self) {}
}

/// Carries out what the ERP wants of one store.
pub struct Pusher<'c> {
    context: &'c StoreContext,
    options: &'c PushOptions,
    listener: &'c dyn ChangeListener,
    client: Client,
    state: Mutex<PusherState>,
    /// Held while a picture is uploaded.
    uploading: tokio::sync::Mutex<()>,
}

/// The fiscal documents that the mirror had then, and until when to wait for others.
type Documents = (Option<Vec<String>>, Duration);

/// What is remembered from round to round; what of it is needed after a restart stands in the journal too.
#[derive(Default)]
struct PusherState {
    /// What is open and not under way.
    jobs: JobQueue<Work>,
    /// Effects whose answer is waited for.
    acting: HashSet<i64>,
    /// When effects of this process left that are not settled.
    sent: HashMap<i64, Duration>,
    /// When listings were created, for the guard.
    listings: VecDeque<DateTime<Utc>>,
    /// When levels were last set to zero, by key, for the guard.
    emptied: HashMap<String, DateTime<Utc>>,
    /// Whether both were taken over from the journal.
    remembers: bool,
    /// When effects whose answer was lost were first looked for.
    first_checked: HashMap<i64, Duration>,
    /// Levels that are not as they were set, and since when that is seen.
    doubted: HashMap<String, Duration>,
    /// When rows with unknown SKUs were last looked at again.
    reopened: Option<Duration>,
    /// Whether the store's policy was followed since the campaigns were last read.
    policed: bool,
    /// Commands that were refused for want of a fiscal document.
    documents: HashMap<i64, Documents>,
    /// When something that is polled was begun.
    begun: HashMap<i64, Duration>,
    /// Since when files of labels are waited for, by command, and when the mirror was last told to look.
    files_awaited: HashMap<i64, (Duration, Duration)>,
}

impl<'c> Pusher<'c> {
    /// Whoever pushes for a store that is ours.
    pub fn new(
        context: &'c StoreContext,
        options: &'c PushOptions,
        listener: &'c dyn ChangeListener,
    ) -> Self {
        let client = context.client.in_lane(Lane::Push);
        Self {
            context,
            options,
            listener,
            client,
            state: Mutex::default(),
            uploading: tokio::sync::Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, PusherState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A row as the command line takes it: `stock A/1 --store loja`.
    fn row(&self, desired: IntentKind, key: &str) -> String {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/-_.:{}".contains(letter);
        let key = match key.chars().all(is_plain) {
            true => key.to_owned(),
            false => format!("'{}'", key.replace('\'', "'\\''")),
        };
        format!("{} {key} --store {}", desired.as_str(), self.context.key)
    }

    /// Writes the answer to a command.
    async fn answer(&self, command: &Command, verdict: &Verdict) -> Result<(), Cause> {
        let id = command.id.to_string();
        let Some(outcome) = verdict.outcome(&self.row(IntentKind::Command, &id), self.context.locale) else {
            return Ok(());
        };
        let mut tx = self.context.store.begin_answer(&self.context.lease).await?;
        if tx.intents().answer_command(command, &outcome).await? && is_decided(&outcome) {
            tx.intents().spend_release(IntentKind::Command, &id).await?;
        }
        Ok(tx.commit().await?)
    }
}

/// Whether a row is over, and its release spent: what waits, is held again, or is sent and may be sent once more, has it still before it.
fn is_decided(outcome: &Outcome) -> bool {
    let retry_after = [PushState::Held, PushState::Waiting, PushState::New, PushState::Sending];
    !retry_after.contains(&outcome.state)
}

/// The keys among which none is under way twice.
fn try_reserve(keys: &mut HashSet<String>, key: &str) -> bool {
    keys.insert(key.to_owned())
}
