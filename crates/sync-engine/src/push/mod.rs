//! The way up: what the ERP wants reaches the marketplace once, and its row says what became of it.
//!
//! [`Pusher::round`] looks at everything that is wanted, decides what is most urgent, and does some of it; whoever calls it calls it
//! again. `journal` is the one way in which something is asked of the marketplace; `commands` finds who knows a kind of
//! command; each file after it knows an area: what to read before, what to send, and which evidence settles it.

mod campaigns;
mod catalogue;
mod commands;
mod evidence;
mod job;
mod journal;
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
mod sales;
mod stock;
mod verdict;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use espelho_api_client::{Client, limit::Lane};
use espelho_model::{OrderNumber, push::PushState};
use espelho_store::{Command, EffectState, Outcome, Wanted};
use futures_util::{StreamExt as _, stream};
use rust_decimal::Decimal;

pub use preview::{PlannedCall, preview};
pub use prices::{current_tiers, mode_of, request_of};
pub use verdict::{Said, Verdict};

use crate::{
    Problem, StoreContext, Trouble,
    plan::{guards::Guards, policy::Policy},
};
use job::{Job, Work};
use verdict::{Cause, passes};

/// How many jobs are under way at once. Each of them waits for the budget most of the time.
const HANDS: usize = 8;
/// How many jobs a round takes: what is wanted meanwhile and is more urgent waits for no more than these.
const ROUND: usize = 64;
/// A reading of everything that is wanted counts for so many times as long as it took: where much is wanted, to read it all for
/// every round would be most of the work.
const READING_COUNTS: u32 = 8;
/// But for no longer than this: what is urgent and new is not known before the next one.
const READING_COUNTS_FOR: Duration = Duration::from_secs(2);
/// Between two attempts after an error that passes, doubled each time up to the last.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LAST_PAUSE: Duration = Duration::from_secs(300);

/// What `erp_stock.quantity` means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// What lies on the shelf: the marketplace's `quantity`.
    #[default]
    Physical,
    /// What may still be sold: `quantity` less what the platform has reserved.
    Available,
}

impl Basis {
    /// The word in files and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Physical => "physical",
            Self::Available => "available",
        }
    }
}

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
pub trait Told: Send + Sync {
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
pub struct NobodyLooks;

impl Told for NobodyLooks {
    fn order(&self, _: &OrderNumber) {}
    fn campaigns(&self) {}
}

/// When to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At once: something was done, and there may be more.
    Now,
    /// After so long, or when something is wanted.
    After(Duration),
    /// When something is wanted.
    Idle,
}

/// What a reading of everything that is wanted has come to.
enum Read {
    Due(Vec<Job>),
    Nothing(Next),
}

/// Carries out what the ERP wants of one store.
pub struct Pusher<'c> {
    context: &'c StoreContext,
    options: &'c PushOptions,
    told: &'c dyn Told,
    client: Client,
    state: Mutex<State>,
    /// Held while a picture is uploaded.
    uploading: tokio::sync::Mutex<()>,
}

/// The fiscal documents that the mirror had then, and until when to wait for others.
type Documents = (Option<Vec<String>>, Duration);

/// What is remembered from round to round; nothing of it is needed after a restart.
#[derive(Default)]
struct State {
    /// What is left of the last reading, the most urgent first.
    queue: VecDeque<Job>,
    /// Until when that counts, by the monotonic clock.
    read_again: Duration,
    /// Jobs that are not due: until when, by the monotonic clock.
    later: HashMap<String, Duration>,
    /// How often in a row a job came to nothing.
    failures: HashMap<String, u32>,
    /// When listings were created, for the guard.
    listings: VecDeque<Duration>,
    /// When levels were set to zero, for the guard.
    emptied: VecDeque<Duration>,
    /// When effects whose answer was lost were first looked for.
    looked: HashMap<i64, Duration>,
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
}

