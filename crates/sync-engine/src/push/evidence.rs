//! Settles effects whose answer was lost: reads the evidence, and `plan::push` decides.

use std::time::Duration;

use espelho_model::{OrderNumber, ProductId, Sku, text};
use espelho_store::Effect;
use rust_decimal::Decimal;

use super::{
    Pusher,
    cause::{Cause, is_temporary},
};
use crate::plan::push::{
    Message, Settlement,
    attempts::{SentFor, may_be_under_way},
    campaign_opt_in::{self, OptInEvidence},
    dispatches::ReadingWindow,
    doubtful,
    evidence::{Evidence, Unreadable, is_repeatable, read},
    labels::{self, LabelsEvidence},
    media::{GalleryEvidence, UploadEvidence, settle_addition, settle_upload},
    order_notes::{self, NotesEvidence},
    order_status::{self, TransitionEvidence},
    price_step::{self, StepEvidence},
    product::{CreationEvidence, UpdateEvidence, settle_update},
    stock_level::{self, LevelEvidence},
    stock_movement::{self, After, MovementEvidence},
    store_page::{self, PageEvidence},
};

/// The time between two checks of an effect that does not show yet and may still be under way.
const RECHECK_INTERVAL: Duration = Duration::from_secs(1);

impl Pusher<'_> {
    /// Settles an effect that no command waits for, and records the settlement. Returns the wait until the next check,
    /// if one is needed.
    pub(super) async fn settle_orphan(&self, effect: &Effect) -> Result<Option<Duration>, Cause> {
        let settled = match effect.sent_at {
            None => Settlement::DidNotHappen { how: "it never left" },
            Some(_) => self.settle_sent(effect).await?,
        };
        self.note_settlement(effect, &settled).await?;
        Ok(match settled {
            Settlement::NotYet(wait) => Some(wait),
            _ => None,
        })
    }

    /// Settles an effect that was sent.
    pub(super) async fn settle_sent(&self, effect: &Effect) -> Result<Settlement, Cause> {
        // Compare the times before the reading: the evidence describes that moment.
        let is_young = self.may_be_under_way(effect);
        match self.read_and_settle(effect).await {
            // The marketplace may still process a request whose connection was cut.
            Ok(Settlement::DidNotHappen { .. }) if is_young => Ok(Settlement::NotYet(RECHECK_INTERVAL)),
            // The evidence is gone, or we may not read it: neither goes away by itself.
            Err(Cause::Api(error))
                if !(is_temporary(&error) || error.is_authentication() || error.is_not_ours()) =>
            {
                let text = text!("push-no-answer", why = error.text());
                Ok(Settlement::Unprovable(Message::new(&error.code(), text)))
            }
            settled => settled,
        }
    }

    async fn read_and_settle(&self, effect: &Effect) -> Result<Settlement, Cause> {
        let settled = match effect.kind.as_str() {
            LevelEvidence::KIND => self.settle_level(effect, read(effect)).await,
            MovementEvidence::KIND => self.settle_movement(effect, read(effect)).await,
            StepEvidence::KIND => self.settle_step(read(effect)).await,
            UpdateEvidence::KIND => self.settle_product_update(read(effect)).await,
            CreationEvidence::KIND => self.settle_creation(read(effect)).await,
            TransitionEvidence::KIND => self.settle_transition(effect, read(effect)).await,
            NotesEvidence::KIND => self.settle_notes(read(effect)).await,
            LabelsEvidence::KIND => self.settle_labels(effect, read(effect)).await,
            OptInEvidence::KIND => self.settle_opt_in(read(effect)).await,
            UploadEvidence::KIND => self.settle_upload(read(effect)).await,
            GalleryEvidence::KIND => self.settle_gallery(read(effect)).await,
            PageEvidence::KIND => self.settle_page(read(effect)).await,
            // No route reads price lists, their settings or listings, and a test delivery looks like any other
            // delivery.
            _ => Err(Unsettled::Unreadable),
        };
        match settled {
            Ok(settled) => Ok(settled),
            Err(Unsettled::Unreadable) => Ok(Settlement::Unprovable(doubtful("unprovable"))),
            Err(Unsettled::Failed(cause)) => Err(cause),
        }
    }

    fn may_be_under_way(&self, effect: &Effect) -> bool {
        let now = self.context.clock.monotonic();
        let mut state = self.state();
        let sent = match (state.sent.get(&effect.id), effect.sent_at) {
            (Some(at), _) => SentFor::Monotonic(now.saturating_sub(*at)),
            (None, Some(at)) => SentFor::Wall(self.context.clock.now() - at),
            (None, None) => SentFor::Never,
        };
        let first = *state.first_checked.entry(effect.id).or_insert(now);
        may_be_under_way(is_repeatable(&effect.kind), sent, now.saturating_sub(first))
    }

    async fn settle_level(&self, effect: &Effect, evidence: Readable<LevelEvidence>) -> Settled {
        let evidence = evidence?;
        let detail = self.read_product(&ProductId::new(&evidence.product)).await?;
        let level = detail.product.stock.iter().find(|level| level.location_id.as_str() == evidence.location);
        let quantity = level.and_then(|level| level.quantity).unwrap_or_default();
        let lower = evidence.target - quantity;
        let is_explained =
            self.dispatches_explain(&Sku::new(&evidence.sku), effect.planned_at, lower).await?;
        Ok(stock_level::settle(&evidence, quantity, is_explained))
    }

    /// Says whether dispatches since then explain why a level is lower than it was set.
    pub(super) async fn dispatches_explain(
        &self,
        sku: &Sku,
        set_at: chrono::DateTime<chrono::Utc>,
        lower: Decimal,
    ) -> Result<bool, Cause> {
        if lower <= Decimal::ZERO {
            return Ok(false);
        }
        // The quantity before the effect is unknown: goods that left around it may have left after it.
        let window = ReadingWindow { effect: i64::MAX, mark: 0, from: set_at, until: set_at };
        let sold = self.sold_since(sku, window).await?;
        Ok(sold.is_some_and(|sold| sold.all_possible().may_be(lower)))
    }

    async fn settle_movement(&self, effect: &Effect, evidence: Readable<MovementEvidence>) -> Settled {
        let evidence = evidence?;
        let sent_at = effect.sent_at.ok_or(Unsettled::Unreadable)?;
        // Without all orders the sold quantity is unknown.
        if !self.context.store.runs().has_complete_run(&self.context.key).await? {
            return Ok(Settlement::NotYet(Duration::from_secs(5)));
        }
        let age = self.context.clock.now() - sent_at;
        let window = evidence.window(effect);
        let sku = Sku::new(&evidence.sku);
        let after = match self.read_stable_stock(&evidence, window).await? {
            None => None,
            Some(([at_location, total], sold)) => {
                let has_moved_elsewhere = self.has_moved_elsewhere(&sku, effect, window.mark).await?;
                Some(After { at_location, total, sold, has_moved_elsewhere })
            }
        };
        Ok(stock_movement::settle(&evidence, after, age))
    }

    async fn settle_step(&self, evidence: Readable<StepEvidence>) -> Settled {
        let evidence = evidence?;
        let detail = self.read_product(&ProductId::new(&evidence.product)).await?;
        Ok(price_step::settle(&evidence, &super::prices::current_tiers(&detail)))
    }

    async fn settle_product_update(&self, evidence: Readable<UpdateEvidence>) -> Settled {
        let evidence = evidence?;
        let detail = self.read_product(&ProductId::new(&evidence.product)).await?;
        Ok(settle_update(&evidence, &detail))
    }

    async fn settle_creation(&self, evidence: Readable<CreationEvidence>) -> Settled {
        Ok(self.find_sku(&evidence?.sku).await?)
    }

    async fn settle_transition(&self, effect: &Effect, evidence: Readable<TransitionEvidence>) -> Settled {
        let evidence = evidence?;
        let number = OrderNumber::new(&evidence.order);
        self.listener.order(&number);
        let order = self.client.order(&number).await.map_err(Cause::from)?.value;
        let sent_at = effect.sent_at.unwrap_or(effect.planned_at);
        let settled = order_status::settle(&evidence, sent_at, order.status.as_deref(), &[]);
        if let Settlement::Happened { .. } = settled {
            return Ok(settled);
        }
        let events = self.client.order_events(&number).await.map_err(Cause::from)?.value;
        Ok(order_status::settle(&evidence, sent_at, order.status.as_deref(), &events))
    }

    async fn settle_notes(&self, evidence: Readable<NotesEvidence>) -> Settled {
        let evidence = evidence?;
        let order = self.client.order(&OrderNumber::new(&evidence.order)).await.map_err(Cause::from)?.value;
        Ok(order_notes::settle(&evidence, order.notes.as_deref()))
    }

    async fn settle_labels(&self, effect: &Effect, evidence: Readable<LabelsEvidence>) -> Settled {
        let evidence = evidence?;
        let shipments = self.shipments_of(&OrderNumber::new(&evidence.order)).await?.unwrap_or_default();
        let sent_for = effect.sent_at.map(|at| self.context.clock.now() - at).unwrap_or_default();
        Ok(labels::settle(&evidence, &labels::ids(&shipments), sent_for))
    }

    async fn settle_opt_in(&self, evidence: Readable<OptInEvidence>) -> Settled {
        let evidence = evidence?;
        let enrolled = self.enrolled(espelho_model::CampaignId::new(evidence.campaign)).await?;
        Ok(campaign_opt_in::settle(&evidence, &enrolled))
    }

    async fn settle_upload(&self, evidence: Readable<UploadEvidence>) -> Settled {
        let evidence = evidence?;
        Ok(settle_upload(&evidence, &self.newest_images().await?))
    }

    async fn settle_gallery(&self, evidence: Readable<GalleryEvidence>) -> Settled {
        let GalleryEvidence { image, product } = evidence?;
        let is_there = self.is_in_gallery(&espelho_model::MediaId::new(image), &product).await?;
        Ok(settle_addition(is_there))
    }

    async fn settle_page(&self, evidence: Readable<PageEvidence>) -> Settled {
        let evidence = evidence?;
        let page = self.client.store_page().await.map_err(Cause::from)?.value;
        Ok(store_page::settle(&evidence, &page))
    }
}

type Readable<E> = Result<E, Unreadable>;
type Settled = Result<Settlement, Unsettled>;

/// The reason why an effect cannot be settled now.
enum Unsettled {
    /// Its evidence proves nothing, and never will.
    Unreadable,
    /// A read failed.
    Failed(Cause),
}

impl From<Unreadable> for Unsettled {
    fn from(_: Unreadable) -> Self {
        Self::Unreadable
    }
}

impl<E: Into<Cause>> From<E> for Unsettled {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}
