//! Settles effects whose answer was lost: finds who reads the evidence, and `plan::push` decides.

use std::{sync::Arc, time::Duration};

use espelho_store::Effect;

use super::{
    handler::{SettleResult, Unsettled},
    journal::Journal,
    kinds::{handler_of, is_repeatable},
    prices::PricePusher,
    refused::is_temporary,
    services::Services,
    stock::StockPusher,
};
use crate::{
    Error,
    plan::push::{
        Settlement,
        evidence::{Evidence as _, read},
        in_doubt::{in_doubt, unanswered},
        level_evidence::LevelEvidence,
        price_step::StepEvidence,
    },
};

/// The time between two checks of an effect that does not show yet and may still be under way.
const RECHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Settles the effects of one store.
pub(crate) struct Settlements<'c> {
    journal: Arc<Journal<'c>>,
    stock: Arc<StockPusher<'c>>,
    prices: Arc<PricePusher<'c>>,
    services: Arc<Services<'c>>,
}

impl<'c> Settlements<'c> {
    /// Creates the settlement of levels, of price steps, and of commands.
    pub(super) fn new(
        journal: Arc<Journal<'c>>,
        stock: Arc<StockPusher<'c>>,
        prices: Arc<PricePusher<'c>>,
        services: Arc<Services<'c>>,
    ) -> Self {
        Self { journal, stock, prices, services }
    }

    /// Settles an effect that no command waits for, and records the settlement. Returns the wait until the next check,
    /// if one is needed.
    pub(super) async fn settle_orphan(&self, effect: &Effect) -> Result<Option<Duration>, Error> {
        let settled = match effect.sent_at {
            None => Settlement::DidNotHappen { how: "it never left" },
            Some(_) => self.settle_sent(effect).await?,
        };
        self.journal.note_settlement(effect, &settled).await?;
        Ok(match settled {
            Settlement::NotYet(wait) => Some(wait),
            _ => None,
        })
    }

    /// Settles an effect that was sent.
    pub(super) async fn settle_sent(&self, effect: &Effect) -> Result<Settlement, Error> {
        // Compare the times before the reading: the evidence describes that moment.
        let is_young = self.journal.may_be_under_way(effect, is_repeatable(&effect.kind));
        match self.read_and_settle(effect).await {
            // The marketplace may still process a request whose connection was cut.
            Ok(Settlement::DidNotHappen { .. }) if is_young => Ok(Settlement::NotYet(RECHECK_INTERVAL)),
            // The evidence is gone, or we may not read it: neither goes away by itself.
            Err(Error::Api(error))
                if !(is_temporary(&error) || error.is_authentication() || error.is_not_ours()) =>
            {
                Ok(Settlement::Unprovable(unanswered(&effect.kind, &error)))
            }
            settled => settled,
        }
    }

    async fn read_and_settle(&self, effect: &Effect) -> Result<Settlement, Error> {
        match self.settle_kind(effect).await {
            Ok(settled) => Ok(settled),
            Err(Unsettled::Unreadable) => Ok(Settlement::Unprovable(in_doubt(&effect.kind, "unprovable"))),
            Err(Unsettled::Failed(cause)) => Err(cause),
        }
    }

    async fn settle_kind(&self, effect: &Effect) -> SettleResult {
        match (effect.kind.as_str(), handler_of(&effect.kind)) {
            (LevelEvidence::KIND, _) => Ok(self.stock.settle(effect, &read(effect)?).await?),
            (StepEvidence::KIND, _) => Ok(self.prices.settle(effect, &read(effect)?).await?),
            (_, Some(handler)) => handler.settle(&self.services, effect).await,
            (_, None) => Err(Unsettled::Unreadable),
        }
    }
}
