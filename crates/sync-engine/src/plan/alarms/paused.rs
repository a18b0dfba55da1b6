//! Alarms of pauses, and what a pause keeps from being called late or missing.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    pause::{Pause, PauseScope},
    text,
    text::{Arg, Text},
};

use super::{Alarm, Code, Observations, Severity, StoreObservation};
use crate::plan::pauses::Activity;

/// After a pause, deliveries that waited are heard within this time.
const CATCHES_UP: TimeDelta = TimeDelta::minutes(5);

/// Returns the alarms of pauses that last: one for all stores that were paused together.
pub(super) fn alarms(seen: &Observations) -> impl Iterator<Item = Alarm> {
    let mut together = BTreeMap::<(PauseScope, DateTime<Utc>, &str), Vec<&Pause>>::new();
    for pause in seen.stores.iter().flat_map(|store| &store.pauses).filter(|pause| pause.lasts(seen.at)) {
        together.entry((pause.scope, pause.until, &pause.paused_by)).or_default().push(pause);
    }
    together.into_values().filter_map(|pauses| alarm(&pauses))
}

fn alarm(pauses: &[&Pause]) -> Option<Alarm> {
    let first = pauses.iter().min_by_key(|pause| pause.since)?;
    let scope = Text::new(format!("word-pause-{}", first.scope.as_str()));
    let (until, by) = (Arg::from(first.until), first.paused_by.as_str());
    let (store, text) = match pauses {
        [one] => {
            let text =
                text!("alarm-paused", store = one.store.as_str(), scope = scope, until = until, by = by);
            (Some(one.store.clone()), text)
        }
        several => {
            (None, text!("alarm-paused-stores", count = several.len(), scope = scope, until = until, by = by))
        }
    };
    Some(Alarm {
        code: Code::Paused,
        severity: Severity::Warning,
        store,
        cause: first.scope.as_str().to_owned(),
        count: pauses.len() as u64,
        since: Some(first.since),
        detail: String::new(),
        row: None,
        text,
    })
}

/// Tells whether a pause holds an activity of a store now.
pub(super) fn holds(store: &StoreObservation, activity: Activity, at: DateTime<Utc>) -> bool {
    store.pauses.iter().any(|pause| pause.lasts(at) && activity.is_held_by(pause.scope))
}

impl StoreObservation {
    /// Tells whether sweeps may read the store's listings: no pause holds them. Of a listing that nobody may read, the
    /// pause is all that is known.
    pub fn do_sweeps_read(&self, at: DateTime<Utc>) -> bool {
        !holds(self, Activity::Pull, at)
    }
}

/// The activities of the way up: rows of all tables are counted together.
pub(super) const INTENTS: [Activity; 3] = [Activity::Stock, Activity::Prices, Activity::Commands];

/// Tells whether any part of the way up is held.
pub(super) fn holds_intents(store: &StoreObservation, at: DateTime<Utc>) -> bool {
    INTENTS.into_iter().any(|activity| holds(store, activity, at))
}

/// Returns when the last pause that held an activity of a store ended: nothing is late that waited for it.
pub(super) fn resumed_at(
    store: &StoreObservation,
    activities: &[Activity],
    at: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    let over = store.pauses.iter().filter(|pause| !pause.lasts(at));
    let held = over.filter(|pause| activities.iter().any(|activity| activity.is_held_by(pause.scope)));
    held.map(|pause| pause.until).max()
}

/// Tells whether deliveries may wait unheard in the inbox, so that the finds of sweeps prove nothing.
pub(super) fn keeps_deliveries(store: &StoreObservation, at: DateTime<Utc>) -> bool {
    let of_deliveries = store.pauses.iter().filter(|pause| Activity::Webhooks.is_held_by(pause.scope));
    of_deliveries.into_iter().any(|pause| pause.until + CATCHES_UP > at)
}
