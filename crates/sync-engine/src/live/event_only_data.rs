//! Writes data that only deliveries carry: occurrences, conversations with their messages, reviews of listings.

use chrono::TimeDelta;
use espelho_api_client::webhook::EventOnlyData;
use espelho_model::{
    conversation::{CLOSED, OPEN},
    text,
};
use espelho_store::{Error, Failure, PageTx};

use super::Live;
use crate::report::{failure, with_causes};

impl Live<'_> {
    /// Writes event-only data, each item with its delivery's key, and the malformed deliveries, all or none. Only then
    /// are the deliveries handled. Data that the database cannot hold is recorded as malformed too.
    pub(super) async fn keep_event_only_data(
        &self,
        event_only_data: Vec<(String, EventOnlyData)>,
        malformed: &[Failure],
    ) -> Result<(), Error> {
        if event_only_data.is_empty() && malformed.is_empty() {
            return Ok(());
        }
        match self.write_event_only_data(event_only_data.clone(), malformed, false).await {
            Err(error) if error.concerns_a_row() => {
                self.write_event_only_data(event_only_data, malformed, true).await
            }
            written => written,
        }
    }

    async fn write_event_only_data(
        &self,
        event_only_data: Vec<(String, EventOnlyData)>,
        malformed: &[Failure],
        one_by_one: bool,
    ) -> Result<(), Error> {
        let mut malformed = malformed.to_vec();
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        for (key, fact) in event_only_data {
            if one_by_one {
                tx.mark().await?;
            }
            match write(&mut tx, fact).await {
                Err(error) if one_by_one && error.concerns_a_row() => {
                    tx.undo_to_mark().await?;
                    let text = text!("database-unwritable", cause = with_causes(&error));
                    malformed.push(failure(key, "unwritable".to_owned(), text, self.context.locale));
                }
                written => written?,
            }
        }
        tx.failures().note_malformed_deliveries(&malformed).await?;
        tx.commit().await
    }
}

/// Deliveries carry whole seconds, and two of one second arrive in any order: what ended in that second counts as
/// reported after what began in it.
const AFTER: TimeDelta = TimeDelta::microseconds(1);

async fn write(tx: &mut PageTx<'_>, fact: EventOnlyData) -> Result<(), Error> {
    match fact {
        EventOnlyData::Occurrence(mut told) => {
            if told.status.as_deref().is_some_and(|status| status != OPEN) {
                told.updated_at += AFTER;
            }
            tx.mirror().write_occurrences(vec![told]).await
        }
        EventOnlyData::Conversation(mut told) => {
            if told.status.as_deref() == Some(CLOSED) {
                told.updated_at += AFTER;
            }
            tx.mirror().write_conversations(vec![told]).await
        }
        EventOnlyData::Message(told) => tx.mirror().write_messages(vec![told]).await,
        EventOnlyData::Review(listing, at) => tx.mirror().write_listings(vec![*listing], at).await,
    }
    .map(drop)
}
