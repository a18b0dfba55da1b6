//! Executes effects: the only way in which a request changes the marketplace. Each is planned, sent and settled.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::TimeDelta;
use espelho_api_client::{ApiRequest, Class, Client, Error as ApiError};
use espelho_model::{RawJson, Sku};
use espelho_store::{Effect, EffectOutcome, EffectState, NewEffect, StockIntent, TierIntent};

use super::listener::ChangeListener;
use crate::{
    Error, StoreContext,
    plan::push::{
        Settlement,
        attempts::{SentFor, may_be_under_way},
        price_step::is_desired,
    },
};

/// The code of an effect that was planned and not sent: it cost nothing, and does not count as an attempt.
const NOT_SENT: &str = "never_left";

/// The time after which the request of a sent effect has left, or never will. The client waits 30 s for an answer.
const SEND_TIMEOUT: Duration = Duration::from_secs(35);

/// The immediate result of an effect.
#[derive(Debug)]
pub(crate) enum ExecutionResult {
    /// It happened; the marketplace's answer.
    Applied(RawJson),
    /// It did not happen.
    Refused(ApiError),
    /// The outcome is unknown, and the journal has the effect as sent; or the intent is no longer current. The work is
    /// retried.
    Unknown,
}

/// The intent behind an effect. It is checked once more when there is a slot, which may take a minute.
pub(crate) enum Intent<'w> {
    /// A command, by number and fingerprint.
    Command(i64, String),
    /// A level of stock.
    Level(&'w StockIntent),
    /// A step towards these price rows of a SKU, with their revision.
    Prices(&'w Sku, &'w [TierIntent], i64),
}

/// The effects of one store: plans, sends and settles them.
pub(crate) struct Journal<'c> {
    context: &'c StoreContext,
    listener: &'c dyn ChangeListener,
    client: Client,
    state: Mutex<JournalState>,
}

/// What this process knows of effects, beside the rows of the journal.
#[derive(Default)]
struct JournalState {
    /// Effects that are being executed.
    executing: HashSet<i64>,
    /// When this process sent its effects that are not settled yet, by the monotonic clock.
    sent: HashMap<i64, Duration>,
    /// When effects with a lost answer were first checked.
    first_checked: HashMap<i64, Duration>,
    /// When the first of the last readings of each effect proved nothing.
    first_unclear: HashMap<i64, Duration>,
    /// The commands whose rows were written as `sending`, and not answered since.
    sending: HashSet<i64>,
    /// Movements with a lost answer after which a reading showed another quantity than before.
    seen_to_move: HashSet<i64>,
}

/// Marks an effect as being executed until this is dropped: no other worker settles it meanwhile.
struct ExecutionGuard<'j, 'c> {
    journal: &'j Journal<'c>,
    id: i64,
}

impl Drop for ExecutionGuard<'_, '_> {
    fn drop(&mut self) {
        self.journal.state().executing.remove(&self.id);
    }
}

