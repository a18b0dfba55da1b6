//! The one way in which something is asked of the marketplace: written down, sent, settled.

use std::time::Duration;

use espelho_api_client::{ApiRequest, Class, Client, Error as ApiError};
use espelho_model::{RawJson, Sku};
use espelho_store::{Effect, EffectState, NewEffect, Settled, StockIntent, TierIntent};

use super::{Pusher, cause::Cause};
use crate::plan::push::{Settlement, price_step::is_desired};

/// The code of what was planned and not sent: it cost nothing, and is not counted as an attempt.
const NEVER_LEFT: &str = "never_left";

/// So long after an effect was noted as sent its request has left, or never will. The client gives an answer 30 s.
const LEAVES_WITHIN: Duration = Duration::from_secs(35);

/// What an effect came to at once.
#[derive(Debug)]
pub(crate) enum Acted {
    /// It happened; what was answered.
    Applied(RawJson),
    /// It did not happen.
    Refused(ApiError),
    /// Nobody knows, and the journal has it as sent; or nobody wants it any more. It is looked at again.
    Unknown,
}

/// Who wants something that is about to be sent: looked at once more when there is a slot for it, which may take a minute.
pub(crate) enum Intent<'w> {
    /// A command, by number and fingerprint.
    Command(i64, String),
    /// A level of stock.
    Level(&'w StockIntent),
    /// A step towards the prices that stand in these rows of a SKU, and which wish they are.
    Prices(&'w Sku, &'w [TierIntent], i64),
}

/// An effect that is acted on until this is dropped: nobody else looks for what became of it meanwhile.
struct Acting<'p, 'c> {
    pusher: &'p Pusher<'c>,
    id: i64,
}

impl Drop for Acting<'_, '_> {
    fn drop(&mut self) {
        self.pusher.state().acting.remove(&self.id);
    }
}

impl Pusher<'_> {
    /// Does something once: planned on disk, sent on disk, then sent.
    pub(crate) async fn execute_once(
        &self,
        effect: NewEffect,
        intent: &Intent<'_>,
        request: &ApiRequest,
    ) -> Result<Acted, Cause> {
        let id = self.plan(effect).await?;
        self.send(id, intent, &self.client, request).await
    }

    /// Writes an effect down; its number. What it was planned from is looked at once more, and it is sent or called off.
    pub(crate) async fn plan(&self, effect: NewEffect) -> Result<i64, Cause> {
        let id = self.context.store.journal().plan_effect(&self.context.lease, effect).await?;
        self.state().acting.insert(id);
        Ok(id)
    }

    /// What was planned is not sent: what it was planned from is not so any more.
    pub(crate) async fn call_off(&self, id: i64) -> Result<(), Cause> {
        self.state().acting.remove(&id);
        self.settle(id, EffectState::Refuted, Some(NEVER_LEFT.to_owned()), "called off", None).await
    }

    /// Sends what was planned.
    pub(crate) async fn send(
        &self,
        id: i64,
        intent: &Intent<'_>,
        client: &Client,
        request: &ApiRequest,
    ) -> Result<Acted, Cause> {
        let _acting = Acting { pusher: self, id };
        let (store, lease) = (&self.context.store, &self.context.lease);
        let client = match client.with_slot(request).await {
            Ok(client) => client,
            Err(error) => {
                self.settle(id, EffectState::Refuted, Some(error.code()), "it never left", None).await?;
                return Err(error.into());
            }
        };
        if self.context.stop.is_cancelled() || !self.is_current(intent).await? {
            self.call_off(id).await?;
            return Ok(Acted::Unknown);
        }
        store.journal().note_sent(lease, id).await?;
        let now = self.context.clock.monotonic();
        self.state().sent.insert(id, now);
        let answered = tokio::select! {
            answered = client.perform(request) => answered,
            // So that nothing leaves, after a login or a wait of its route, when it counts as over.
            () = self.context.clock.sleep(LEAVES_WITHIN) => return Ok(Acted::Unknown),
        };
        match answered {
            Ok(answer) => {
                let text = Some(answer.as_str().to_owned());
                self.settle(id, EffectState::Confirmed, None, "answered", text).await?;
                Ok(Acted::Applied(answer))
            }
            Err(error) if error.class() == Class::Ambiguous => {
                tracing::info!(store = %self.context.key, effect = id, request = request.describe(), %error, "the outcome is not known: looking for evidence");
                Ok(Acted::Unknown)
            }
            Err(error) => {
                self.settle(id, EffectState::Refuted, Some(error.code()), "refused", None).await?;
                Ok(Acted::Refused(error))
            }
        }
    }

    async fn is_current(&self, intent: &Intent<'_>) -> Result<bool, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        Ok(match intent {
            Intent::Command(id, fingerprint) => {
                store.commands().is_command_open(key, *id, fingerprint).await?
            }
            Intent::Level(level) => store.intents().is_current(key, level).await?,
            Intent::Prices(sku, rows, _) => {
                are_the_same(&store.intents().tier_intents(key, sku).await?, rows)
            }
        })
    }

    /// Writes down what evidence says of an effect; gives it back.
    pub(crate) async fn note_settlement(&self, effect: &Effect, settled: &Settlement) -> Result<(), Cause> {
        let (state, note, answer) = match settled {
            Settlement::Happened { answer, how } => (EffectState::Confirmed, *how, answer.clone()),
            Settlement::DidNotHappen { how } => (EffectState::Refuted, *how, None),
            Settlement::Unprovable(message) => {
                self.state().first_checked.remove(&effect.id);
                self.listener.settled(&effect.kind, EffectState::Doubtful);
                return self
                    .settle(
                        effect.id,
                        EffectState::Doubtful,
                        Some(message.code.clone()),
                        &message.text.to_string(),
                        None,
                    )
                    .await;
            }
            Settlement::NotYet(_) => return Ok(()),
        };
        self.state().first_checked.remove(&effect.id);
        self.listener.settled(&effect.kind, state);
        let what = state.as_str();
        tracing::info!(store = %self.context.key, effect = effect.id, kind = effect.kind, what, how = note, "settled by evidence");
        let code = effect.sent_at.is_none().then(|| NEVER_LEFT.to_owned());
        self.settle(effect.id, state, code, note, answer).await
    }

    async fn settle(
        &self,
        id: i64,
        state: EffectState,
        code: Option<String>,
        note: &str,
        answer: Option<String>,
    ) -> Result<(), Cause> {
        self.state().sent.remove(&id);
        let settled = Settled { state, code, note: Some(note.to_owned()), answer };
        Ok(self.context.store.journal().settle_effect(&self.context.lease, id, settled).await?)
    }
}

/// Whether rows ask for what they asked for when they were read.
fn are_the_same(now: &[TierIntent], then: &[TierIntent]) -> bool {
    let asks =
        |row: &TierIntent| (row.min_quantity, row.value(), row.package_written.clone(), is_desired(row));
    now.iter().map(asks).eq(then.iter().map(asks))
}
