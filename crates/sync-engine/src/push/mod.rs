//! Push: carries each intent of the ERP to the marketplace once, and writes the result to its row.
//!
//! [`Pusher::work`] processes all open work, the most urgent first, until nothing is due. `journal` is the only way in
//! which a request changes the marketplace. `commands` finds the handler of a kind of command. Each area (stock,
//! prices, orders …) has its own file: what to read before, what to send, and which evidence settles it.

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

/// The options of the push.
#[derive(Clone, Debug)]
pub struct PushOptions {
    /// Whether `erp_stock` is pushed; else its rows stay as they are.
    pub stock: bool,
    /// Whether `erp_prices` is pushed.
    pub prices: bool,
    /// Whether `commands` are executed.
    pub commands: bool,
    /// The meaning of `erp_stock.quantity`.
    pub basis: Basis,
    /// Whether tiers that the ERP does not write are deleted; else they stay.
    pub remove_missing_tiers: bool,
    /// The limits beyond which a row is held until a person releases it.
    pub guards: Guards,
    /// The price floors of SKUs that have their own.
    pub floors: HashMap<String, Decimal>,
    /// The policy by which listings join campaigns automatically.
    pub campaigns: Policy,
    /// The base folder of relative file paths.
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

/// Receives the changes that a push made, so that the mirror reads them again.
pub trait ChangeListener: Send + Sync {
    /// An order, or one of its sub-resources, changed.
    fn order(&self, number: &OrderNumber);
    /// Listings joined a campaign.
    fn campaigns(&self);
    /// An effect whose answer was lost is settled by evidence: its kind, and its new state.
    fn settled(&self, kind: &str, state: EffectState) {
        let _ = (kind, state);
    }
}

/// Ignores all reports, for one-shot runs.
pub struct NoopListener;

impl ChangeListener for NoopListener {
    fn order(&self, _: &OrderNumber) {}
    fn campaigns(&self) {}
}

/// Carries out the intents of one store.
pub struct Pusher<'c> {
    context: &'c StoreContext,
    options: &'c PushOptions,
    listener: &'c dyn ChangeListener,
    client: Client,
    state: Mutex<PusherState>,
    /// Held while a picture is uploaded.
    uploading: tokio::sync::Mutex<()>,
}

/// The fiscal documents in the mirror at the time of a refusal, and the time until which to wait for others.
type Documents = (Option<Vec<String>>, Duration);

/// State that is kept from scan to scan; the journal also has the part that is needed after a restart.
#[derive(Default)]
struct PusherState {
    /// The open jobs that are not under way.
    jobs: JobQueue<Work>,
    /// Effects that are being executed.
    acting: HashSet<i64>,
    /// When this process sent its effects that are not settled yet.
    sent: HashMap<i64, Duration>,
    /// When listings were created, for the guard.
    listings: VecDeque<DateTime<Utc>>,
    /// When levels were last set to zero, by key, for the guard.
    emptied: HashMap<String, DateTime<Utc>>,
    /// Whether both were loaded from the journal.
    remembers: bool,
    /// When effects with a lost answer were first checked.
    first_checked: HashMap<i64, Duration>,
    /// Levels that differ from what was set, and since when.
    unexplained_since: HashMap<String, Duration>,
    /// When rows with unknown SKUs were last reopened.
    reopened: Option<Duration>,
    /// Whether the campaign policy was applied since the campaigns were last read.
    policy_applied: bool,
    /// Commands that were refused for lack of a fiscal document.
    documents: HashMap<i64, Documents>,
    /// When polling began, by command.
    begun: HashMap<i64, Duration>,
    /// Since when each command waits for label files, and when its order was last reported to the mirror.
    files_awaited: HashMap<i64, (Duration, Duration)>,
}

impl<'c> Pusher<'c> {
    /// Creates a pusher for a store whose lease we hold.
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

    /// Returns a row's name as the command line takes it: `stock A/1 --store loja`.
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
        if tx.intents().answer_command(command, &outcome).await? && is_final(&outcome) {
            tx.intents().spend_release(IntentKind::Command, &id).await?;
        }
        Ok(tx.commit().await?)
    }
}

/// Says whether a row is finished and its release spent. A row that waits, is held again, or is sent and may be sent
/// once more keeps its release.
fn is_final(outcome: &Outcome) -> bool {
    let open_states = [PushState::Held, PushState::Waiting, PushState::New, PushState::Sending];
    !open_states.contains(&outcome.state)
}

/// Reserves a key. Returns false when the key is already taken.
fn try_reserve(keys: &mut HashSet<String>, key: &str) -> bool {
    keys.insert(key.to_owned())
}