impl<'c> Journal<'c> {
    /// Creates the journal of a store. `client` sends, and `listener` hears of settlements.
    pub(super) fn new(context: &'c StoreContext, listener: &'c dyn ChangeListener, client: Client) -> Self {
        Self { context, listener, client, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the effects that are being executed.
    pub(super) fn executing(&self) -> HashSet<i64> {
        self.state().executing.clone()
    }

    /// Says whether a command's row was written as `sending` since the last call.
    pub(super) fn take_sending(&self, command: i64) -> bool {
        self.state().sending.remove(&command)
    }

    /// Records a reading after a movement with a lost answer: `has_moved` if it shows another quantity than before. Returns
    /// whether any reading of this process did.
    pub(crate) fn note_reading(&self, effect: i64, has_moved: bool) -> bool {
        let mut state = self.state();
        if has_moved {
            state.seen_to_move.insert(effect);
        }
        state.seen_to_move.contains(&effect)
    }

    /// Says whether an effect may still happen although it does not show. The first call for an effect starts the time
    /// after which a repeatable effect counts as over.
    pub(super) fn may_be_under_way(&self, effect: &Effect, is_repeatable: bool) -> bool {
        let (sent, now) = (self.sent_for(effect), self.context.clock.monotonic());
        let first = *self.state().first_checked.entry(effect.id).or_insert(now);
        may_be_under_way(is_repeatable, sent, now.saturating_sub(first))
    }

    /// Returns how long ago an effect was sent; one that was never sent is older than any.
    pub(crate) fn age_of(&self, effect: &Effect) -> TimeDelta {
        match self.sent_for(effect) {
            SentFor::Monotonic(age) => TimeDelta::from_std(age).unwrap_or(TimeDelta::MAX),
            SentFor::Wall(age) => age,
            SentFor::Never => TimeDelta::MAX,
        }
    }

    /// Records that a reading after an effect with a lost answer proves nothing, or that it proves something. Returns how long
    /// ago the first of the readings that prove nothing was.
    pub(crate) fn unclear_for(&self, effect: &Effect, is_unclear: bool) -> TimeDelta {
        let now = self.context.clock.monotonic();
        let mut state = self.state();
        if !is_unclear {
            state.first_unclear.remove(&effect.id);
            return TimeDelta::zero();
        }
        let first = *state.first_unclear.entry(effect.id).or_insert(now);
        TimeDelta::from_std(now.saturating_sub(first)).unwrap_or(TimeDelta::MAX)
    }

    fn sent_for(&self, effect: &Effect) -> SentFor {
        let now = self.context.clock.monotonic();
        match (self.state().sent.get(&effect.id), effect.sent_at) {
            (Some(at), _) => SentFor::Monotonic(now.saturating_sub(*at)),
            (None, Some(at)) => SentFor::Wall(self.context.clock.now() - at),
            (None, None) => SentFor::Never,
        }
    }

    /// Executes an effect once: records it as planned, records it as sent, then sends it.
    pub(crate) async fn execute_once(
        &self,
        effect: NewEffect,
        intent: &Intent<'_>,
        request: &ApiRequest,
    ) -> Result<ExecutionResult, Error> {
        self.execute_if_shown(effect, intent, request, |_| true).await
    }

    /// Executes an effect once, like [`Journal::execute_once`]. An answer that does not show the effect (`shows`)
    /// counts as lost: the evidence decides.
    pub(crate) async fn execute_if_shown(
        &self,
        effect: NewEffect,
        intent: &Intent<'_>,
        request: &ApiRequest,
        shows: impl Fn(&RawJson) -> bool,
    ) -> Result<ExecutionResult, Error> {
        let id = self.plan(effect).await?;
        self.send_if_shown(id, intent, &self.client, request, shows).await
    }

    /// Records an effect as planned and returns its number. The caller checks its premises once more, then sends it or
    /// calls it off.
    pub(crate) async fn plan(&self, effect: NewEffect) -> Result<i64, Error> {
        let id = self.context.store.journal().plan_effect(&self.context.lease, effect).await?;
        self.state().executing.insert(id);
        Ok(id)
    }

    /// Calls a planned effect off: its premises no longer hold, and it is not sent.
    pub(crate) async fn cancel(&self, id: i64) -> Result<(), Error> {
        self.state().executing.remove(&id);
        self.settle(id, EffectState::Refuted, Some(NOT_SENT.to_owned()), "called off", None).await
    }

    /// Sends a planned effect.
    pub(crate) async fn send(
        &self,
        id: i64,
        intent: &Intent<'_>,
        client: &Client,
        request: &ApiRequest,
    ) -> Result<ExecutionResult, Error> {
        self.send_if_shown(id, intent, client, request, |_| true).await
    }

    async fn send_if_shown(
        &self,
        id: i64,
        intent: &Intent<'_>,
        client: &Client,
        request: &ApiRequest,
        shows: impl Fn(&RawJson) -> bool,
    ) -> Result<ExecutionResult, Error> {
        let _executing = ExecutionGuard { journal: self, id };
        let (store, lease) = (&self.context.store, &self.context.lease);
        let client = match client.with_slot(request).await {
            Ok(client) => client,
            Err(error) => {
                self.settle(id, EffectState::Refuted, Some(error.code()), "it never left", None).await?;
                return Err(error.into());
            }
        };
        if self.context.stop.is_cancelled() || !self.begin_sending(intent).await? {
            self.cancel(id).await?;
            return Ok(ExecutionResult::Unknown);
        }
        store.journal().note_sent(lease, id).await?;
        let now = self.context.clock.monotonic();
        self.state().sent.insert(id, now);
        let answered = tokio::select! {
            answered = client.requests().perform(request) => answered,
            // Stop here, so that nothing leaves after a login or a wait of its route, when the effect counts as over.
            () = self.context.clock.sleep(SEND_TIMEOUT) => return Ok(ExecutionResult::Unknown),
        };
        match answered {
            Ok(answer) if !shows(&answer) => {
                tracing::info!(store = %self.context.key, effect = id, request = request.describe(), "the answer does not show the effect; will look for evidence");
                Ok(ExecutionResult::Unknown)
            }
            Ok(answer) => {
                let text = Some(answer.as_str().to_owned());
                self.settle(id, EffectState::Confirmed, None, "answered", text).await?;
                Ok(ExecutionResult::Applied(answer))
            }
            Err(error) if error.class() == Class::Ambiguous => {
                tracing::info!(store = %self.context.key, effect = id, request = request.describe(), %error, "outcome unknown; will look for evidence");
                Ok(ExecutionResult::Unknown)
            }
            Err(error) => {
                self.settle(id, EffectState::Refuted, Some(error.code()), "refused", None).await?;
                Ok(ExecutionResult::Refused(error))
            }
        }
    }

    /// Says whether an intent is still as it was read, and marks a command as being sent: nobody changes it any more.
    async fn begin_sending(&self, intent: &Intent<'_>) -> Result<bool, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        Ok(match intent {
            Intent::Command(id, fingerprint) => {
                let mut tx = store.begin_answer(&self.context.lease).await?;
                let is_current = tx.intents().begin_sending(*id, fingerprint).await?;
                tx.commit().await?;
                if is_current {
                    self.state().sending.insert(*id);
                }
                is_current
            }
            Intent::Level(level) => store.intents().is_current(key, level).await?,
            Intent::Prices(sku, rows, _) => {
                same_request(&store.intents().tier_intents(key, sku).await?, rows)
            }
        })
    }

