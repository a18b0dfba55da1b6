//! Listings (`listing.create`, `listing.publish`): simulated before anything is created, created once, and mirrored
//! from the answers, because no route reads them. An event reports the result of the review.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_api_client::resources::listings::{ListingDraft, listing_in, publish_request};
use espelho_model::{ItemId, text};
use espelho_store::Effect;
use serde_json::{Value, json};

use super::{
    Pusher,
    cause::{Cause, refused},
    commands::CommandContext,
    journal::ExecutionResult,
    media::Uploaded,
};
use crate::plan::push::{Message, Verdict, invalid};

/// The time window of the guard.
const GUARD_WINDOW: TimeDelta = TimeDelta::hours(1);

impl Pusher<'_> {
    pub(super) async fn create_listing(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        if let Some(effect) = cx.confirmed("listing.create") {
            let id = effect.answer.as_deref().and_then(id_of_listing);
            if let Some(id) = &id {
                self.mirror_listing(effect, id, "draft").await?;
            }
            return match (cx.data["publish"] == Value::Bool(true), id) {
                (true, Some(id)) => self.publish(cx, &ItemId::new(id)).await,
                // The listing exists and its id is unknown: a person publishes it.
                (true, None) => Ok(Verdict::DoneBut(not_named())),
                (_, id) => Ok(Verdict::Done(id.map(|id| json!({"item_id": id})))),
            };
        }
        let mut body = cx.data.clone();
        if let Some(fields) = body.as_object_mut() {
            fields.remove("publish");
        }
        if let Some(verdict) = self.with_pictures(cx, &mut body).await? {
            return Ok(verdict);
        }
        let draft: ListingDraft = match serde_json::from_value(body) {
            Ok(draft) => draft,
            Err(error) => {
                return Ok(Verdict::Failed(invalid(text!("value-listing", problem = error.to_string()))));
            }
        };
        if self.makes_too_many_listings() && !cx.is_released {
            return Ok(Verdict::Held(too_many(self.options.guards.listings_per_hour)));
        }
        if let Err(error) = self.client.simulate_listing(&draft).await {
            return refused(error);
        }
        // Count it before it is sent: seven other workers may be sending one too.
        let now = self.context.clock.now();
        self.state().listings.push_back(now);
        let request = draft.create_request();
        let acted = self
            .execute_once(cx.effect_without_evidence("listing.create", &request), &cx.intent(), &request)
            .await;
        if !matches!(acted, Ok(ExecutionResult::Applied(_) | ExecutionResult::Unknown)) {
            self.state().listings.pop_back();
        }
        match acted? {
            ExecutionResult::Applied(_) => Ok(Verdict::Sent),
            ExecutionResult::Refused(error) => refused(error),
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    /// Brings the pictures of a listing to the marketplace: uploads those that are named by a file (`{"path": …}`), and
    /// uploads again those of ours that would soon be removed. Returns the verdict when one is missing.
    async fn with_pictures(
        &self,
        cx: &CommandContext<'_>,
        body: &mut Value,
    ) -> Result<Option<Verdict>, Cause> {
        let mut pictures = Vec::new();
        let Some(fields) = body.as_object_mut() else { return Ok(None) };
        for (name, value) in fields {
            match name.as_str() {
                "images" => pictures.extend(value.as_array_mut().into_iter().flatten()),
                "variations" => {
                    for variation in value.as_array_mut().into_iter().flatten() {
                        let images = variation.get_mut("images").and_then(Value::as_array_mut);
                        pictures.extend(images.into_iter().flatten());
                    }
                }
                _ => (),
            }
        }
        for picture in pictures {
            let uploaded = match (picture["path"].as_str(), picture["id"].as_str()) {
                (Some(path), _) => self.upload(cx, path).await?,
                (None, Some(id)) => self.reupload_if_expiring(cx, id).await?,
                (None, None) => continue,
            };
            match uploaded {
                Uploaded::Is(id) => *picture = json!({"id": id.as_str()}),
                Uploaded::Not(verdict) => return Ok(Some(verdict)),
            }
        }
        Ok(None)
    }

    pub(super) async fn publish_listing(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        let listing = ItemId::new(cx.command.key.trim());
        match listing.is_well_formed() {
            true => self.publish(cx, &listing).await,
            false => Ok(Verdict::Failed(invalid(text!("value-listing-key")))),
        }
    }

    async fn publish(&self, cx: &CommandContext<'_>, listing: &ItemId) -> Result<Verdict, Cause> {
        let done =
            || Ok(Verdict::Done(Some(json!({"item_id": listing.as_str(), "status": "pending_review"}))));
        if let Some(effect) = cx.confirmed("listing.publish") {
            self.mirror_listing(effect, listing.as_str(), "pending_review").await?;
            return done();
        }
        let request = publish_request(listing);
        match self
            .execute_once(cx.effect_without_evidence("listing.publish", &request), &cx.intent(), &request)
            .await?
        {
            ExecutionResult::Applied(_) => Ok(Verdict::Sent),
            ExecutionResult::Refused(error) => refused(error),
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    /// Mirrors a listing from an answer, with the status that it now has (API document, "Listing status").
    async fn mirror_listing(&self, effect: &Effect, id: &str, status: &str) -> Result<(), Cause> {
        let answered = effect.answer.as_deref().and_then(listing_in);
        let least = || listing_in(&json!({"item_id": id}).to_string());
        let Some(mut listing) = answered.or_else(least) else { return Ok(()) };
        listing.status.get_or_insert_with(|| status.to_owned());
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        tx.mirror().write_listings(vec![listing], effect.sent_at.unwrap_or(effect.planned_at)).await?;
        Ok(tx.commit().await?)
    }

    /// Says whether one more listing is too many within the hour.
    fn makes_too_many_listings(&self) -> bool {
        let since = self.context.clock.now() - GUARD_WINDOW;
        let mut state = self.state();
        state.listings.retain(|at| *at > since);
        state.listings.len() >= self.options.guards.listings_per_hour
    }
}

/// Returns the `item_id` in an answer; other ids may stand beside it.
fn id_of_listing(answer: &str) -> Option<String> {
    listing_in(answer).map(|listing| listing.item_id.into_string())
}

fn not_named() -> Message {
    Message::new("no_id", text!("push-listing-not-named"))
}

fn too_many(most: usize) -> Message {
    Message::new("many_listings", text!("push-many-listings", most = most))
}
