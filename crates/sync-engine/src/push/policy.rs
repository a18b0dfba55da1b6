//! Joins campaigns by the store's policy: issues the commands that a person would issue.

use std::collections::HashSet;

use espelho_model::{push::PushState, text};
use espelho_store::{IntentKind, Outcome};
use serde_json::{Value, json};

use super::{Pusher, cause::Cause};
use crate::plan::policy::{Candidate, Joining};
use crate::plan::push::{Message, Verdict};

impl Pusher<'_> {
    /// Notes that the campaigns were read again, so that the policy is applied once more.
    pub(crate) fn campaigns_were_read(&self) {
        self.state().policy_applied = false;
    }

    /// Issues a command for each campaign with listings that fit, once after each reading of the campaigns.
    pub(super) async fn follow_policy(&self) -> Result<(), Cause> {
        let policy = &self.options.campaigns;
        if policy.joining == Joining::Never || self.state().policy_applied {
            return Ok(());
        }
        let (store, key) = (&self.context.store, &self.context.key);
        let asked: HashSet<(String, String)> =
            store.commands().asked_to_join(key).await?.into_iter().flat_map(pairs).collect();
        let joinable = store.commands().joinable_listings(key).await?;
        let candidates: Vec<Candidate> = joinable
            .into_iter()
            .filter(|listing| !asked.contains(&(listing.campaign.clone(), listing.item.clone())))
            .map(|listing| Candidate {
                campaign: listing.campaign,
                item: listing.item,
                price: listing.price,
                preview: listing.preview,
                category: listing.category,
            })
            .collect();
        for (campaign, items) in policy.choose(&candidates) {
            let held = (policy.joining == Joining::Held).then(|| {
                let row = self.row(IntentKind::Command, "{id}");
                Verdict::Held(would_join(items.len(), &campaign)).outcome(&row, self.context.locale)
            });
            let outcome = held.flatten().unwrap_or_else(|| Outcome::plain(PushState::New));
            let [code, error, hint] =
                [outcome.code, outcome.error, outcome.hint].map(Option::unwrap_or_default);
            let words = (!code.is_empty()).then_some([code.as_str(), error.as_str(), hint.as_str()]);
            let data = json!({"publication_ids": items}).to_string();
            store.commands().command_by_policy(&self.context.lease, &campaign, data, words).await?;
        }
        self.state().policy_applied = true;
        Ok(())
    }
}

/// Returns campaign and listing for each listing that a command names.
fn pairs((campaign, data): (String, String)) -> Vec<(String, String)> {
    let data: Value = serde_json::from_str(&data).unwrap_or_default();
    let items = data["publication_ids"].as_array().into_iter().flatten().filter_map(Value::as_str);
    items.map(|item| (campaign.clone(), item.to_owned())).collect()
}

fn would_join(listings: usize, campaign: &str) -> Message {
    Message::new("policy_dry", text!("push-would-join", listings = listings, campaign = campaign))
}