    /// Records the settlement of an effect.
    pub(crate) async fn note_settlement(&self, effect: &Effect, settled: &Settlement) -> Result<(), Error> {
        let (state, note, answer) = match settled {
            Settlement::Happened { answer, how } => (EffectState::Confirmed, *how, answer.clone()),
            Settlement::DidNotHappen { how } => (EffectState::Refuted, *how, None),
            Settlement::Unprovable(message) => {
                self.state().first_checked.remove(&effect.id);
                self.listener.settled(&effect.kind, EffectState::Doubtful);
                let code = Some(message.code.clone());
                // As data, so that each reader gets it in their own language.
                let note = serde_json::to_string(&message.text).unwrap_or_default();
                return self.settle(effect.id, EffectState::Doubtful, code, &note, None).await;
            }
            Settlement::NotYet(_) => return Ok(()),
        };
        self.state().first_checked.remove(&effect.id);
        self.listener.settled(&effect.kind, state);
        let what = state.as_str();
        tracing::info!(store = %self.context.key, effect = effect.id, kind = effect.kind, what, how = note, "settled by evidence");
        let code = effect.sent_at.is_none().then(|| NOT_SENT.to_owned());
        self.settle(effect.id, state, code, note, answer).await
    }

    async fn settle(
        &self,
        id: i64,
        state: EffectState,
        code: Option<String>,
        note: &str,
        answer: Option<String>,
    ) -> Result<(), Error> {
        {
            let mut state = self.state();
            state.sent.remove(&id);
            state.seen_to_move.remove(&id);
            state.first_unclear.remove(&id);
        }
        let settled = EffectOutcome { state, code, note: Some(note.to_owned()), answer };
        Ok(self.context.store.journal().settle_effect(&self.context.lease, id, settled).await?)
    }
}

/// Says whether rows still ask for the same as when they were read.
fn same_request(now: &[TierIntent], then: &[TierIntent]) -> bool {
    let asks =
        |row: &TierIntent| (row.min_quantity, row.value(), row.package_written.clone(), is_desired(row));
    now.iter().map(asks).eq(then.iter().map(asks))
}
