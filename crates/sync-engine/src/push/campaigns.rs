//! Campaign enrollment (`campaign.opt_in`): reads the enrolled listings and enrolls the rest.
//! `plan::push::campaign_opt_in` decides.

use std::time::Duration;

use espelho_api_client::resources::campaigns::OptIn;
use espelho_model::{CampaignId, ItemId, campaign::EnrolledListing, text};
use serde_json::Value;

use super::{
    Pusher,
    cause::{Cause, refused},
    commands::CommandContext,
    journal::ExecutionResult,
};
use crate::{
    live::whole::all,
    plan::push::{
        Verdict,
        campaign_opt_in::{Action, OptInEvidence, decide, refusal},
        invalid,
    },
};

impl Pusher<'_> {
    pub(super) async fn join_campaign(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        let Ok(number) = cx.command.key.trim().parse::<i64>() else {
            return Ok(Verdict::Failed(invalid(text!("value-campaign-key"))));
        };
        let campaign = CampaignId::new(number);
        let desired: Vec<ItemId> = match cx.data["publication_ids"].as_array() {
            Some(ids) if ids.iter().all(Value::is_string) => {
                ids.iter().filter_map(Value::as_str).map(ItemId::new).collect()
            }
            _ => {
                return Ok(Verdict::Failed(invalid(text!(
                    "value-missing",
                    field = "data.publication_ids",
                    example = "{\"publication_ids\": [\"MPB-…\"]}"
                ))));
            }
        };
        if let Err(error) = OptIn::new(desired.clone()) {
            return Ok(Verdict::Failed(invalid(error.text())));
        }
        let enrolled = match self.enrolled(campaign).await {
            Ok(enrolled) => enrolled,
            Err(Cause::Api(error)) => return refused(error),
            Err(cause) => return Err(cause),
        };
        let sent = cx.confirmed("campaign.opt_in");
        let was_sent = |id: &ItemId| sent.is_some_and(|effect| effect.request.contains(id.as_str()));
        let left = match decide(&desired, &enrolled, was_sent) {
            Action::Answer(verdict) => {
                if matches!(verdict, Verdict::Done(_)) {
                    self.listener.campaigns();
                }
                return Ok(verdict);
            }
            Action::Join(left) => left,
        };
        let detail = match self.client.campaign(campaign).await {
            Ok(detail) => detail.value,
            Err(error) => return refused(error),
        };
        let refused_by_campaign =
            refusal(detail.status.as_deref(), detail.opt_in_deadline, self.context.clock.now());
        if let Some(message) = refused_by_campaign {
            return Ok(Verdict::Failed(message));
        }
        let opt_in = match OptIn::new(left.clone()) {
            Ok(opt_in) => opt_in,
            Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
        };
        let request = opt_in.request(campaign);
        let left: Vec<&str> = left.iter().map(ItemId::as_str).collect();
        let listings = left.iter().map(|id| (*id).to_owned()).collect();
        let effect = cx.effect(&request, &OptInEvidence { campaign: number, listings });
        self.context.store.commands().note_campaign_prices(&self.context.key, &cx.command.key, &left).await?;
        match self.execute_once(effect, &cx.intent(), &request).await? {
            ExecutionResult::Applied(_) => Ok(Verdict::Sent),
            ExecutionResult::Refused(error) => refused(error),
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    pub(super) async fn enrolled(&self, campaign: CampaignId) -> Result<Vec<EnrolledListing>, Cause> {
        let page = |paging| -> futures_util::future::BoxFuture<'_, _> {
            Box::pin(async move { self.client.enrolled_listings(campaign, paging).await })
        };
        Ok(all(&self.context.stop, page).await?.rows)
    }
}
