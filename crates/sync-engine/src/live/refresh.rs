//! Reading one thing again, and writing it if it is not as the mirror has it.
//!
//! What was read is written only if the mirror's row is still the one that was there before the reading: else somebody has
//! written what they may have read later, and it is read once more.

use chrono::TimeDelta;
use espelho_api_client::{Class, Error as ApiError};
use espelho_model::{ContentHash, OrderNumber, ProductId, order::Order, sync::Resource};
use espelho_store::{Error as StoreError, Failure, Known, Op, PageTx, Part};

use super::{
    Handled, Live, ends_all,
    queue::{Ended, Work},
    sides::Side,
    want::{Entity, Urgency, Want},
};
use crate::{
    Problem,
    pull::{Fetched, OrdersPull, ProductsPull, Pull, RowWrite},
    report::with_causes,
};

/// Room for clocks that differ.
const SETTLED_AFTER: TimeDelta = TimeDelta::seconds(5);

/// Why a reading came to nothing.
enum Cause {
    Api(ApiError),
    Store(StoreError),
    /// Somebody else wrote the row meanwhile.
    Overtaken,
    /// The service ends; what waits is found in the inbox again.
    Stopping,
}

/// What a reading came to.
struct Refreshed {
    /// Whether it shows what it should.
    is_shown: bool,
    /// What it did to the mirror's row.
    op: Option<Op>,
}

