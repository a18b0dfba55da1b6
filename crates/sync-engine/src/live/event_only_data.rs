//! Writes data that only deliveries carry: occurrences, conversations with their messages, reviews of listings.

use chrono::TimeDelta;
use espelho_api_client::webhook::EventOnlyData;
use espelho_model::{
    conversation::{CLOSED, OPEN},
    text,
};
use espelho_store::{Error, Failure, LeaseTx};

use crate::{
    StoreContext,
    report::{failure, with_causes},
};

/// Writes event-only data, each item with its delivery's key, and the malformed deliveries, all or none. Only then are
/// the deliveries handled. Data that the database cannot hold is recorded as malformed too.
pub(super) async fn keep(
    context: &StoreContext,
    event_only_data: Vec<(String, EventOnlyData)>,
    malformed: &[Failure],
) -> Result<(), Error> {
    if event_only_data.is_empty() && malformed.is_empty() {
        return Ok(());
    }
    match write_all(context, event_only_data.clone(), malformed, false).await {
        Err(error) if error.concerns_a_row() => write_all(context, event_only_data, malformed, true).await,
        written => written,
    }
}

async fn write_all(
    context: &StoreContext,
    event_only_data: Vec<(String, EventOnlyData)>,
    malformed: &[Failure],
    one_by_one: bool,
) -> Result<(), Error> {
    let mut malformed = malformed.to_vec();
    let mut tx = context.store.begin(&context.lease).await?;
    for (key, item) in event_only_data {
        if one_by_one {
            tx.savepoint().await?;
        }
        match write(&mut tx, order_within_second(item)).await {
            Err(error) if one_by_one && error.concerns_a_row() => {
                tx.rollback_to_savepoint().await?;
                let text = text!("database-unwritable", cause = with_causes(&error));
                malformed.push(failure(key, "unwritable".to_owned(), text, context.locale));
            }
            written => written?,
        }
    }
    tx.failures().note_malformed_deliveries(&malformed).await?;
    tx.commit().await
}

/// An end counts as reported this long after a beginning with the same timestamp.
const END_OFFSET: TimeDelta = TimeDelta::microseconds(1);

/// Puts an end behind a beginning with the same timestamp: deliveries carry whole seconds, and two of one second arrive
/// in any order.
fn order_within_second(mut item: EventOnlyData) -> EventOnlyData {
    match &mut item {
        EventOnlyData::Occurrence(told) if told.status.as_deref().is_some_and(|status| status != OPEN) => {
            told.updated_at += END_OFFSET;
        }
        EventOnlyData::Conversation(told) if told.status.as_deref() == Some(CLOSED) => {
            told.updated_at += END_OFFSET;
        }
        _ => (),
    }
    item
}

async fn write(tx: &mut LeaseTx<'_>, item: EventOnlyData) -> Result<(), Error> {
    match item {
        EventOnlyData::Occurrence(told) => tx.mirror().write_occurrences(vec![told]).await,
        EventOnlyData::Conversation(told) => tx.mirror().write_conversations(vec![told]).await,
        EventOnlyData::Message(told) => tx.mirror().write_messages(vec![told]).await,
        EventOnlyData::Review(listing, at) => tx.mirror().write_listings(vec![*listing], at).await,
    }
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{DateTime, FixedOffset, Utc};
    use espelho_api_client::webhook::Delivery;

    fn at() -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000, 0).unwrap()
    }

    /// Returns the time that the data of a delivery gets.
    fn told(event: &str, data: &str) -> Option<DateTime<Utc>> {
        let time = at().to_rfc3339();
        let body = format!(r#"{{"event":"{event}","data":{data},"timestamp":"{time}"}}"#);
        let delivery = Delivery::parse(body.as_bytes(), FixedOffset::east_opt(0).unwrap()).unwrap();
        match order_within_second(delivery.event_only_data(at())?) {
            EventOnlyData::Occurrence(told) => Some(told.updated_at),
            EventOnlyData::Conversation(told) => Some(told.updated_at),
            EventOnlyData::Message(_) | EventOnlyData::Review(..) => None,
        }
    }

    #[test]
    fn what_ends_in_a_second_counts_as_later_than_what_begins_in_it() {
        for (event, data, is_later) in [
            ("occurrence.created", r#"{"occurrence_id":1,"status":"open"}"#, false),
            ("occurrence.resolved", r#"{"occurrence_id":1,"status":"resolved"}"#, true),
            ("conversation.opened", r#"{"conversation_id":1,"status":"open"}"#, false),
            ("conversation.closed", r#"{"conversation_id":1,"status":"closed"}"#, true),
        ] {
            let Some(told) = told(event, data) else { panic!("{event} has no data") };
            assert_eq!(told > at(), is_later, "{event}");
        }
    }
}
