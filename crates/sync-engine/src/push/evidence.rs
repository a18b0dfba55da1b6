//! What proves an effect whose answer was lost: one read, or several, for each kind.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::{PriceListId, ProductId, Sku, text};
use espelho_store::Effect;
use rust_decimal::Decimal;
use serde_json::Value;

use super::{
    Pusher,
    commands::doubtful,
    dispatch_timeline::ReadingWindow,
    journal::Evidence,
    prices::step_shows,
    products::shows,
    verdict::{Cause, Message, passes},
};

/// For so long after the first look an effect that does not show, and may be asked for twice, may still be under way within the
/// marketplace.
const SETTLES_WITHIN: Duration = Duration::from_secs(2);
/// So long after it was sent nothing of it is under way any more: the client gives up after 30 seconds, and the marketplace is given
/// ten more. What must not happen twice is not sent again before that. By the monotonic clock where this process has sent it; else by the
/// clock on the wall: a service that is killed again and again would never have looked for long enough.
pub(super) const OVER_AFTER: TimeDelta = TimeDelta::seconds(40);
/// What is the same, asked for once or twice. A transition is too; but a dispatch moves stock, and must be known to be over.
const REPEATABLE: [&str; 6] =
    ["stock.set", "price.step", "product.update", "order.notes", "campaign.opt_in", "store_page.update"];
pub(super) const RECHECK_INTERVAL: Duration = Duration::from_secs(1);

impl Pusher<'_> {
    /// Finds out what became of an effect that no command waits for, and writes it down.
    pub(super) async fn settle_orphan(&self, effect: &Effect) -> Result<Option<Duration>, Cause> {
        let evidence = match effect.sent_at {
            None => Evidence::DidNot { how: "it never left" },
            Some(_) => self.evidence_of(effect).await?,
        };
        self.note_evidence(effect, &evidence).await?;
        Ok(match evidence {
            Evidence::NotYet(wait) => Some(wait),
            _ => None,
        })
    }

    /// What proves an effect, or that it did not happen.
    pub(super) async fn evidence_of(&self, effect: &Effect) -> Result<Evidence, Cause> {
        // Before the reading: what is read was so then.
        let is_young = self.may_be_under_way(effect);
        match self.read_evidence(effect).await {
            // What was cut off on the way may still be at work over there.
            Ok(Evidence::DidNot { .. }) if is_young => Ok(Evidence::NotYet(RECHECK_INTERVAL)),
            // What would have proved it is gone, or nobody may read it: that does not pass.
            Err(Cause::Api(error))
                if !(passes(&error) || error.is_authentication() || error.is_not_ours()) =>
            {
                let text = text!("push-no-answer", why = error.text());
                Ok(Evidence::Unprovable(Message::new(&error.code(), text)))
            }
            found => found,
        }
    }

    async fn read_evidence(&self, effect: &Effect) -> Result<Evidence, Cause> {
        let known: Value =
            effect.evidence.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        Ok(match effect.kind.as_str() {
            "stock.set" => self.evidence_of_level(effect, &known).await?,
            "stock.adjust" => self.evidence_of_movement(effect).await?,
            "price.step" => self.evidence_in_product(&known, |detail| step_shows(&known, detail)).await?,
            "product.update" => {
                self.evidence_in_product(&known, |detail| shows(&known["data"], detail)).await?
            }
            "product.create" => self.find_sku(known["sku"].as_str().unwrap_or_default()).await?,
            "order.status" => self.evidence_of_transition(effect, &known).await?,
            "order.notes" => self.evidence_of_notes(&known).await?,
            "labels.generate" => self.evidence_of_labels(effect, &known).await?,
            "campaign.opt_in" => self.evidence_of_opt_in(&known).await?,
            "media.upload" => self.evidence_of_upload(effect, &known).await?,
            "gallery.add" => self.evidence_of_gallery(&known).await?,
            "store_page.update" => self.evidence_of_page(&known).await?,
            // No route reads price lists, their settings or listings, and a test delivery cannot be told from another.
            _ => Evidence::Unprovable(doubtful("unprovable")),
        })
    }

    fn may_be_under_way(&self, effect: &Effect) -> bool {
        let now = self.context.clock.monotonic();
        let own = self.state().sent.get(&effect.id).copied();
        let is_over = match (own, effect.sent_at) {
            (Some(at), _) => TimeDelta::from_std(now.saturating_sub(at)).is_ok_and(|age| age >= OVER_AFTER),
            (None, at) => at.is_none_or(|at| self.context.clock.now() - at >= OVER_AFTER),
        };
        let first = *self.state().first_checked.entry(effect.id).or_insert(now);
        let settles =
            REPEATABLE.contains(&effect.kind.as_str()) && now.saturating_sub(first) >= SETTLES_WITHIN;
        !(is_over || settles)
    }

    /// A level that was set is there, or less by what was sold since: then setting it again would bring back what is gone.
    async fn evidence_of_level(&self, effect: &Effect, known: &Value) -> Result<Evidence, Cause> {
        let text = |name: &str| known[name].as_str().unwrap_or_default();
        let Ok(target) = text("target").parse::<Decimal>() else {
            return Ok(Evidence::DidNot { how: "its evidence cannot be read" });
        };
        let detail = self.read_product(&ProductId::new(text("product"))).await?;
        let level = detail.product.stock.iter().find(|level| level.location_id.as_str() == text("location"));
        let quantity = level.and_then(|level| level.quantity).unwrap_or_default();
        if quantity == target {
            return Ok(Evidence::Happened { answer: None, how: "the product shows it" });
        }
        Ok(match self.dispatches_explain(&Sku::new(text("sku")), effect, target - quantity).await? {
            true => Evidence::Happened { answer: None, how: "the product shows it, less what was sold" },
            false => Evidence::DidNot { how: "the product does not show it" },
        })
    }

    /// Whether a level is so much lower than it was set because of what was sold since.
    pub(super) async fn dispatches_explain(
        &self,
        sku: &Sku,
        set: &Effect,
        lower: Decimal,
    ) -> Result<bool, Cause> {
        if lower <= Decimal::ZERO {
            return Ok(false);
        }
        // Nobody read what was there before it: whatever left around it may have left after it.
        let (from, until) = (set.planned_at, set.planned_at);
        let around = ReadingWindow { effect: i64::MAX, mark: 0, from, until };
        let sold = self.sold_since(sku, around).await?;
        Ok(sold.is_some_and(|sold| sold.all_perhaps().may_be(lower)))
    }

    async fn evidence_in_product(
        &self,
        known: &Value,
        is_there: impl Fn(&espelho_api_client::resources::products::ProductDetail) -> bool,
    ) -> Result<Evidence, Cause> {
        let product = ProductId::new(known["product"].as_str().unwrap_or_default());
        let detail = self.read_product(&product).await?;
        Ok(match is_there(&detail) {
            true => Evidence::Happened { answer: None, how: "the product shows it" },
            false => Evidence::DidNot { how: "the product does not show it" },
        })
    }
}

/// The id of a price list as a command names it.
pub(super) fn list_id(key: &str) -> Option<PriceListId> {
    (!key.trim().is_empty()).then(|| PriceListId::new(key.trim()))
}