impl From<StoreError> for Cause {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Live<'_> {
    /// Reads what is queued for a crew, one thing after the other, until the work stops.
    pub(super) async fn work(&self, urgency: Urgency) -> Result<(), Problem> {
        while !self.is_stopping() {
            // Before the queue is looked at, so that nothing is put into it unnoticed.
            let queued = self.queued.notified();
            let mut queued = std::pin::pin!(queued);
            queued.as_mut().enable();
            let (work, next) = {
                let mut queue = self.queue();
                let now = self.context.clock.monotonic();
                let work = queue.take(now, urgency);
                (work, queue.next_due(urgency).map(|due| due.saturating_sub(now)))
            };
            if let Some(work) = work {
                self.refresh(work).await?;
                continue;
            }
            let due = async {
                match next {
                    Some(wait) => self.context.clock.sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! { () = queued => (), () = due => (), () = self.context.stop.cancelled() => () }
        }
        Ok(())
    }

    async fn refresh(&self, work: Work) -> Result<(), Problem> {
        let Work { entity, want, is_last } = work;
        let read = match &entity {
            Entity::Order(number) => self.read_order(number, &want).await,
            Entity::Product(id) => self.read_product(id, &want).await,
        };
        let ended = match read {
            Ok(read) => {
                self.count(&entity, &want, read.op);
                if !read.is_shown && is_last {
                    tracing::warn!(store = %self.context.key, ?entity, "the marketplace never showed what a delivery told");
                }
                if read.is_shown { Ended::Done } else { Ended::NotYet }
            }
            Err(Cause::Stopping) => return Ok(()),
            Err(Cause::Overtaken) => Ended::Again,
            Err(Cause::Store(error)) => self.after_store_error(&entity, &error).await?,
            Err(Cause::Api(error)) => self.after_api_error(&entity, &want, is_last, &error).await?,
        };
        let ids = {
            let now = self.context.clock.monotonic();
            self.queue().done(now, &entity, ended)
        };
        self.queued.notify_waiters();
        let count = ids.len();
        if count > 0 {
            // Where it fails they are found in the inbox again, and read once more.
            match self.context.store.mark_handled(ids).await {
                Ok(_) => (0..count).for_each(|_| self.observer.handled(Handled::Read)),
                Err(error) => {
                    tracing::warn!(store = %self.context.key, %error, "deliveries stay in the inbox");
                }
            }
        }
        Ok(())
    }

    async fn read_order(&self, number: &OrderNumber, want: &Want) -> Result<Refreshed, Cause> {
        let known = self.row(Resource::Orders, number.as_str()).await?;
        let client = self.context.client.in_lane(want.urgency.lane());
        let pull = OrdersPull::new(client.clone(), None, self.context.page_parameter.clone());
        // An order that is not mirrored cannot have sides.
        let wants_order = want.parts.contains(&Part::Order) || known.is_none_or(|known| known.gone);
        let fetched = match wants_order {
            true => Some(self.answer(pull.detail(number.as_str())).await?),
            false => None,
        };
        let is_shown = match (&want.expected, &fetched) {
            (Some(expected), Some(fetched)) => expected.is_shown_by(&fetched.detail),
            _ => true,
        };
        let mut sides = Vec::new();
        for part in want.parts.iter().filter(|part| **part != Part::Order) {
            sides.push(self.answer(Side::read(&client, number, *part)).await?);
        }
        let _writing = self.context.writing.lock().await;
        self.check_same(Resource::Orders, number.as_str(), known).await?;
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        let mut noted: Vec<_> = sides.iter().map(|side| (number.clone(), side.part, side.hash)).collect();
        let mut op = None;
        if let Some(fetched) = fetched {
            let listing_hash = want.listing_hash.filter(|_| self.is_settled(&fetched.detail));
            noted.push((number.clone(), Part::Order, fetched.content_hash));
            op = put(&mut tx, &pull, number.as_str(), known, fetched, listing_hash).await?;
        }
        for side in sides {
            side.write(&mut tx, number).await?;
        }
        tx.note_parts(noted).await?;
        tx.commit().await?;
        Ok(Refreshed { is_shown, op })
    }

    async fn read_product(&self, id: &ProductId, want: &Want) -> Result<Refreshed, Cause> {
        let known = self.row(Resource::Products, id.as_str()).await?;
        let locations = self.context.store.location_ids(&self.context.key).await?;
        let client = self.context.client.in_lane(want.urgency.lane());
        let pull = ProductsPull::new(client, locations, self.context.page_parameter.clone());
        let fetched = self.answer(pull.detail(id.as_str())).await?;
        let _writing = self.context.writing.lock().await;
        self.check_same(Resource::Products, id.as_str(), known).await?;
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        let op = put(&mut tx, &pull, id.as_str(), known, fetched, want.listing_hash).await?;
        tx.note_products_read(vec![id.clone()]).await?;
        tx.commit().await?;
        Ok(Refreshed { is_shown: true, op })
    }

    /// Whether the order's listing row will differ when the order changes again: times have whole seconds, so that a second
    /// change of the same second does not show in it. Until then its row is not taken as read, and the next sweep reads it.
    fn is_settled(&self, order: &Order) -> bool {
        order.updated_at.is_none_or(|updated| self.context.clock.now() - updated > SETTLED_AFTER)
    }

    /// Waits for the marketplace, unless the service ends.
    async fn answer<T>(&self, asking: impl Future<Output = Result<T, ApiError>>) -> Result<T, Cause> {
        tokio::select! {
            answer = asking => answer.map_err(Cause::Api),
            () = self.context.stop.cancelled() => Err(Cause::Stopping),
        }
    }

    async fn row(&self, resource: Resource, key: &str) -> Result<Option<Known>, StoreError> {
        let known = self.context.store.known(&self.context.key, resource, vec![key.to_owned()]).await?;
        Ok(known.get(key).copied())
    }

    async fn check_same(&self, resource: Resource, key: &str, before: Option<Known>) -> Result<(), Cause> {
        let content = |known: Option<Known>| known.map(|known| (known.content_hash, known.gone));
        match content(self.row(resource, key).await?) == content(before) {
            true => Ok(()),
            false => Err(Cause::Overtaken),
        }
    }

    async fn after_store_error(&self, entity: &Entity, error: &StoreError) -> Result<Ended, Problem> {
        let problem = Problem::from_store(error);
        if ends_all(&problem) {
            return Err(problem);
        }
        tracing::warn!(store = %self.context.key, ?entity, error = problem.error, "what was read could not be written");
        if !error.concerns_a_row() {
            return Ok(Ended::Failed { after: None });
        }
        let hint =
            "the database cannot hold what the marketplace says of this row; report it with this message";
        self.note_failure(entity, "unwritable".into(), problem.error, hint).await;
        Ok(Ended::Done)
    }

    async fn after_api_error(
        &self,
        entity: &Entity,
        want: &Want,
        is_last: bool,
        error: &ApiError,
    ) -> Result<Ended, Problem> {
        if error.is_authentication() {
            return Err(Problem::from_api(error));
        }
        if let ApiError::Refused { status: 404 | 410, .. } = error {
            return Ok(self.after_not_found(entity, want, is_last, error).await);
        }
        match error.class() {
            Class::Transient { after } => Ok(Ended::Failed { after }),
            Class::Reauthenticate => Ok(Ended::Failed { after: None }),
            Class::Permanent | Class::Ambiguous => {
                tracing::warn!(store = %self.context.key, ?entity, %error, "it cannot be read");
                self.note_failure(entity, error.code(), with_causes(error), error.hint()).await;
                Ok(Ended::Done)
            }
        }
    }

    /// What a delivery told of may not be shown yet; what a sweep has listed is gone again. Whether something is gone for
    /// good, only a complete pass decides.
    async fn after_not_found(&self, entity: &Entity, want: &Want, is_last: bool, error: &ApiError) -> Ended {
        if let Entity::Product(_) = entity {
            // The identifier may be of another kind than the route takes: then the listing knows what changed.
            self.known().strange_product = true;
            return Ended::Done;
        }
        if want.ids.is_empty() {
            return Ended::Done;
        }
        if is_last {
            let hint = "the next complete pass decides whether the order is gone";
            self.note_failure(entity, "not_found".into(), with_causes(error), hint).await;
        }
        Ended::NotYet
    }

    async fn note_failure(&self, entity: &Entity, code: String, error: String, hint: &str) {
        let (resource, key) = match entity {
            Entity::Order(number) => (Resource::Orders, number.as_str().to_owned()),
            Entity::Product(id) => (Resource::Products, id.as_str().to_owned()),
        };
        let noted = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.note_failures(resource, &[Failure { key, code, error, hint: hint.to_owned() }]).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            tracing::warn!(store = %self.context.key, %error, "a failure could not be noted");
        }
    }

    /// Counts a change, and whether it is one that a sweep has found and no delivery has told.
    fn count(&self, entity: &Entity, want: &Want, op: Option<Op>) {
        if op.is_some() {
            self.observer.changed(match entity {
                Entity::Order(_) => Resource::Orders,
                Entity::Product(_) => Resource::Products,
            });
        }
        let told = !want.ids.is_empty() || want.urgency == Urgency::Hinted;
        if told || !self.options.receives || !self.known().mirrored {
            return;
        }
        match (entity, op) {
            (_, None) => (),
            (Entity::Order(_), Some(Op::Insert)) => self.observer.missed("order.created"),
            (Entity::Order(_), _) => self.observer.missed("order.status_changed"),
            (Entity::Product(_), _) => self.observer.missed("product.stock_updated"),
        }
    }
}

/// Writes a row that was read, where it is not as the mirror has it.
async fn put<P: Pull>(
    tx: &mut PageTx<'_>,
    pull: &P,
    key: &str,
    known: Option<Known>,
    fetched: Fetched<P::Detail>,
    listing_hash: Option<ContentHash>,
) -> Result<Option<Op>, StoreError> {
    tx.clear_failures(P::RESOURCE, vec![key.to_owned()]).await?;
    if let Some(known) = known
        && known.content_hash == fetched.content_hash
        && !known.gone
    {
        match listing_hash {
            Some(hash) if hash != known.listing_hash => tx.relist(P::RESOURCE, key, hash).await?,
            _ => (),
        }
        return Ok(None);
    }
    // A fingerprint that no listing has seen differs from every listing's, so that the next one is compared by detail.
    let unlisted = || known.map_or(ContentHash::from_i64(0), |known| known.listing_hash);
    let op = if known.is_some() { Op::Update } else { Op::Insert };
    let write = RowWrite {
        key: key.to_owned(),
        detail: fetched.detail,
        listing_hash: listing_hash.unwrap_or_else(unlisted),
        content_hash: fetched.content_hash,
        op,
    };
    pull.write(tx, vec![write]).await?;
    Ok(Some(op))
}
