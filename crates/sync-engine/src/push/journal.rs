//! The one way in which something is asked of the marketplace: written down, sent, settled.

use espelho_api_client::{ApiRequest, Class, Client, Error as ApiError};
use espelho_model::RawJson;
use espelho_store::{Effect, EffectState, NewEffect, Settled};

use super::{
    Pusher,
    verdict::{Cause, Said},
};

/// The code of what was planned and not sent: it cost nothing, and is not counted as an attempt.
const NEVER_LEFT: &str = "never_left";

/// What an effect came to at once.
#[derive(Debug)]
pub(crate) enum Acted {
    /// It happened; what was answered.
    Applied(RawJson),
    /// It did not happen.
    Refused(ApiError),
    /// Nobody knows; the journal has it as sent.
    Unknown,
}

/// What evidence says of an effect whose answer was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// It happened; what is known of it, as JSON, and how it is known.
    Happened { answer: Option<String>, how: &'static str },
    /// It did not happen.
    DidNot { how: &'static str },
    /// Not to be seen yet: ask again after a while.
    NotYet(std::time::Duration),
    /// Nothing can prove either.
    Unprovable(Said),
}

impl Pusher<'_> {
    /// Does something once: planned on disk, sent on disk, then sent.
    pub(crate) async fn act(&self, effect: NewEffect, request: &ApiRequest) -> Result<Acted, Cause> {
        self.act_by(&self.client, effect, request).await
    }

    /// The same in the lane of a client.
    pub(crate) async fn act_by(
        &self,
        client: &Client,
        effect: NewEffect,
        request: &ApiRequest,
    ) -> Result<Acted, Cause> {
        let id = self.plan(effect).await?;
        self.send(id, client, request).await
    }

    /// Writes an effect down; its number. What it was planned from is looked at once more, and it is sent or called off.
    pub(crate) async fn plan(&self, effect: NewEffect) -> Result<i64, Cause> {
        Ok(self.context.store.plan_effect(&self.context.lease, effect).await?)
    }

    /// What was planned is not sent: what it was planned from is not so any more.
    pub(crate) async fn call_off(&self, id: i64) -> Result<(), Cause> {
        self.settle(id, EffectState::Refuted, Some(NEVER_LEFT.to_owned()), "called off", None).await
    }

    /// Sends what was planned.
    pub(crate) async fn send(&self, id: i64, client: &Client, request: &ApiRequest) -> Result<Acted, Cause> {
        self.state().acting.insert(id);
        let acted = self.send_and_note(id, client, request).await;
        self.state().acting.remove(&id);
        acted
    }

    async fn send_and_note(&self, id: i64, client: &Client, request: &ApiRequest) -> Result<Acted, Cause> {
        let (store, lease) = (&self.context.store, &self.context.lease);
        let client = match client.with_slot().await {
            Ok(client) => client,
            Err(error) => {
                self.settle(id, EffectState::Refuted, Some(error.code()), "it never left", None).await?;
                return Err(error.into());
            }
        };
        store.note_sent(lease, id).await?;
        match client.perform(request).await {
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

    /// Writes down what evidence says of an effect; gives it back.
    pub(crate) async fn note_evidence(&self, effect: &Effect, evidence: &Evidence) -> Result<(), Cause> {
        let (state, note, answer) = match evidence {
            Evidence::Happened { answer, how } => (EffectState::Confirmed, *how, answer.clone()),
            Evidence::DidNot { how } => (EffectState::Refuted, *how, None),
            Evidence::Unprovable(said) => {
                self.told.settled(&effect.kind, EffectState::Doubtful);
                return self
                    .settle(effect.id, EffectState::Doubtful, Some(said.code.clone()), &said.error, None)
                    .await;
            }
            Evidence::NotYet(_) => return Ok(()),
        };
        self.state().looked.remove(&effect.id);
        self.told.settled(&effect.kind, state);
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
        let settled = Settled { state, code, note: Some(note.to_owned()), answer };
        Ok(self.context.store.settle_effect(&self.context.lease, id, settled).await?)
    }
}
