//! Joining campaigns (`campaign.opt_in`): within the deadline, only with what has not joined, and proved by what is enrolled.

use std::{collections::HashSet, time::Duration};

use chrono::TimeDelta;
use espelho_api_client::resources::campaigns::OptIn;
use espelho_model::{CampaignId, ItemId, campaign::EnrolledListing, text};
use serde_json::{Value, json};

use super::{
    Pusher,
    commands::CommandContext,
    journal::{Acted, Evidence},
    stock::invalid,
    verdict::{Cause, Message, Verdict},
};
use crate::live::whole::all;

/// So long before the deadline nothing is sent any more: clocks differ.
const MARGIN: TimeDelta = TimeDelta::minutes(5);

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
            Err(Cause::Api(error)) => return super::refused(error),
            Err(cause) => return Err(cause),
        };
        let has_joined: HashSet<&ItemId> =
            enrolled.iter().filter_map(|listing| listing.item_id.as_ref()).collect();
        let left: Vec<ItemId> = desired.iter().filter(|id| !has_joined.contains(id)).cloned().collect();
        if left.is_empty() {
            self.listener.campaigns();
            return Ok(Verdict::Done(Some(result_of(&desired, &enrolled))));
        }
        if cx.confirmed("campaign.opt_in").is_some_and(|effect| effect.request.contains(left[0].as_str())) {
            return Ok(Verdict::Failed(not_enrolled(&left)));
        }
        let detail = match self.client.campaign(campaign).await {
            Ok(detail) => detail.value,
            Err(error) => return super::refused(error),
        };
        let is_over = matches!(detail.status.as_deref(), Some("finished" | "cancelled"));
        if is_over
            || detail.opt_in_deadline.is_some_and(|deadline| self.context.clock.now() > deadline - MARGIN)
        {
            return Ok(Verdict::Failed(closed(is_over)));
        }
        let opt_in = match OptIn::new(left.clone()) {
            Ok(opt_in) => opt_in,
            Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
        };
        let request = opt_in.request(campaign);
        let left: Vec<&str> = left.iter().map(ItemId::as_str).collect();
        let effect = cx.effect("campaign.opt_in", &request, &json!({"campaign": number, "listings": left}));
        self.context.store.note_campaign_prices(&self.context.key, &cx.command.key, &left).await?;
        match self.execute_once(effect, &cx.intent(), &request).await? {
            Acted::Applied(_) => Ok(Verdict::Sent),
            Acted::Refused(error) => super::refused(error),
            Acted::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    async fn enrolled(&self, campaign: CampaignId) -> Result<Vec<EnrolledListing>, Cause> {
        let page = |paging| -> futures_util::future::BoxFuture<'_, _> {
            Box::pin(async move { self.client.enrolled_listings(campaign, paging).await })
        };
        Ok(all(&self.context.stop, page).await?.rows)
    }

    pub(super) async fn evidence_of_opt_in(&self, known: &Value) -> Result<Evidence, Cause> {
        let campaign = CampaignId::new(known["campaign"].as_i64().unwrap_or_default());
        let enrolled = self.enrolled(campaign).await?;
        let has_joined = |id: &str| {
            enrolled.iter().any(|listing| listing.item_id.as_ref().is_some_and(|own| own.as_str() == id))
        };
        let mut asked = known["listings"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Ok(match asked.all(has_joined) {
            true => Evidence::Happened { answer: None, how: "the campaign lists them" },
            // Those that have joined are not sent again.
            false => Evidence::DidNot { how: "the campaign does not list all of them" },
        })
    }
}

fn result_of(desired: &[ItemId], enrolled: &[EnrolledListing]) -> Value {
    let rows = enrolled.iter().filter(|row| row.item_id.as_ref().is_some_and(|id| desired.contains(id)));
    let rows = rows.map(|row| {
        json!({
            "item_id": row.item_id.as_ref().map(ItemId::as_str),
            "authorized_discount_price": row.authorized_discount_price.map(|price| price.to_string()),
            "status": row.status,
        })
    });
    json!({"enrolled": rows.collect::<Vec<_>>()})
}

fn closed(is_over: bool) -> Message {
    let text = if is_over { text!("push-campaign-over") } else { text!("push-campaign-closed") };
    Message::new("campaign_closed", text)
}

fn not_enrolled(left: &[ItemId]) -> Message {
    let left: Vec<&str> = left.iter().map(ItemId::as_str).collect();
    Message::new("not_enrolled", text!("push-not-enrolled", left = left.join(", ")))
}
