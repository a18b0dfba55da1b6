//! An alarm as people and programs read it (PRODUCT contract 4).

use chrono::{DateTime, Utc};
use espelho_model::text::Locale;
use espelho_store::AlarmRow;
use espelho_sync_engine::plan::alarms::{Alarm, Severity, Verdict};
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
