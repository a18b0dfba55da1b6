//! Writing what only deliveries tell: occurrences, conversations with their messages, reviews of listings.

use chrono::TimeDelta;
use espelho_api_client::webhook::Fact;
use espelho_model::{
    conversation::{CLOSED, OPEN},
    text,
};
use espelho_store::{Error, Failure, PageTx};

use super::Live;
use crate::report::{failure, with_causes};

impl Live<'_> {
    /// Writes facts, each with its delivery's key, and the deliveries that nothing could be made of, all or none. Only then
    /// are they handled. A fact that the database cannot hold is noted as one more of the latter.
    pub(super) async fn keep_facts(&self, facts: Vec<(String, Fact)>, odd: &[Failure]) -> Result<(), Error> {
        if facts.is_empty() && odd.is_empty() {
            return Ok(());
        }
        match self.write_facts(facts.clone(), odd, false).await {
            Err(error) if error.concerns_a_row() => self.write_facts(facts, odd, true).await,
            written => written,
        }
    }

    async fn write_facts(
        &self,
        facts: Vec<(String, Fact)>,
        odd: &[Failure],
        one_by_one: bool,
    ) -> Result<(), Error> {
        let mut odd = odd.to_vec();
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        for (key, fact) in facts {
            if one_by_one {
                tx.mark().await?;
            }
            match write(&mut tx, fact).await {
                Err(error) if one_by_one && error.concerns_a_row() => {
                    tx.undo_to_mark().await?;
                    let text = text!("database-unwritable", cause = with_causes(&error));
                    odd.push(failure(key, "unwritable".to_owned(), text, self.context.locale));
                }
                written => written?,
            }
        }
        tx.note_odd_deliveries(&odd).await?;
        tx.commit().await
    }
}

/// Deliveries bear whole seconds, and two of one second come in any order: what has ended in it counts as told after what
/// began in it.
const AFTER: TimeDelta = TimeDelta::microseconds(1);

async fn write(tx: &mut PageTx<'_>, fact: Fact) -> Result<(), Error> {
    match fact {
        Fact::Occurrence(mut told) => {
            if told.status.as_deref().is_some_and(|status| status != OPEN) {
                told.updated_at += AFTER;
            }
            tx.write_occurrences(vec![told]).await
        }
        Fact::Conversation(mut told) => {
            if told.status.as_deref() == Some(CLOSED) {
                told.updated_at += AFTER;
            }
            tx.write_conversations(vec![told]).await
        }
        Fact::Message(told) => tx.write_messages(vec![told]).await,
        Fact::Review(listing, at) => tx.write_listings(vec![*listing], at).await,
    }
    .map(drop)
}
