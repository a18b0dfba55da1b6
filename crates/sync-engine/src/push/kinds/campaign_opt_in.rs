//! Campaign enrollment (`campaign.opt_in`): reads the enrolled listings and enrolls the rest.
//! `plan::push::campaign_opt_in` decides.

use std::{collections::HashMap, time::Duration};

use espelho_api_client::{
    ApiRequest,
    resources::campaigns::{EligibleQuery, OptIn},
};
use espelho_model::{CampaignId, ItemId, ProductId, campaign::EnrolledListing};
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use rust_decimal::Decimal;
use serde_json::Value;

use super::super::{
    command_context::CommandContext,
    fields::FieldType,
    handler::{CommandHandler, SettleResult},
    journal::ExecutionResult,
    refused::refused,
    services::Services,
};
use crate::{
    Error,
    live::full_listing::read_all_pages,
    plan::push::{
        Verdict,
        campaign_opt_in::{self, Action, Asked, OptInEvidence, decide, refusal, too_cheap},
        evidence::{EvidenceKind, read},
        invalid,
        read_after_write::read_again_in,
    },
};

/// `campaign.opt_in`.
pub(super) struct CampaignOptIn;

impl CommandHandler for CampaignOptIn {
    fn subject_key(&self, command: &Command) -> String {
        format!("campaign/{}", command.key)
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&[("publication_ids", FieldType::Other), ("lowest_prices", FieldType::Other)])
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<OptInEvidence>())
    }

    fn cost(&self) -> u32 {
        3
    }

    fn planned_request(&self, command: &Command, data: &Value, _: Option<&ProductId>) -> Option<ApiRequest> {
        let ids = data["publication_ids"].as_array()?.iter().filter_map(Value::as_str).map(ItemId::new);
        let opt_in = OptIn::new(ids.collect::<Vec<_>>()).ok()?;
        Some(opt_in.request(CampaignId::new(command.key.trim().parse().ok()?)))
    }

    fn execute<'a>(
        &'a self,
        services: &'a Services<'a>,
        cx: &'a CommandContext<'a>,
    ) -> BoxFuture<'a, Result<Verdict, Error>> {
        Box::pin(execute(services, cx))
    }

    fn settle<'a>(&'a self, services: &'a Services<'a>, effect: &'a Effect) -> BoxFuture<'a, SettleResult> {
        Box::pin(settle(services, effect))
    }
}

async fn execute(services: &Services<'_>, cx: &CommandContext<'_>) -> Result<Verdict, Error> {
    let asked = match Asked::read(&cx.command.key, &cx.data) {
        Ok(asked) => asked,
        Err(message) => return Ok(Verdict::Failed(message)),
    };
    let campaign = CampaignId::new(asked.campaign);
    let enrolled = match enrolled(services, campaign).await {
        Ok(enrolled) => enrolled,
        Err(Error::Api(error)) => return refused(error),
        Err(cause) => return Err(cause),
    };
    let sent = cx.confirmed("campaign.opt_in");
    let was_sent = |id: &ItemId| sent.is_some_and(|effect| effect.request.contains(id.as_str()));
    let read_again = sent.and_then(|effect| read_again_in(effect, services.context.clock.now()));
    let left = match decide(&asked.listings, &enrolled, was_sent, read_again) {
        Action::Answer(verdict) => {
            if matches!(verdict, Verdict::Done(_)) {
                services.listener.campaigns();
            }
            return Ok(verdict);
        }
        Action::Join(left) => left,
    };
    let detail = match services.client.campaigns().get(campaign).await {
        Ok(detail) => detail.value,
        Err(error) => return refused(error),
    };
    let refused_by_campaign =
        refusal(detail.status.as_deref(), detail.opt_in_deadline, services.context.clock.now());
    if let Some(message) = refused_by_campaign {
        return Ok(Verdict::Failed(message));
    }
    let left = match at_their_prices(services, campaign, left, &asked.lowest).await {
        Ok((left, cheap)) if left.is_empty() => return Ok(Verdict::Failed(too_cheap(&cheap))),
        Ok((left, _)) => left,
        Err(Error::Api(error)) => return refused(error),
        Err(cause) => return Err(cause),
    };
    let opt_in = match OptIn::new(left.clone()) {
        Ok(opt_in) => opt_in,
        Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
    };
    let request = opt_in.request(campaign);
    let left: Vec<&str> = left.iter().map(ItemId::as_str).collect();
    let listings = left.iter().map(|id| (*id).to_owned()).collect();
    let effect = cx.effect(&request, &OptInEvidence { campaign: asked.campaign, listings });
    services
        .context
        .store
        .commands()
        .note_campaign_prices(&services.context.key, &cx.command.key, &left)
        .await?;
    match services.journal.execute_once(effect, &cx.intent(), &request).await? {
        ExecutionResult::Applied(_) => Ok(Verdict::Sent),
        ExecutionResult::Refused(error) => refused(error),
        ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
    }
}

async fn enrolled(services: &Services<'_>, campaign: CampaignId) -> Result<Vec<EnrolledListing>, Error> {
    let page = |paging| -> BoxFuture<'_, _> {
        Box::pin(async move { services.client.campaigns().enrolled_listings(campaign, paging).await })
    };
    Ok(read_all_pages(&services.context.stop, page).await?.rows)
}

/// Reads what the listings would cost in the campaign now, where that matters, and divides them by it.
async fn at_their_prices(
    services: &Services<'_>,
    campaign: CampaignId,
    left: Vec<ItemId>,
    lowest: &HashMap<ItemId, Decimal>,
) -> Result<(Vec<ItemId>, Vec<ItemId>), Error> {
    if lowest.is_empty() {
        return Ok((left, Vec::new()));
    }
    let page = |paging| -> BoxFuture<'_, _> {
        let query = EligibleQuery { search: None, paging };
        Box::pin(async move { services.client.campaigns().eligible_listings(campaign, &query).await })
    };
    let eligible = read_all_pages(&services.context.stop, page).await?.rows;
    Ok(campaign_opt_in::at_their_prices(left, lowest, &eligible))
}

async fn settle(services: &Services<'_>, effect: &Effect) -> SettleResult {
    let evidence: OptInEvidence = read(effect)?;
    let enrolled = enrolled(services, CampaignId::new(evidence.campaign)).await?;
    Ok(campaign_opt_in::settle(&evidence, &enrolled))
}
