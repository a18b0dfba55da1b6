//! New listings (`listing.create`): simulated before anything is created, created once, and mirrored from the answer,
//! because no route reads them.

use std::time::Duration;

use espelho_api_client::resources::listings::{ListingDraft, listing_in};
use espelho_model::{ItemId, text};
use espelho_store::Command;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{
    super::{
        command_context::CommandContext, handler::CommandHandler, images::Uploaded, journal::ExecutionResult,
        refused::refused, services::Services,
    },
    listing_publish::{mirror_listing, publish},
};
use crate::{
    Error,
    plan::push::{Message, Verdict, invalid},
};

/// `listing.create`. No route reads listings: a lost answer stays doubtful.
pub(super) struct ListingCreate;

impl CommandHandler for ListingCreate {
    fn subject_key(&self, command: &Command) -> String {
        format!("listing/{}", command.key)
    }

    fn cost(&self) -> u32 {
        2
    }

    fn execute<'a>(
        &'a self,
        services: &'a Services<'a>,
        cx: &'a CommandContext<'a>,
    ) -> BoxFuture<'a, Result<Verdict, Error>> {
        Box::pin(execute(services, cx))
    }
}

async fn execute(services: &Services<'_>, cx: &CommandContext<'_>) -> Result<Verdict, Error> {
    if let Some(effect) = cx.confirmed("listing.create") {
        let id = effect.answer.as_deref().and_then(id_of_listing);
        if let Some(id) = &id {
            mirror_listing(services, effect, id, "draft").await?;
        }
        return match (cx.data["publish"] == Value::Bool(true), id) {
            (true, Some(id)) => publish(services, cx, &ItemId::new(id)).await,
            // The listing exists and its id is unknown: a person publishes it.
            (true, None) => Ok(Verdict::DoneBut(not_named())),
            (_, id) => Ok(Verdict::Done(id.map(|id| json!({"item_id": id})))),
        };
    }
    let mut body = cx.data.clone();
    if let Some(fields) = body.as_object_mut() {
        fields.remove("publish");
    }
    if let Some(verdict) = with_pictures(services, cx, &mut body).await? {
        return Ok(verdict);
    }
    let draft: ListingDraft = match serde_json::from_value(body) {
        Ok(draft) => draft,
        Err(error) => {
            return Ok(Verdict::Failed(invalid(text!("value-listing", problem = error.to_string()))));
        }
    };
    let most = services.options.guards.listings_per_hour;
    if services.guards.recent_listings() >= most && !cx.is_released {
        return Ok(Verdict::Held(too_many(most)));
    }
    if let Err(error) = services.client.listings().simulate(&draft).await {
        return refused(error);
    }
    // Count it before it is sent: seven other workers may be sending one too.
    services.guards.note_listing();
    let request = draft.create_request();
    let acted = services
        .journal
        .execute_once(cx.effect_without_evidence("listing.create", &request), &cx.intent(), &request)
        .await;
    if !matches!(acted, Ok(ExecutionResult::Applied(_) | ExecutionResult::Unknown)) {
        services.guards.forget_listing();
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
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    body: &mut Value,
) -> Result<Option<Verdict>, Error> {
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
            (Some(path), _) => services.images.upload(cx, path).await?,
            (None, Some(id)) => services.images.reupload_if_expiring(cx, id).await?,
            (None, None) => continue,
        };
        match uploaded {
            Uploaded::Is(id) => *picture = json!({"id": id.as_str()}),
            Uploaded::Not(verdict) => return Ok(Some(verdict)),
        }
    }
    Ok(None)
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
