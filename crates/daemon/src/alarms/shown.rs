//! An alarm as people and programs read it (PRODUCT contract 4).

use chrono::{DateTime, Utc};
use espelho_model::text::Locale;
use espelho_store::AlarmRow;
use espelho_sync_engine::plan::alarms::{Alarm, Severity, State, Verdict};
use serde::{Deserialize, Serialize};

/// An alarm in one language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct ShownAlarm {
    pub code: String,
    /// The cause within the code, such as the error code of its rows; empty where the code says all.
    #[serde(default)]
    pub cause: String,
    /// `warning` or `failing`.
    pub severity: String,
    /// Absent if it concerns several stores, or all.
    pub store: Option<String>,
    pub count: u64,
    pub since: Option<DateTime<Utc>>,
    pub text: String,
    pub next: String,
    /// The words of a library or of the other side, unchanged; absent if the sentence says all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The only row that it is about, for the pages: `stock CAN-01/3`.
    #[serde(skip)]
    pub row: Option<String>,
}

/// The verdict in one language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownVerdict {
    pub state: String,
    pub alarms: Vec<ShownAlarm>,
    pub unproved: Vec<String>,
}

impl ShownAlarm {
    /// Returns an alarm in the words of a language.
    pub(crate) fn of(alarm: &Alarm, locale: Locale) -> Self {
        Self {
            code: alarm.code.as_str().to_owned(),
            cause: alarm.cause.clone(),
            severity: alarm.severity.as_str().to_owned(),
            store: alarm.store.as_ref().map(ToString::to_string),
            count: alarm.count,
            since: alarm.since,
            text: alarm.text.message(locale),
            next: alarm.text.next(locale).unwrap_or_default(),
            detail: alarm.detail.clone(),
            row: alarm.row.clone(),
        }
    }

    /// Returns an alarm as another process has recorded it.
    fn recorded(row: &AlarmRow) -> Self {
        Self {
            code: row.code.clone(),
            cause: row.cause.clone(),
            severity: row.severity.clone(),
            store: row.store.clone(),
            count: row.count,
            since: row.since,
            text: row.text.clone(),
            next: row.next.clone(),
            detail: String::new(),
            row: None,
        }
    }

    /// Whether something does not work; a warning only needs attention.
    pub(crate) fn is_failing(&self) -> bool {
        self.severity == Severity::Failing.as_str()
    }
}

impl ShownVerdict {
    /// Returns a verdict in the words of a language.
    pub(crate) fn of(verdict: &Verdict, locale: Locale) -> Self {
        Self {
            state: verdict.state.as_str().to_owned(),
            alarms: verdict.alarms.iter().map(|alarm| ShownAlarm::of(alarm, locale)).collect(),
            unproved: verdict.unproved.iter().map(|text| text.message(locale)).collect(),
        }
    }

    /// Adds the alarms that other processes of the installation have found and this one has not, in the words that they
    /// recorded. Of one that both have found, the failing one is shown.
    pub(crate) fn with_others(mut self, others: &[AlarmRow]) -> Self {
        for row in others {
            let is_same = |alarm: &ShownAlarm| {
                (&alarm.store, &alarm.code, &alarm.cause) == (&row.store, &row.code, &row.cause)
            };
            let other = ShownAlarm::recorded(row);
            match self.alarms.iter_mut().find(|alarm| is_same(alarm)) {
                None => self.alarms.push(other),
                Some(own) if other.is_failing() && !own.is_failing() => *own = other,
                Some(_) => (),
            }
        }
        // The worst first; equal ones in the order in which they stand.
        self.alarms.sort_by_key(|alarm| !alarm.is_failing());
        let worst = self.alarms.first().map(|alarm| match alarm.is_failing() {
            true => State::Failing,
            false => State::Warning,
        });
        if let Some(state) = State::parse(&self.state).max(worst) {
            state.as_str().clone_into(&mut self.state);
        }
        self
    }
}

/// Returns an alarm as a row of `v_alarms`.
pub(super) fn row(alarm: &Alarm, locale: Locale) -> AlarmRow {
    let shown = ShownAlarm::of(alarm, locale);
    AlarmRow {
        store: shown.store,
        code: shown.code,
        cause: alarm.cause.clone(),
        severity: shown.severity,
        count: shown.count,
        since: shown.since,
        text: shown.text,
        next: shown.next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_process_has_found_is_shown_once_and_counts_for_the_state() {
        let found = |store: &str, severity: &str| AlarmRow {
            store: Some(store.to_owned()),
            code: "late".to_owned(),
            cause: String::new(),
            severity: severity.to_owned(),
            count: 1,
            since: None,
            text: format!("atrasado em {store}"),
            next: String::new(),
        };
        let own = ShownAlarm { text: "own".to_owned(), ..ShownAlarm::recorded(&found("a", "warning")) };
        for (state, own, others, expected, shown) in [
            ("ok", vec![], vec![], "ok", vec![]),
            ("unknown", vec![], vec![found("b", "warning")], "warning", vec!["atrasado em b"]),
            ("warning", vec![own.clone()], vec![found("a", "warning")], "warning", vec!["own"]),
            ("warning", vec![own.clone()], vec![found("a", "failing")], "failing", vec!["atrasado em a"]),
            ("warning", vec![own], vec![found("b", "failing")], "failing", vec!["atrasado em b", "own"]),
        ] {
            let verdict = ShownVerdict { state: state.to_owned(), alarms: own, unproved: Vec::new() };
            let verdict = verdict.with_others(&others);
            let texts: Vec<&str> = verdict.alarms.iter().map(|alarm| alarm.text.as_str()).collect();
            assert_eq!((verdict.state.as_str(), texts), (expected, shown));
        }
    }
}
