//! Refreshes one entity: reads it, writes it if it differs from the mirror, and releases what waits for it.

use espelho_api_client::Error as ApiError;
use espelho_model::text;
use espelho_store::Error as StoreError;

use super::{
    denials::Denials,
    entity_reader::{Cause, EntityReader, Refreshed},
    observer::{Handled, Observer},
    refresh_queue::RefreshQueue,
    row_writer::RowWriter,
    signals::Signals,
    sweep_record::SweepRecord,
    unchanged_readings::UnchangedReading,
    webhook_watch::WebhookWatch,
};
use crate::{
    Error, Input, Problem, StoreContext,
    error::ends_all,
    plan::refresh_queue::{Ended, Work},
    plan::refresh_request::{Entity, RefreshRequest},
    plan::{
        denied_orders::{Admission, NEVER_FOUND},
        refresh::{changed_since, is_missed},
        refresh_errors::{AfterError, Reading, after_error},
        unbelieved_orders::after_unbelieved,
        unreported_changes::counts,
    },
    quarantine::panicked_problem,
};

/// Refreshes the entities of a store, one with each call.
pub(super) struct Refresher<'c> {
    context: &'c StoreContext,
    observer: &'c dyn Observer,
    queue: &'c RefreshQueue<'c>,
    reader: EntityReader<'c>,
    record: &'c SweepRecord<'c>,
    watch: &'c WebhookWatch<'c>,
    signals: &'c Signals,
    rows: RowWriter<'c>,
    denials: Denials<'c>,
}

impl<'c> Refresher<'c> {
    /// Returns a refresher of what `queue` gives out: it tells `record` what was read, and `watch` what was missed.
    pub(super) fn new(
        context: &'c StoreContext,
        observer: &'c dyn Observer,
        queue: &'c RefreshQueue<'c>,
        reader: EntityReader<'c>,
        record: &'c SweepRecord<'c>,
        watch: &'c WebhookWatch<'c>,
        signals: &'c Signals,
    ) -> Self {
        let (rows, denials) = (RowWriter::new(context), Denials::new(context));
        Self { context, observer, queue, reader, record, watch, signals, rows, denials }
    }

    /// Does what the queue gave out.
    pub(super) async fn refresh(&self, work: Work) -> Result<(), Error> {
        if let Admission::Leave { is_first } = self.queue.admit(&work.request) {
            if is_first {
                let next_step =
                    "ask the marketplace why it lists orders that it denies; they are read once it answers";
                tracing::warn!(store = %self.context.key, next_step, "the marketplace denies the orders that it lists; only a few of them are read");
            }
            return self.leave(&work.entity).await;
        }
        let reading = Reading::of(&work);
        let Work { entity, request, is_last, .. } = work;
        let read = self.reader.read(&entity, &request).await;
        let has_failed = matches!(&read, Err(cause) if !matches!(cause, Cause::Stopping | Cause::Overtaken));
        if has_failed {
            // The row that it stands on is read again as soon as its turn comes.
            self.signals.note_changed(self.context.clock.monotonic());
            if let Entity::Product(id) = &entity {
                self.rows.note_unread_product(id).await;
            }
        }
        let (ended, problem) = match read {
            Ok(read) => {
                self.queue.note_answered(&request);
                (self.after_read(&entity, &request, is_last, &read), None)
            }
            Err(Cause::Stopping) => return Ok(()),
            Err(Cause::Overtaken) => (Ended::Again, None),
            Err(Cause::Panicked(panicked)) => {
                (Ended::Failed { after: None }, Some(panicked_problem(&panicked, &self.context.key)))
            }
            Err(Cause::SetAside(poison)) => {
                self.context.show_poison(Input::of_entity(&entity), entity.row().1, &poison).await;
                (Ended::Done, None)
            }
            Err(Cause::Store(error)) => {
                (self.after_store_error(&entity, &error).await?, Some(Problem::from_store(&error)))
            }
            Err(Cause::Denied(error)) => {
                let is_one_of_many = reading.is_listed && self.queue.note_denied(&request);
                let reading = if is_one_of_many { reading.among_denied() } else { reading };
                let ended = self.after_denial(&entity, reading, &error).await?;
                (ended, Some(Problem::from_api(&error)))
            }
            Err(Cause::Unbelieved(error)) => {
                tracing::warn!(store = %self.context.key, ?entity, %error, "an order's detail is not believed");
                self.rows.note_failure(&entity, error.code(), error.text()).await;
                (after_unbelieved(request.urgency), Some(Problem::from_api(&error)))
            }
            Err(Cause::Api(error)) => {
                let ended = self.after_api_error(&entity, reading, &error).await?;
                (ended, Some(Problem::from_api(&error)))
            }
        };
        let ids = self.queue.done(&entity, ended);
        match problem {
            _ if self.is_over(&entity, ended) => self.record.note_read(&entity).await?,
            Some(problem) => self.record.note_unread(&entity, &problem).await?,
            None => (),
        }
        self.release(ids).await;
        Ok(())
    }

