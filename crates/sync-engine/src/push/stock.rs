//! Stock levels (`erp_stock`): reads and sets them, and `verification` verifies them. `plan::push::stock_level` decides.

mod verification;
mod zero_guard;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::{
    Client,
    limit::Lane,
    resources::products::stock::{Movement, Quantity},
};
use espelho_model::{ProductId, Sku, fault, product::StockLevel, push::PushState, time::past};
use espelho_store::{
    DatabaseTrouble, Effect, Error as StoreError, NewEffect, OpenCommand, SentLevel, StockIntent,
    UnreadableWalk,
};
use rust_decimal::Decimal;

use super::{
    dispatch_timeline::DispatchTimeline,
    guard_history::GuardHistory,
    journal::{ExecutionResult, Intent, Journal},
    options::PushOptions,
    products::Products,
    refused::refused,
    row_answers::{RowAnswers, key_in_table},
};
use crate::{
    Error, Input, StoreContext,
    plan::{
        push::{
            Settlement, Verdict,
            dispatches::ReadingWindow,
            doubts::Doubts,
            evidence::{Evidence as _, write},
            invalid,
            jobs::{Scan, key_of, key_of_level},
            level_evidence::LevelEvidence,
            level_history::{last_set, of_product},
            lost_level,
            own_writes::is_behind,
            stock_level::{
                Action, Basis, Dispatches, Freshness, LevelReading, ahead_of, decide, freshness,
                is_to_set_again, is_urgent, max_age, mirror_shows, missing_quantity, must_be_guarded,
                reserved_of, shown_from, target_after_reading, unknown_location, validate, went_ahead_of,
            },
            stock_movement::quantity_of,
            unsent_level::CheckAllowance,
        },
        webhook_news::tells_of_changes,
    },
    quarantine::Attempt,
};

/// The interval at which rows that failed because of an unknown SKU are reopened …
const REOPEN_INTERVAL: Duration = Duration::from_secs(15);
/// … or this multiple of the time that it took, where that is longer.
const REOPEN_SHARE: u32 = 100;
/// Pages of each table that are searched for unreadable rows at once.
const UNREADABLE_PAGES: usize = 10;
/// The wait of a level for one of our dispatches.
const DISPATCH_RECHECK_INTERVAL: Duration = Duration::from_millis(250);
/// The wait of a level for a reserved quantity that the marketplace does not show.
const MISSING_QUANTITY_RECHECK_INTERVAL: Duration = Duration::from_secs(60);
/// The effects that are searched for dispatches after a start.
const LATEST_EFFECTS: i64 = 200;
/// The SKUs whose last dispatch is remembered; beyond them, those of the last day.
const REMEMBERED_SKUS: usize = 10_000;

/// Carries out the level rows of one store.
pub(crate) struct StockPusher<'c> {
    context: &'c StoreContext,
    options: &'c PushOptions,
    client: Client,
    tools: StockTools<'c>,
    state: Mutex<StockState>,
}

/// The components that carry out levels.
pub(crate) struct StockTools<'c> {
    pub(crate) journal: Arc<Journal<'c>>,
    pub(crate) answers: Arc<RowAnswers<'c>>,
    pub(crate) guards: Arc<GuardHistory<'c>>,
    pub(crate) products: Arc<Products<'c>>,
    pub(crate) dispatches: Arc<DispatchTimeline<'c>>,
}

/// What is kept from scan to scan.
#[derive(Default)]
struct StockState {
    /// The time at which a command last dispatched each SKU.
    dispatched: HashMap<String, DateTime<Utc>>,
    /// True once the journal was asked for dispatches before the start.
    is_journal_read: bool,
    /// Levels that differ from what was set, or asked for.
    doubts: Doubts,
    /// Sent levels that the marketplace shows without a quantity.
    unquantified: Doubts,
    /// The levels that may still be checked in this minute though they were not sent.
    checks: CheckAllowance,
    /// When rows with unknown SKUs are reopened again; at once without it.
    reopens_at: Option<Duration>,
    /// The progress of the search for unreadable rows.
    unreadable: UnreadableWalk,
    /// Whether a row could not be read: all of them are searched.
    has_unreadable: bool,
}

impl StockState {
    /// Notes that a level is sent anew: what it showed before is explained.
    fn explained(&mut self, key: &str) {
        self.doubts.end(key);
        self.unquantified.end(key);
    }

