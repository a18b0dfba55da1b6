//! Waits for the outcome of an intent. The words for it are elsewhere.

use std::time::Duration;

use espelho_api_client::webhook::event::EventName;
use espelho_model::{StoreKey, push::PushState};
use espelho_store::{Answer, DeliverySelection, Error, IntentKind};

use super::{
    super::reading::Reading,
    answer::{Arrival, Became, is_answered},
};
use crate::local;

/// How long a person waits for an answer who names no time.
pub(super) const LONGEST: Duration = Duration::from_secs(5);
/// The same for a test delivery, which the marketplace queues.
pub(super) const LONGEST_TEST: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The number of rows of a file that are waited for one by one.
const MOST_ROWS: usize = 500;

/// The rows that were written.
pub(super) struct Written {
    pub(super) store: StoreKey,
    pub(super) intent: IntentKind,
    pub(super) keys: Vec<String>,
    /// For a test delivery: the number of the last one that the inbox had before.
    pub(super) last_test_before: Option<i64>,
    /// For a test delivery: how many deliveries in a row had no valid signature before.
    pub(super) unverified_before: Option<u64>,
}

/// Waits until the rows are answered, at most so long.
pub(super) async fn wait(reading: &Reading, written: &Written, longest: Duration) -> Result<Became, Error> {
    if !is_served(reading, &written.store).await? {
        return Ok(Became::ServiceStopped);
    }
    let end = reading.clock.monotonic() + longest;
    let became = loop {
        let answers = look(reading, written).await?;
        if answers.iter().all(is_answered) || reading.clock.monotonic() >= end {
            break became(answers);
        }
        reading.clock.sleep(LOOK_EVERY).await;
    };
    match &became {
        Became::Row(Answer { state: Some(PushState::Done), .. }) => match written.last_test_before {
            Some(last) => await_test_delivery(reading, written, last, end).await,
            None => Ok(became),
        },
        _ => Ok(became),
    }
}

/// Waits until a test delivery is in the inbox, at most until `end`. A delivery with a wrong signature is not kept there;
/// the service counts it.
async fn await_test_delivery(
    reading: &Reading,
    written: &Written,
    last_before: i64,
    end: Duration,
) -> Result<Became, Error> {
    while last_test_delivery(reading, &written.store, last_before).await? <= last_before {
        if reading.clock.monotonic() >= end {
            let refused = unverified(reading, &written.store).await;
            let has_more = refused.zip(written.unverified_before).is_some_and(|(now, before)| now > before);
            return Ok(Became::Tested(if has_more { Arrival::Refused } else { Arrival::Missing }));
        }
        reading.clock.sleep(LOOK_EVERY).await;
    }
    Ok(Became::Tested(Arrival::Arrived))
}

/// Returns how many deliveries in a row have no valid signature; `None` where no service on this machine counts them.
pub(super) async fn unverified(reading: &Reading, store: &StoreKey) -> Option<u64> {
    local::unverified(reading.configuration.installation.http.listen, store, &reading.clock).await
}

/// Returns the number of the last test delivery in the inbox, after the one with the number `last`.
pub(super) async fn last_test_delivery(
    reading: &Reading,
    store: &StoreKey,
    mut last: i64,
) -> Result<i64, Error> {
    let tests = DeliverySelection {
        event: Some(EventName::WebhookTest.as_str().to_owned()),
        ..DeliverySelection::default()
    };
    loop {
        let deliveries = reading.store.inbox().deliveries(store, &tests, last).await?;
        match deliveries.last() {
            Some(delivery) => last = delivery.id,
            None => return Ok(last),
        }
    }
}

async fn look(reading: &Reading, written: &Written) -> Result<Vec<Answer>, Error> {
    let mut answers = Vec::new();
    for key in written.keys.iter().take(MOST_ROWS) {
        answers.extend(reading.store.intents().answer_of(written.store.as_str(), written.intent, key).await?);
    }
    Ok(answers)
}

fn became(mut answers: Vec<Answer>) -> Became {
    if answers.len() == 1 {
        return answers.pop().map_or(Became::Written, Became::Row);
    }
    let count =
        |is: fn(PushState) -> bool| answers.iter().filter(|answer| answer.state.is_some_and(is)).count();
    let done = count(|state| matches!(state, PushState::Done | PushState::Superseded));
    let open = count(|state| matches!(state, PushState::New | PushState::Sending | PushState::Waiting));
    Became::Rows { done, open, refused: answers.len() - done - open }
}

/// Whether a process carries out a store's intents: a process holds the store, or a service answers on this machine.
pub(super) async fn is_served(reading: &Reading, store: &StoreKey) -> Result<bool, Error> {
    let held = reading.store.leases().held_stores().await?;
    if held.is_none_or(|held| held.contains(store.as_str())) {
        return Ok(true);
    }
    let listen = reading.configuration.installation.http.listen;
    Ok(local::request(listen, "GET", "/livez", None, &reading.clock).await.is_ok())
}
