//! Listings (`listing.create`, `listing.publish`): simulated before anything is created, created once, and what the review says is
//! told by an event.

use std::time::Duration;

use espelho_api_client::resources::listings::{ListingDraft, publish_request};
use espelho_model::ItemId;
use serde_json::{Value, json};

use super::{
    Pusher,
    commands::{Ask, id_in},
    journal::Acted,
    stock::invalid,
    verdict::{Cause, Said, Verdict},
};

/// The window of the guard.
const AN_HOUR: Duration = Duration::from_secs(3_600);

impl Pusher<'_> {
    pub(super) async fn create_listing(&self, ask: &Ask<'_>) -> Result<Verdict, Cause> {
        if let Some(effect) = ask.confirmed("listing.create") {
            let id = effect.answer.as_deref().and_then(id_in);
            return match (ask.data["publish"] == Value::Bool(true), id) {
                (true, Some(id)) => self.publish(ask, &ItemId::new(id)).await,
                (_, id) => Ok(Verdict::Done(id.map(|id| json!({"item_id": id})))),
            };
        }
        let mut body = ask.data.clone();
        if let Some(fields) = body.as_object_mut() {
            fields.remove("publish");
        }
        let draft: ListingDraft = match serde_json::from_value(body) {
            Ok(draft) => draft,
            Err(error) => return Ok(Verdict::Failed(invalid(&error.to_string()))),
        };
        if !ask.is_released && self.makes_too_many_listings() {
            return Ok(Verdict::Held(too_many(self.options.guards.listings_per_hour)));
        }
        if let Err(error) = self.client.simulate_listing(&draft).await {
            return super::refused(error);
        }
        let request = draft.create_request();
        let acted = self.act(ask.effect("listing.create", &request, &Value::Null), &request).await?;
        match acted {
            Acted::Applied(_) => Ok(Verdict::Sent),
            Acted::Refused(error) => super::refused(error),
            Acted::Unknown => Ok(Verdict::Again(Duration::ZERO)),
        }
    }

    pub(super) async fn publish_listing(&self, ask: &Ask<'_>) -> Result<Verdict, Cause> {
        let listing = ItemId::new(ask.command.key.trim());
        match listing.is_well_formed() {
            true => self.publish(ask, &listing).await,
            false => {
                Ok(Verdict::Failed(invalid("key is the listing's item_id: a prefix, a hyphen and 13 digits")))
            }
        }
    }

    async fn publish(&self, ask: &Ask<'_>, listing: &ItemId) -> Result<Verdict, Cause> {
        let done =
            || Ok(Verdict::Done(Some(json!({"item_id": listing.as_str(), "status": "pending_review"}))));
        if ask.confirmed("listing.publish").is_some() {
            return done();
        }
        let request = publish_request(listing);
        match self.act(ask.effect("listing.publish", &request, &Value::Null), &request).await? {
            Acted::Applied(_) => done(),
            Acted::Refused(error) => super::refused(error),
            Acted::Unknown => Ok(Verdict::Again(Duration::ZERO)),
        }
    }

    /// Whether one more is too many within the hour; else it is counted.
    fn makes_too_many_listings(&self) -> bool {
        let now = self.context.clock.monotonic();
        let mut state = self.state();
        while state.listings.front().is_some_and(|at| *at + AN_HOUR < now) {
            state.listings.pop_front();
        }
        let is_over = state.listings.len() >= self.options.guards.listings_per_hour;
        if !is_over {
            state.listings.push_back(now);
        }
        is_over
    }
}

fn too_many(most: usize) -> Said {
    Said::new(
        "many_listings",
        [
            &format!("mais de {most} anúncios criados em uma hora"),
            "se for isso mesmo: espelho release command ID",
        ],
        [
            &format!("more than {most} listings within an hour"),
            "if that is meant: espelho release command ID",
        ],
    )
}
