//! Joins campaigns by the store's policy: issues the commands that a person would issue.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use espelho_model::{push::PushState, text};
use espelho_store::{IntentKind, Outcome};
use serde_json::{Value, json};

use super::row_answers::{NUMBER, RowAnswers};
use crate::{
    Error, StoreContext,
    plan::{
        policy::{Candidate, Joining, Policy},
        push::{Message, Verdict},
    },
};

/// Applies the policy of one store.
pub(crate) struct CampaignPolicy<'c> {
    context: &'c StoreContext,
    policy: &'c Policy,
    answers: Arc<RowAnswers<'c>>,
    /// Whether the policy was applied since the campaigns were last read.
    is_applied: AtomicBool,
}

impl<'c> CampaignPolicy<'c> {
    /// Creates the policy's task. `answers` gives the words of commands that are held.
    pub(super) fn new(context: &'c StoreContext, policy: &'c Policy, answers: Arc<RowAnswers<'c>>) -> Self {
        Self { context, policy, answers, is_applied: AtomicBool::new(false) }
    }

    /// Notes that the campaigns were read again, so that the policy is applied once more.
    pub(super) fn campaigns_were_read(&self) {
        self.is_applied.store(false, Ordering::SeqCst);
    }

    /// Issues a command for each campaign with listings that fit, once after each reading of the campaigns.
    pub(super) async fn apply(&self) -> Result<(), Error> {
        let policy = self.policy;
        if policy.joining == Joining::Never || self.is_applied.load(Ordering::SeqCst) {
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
                let verdict = Verdict::Held(would_join(items.len(), &campaign));
                self.answers.outcome(IntentKind::Command, NUMBER, &verdict)
            });
            let outcome = held.flatten().unwrap_or_else(|| Outcome::plain(PushState::New));
            let [code, error, hint] =
                [outcome.code, outcome.error, outcome.hint].map(Option::unwrap_or_default);
            let words = (!code.is_empty()).then_some([code.as_str(), error.as_str(), hint.as_str()]);
            // A command that waits joins each listing only at the price that the policy has seen, or a better one.
            let seen = candidates.iter().filter(|one| one.campaign == campaign && items.contains(&one.item));
            let lowest: BTreeMap<&str, String> =
                seen.filter_map(|one| Some((one.item.as_str(), one.preview?.to_string()))).collect();
            let data = json!({"publication_ids": items, "lowest_prices": lowest}).to_string();
            store.commands().command_by_policy(&self.context.lease, &campaign, data, words).await?;
        }
        self.is_applied.store(true, Ordering::SeqCst);
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
