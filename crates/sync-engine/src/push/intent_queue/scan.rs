//! The scan of the open work, turn by turn: what is urgent, and from each walk a few pages. `plan::push::walks` decides how
//! far, `plan::push::jobs` which jobs that makes.

use std::{
    collections::HashSet,
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use espelho_model::{Sku, text};
use espelho_store::{Effect, OpenCommand as OpenCommandRow, PAGE_ROWS, StockIntent};

use super::{Executors, IntentQueue, LOCKED_PAUSE, ScanResult, is_lock};
use crate::{
    Error, Input,
    plan::pauses::Activity,
    plan::push::{
        Message, Verdict,
        job_queue::{Found, JobQueue, Rank, Source},
        jobs::{OpenCommand, Scan, Work, goes_to_zero, is_recent_dispatch, is_recent_status},
        walks::{Step, TURN_PAGES, Walk},
    },
    push::kinds::{handler_of, has_keys_in_data, subject_key},
    quarantine::Attempt,
    report::with_causes,
};

/// The walks over the open rows, from turn to turn.
#[derive(Default)]
pub(super) struct Walks {
    scan: Scan,
    levels: Walk<Option<StockIntent>>,
    commands: Walk<Option<i64>>,
    prices: Walk<Option<Sku>>,
}

impl IntentQueue<'_> {
    /// Scans open work that is not under way, as much as a turn reads, and queues what is due, the most urgent first.
    pub(super) async fn read(&self) -> Result<ScanResult, Error> {
        let began = self.context.clock.monotonic();
        // After an error all walks begin anew: what the turn had found is lost.
        let mut walks = std::mem::take(&mut *self.walks());
        let is_locked = self.scan(&mut walks).await?;
        let now = self.context.clock.monotonic();
        let again = is_locked.then_some(now + LOCKED_PAUSE);
        let is_crowded = walks.is_crowded(&self.queue());
        *self.walks() = walks;
        let found = self.queue().end_turn(now, now.saturating_sub(began), is_crowded);
        let is_empty = !self.queue().any(|_| true);
        Ok(match found {
            // The rest is behind the lock.
            Found::Due if is_locked && is_empty => ScanResult::NothingBefore(again),
            Found::Due => ScanResult::Unread,
            Found::NothingBefore(at) => ScanResult::NothingBefore(at.into_iter().chain(again).min()),
        })
    }

    fn walks(&self) -> MutexGuard<'_, Walks> {
        self.walks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Offers the queue open effects and intents that are not under way: all effects, the first of what is urgent, and
    /// some pages of each walk. Returns whether the ERP has a table locked: its rows wait, and no others.
    async fn scan(&self, walks: &mut Walks) -> Result<bool, Error> {
        let Executors { guards, stock, policy, .. } = &self.executors;
        guards.load().await?;
        stock.recheck_unknown_skus().await?;
        let mut is_locked = self.is_locked(policy.apply().await)?;
        let now = self.context.clock.monotonic();
        self.queue().begin_turn(now);
        // Note the busy keys first: work that is under way now may end before its row is read, and the row is then out
        // of date.
        walks.scan.begin_turn(self.queue().busy_keys());
        let holds = |activity| self.context.holds(activity);
        let reads_levels = self.options.stock && !holds(Activity::Stock);
        let reads_commands = self.options.commands && !holds(Activity::Commands);
        let reads_prices = self.options.prices && !holds(Activity::Prices);
        let steps = walks.begin(now, [reads_levels, reads_commands, reads_prices], &mut self.queue());
        self.scan_effects(&mut walks.scan).await?;
        if reads_levels {
            is_locked |= self.is_locked(self.scan_levels(walks, steps[0]).await)?;
        }
        if reads_commands {
            if self.is_locked(self.note_dispatches(&mut walks.scan).await)? {
                walks.scan.commands_are_locked(self.context.clock.now());
                is_locked = true;
            }
            is_locked |= self.is_locked(self.scan_statuses(&mut walks.scan).await)?;
            if steps[1] != Step::Rest {
                is_locked |= self.is_locked(self.scan_commands(walks).await)?;
            }
        }
        if reads_prices && steps[2] != Step::Rest {
            is_locked |= self.is_locked(self.scan_prices(walks).await)?;
        }
        walks.scan.finish(&mut self.queue());
        Ok(is_locked)
    }

    /// Says whether a table could not be read because the ERP has it locked.
    fn is_locked(&self, read: Result<(), Error>) -> Result<bool, Error> {
        match read {
            Ok(()) => Ok(false),
            Err(error) if is_lock(&error) => {
                let error = with_causes(&error);
                tracing::info!(store = %self.context.key, error, "a table of the ERP is locked; will retry");
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    async fn scan_effects(&self, scan: &mut Scan) -> Result<(), Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        let executing = self.executors.journal.executing();
        let mut found = Vec::new();
        for effect in store.journal().open_effects(key).await? {
            let owner = self.owner_of(&effect).await?;
            found.push((effect, owner));
        }
        if found.is_empty() {
            return Ok(());
        }
        // A command may have ended between the two reads, and its effect must not look like an orphan.
        let open: HashSet<i64> = store.journal().open_effects(key).await?.iter().map(|one| one.id).collect();
        // Both then and now: an effect may have been planned in between.
        let now_executing = self.executors.journal.executing();
        let is_executing = |id: &i64| executing.contains(id) || now_executing.contains(id);
        for (effect, owner) in found {
            if open.contains(&effect.id) && !is_executing(&effect.id) {
                scan.effect(effect, owner, &mut self.queue());
            }
        }
        scan.end_effects(&mut self.queue());
        Ok(())
    }

    /// Returns the open command that settles an effect, if there is one as it was when the effect was planned.
    async fn owner_of(&self, effect: &Effect) -> Result<Option<i64>, Error> {
        let (Some(id), Some(fingerprint)) = (effect.command_id, &effect.fingerprint) else { return Ok(None) };
        let (store, key) = (&self.context.store, &self.context.key);
        if !self.options.commands {
            return Ok(None);
        }
        match store.commands().is_command_open(key, id, fingerprint).await.map_err(Error::from) {
            Ok(is_open) => Ok(is_open.then_some(id)),
            // Its command may be open, and settles it then.
            Err(error) if is_lock(&error) => Ok(Some(id)),
            Err(error) => Err(error),
        }
    }

    /// Notes the goods that commands of late dispatch, where a level waits that they may hold.
    async fn note_dispatches(&self, scan: &mut Scan) -> Result<(), Error> {
        if !self.queue().any(|work| matches!(work, Work::Stock(_))) {
            return Ok(());
        }
        let (store, key) = (&self.context.store, &self.context.key);
        let now = self.context.clock.now();
        let latest = store.commands().latest_statuses(key).await?;
        if latest.len() >= PAGE_ROWS && latest.last().is_some_and(|first| is_recent_status(first, now)) {
            scan.commands_are_locked(now);
        }
        for row in latest.iter().filter(|row| is_recent_dispatch(row, now)) {
            let skus = store.lookups().skus_of_order(key, &row.key).await?;
            skus.into_iter().for_each(|sku| scan.note_dispatched(sku));
        }
        Ok(())
    }

    async fn scan_statuses(&self, scan: &mut Scan) -> Result<(), Error> {
        for row in self.context.store.commands().first_statuses(&self.context.key).await? {
            if let Some(command) = self.readable(row).await? {
                scan.status(command, &mut self.queue());
            }
        }
        Ok(())
    }

    async fn scan_commands(&self, Walks { scan, commands: walk, .. }: &mut Walks) -> Result<(), Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        walk.begin_turn();
        for _ in 0..TURN_PAGES {
            if !self.queue().wants(Source::Commands, Rank::Command) {
                break;
            }
            let page = store.commands().open_page(key, walk.after.unwrap_or(i64::MIN)).await?;
            let (last, is_last) = (page.last().map(|row| row.id), page.len() < PAGE_ROWS);
            for row in page {
                if let Some(command) = self.readable(row).await? {
                    scan.command(command, &mut self.queue());
                }
            }
            walk.after = last.or(walk.after);
            if is_last {
                walk.end(self.context.clock.monotonic());
                self.queue().end_walk(Source::Commands);
                break;
            }
        }
        Ok(())
    }

    /// Returns a command with its keys, unless it must be refused or set aside.
    async fn readable(&self, row: OpenCommandRow) -> Result<Option<OpenCommand>, Error> {
        if row.is_too_large {
            self.executors.answers.refuse_command(row.id, &too_large()).await?;
            self.queue().note_answered();
            return Ok(None);
        }
        let name = row.id.to_string();
        match self.context.attempt_part(Input::Command, &name, self.with_keys(&row)).await {
            Attempt::Ended(command) => command.map(Some),
            // The next walk tries it once more.
            Attempt::Panicked(_) => Ok(None),
            Attempt::SetAside(poison) => {
                self.set_aside(&Work::Command(row), poison).await?;
                Ok(None)
            }
        }
    }

    /// Adds the keys that its kind gives a command.
    async fn with_keys(&self, row: &OpenCommandRow) -> Result<OpenCommand, Error> {
        let whole = match row.short_data.is_none() && has_keys_in_data(&row.kind) {
            true => self.context.store.commands().read(&self.context.key, row.id).await?,
            false => None,
        };
        let whole = whole.unwrap_or_else(|| row.without_long_data());
        let handler = handler_of(&whole.kind);
        Ok(OpenCommand {
            subject: subject_key(&whole),
            conflicting: handler.and_then(|own| own.conflicting_key(&whole)),
            sequence: handler.and_then(|own| own.sequence_key(&whole)),
            command: row.clone(),
        })
    }

    async fn scan_prices(&self, Walks { scan, prices: walk, .. }: &mut Walks) -> Result<(), Error> {
        walk.begin_turn();
        for _ in 0..TURN_PAGES {
            if !self.queue().wants(Source::Prices, Rank::Prices) {
                break;
            }
            let page =
                self.context.store.intents().open_prices_page(&self.context.key, walk.after.as_ref()).await?;
            let is_last = page.len() < PAGE_ROWS;
            walk.after = page.last().map(|last| last.sku.clone()).or_else(|| walk.after.take());
            page.into_iter().for_each(|desired| scan.prices(desired, &mut self.queue()));
            if is_last {
                walk.end(self.context.clock.monotonic());
                self.queue().end_walk(Source::Prices);
                break;
            }
        }
        Ok(())
    }

    /// Offers the first levels of zero; where a guard holds them, holds all of them. Returns whether one does.
    async fn scan_zeroes(&self, scan: &mut Scan) -> Result<bool, Error> {
        let stock = &self.executors.stock;
        // The guard counts after the reading: a later turn offers the rows that the ERP writes in between.
        let page = self.context.store.intents().open_zeroes_page(&self.context.key, None).await?;
        let Some(mut guard) = stock.zero_guard().await? else {
            scan.zeroes(page, &mut self.queue());
            return Ok(false);
        };
        // A level that an earlier turn has queued is held too.
        self.queue().discard(|job| matches!(&job.work, Work::Stock(level) if goes_to_zero(level)));
        let mut after = None;
        loop {
            let page =
                self.context.store.intents().open_zeroes_page(&self.context.key, after.as_ref()).await?;
            let is_last = page.len() < PAGE_ROWS;
            after = page.last().cloned();
            let passed = stock.hold_zeroes(&mut guard, page, scan).await?;
            scan.zeroes(passed, &mut self.queue());
            if is_last {
                return Ok(true);
            }
        }
    }

    async fn scan_levels(
        &self,
        Walks { scan, levels: walk, .. }: &mut Walks,
        step: Step,
    ) -> Result<(), Error> {
        let stock = &self.executors.stock;
        let mut pages = Vec::new();
        if step != Step::Rest {
            walk.begin_turn();
            let mut after = walk.after.clone();
            for _ in 0..TURN_PAGES {
                let page =
                    self.context.store.intents().open_stock_page(&self.context.key, after.as_ref()).await?;
                let is_last = page.len() < PAGE_ROWS;
                after = page.last().cloned();
                pages.push(page);
                if is_last {
                    break;
                }
            }
        }
        // The guard counts every level that this turn offers: the pages were read before.
        let is_guarded = self.scan_zeroes(scan).await?;
        for page in pages {
            let is_last = page.len() < PAGE_ROWS;
            let last = page.last().cloned();
            let rows = page.len();
            let known = stock.answer_unknown(page, scan).await?;
            if known.len() < rows {
                self.queue().note_answered();
            }
            // Those that a person released were offered with the zeroes.
            let passed = known.into_iter().filter(|level| !(is_guarded && goes_to_zero(level))).collect();
            scan.levels(passed, is_last, &mut self.queue());
            walk.after = last.or_else(|| walk.after.take());
            if is_last {
                walk.end(self.context.clock.monotonic());
                self.queue().end_walk(Source::Levels);
            }
        }
        Ok(())
    }
}

impl Walks {
    /// Decides what the turn reads of levels, commands and prices, and begins the walks that begin anew. What is not
    /// read now waits, and its jobs with it.
    fn begin(&mut self, now: Duration, is_read: [bool; 3], queue: &mut JobQueue<Work>) -> [Step; 3] {
        let Self { scan, levels, commands, prices } = self;
        [
            begin(Source::Levels, levels, now, is_read[0], scan, queue),
            begin(Source::Commands, commands, now, is_read[1], scan, queue),
            begin(Source::Prices, prices, now, is_read[2], scan, queue),
        ]
    }

    fn is_crowded(&self, queue: &JobQueue<Work>) -> bool {
        self.levels.is_crowded(queue.has_left_out(Source::Levels))
            || self.commands.is_crowded(queue.has_left_out(Source::Commands))
            || self.prices.is_crowded(queue.has_left_out(Source::Prices))
    }
}

fn begin<P: Default>(
    source: Source,
    walk: &mut Walk<P>,
    now: Duration,
    is_read: bool,
    scan: &mut Scan,
    queue: &mut JobQueue<Work>,
) -> Step {
    if !is_read {
        *walk = Walk::default();
        queue.forget(source);
        scan.begin_walk(source);
        return Step::Rest;
    }
    let step = walk.step(source, now, queue.queued(source), queue.has_left_out(source));
    if step == Step::Restart {
        walk.begin(now);
        queue.begin_walk(source);
        scan.begin_walk(source);
    }
    step
}

fn too_large() -> Verdict {
    Verdict::Failed(Message::new("too_large", text!("push-too-large")))
}
