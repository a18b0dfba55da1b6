//! Listings that are sent to review (`listing.publish`). An event reports the result of the review.

use std::time::Duration;

use espelho_api_client::{
    ApiRequest,
    resources::listings::{listing_in, publish_request},
};
use espelho_model::{ItemId, ProductId, text};
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::super::{
    command_context::CommandContext, fields::FieldType, handler::CommandHandler, journal::ExecutionResult,
    refused::refused, services::Services,
};
use crate::{
    Error,
    plan::push::{Verdict, invalid},
};

/// `listing.publish`. No route reads listings: a lost answer stays doubtful.
pub(super) struct ListingPublish;

impl CommandHandler for ListingPublish {
    fn subject_key(&self, command: &Command) -> String {
        format!("listing/{}", command.key)
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&[])
    }

    fn planned_request(&self, command: &Command, _: &Value, _: Option<&ProductId>) -> Option<ApiRequest> {
        Some(publish_request(&ItemId::new(command.key.trim())))
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
    let listing = ItemId::new(cx.command.key.trim());
    match listing.is_well_formed() {
        true => publish(services, cx, &listing).await,
        false => Ok(Verdict::Failed(invalid(text!("value-listing-key")))),
    }
}

/// Sends a listing to review.
pub(super) async fn publish(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    listing: &ItemId,
) -> Result<Verdict, Error> {
    let done = || Ok(Verdict::Done(Some(json!({"item_id": listing.as_str(), "status": "pending_review"}))));
    if let Some(effect) = cx.confirmed("listing.publish") {
        mirror_listing(services, effect, listing.as_str(), "pending_review").await?;
        return done();
    }
    let request = publish_request(listing);
    match services
        .journal
        .execute_once(cx.effect_without_evidence("listing.publish", &request), &cx.intent(), &request)
        .await?
    {
        ExecutionResult::Applied(_) => Ok(Verdict::Sent),
        ExecutionResult::Refused(error) => refused(error),
        ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
    }
}

/// Mirrors a listing from an answer, with the status that it now has (API document, "Listing status").
pub(super) async fn mirror_listing(
    services: &Services<'_>,
    effect: &Effect,
    id: &str,
    status: &str,
) -> Result<(), Error> {
    let answered = effect.answer.as_deref().and_then(listing_in);
    let least = || listing_in(&json!({"item_id": id}).to_string());
    let Some(mut listing) = answered.or_else(least) else { return Ok(()) };
    listing.status.get_or_insert_with(|| status.to_owned());
    let mut tx = services.context.store.begin(&services.context.lease).await?;
    tx.mirror().write_listings(vec![listing], effect.sent_at.unwrap_or(effect.planned_at)).await?;
    Ok(tx.commit().await?)
}