    /// Notes readings that found what the mirror has. What another task has written meanwhile is read again.
    pub(super) async fn note_unchanged(&self, readings: Vec<UnchangedReading>) -> Result<(), Error> {
        let together = self.note_together(&readings).await;
        match together {
            // One row that cannot be noted keeps no other from it.
            Err(error) if error.concerns_a_row() && readings.len() > 1 => {
                for reading in &readings {
                    if let Err(error) = self.note_together(std::slice::from_ref(reading)).await {
                        self.after_unnoted(std::slice::from_ref(reading), &error).await?;
                    }
                }
                Ok(())
            }
            Err(error) => self.after_unnoted(&readings, &error).await,
            Ok(()) => Ok(()),
        }
    }

    async fn note_together(&self, readings: &[UnchangedReading]) -> Result<(), StoreError> {
        let overtaken = self.rows.note_unchanged(readings).await?;
        self.queue.push(overtaken.into_iter().map(UnchangedReading::again));
        Ok(())
    }

    /// Handles readings that could not be noted: they come again. A product whose row is at fault has had its turn.
    async fn after_unnoted(&self, readings: &[UnchangedReading], error: &StoreError) -> Result<(), Error> {
        let problem = Problem::from_store(error);
        if ends_all(problem.trouble) {
            return Err(problem.into());
        }
        tracing::warn!(store = %self.context.key, readings = readings.len(), error = problem.error, "readings that changed nothing could not be noted");
        for reading in readings.iter().filter(|_| error.concerns_a_row()) {
            if let Entity::Product(id) = &reading.entity {
                self.rows.note_unread_product(id).await;
            }
        }
        Ok(())
    }

    /// Leaves an order to the next sweep, which finds it again: the failures of those that were read say why.
    async fn leave(&self, entity: &Entity) -> Result<(), Error> {
        let ids = self.queue.done(entity, Ended::Done);
        if self.is_over(entity, Ended::Done) {
            self.record.note_read(entity).await?;
        }
        self.release(ids).await;
        Ok(())
    }

    /// Whether the sweeps that asked for an entity have it.
    fn is_over(&self, entity: &Entity, ended: Ended) -> bool {
        match ended {
            Ended::Done => !self.queue.is_waiting(entity),
            // It was read; a state that it does not show yet is checked again.
            Ended::NotYet => true,
            Ended::Again | Ended::Failed { .. } => false,
        }
    }

    /// Marks deliveries as handled. If this fails, the inbox returns them, and they are read once more.
    async fn release(&self, ids: Vec<i64>) {
        let count = ids.len();
        if count == 0 {
            return;
        }
        match self.context.store.inbox().mark_handled(ids).await {
            Ok(_) => (0..count).for_each(|_| self.observer.handled(Handled::Read)),
            Err(error) => {
                tracing::warn!(store = %self.context.key, %error, "deliveries could not be marked as handled; they stay in the inbox");
            }
        }
    }