    /// Notes a dispatch.
    fn note_dispatched(&mut self, sku: String, at: DateTime<Utc>) {
        if self.dispatched.len() >= REMEMBERED_SKUS {
            self.dispatched.retain(|_, known| at - *known < TimeDelta::days(1));
        }
        let latest = self.dispatched.entry(sku).or_insert(at);
        *latest = at.max(*latest);
    }
}

impl<'c> StockPusher<'c> {
    /// Creates the pusher of levels. `client` sends them, those of zero in the interactive lane.
    pub(super) fn new(
        context: &'c StoreContext,
        options: &'c PushOptions,
        client: Client,
        tools: StockTools<'c>,
    ) -> Self {
        Self { context, options, client, tools, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, StockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the next turn look at unknown SKUs again, however short ago it did.
    pub(super) fn products_were_mirrored(&self) {
        self.state().reopens_at = None;
    }

    /// Makes the next turn search all open rows for those that cannot be read.
    pub(super) fn rows_are_unreadable(&self) {
        let mut state = self.state();
        state.reopens_at = None;
        state.has_unreadable = true;
    }

    pub(super) async fn recheck_unknown_skus(&self) -> Result<(), Error> {
        let began = self.context.clock.monotonic();
        if self.state().reopens_at.is_some_and(|at| began < at) {
            return Ok(());
        }
        self.state().reopens_at = Some(began + REOPEN_INTERVAL);
        self.recheck_rows().await?;
        let now = self.context.clock.monotonic();
        let pause = REOPEN_INTERVAL.max((now - began) * REOPEN_SHARE);
        let mut state = self.state();
        state.reopens_at = state.reopens_at.map(|_| began + pause);
        Ok(())
    }

    /// Fails rows that cannot be read, and reopens those whose SKU is known by now.
    async fn recheck_rows(&self) -> Result<(), Error> {
        match self.context.store.intents().fail_too_long(&self.context.lease, self.context.locale).await {
            Err(error @ StoreError::LeaseLost { .. }) => return Err(error.into()),
            Err(error) => {
                tracing::info!(store = %self.context.key, %error, "cannot refuse rows with long keys; will retry");
            }
            Ok(0) => (),
            Ok(rows) => {
                tracing::warn!(store = %self.context.key, rows, "ERP rows have keys that are far too long");
            }
        }
        let (mut walk, pages) = {
            let state = self.state();
            match state.has_unreadable {
                true => (UnreadableWalk::default(), usize::MAX),
                false => (state.unreadable.clone(), UNREADABLE_PAGES),
            }
        };
        let (intents, lease, locale) =
            (self.context.store.intents(), &self.context.lease, self.context.locale);
        let unreadable = intents.fail_unreadable(lease, locale, &mut walk, pages).await?;
        {
            let mut state = self.state();
            (state.unreadable, state.has_unreadable) = (walk, false);
        }
        if unreadable > 0 {
            tracing::warn!(store = %self.context.key, rows = unreadable, "ERP rows are not readable");
        }
        match intents.reopen_missed_changes(lease).await {
            Err(error @ StoreError::LeaseLost { .. }) => return Err(error.into()),
            Err(error) => {
                tracing::info!(store = %self.context.key, %error, "cannot open rows that changed unnoticed; will retry");
            }
            Ok(0) => (),
            Ok(rows) => {
                tracing::warn!(store = %self.context.key, rows, "ERP rows changed while their triggers were off");
            }
        }
        match self.context.store.intents().reopen_unknown_skus(&self.context.lease).await {
            Err(error @ StoreError::LeaseLost { .. }) => Err(error.into()),
            // The ERP has locked one of the rows, and others must not wait for it.
            Err(error) => {
                tracing::info!(store = %self.context.key, %error, "cannot reopen rows with unknown SKUs; will retry");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Answers the levels of a page whose SKU nobody knows, in one transaction, and returns the others. A level that is
    /// under way is not answered.
    pub(super) async fn answer_unknown(
        &self,
        page: Vec<StockIntent>,
        scan: &Scan,
    ) -> Result<Vec<StockIntent>, Error> {
        let is_unknown = |level: &StockIntent| {
            level.product.is_none()
                && level.state != Some(PushState::Sending)
                && !scan.is_busy(&key_of_level(level))
        };
        if !page.iter().any(is_unknown) || !self.tools.products.are_all_mirrored().await? {
            return Ok(page);
        }
        let (mut others, mut answers) = (Vec::new(), Vec::new());
        for level in page {
            let name = key_in_table(&level);
            let verdict = match is_unknown(&level) {
                true => self.context.attempt_part(Input::Stock, &name, self.unknown(&level, &name)).await,
                false => Attempt::Ended(Ok(None)),
            };
            match verdict {
                Attempt::Ended(verdict) => match verdict? {
                    Some(verdict) => answers.push((level, verdict)),
                    None => others.push(level),
                },
                // Its own job answers it.
                Attempt::Panicked(_) | Attempt::SetAside(_) => others.push(level),
            }
        }
        match self.tools.answers.levels(&answers).await {
            // One of them is locked: each is answered by itself.
            Err(Error::Store(error)) if error.trouble() == DatabaseTrouble::Busy => {
                others.extend(answers.into_iter().map(|(level, _)| level));
                others.sort_by(|a, b| (&a.sku, &a.location).cmp(&(&b.sku, &b.location)));
                Ok(others)
            }
            answered => answered.map(|()| others),
        }
    }

    /// Returns the verdict for a level of a SKU that is not mirrored and does not come.
    async fn unknown(&self, level: &StockIntent, name: &str) -> Result<Option<Verdict>, Error> {
        fault::point(Input::Stock.as_str(), name);
        Ok(match validate(level) {
            Err(message) => Some(Verdict::Failed(message)),
            Ok(_) => self.tools.products.never_comes(level.sku.as_str()).await?.map(Verdict::Failed),
        })
    }

    /// Sends a level, where it differs from the marketplace's level.
    pub(super) async fn push(&self, level: &StockIntent) -> Result<Duration, Error> {
        // The level may have waited in the queue, while the mirror went on. A newer intent belongs to a later turn, whose
        // guards have checked it.
        let now = self.context.store.intents().current_level(&self.context.key, level).await?;
        let Some(level) = now.first() else { return Ok(Duration::ZERO) };
        let verdict = match now.len() {
            1 => self.level(level).await?,
            // Two products have its SKU; if they no longer do, it is looked at again.
            _ => {
                let shared = self.tools.products.shared_sku(level.sku.as_str()).await?;
                shared.unwrap_or(Verdict::RetryAfter(Duration::ZERO))
            }
        };
        self.tools.answers.level(level, &verdict).await?;
        Ok(verdict.retry_after().unwrap_or_default())
    }

    async fn level(&self, level: &StockIntent) -> Result<Verdict, Error> {
        let desired = match validate(level) {
            Ok(desired) => desired,
            Err(message) => return Ok(Verdict::Failed(message)),
        };
        let Some(product) = &level.product else {
            return self.tools.products.unknown_sku(level.sku.as_str()).await;
        };
        if level.mirrored.is_none() {
            let locations = self.context.store.mirror().location_names(&self.context.key).await?;
            if !locations.is_empty() && !locations.contains_key(&level.location) {
                return Ok(Verdict::Failed(unknown_location(level.location.as_str())));
            }
        }
        let (store, key) = (&self.context.store, &self.context.key);
        let (basis, clock) = (self.options.basis, &self.context.clock);
        let effects = of_product(store.journal().effects_on(key, &key_of_level(level)).await?, product);
        let dispatches = self.dispatches_of(level, &effects).await?;
        let needs_reading = !is_urgent(basis, desired, level.mirrored, &dispatches)
            && (dispatches.needs_evidence()
                || !self.is_mirror_fresh(product, level, desired, &effects).await?);
        let (mut current, mut target, mut journal_end) = (level.mirrored, desired, None);
        if needs_reading {
            journal_end = Some(store.journal().end(key).await?);
            if self.tools.dispatches.is_dispatching_known(&level.sku).await? {
                return Ok(Verdict::RetryAfter(DISPATCH_RECHECK_INTERVAL));
            }
            let now = match self.read_level(product, level).await? {
                Ok(now) => now,
                Err(verdict) => return Ok(verdict),
            };
            // Without it nobody knows which quantity leaves so much available.
            if basis == Basis::Available && now.as_ref().is_some_and(|now| reserved_of(now).is_none()) {
                let message = missing_quantity(product, &level.location, "reserved_quantity");
                return Ok(Verdict::Waiting(message, MISSING_QUANTITY_RECHECK_INTERVAL));
            }
            let reading = now.as_ref().map(LevelReading::of).unwrap_or_default();
            let last = last_set(&effects, clock.now());
            current = reading.quantity;
            // The mirror has the reading now: the next turn counts the zero and ranks it.
            if must_be_guarded(desired, level.mirrored, current) {
                return Ok(Verdict::Requeue);
            }
            target = target_after_reading(basis, level, desired, reading, &dispatches, last.as_ref());
        }
        let needs_evidence = dispatches.needs_evidence();
        let target = match decide(level, current, target, &effects, needs_evidence, clock.now()) {
            Action::Answer(Verdict::Done(None)) if !needs_reading => return Ok(self.verdict_of_mirror()),
            Action::Answer(Verdict::Sent) => match last_set(&effects, clock.now()).zip(current) {
                Some((set, current))
                    if set.may_be_overwritten_for.is_none()
                        && self.is_overwritten(level, target, current, &set).await? =>
                {
                    target
                }
                _ => return Ok(Verdict::Sent),
            },
            Action::Answer(verdict) => return Ok(verdict),
            Action::Set(target) => target,
        };
        let evidence = LevelEvidence {
            product: product.as_str().to_owned(),
            location: level.location.as_str().to_owned(),
            sku: level.sku.as_str().to_owned(),
            target,
            revision: Some(level.revision),
            desired: (target != desired && basis == Basis::Physical).then_some(desired),
            ahead_of: dispatches.ahead_of,
            journal_end,
            before: current,
        };
        let verdict = self.set_level(product, level, &evidence).await?;
        if target.is_zero() && matches!(verdict, Verdict::Sent | Verdict::RetryAfter(_)) {
            self.tools.guards.note_zero(key_of_level(level));
        }
        Ok(verdict)
    }

    /// Reads which dispatches a level goes ahead of, and what those have taken off it that it went ahead of.
    async fn dispatches_of(&self, level: &StockIntent, effects: &[Effect]) -> Result<Dispatches, Error> {
        if self.options.basis == Basis::Available {
            return Ok(Dispatches::default());
        }
        let (store, key) = (&self.context.store, &self.context.key);
        let statuses = match store.commands().statuses_of_sku(key, &level.sku).await {
            // The ERP has the commands locked. A level of late waits for them; another was not written with a dispatch.
            Err(error) if error.trouble() == DatabaseTrouble::Busy => Vec::new(),
            read => read?,
        };
        let ahead_of = ahead_of(self.options.basis, level, effects, &statuses);
        let mut dispatched = Decimal::ZERO;
        for command in went_ahead_of(level, effects) {
            dispatched += store.lookups().dispatched_by(key, command, &level.sku).await?;
        }
        Ok(Dispatches { ahead_of, dispatched })
    }

    /// Says whether the mirrored level stands for the marketplace's, so that it is not read.
    async fn is_mirror_fresh(
        &self,
        product: &ProductId,
        level: &StockIntent,
        desired: Decimal,
        effects: &[Effect],
    ) -> Result<bool, Error> {
        if !mirror_shows(self.options.basis, level, desired) {
            return Ok(false);
        }
        let now = self.context.clock.now();
        let are_changes_reported = self.options.has_stock_events
            && tells_of_changes(&self.context.store.runs().webhook_watch(&self.context.key).await?, now);
        let max_age = max_age(desired, are_changes_reported);
        let after = match freshness(self.options.basis, level, desired, effects, max_age, now) {
            Freshness::Fresh => None,
            Freshness::Stale => return Ok(false),
            Freshness::FreshIfReadAfter(time) => Some(time),
        };
        // A dispatch of ours has taken goods off since the mirror's reading.
        let after = after.max(self.dispatch_shown_from(&level.sku).await?);
        let Some(after) = after else { return Ok(true) };
        let read_at = self.context.store.lookups().product_read_at(&self.context.key, product).await?;
        Ok(past(read_at, now).is_some_and(|read_at| read_at > after))
    }

    /// Returns the verdict for a level that the mirror shows as asked: it is verified later, unless too many are.
    fn verdict_of_mirror(&self) -> Verdict {
        match self.state().checks.take(self.context.clock.monotonic()) {
            true => Verdict::Sent,
            false => Verdict::Done(None),
        }
    }

    /// Returns the time from which a reading shows the last dispatch of a SKU by a command of ours. After a start the journal
    /// tells of the latest.
    async fn dispatch_shown_from(&self, sku: &Sku) -> Result<Option<DateTime<Utc>>, Error> {
        if !self.state().is_journal_read {
            for (order, at) in self.tools.dispatches.latest(LATEST_EFFECTS).await? {
                for sku in self.context.store.lookups().skus_of_order(&self.context.key, &order).await? {
                    self.state().note_dispatched(sku, at);
                }
            }
            self.state().is_journal_read = true;
        }
        Ok(self.state().dispatched.get(sku.as_str()).copied().map(shown_from))
    }

    /// Reads a level. Returns the verdict when the marketplace does not show the product.
    async fn read_level(
        &self,
        product: &ProductId,
        level: &StockIntent,
    ) -> Result<Result<Option<StockLevel>, Verdict>, Error> {
        match self.tools.products.read(product).await {
            Ok(detail) => {
                let mut levels = detail.product.stock.into_iter();
                Ok(Ok(levels.find(|now| now.location_id == level.location)))
            }
            Err(Error::Api(error)) => refused(error).map(Err),
            Err(cause) => Err(cause),
        }
    }

    async fn set_level(
        &self,
        product: &ProductId,
        level: &StockIntent,
        evidence: &LevelEvidence,
    ) -> Result<Verdict, Error> {
        let quantity = match Quantity::new(evidence.target) {
            Ok(quantity) => quantity,
            Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
        };
        let request = Movement::Set(quantity).request(product, &level.location);
        let effect = NewEffect {
            key: key_of_level(level),
            kind: LevelEvidence::KIND,
            command: None,
            request: request.in_full(),
            evidence: Some(write(evidence)),
        };
        // Until a level of zero is sent, somebody may buy goods that are not there: sweeps have a third of the minute
        // beside other pushes, and a sixth beside this.
        let key = key_of_level(level);
        self.state().explained(&key);
        let lane = if level.quantity == Some(Decimal::ZERO) { Lane::Interactive } else { Lane::Push };
        let id = self.tools.journal.plan(effect).await?;
        match self.tools.journal.send(id, &Intent::Level(level), &self.client.in_lane(lane), &request).await?
        {
            ExecutionResult::Applied(_) => Ok(Verdict::Sent),
            ExecutionResult::Refused(error) => refused(error),
            // A level that is set twice has the same effect as one that is set once: the check of the sent level
            // decides whether it is set again.
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    /// Returns the levels that were set ahead of a dispatch, which is done now: the marketplace has taken its goods off them
    /// once more. Notes that the mirror's levels of its goods are out of date.
    pub(super) async fn levels_ahead_of(
        &self,
        dispatch: &OpenCommand,
    ) -> Result<Vec<(Sku, SentLevel)>, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        let mut again = Vec::new();
        for sku in store.lookups().skus_of_order(key, &dispatch.key).await? {
            self.state().note_dispatched(sku.clone(), self.context.clock.now());
            let sku = Sku::new(sku);
            for level in store.intents().sent_levels(key, &sku).await? {
                let effects = store.journal().effects_on(key, &key_of(&sku, &level.location)).await?;
                if is_to_set_again(level.quantity, &effects, dispatch.id) {
                    again.push((sku.clone(), level));
                }
            }
        }
        Ok(again)
    }

    /// Settles a level whose answer was lost: reads the level, and the dispatches where it is lower.
    pub(super) async fn settle(
        &self,
        effect: &Effect,
        evidence: &LevelEvidence,
    ) -> Result<Settlement, Error> {
        let detail = self.tools.products.read(&ProductId::new(&evidence.product)).await?;
        let level = detail.product.stock.iter().find(|level| level.location_id.as_str() == evidence.location);
        let now = self.context.clock.now();
        let age = now - effect.sent_at.unwrap_or(effect.planned_at);
        let Some(quantity) = quantity_of(level) else { return Ok(lost_level::settle_unknown(age)) };
        let lower = evidence.target - quantity;
        let sku = Sku::new(&evidence.sku);
        let journal_end = evidence.journal_end.unwrap_or_default();
        let window = ReadingWindow::at(effect.id, journal_end, effect.planned_at);
        let explanation = self.tools.dispatches.explains(&sku, window, lower).await?;
        let (store, key) = (&self.context.store, &self.context.key);
        let mut earlier = of_product(
            store.journal().effects_on(key, &effect.key).await?,
            &ProductId::new(&evidence.product),
        );
        earlier.retain(|other| other.id < effect.id);
        let is_behind = is_behind(quantity, &earlier, now);
        Ok(lost_level::settle(evidence, quantity, explanation, is_behind, age))
    }
}
