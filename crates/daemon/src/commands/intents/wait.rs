//! Waits for the outcome of an intent. The words for it are elsewhere.

use std::time::Duration;

use espelho_api_client::webhook::event::EventName;
use espelho_model::{StoreKey, push::PushState};
use espelho_store::{Answer, DeliverySelection, Error, IntentKind};

use super::{
    super::reading::Reading,
    answer::{Became, is_answered},
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
            Some(last) => await_test_delivery(reading, &written.store, last, end).await,
            None => Ok(became),
        },
        _ => Ok(became),
    }
}

/// Waits until a test delivery is in the inbox, at most until `end`. A delivery with a wrong signature is not kept there.
async fn await_test_delivery(
    reading: &Reading,
    store: &StoreKey,
    last_before: i64,
    end: Duration,
) -> Result<Became, Error> {
    loop {
        let has_arrived = last_test_delivery(reading, store, last_before).await? > last_before;
        if has_arrived || reading.clock.monotonic() >= end {
            return Ok(Became::Tested { has_arrived });
        }
        reading.clock.sleep(LOOK_EVERY).await;
    }
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
async fn is_served(reading: &Reading, store: &StoreKey) -> Result<bool, Error> {
    let held = reading.store.leases().held_stores().await?;
    if held.is_none_or(|held| held.contains(store.as_str())) {
        return Ok(true);
    }
    let listen = reading.configuration.installation.http.listen;
    Ok(local::request(listen, "GET", "/livez", None, &reading.clock).await.is_ok())
}