    fn after_read(
        &self,
        entity: &Entity,
        request: &RefreshRequest,
        is_last: bool,
        read: &Refreshed,
    ) -> Ended {
        self.count(entity, request, read);
        self.measure_lag(request, read);
        if read.is_shown {
            return Ended::Done;
        }
        // A product has no time of its last change: its value may have been changed back since.
        if is_last && matches!(entity, Entity::Order(_)) && request.expected.is_some() {
            tracing::warn!(store = %self.context.key, ?entity, "the marketplace never showed the state that a delivery reported");
        }
        Ended::NotYet
    }

    /// Counts a change, and whether a sweep found it and no delivery reported it.
    fn count(&self, entity: &Entity, request: &RefreshRequest, read: &Refreshed) {
        if read.op.is_some() {
            self.observer.changed(entity.row().0);
        }
        if read.is_reported_here && is_missed(request, self.watch.receives(), self.signals.is_mirrored()) {
            read.events.iter().for_each(|event| self.watch.note_missed(event));
            if let Entity::Order(number) = entity
                && read.events.iter().any(|event| counts(event))
            {
                self.watch.note_unreported(number, read.changed_at);
            }
        }
    }

    /// Measures the lag of the mirror. Clocks differ, and deliveries carry whole seconds.
    fn measure_lag(&self, request: &RefreshRequest, read: &Refreshed) {
        let is_mirrored = self.signals.is_mirrored();
        let since = changed_since(request, read.is_shown, read.op.is_some(), read.changed_at, is_mirrored);
        if let Some(since) = since {
            self.observer.mirrored((self.context.clock.now() - since).to_std().unwrap_or_default());
        }
    }

    async fn after_store_error(&self, entity: &Entity, error: &StoreError) -> Result<Ended, Error> {
        let problem = Problem::from_store(error);
        if ends_all(problem.trouble) {
            return Err(problem.into());
        }
        tracing::warn!(store = %self.context.key, ?entity, error = problem.error, "a refreshed row could not be written");
        if !error.concerns_a_row() {
            return Ok(Ended::Failed { after: None });
        }
        let text = text!("database-unwritable", cause = problem.error);
        self.rows.note_failure(entity, "unwritable".into(), text).await;
        Ok(Ended::Done)
    }

    /// Handles the answer that an order does not exist. If the mirror has the order, the denial is recorded.
    async fn after_denial(
        &self,
        entity: &Entity,
        reading: Reading,
        error: &ApiError,
    ) -> Result<Ended, Error> {
        if let Entity::Order(number) = entity
            && let Err(error) = self.denials.record(number).await
        {
            return self.after_store_error(entity, &error).await;
        }
        self.after_api_error(entity, reading, error).await
    }

    async fn after_api_error(
        &self,
        entity: &Entity,
        reading: Reading,
        error: &ApiError,
    ) -> Result<Ended, Error> {
        match after_error(entity, reading, error) {
            AfterError::End => return Err(Problem::from_api(error).into()),
            AfterError::Retry { after } => return Ok(Ended::Failed { after }),
            AfterError::WalkListing => self.signals.note_unknown_product(),
            AfterError::Leave => (),
            AfterError::Await { is_shown } => {
                if is_shown {
                    let (code, text) = match reading.is_listed {
                        true => (error.code(), error.text()),
                        false => (NEVER_FOUND.into(), text!("run-not-found")),
                    };
                    self.rows.note_failure(entity, code, text).await;
                }
                return Ok(Ended::NotYet);
            }
            AfterError::Show => {
                tracing::warn!(store = %self.context.key, ?entity, %error, "an entity cannot be read");
                self.rows.note_failure(entity, error.code(), error.text()).await;
            }
        }
        Ok(Ended::Done)
    }
}