impl<'c> Pusher<'c> {
    /// Whoever pushes for a store that is ours.
    pub fn new(context: &'c StoreContext, options: &'c PushOptions, told: &'c dyn Told) -> Self {
        let client = context.client.in_lane(Lane::Push);
        Self {
            context,
            options,
            told,
            client,
            state: Mutex::default(),
            uploading: tokio::sync::Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at everything that is wanted and does the most urgent part of it.
    ///
    /// # Errors
    /// Only what ends the work on the store: the rest stands in the rows.
    pub async fn round(&self) -> Result<Next, Problem> {
        if !(self.options.stock || self.options.prices || self.options.commands) {
            return Ok(Next::Idle);
        }
        let due = match self.queued() {
            some if !some.is_empty() => some,
            _ => match self.read().await {
                Ok(Read::Due(jobs)) => jobs,
                Ok(Read::Nothing(next)) => return Ok(next),
                Err(cause) => return self.after(&cause, "").map(Next::After),
            },
        };
        let work = stream::iter(due).map(|job| self.run(job)).buffer_unordered(HANDS);
        let ended: Vec<Result<(), Problem>> = work.collect().await;
        ended.into_iter().find(Result::is_err).unwrap_or(Ok(())).map(|()| Next::Now)
    }

    /// The next of the last reading, while that counts.
    fn queued(&self) -> Vec<Job> {
        let mut state = self.state();
        if self.context.clock.monotonic() >= state.read_again {
            return Vec::new();
        }
        let some = state.queue.len().min(ROUND);
        state.queue.drain(..some).collect()
    }

    /// Reads everything that is wanted; gives the most urgent of it that is due, and keeps the rest.
    async fn read(&self) -> Result<Read, Cause> {
        let began = self.context.clock.monotonic();
        let jobs = self.jobs().await?;
        let now = self.context.clock.monotonic();
        let mut state = self.state();
        state.later.retain(|_, at| *at > now);
        let (due, waiting): (Vec<Job>, Vec<Job>) =
            jobs.into_iter().partition(|job| !state.later.contains_key(&job.key));
        if due.is_empty() {
            state.queue.clear();
            let next = waiting.iter().filter_map(|job| state.later.get(&job.key)).min();
            return Ok(Read::Nothing(next.map_or(Next::Idle, |at| Next::After(at.saturating_sub(now)))));
        }
        state.queue = due.into();
        let some = state.queue.len().min(ROUND);
        let first = state.queue.drain(..some).collect();
        state.read_again = now + (now.saturating_sub(began) * READING_COUNTS).min(READING_COUNTS_FOR);
        Ok(Read::Due(first))
    }

    /// Does one job, unless the service ends.
    async fn run(&self, job: Job) -> Result<(), Problem> {
        if self.context.stop.is_cancelled() {
            return Ok(());
        }
        let Job { key, work, .. } = job;
        let answered = match work {
            Work::Settle(effect) => self.settle_orphan(&effect).await.map(Option::unwrap_or_default),
            Work::Stock(row) => self.push_level(&row).await,
            Work::Verify(product, rows) => self.verify_levels(&product, &rows).await,
            Work::Prices(wanted) => self.push_prices(&wanted).await,
            Work::Command(command) => self.carry_out(&command).await,
        };
        match answered {
            Ok(wait) => {
                let until = self.context.clock.monotonic() + wait;
                let mut state = self.state();
                state.failures.remove(&key);
                state.later.insert(key, until);
                Ok(())
            }
            Err(cause) => self.after(&cause, &key).map(drop),
        }
    }

    /// What an error means: the end of the work on the store, or a pause.
    fn after(&self, cause: &Cause, key: &str) -> Result<Duration, Problem> {
        let problem = match cause {
            Cause::Api(error) => Problem::from_api(error),
            Cause::Store(error) => Problem::from_store(error),
        };
        if matches!(problem.trouble, Trouble::Authentication | Trouble::Held | Trouble::Configuration) {
            return Err(problem);
        }
        let mut state = self.state();
        let failures = state.failures.entry(key.to_owned()).or_default();
        *failures += 1;
        let pause = FIRST_PAUSE.saturating_mul(1 << (*failures - 1).min(10)).min(LAST_PAUSE);
        state.later.insert(key.to_owned(), self.context.clock.monotonic() + pause);
        let (error, seconds) = (&problem.error, pause.as_secs());
        tracing::warn!(store = %self.context.key, key, error, seconds, "what is wanted is looked at again later");
        Ok(pause)
    }

    /// Another command has taken the place of one that waits.
    async fn supersede(&self, command: &Command) -> Result<(), Cause> {
        self.write_answer(command, &Outcome::plain(PushState::Superseded)).await
    }

    /// Writes the answer to a command.
    async fn answer(&self, command: &Command, verdict: &Verdict) -> Result<(), Cause> {
        if let Some(outcome) = verdict.outcome() {
            self.write_answer(command, &outcome).await?;
        }
        Ok(())
    }

    async fn write_answer(&self, command: &Command, outcome: &Outcome) -> Result<(), Cause> {
        let mut tx = self.context.store.begin_answer(&self.context.lease).await?;
        tx.answer_command(command, outcome).await?;
        tx.spend_release(Wanted::Command, &command.id.to_string()).await?;
        Ok(tx.commit().await?)
    }
}

/// What a refusal makes of a command: it fails, unless the error passes.
fn refused(error: espelho_api_client::Error) -> Result<Verdict, Cause> {
    match passes(&error) || error.is_authentication() || error.is_not_ours() {
        true => Err(Cause::Api(error)),
        false => Ok(Verdict::Failed(Said::of(&error))),
    }
}

/// The keys among which none is under way twice.
fn distinct(keys: &mut HashSet<String>, key: &str) -> bool {
    keys.insert(key.to_owned())
}
