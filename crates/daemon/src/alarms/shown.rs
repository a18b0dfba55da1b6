//! An alarm as people and programs read it (PRODUCT contract 4).

use chrono::{DateTime, Utc};
use espelho_model::{
    text,
    text::{Language, Locale, Text},
};
use espelho_store::{AlarmRow, PeerAlarm};
use espelho_sync_engine::plan::alarms::{Alarm, Code, Severity, State, Verdict};
use serde::{Deserialize, Serialize};

use crate::causes;

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

    /// Returns an alarm as another process has recorded it. A record has words of one language and no values: a reader
    /// of another language gets the alarm's name.
    pub(crate) fn recorded(of: &PeerAlarm, recorded_in: Language, locale: Locale) -> Self {
        let AlarmRow { store, code, cause, severity, count, since, text, next } = of.alarm.clone();
        let (detail, row) = (String::new(), None);
        let alarm = Self { code, cause, severity, store, count, since, text, next, detail, row };
        if recorded_in == locale.language {
            return alarm;
        }
        let brief = alarm.in_brief(machine_of(&of.instance), recorded_in);
        Self { text: brief.message(locale), next: brief.next(locale).unwrap_or_default(), ..alarm }
    }

    /// Says what is known of an alarm without its words.
    fn in_brief(&self, machine: &str, recorded_in: Language) -> Text {
        let (what, count, language) = (self.title(), self.count, recorded_in.tag());
        match &self.store {
            Some(store) => text!(
                "alarm-in-brief-of-store",
                machine = machine,
                what = what,
                store = store,
                count = count,
                language = language
            ),
            None => {
                text!("alarm-in-brief", machine = machine, what = what, count = count, language = language)
            }
        }
    }

    /// Returns the name of its cause, or of its code.
    pub(crate) fn title(&self) -> Text {
        let cause = causes::name_of(&self.cause);
        let code = Text::new(format!("page-alarm-{}", self.code.replace('_', "-")));
        match (self.is_about_rows() && cause.is_known(), code.is_known()) {
            (true, _) => cause,
            (false, true) => code,
            (false, false) => text!("words-other", word = self.code.as_str()),
        }
    }

    /// Tells whether it concerns a store: it is about that one, or about all.
    pub(crate) fn concerns(&self, store: &str) -> bool {
        self.store.as_ref().is_none_or(|own| own == store)
    }

    /// Tells whether the causes of its code are mended apart; those of others only name a place.
    pub(crate) fn is_about_rows(&self) -> bool {
        matches!(
            self.code.as_str(),
            "failed" | "held" | "doubtful" | "waiting" | "deadline" | "paused" | "mirror_differs"
        )
    }

    /// Tells whether another alarm is about the same: one marketplace stays one cause while it hits one store here and
    /// several there.
    fn is_same_cause(&self, other: &Self) -> bool {
        (&self.code, &self.cause) == (&other.code, &other.cause)
            && (self.store == other.store || self.is_about_marketplace())
    }

    /// Tells whether its cause is the address of a marketplace; it counts stores then.
    pub(crate) fn is_about_marketplace(&self) -> bool {
        Code::parse(&self.code).is_some_and(Code::is_about_marketplace)
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

    /// Adds the alarms that other processes of the installation have found and this one has not. Of one that both have
    /// found, the failing one is shown.
    pub(crate) fn with_others(mut self, others: impl IntoIterator<Item = ShownAlarm>) -> Self {
        for other in others {
            match self.alarms.iter_mut().find(|alarm| alarm.is_same_cause(&other)) {
                None => self.alarms.push(other),
                // Each process sees the stores that it works on: together they are several.
                Some(own)
                    if own.is_about_marketplace() && (own.store.is_none() || own.store != other.store) =>
                {
                    own.store = None;
                    own.count += other.count;
                }
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

/// Returns the name of the machine in the name of a process: `espelho run (process 7 on HOST)`.
fn machine_of(instance: &str) -> &str {
    instance.rsplit_once(" on ").map_or(instance, |(_, machine)| machine.trim_end_matches(')'))
}

/// Returns an alarm as a row of `v_alarms`.
pub(super) fn row(alarm: &Alarm, locale: Locale) -> AlarmRow {
    let shown = ShownAlarm::of(alarm, locale);
    AlarmRow {
        store: shown.store,
        code: shown.code,
        cause: shown.cause,
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

    fn found(code: &str, store: Option<&str>, severity: &str) -> PeerAlarm {
        let alarm = AlarmRow {
            store: store.map(str::to_owned),
            code: code.to_owned(),
            cause: "http://a".to_owned(),
            severity: severity.to_owned(),
            count: 1,
            since: None,
            text: format!("{code} em {}", store.unwrap_or("todas")),
            next: "faça algo".to_owned(),
        };
        PeerAlarm { instance: "espelho run (process 7 on hub-2)".to_owned(), alarm }
    }

    fn recorded(found: &PeerAlarm) -> ShownAlarm {
        ShownAlarm::recorded(found, Language::Portuguese, Locale::default())
    }

    #[test]
    fn what_another_process_has_found_is_shown_once_and_counts_for_the_state() {
        let late = |store, severity| recorded(&found("late", Some(store), severity));
        let own = ShownAlarm { text: "own".to_owned(), ..late("a", "warning") };
        for (state, own, others, expected, shown) in [
            ("ok", vec![], vec![], "ok", vec![]),
            ("unknown", vec![], vec![late("b", "warning")], "warning", vec!["late em b"]),
            ("warning", vec![own.clone()], vec![late("a", "warning")], "warning", vec!["own"]),
            ("warning", vec![own.clone()], vec![late("a", "failing")], "failing", vec!["late em a"]),
            ("warning", vec![own], vec![late("b", "failing")], "failing", vec!["late em b", "own"]),
        ] {
            let verdict = ShownVerdict { state: state.to_owned(), alarms: own, unproved: Vec::new() };
            let verdict = verdict.with_others(others);
            let texts: Vec<&str> = verdict.alarms.iter().map(|alarm| alarm.text.as_str()).collect();
            assert_eq!((verdict.state.as_str(), texts), (expected, shown));
        }
    }

    #[test]
    fn a_marketplace_that_fails_one_store_here_and_others_there_is_one_alarm() {
        let of = |code, store, count| ShownAlarm { count, ..recorded(&found(code, store, "failing")) };
        for (code, own, other, expected) in [
            ("marketplace_unreachable", None, Some("c"), vec![(None, 3)]),
            ("marketplace_unreachable", Some("a"), None, vec![(None, 3)]),
            ("marketplace_errors", Some("a"), Some("c"), vec![(None, 3)]),
            ("throttled", None, None, vec![(None, 3)]),
            ("throttled", Some("a"), Some("a"), vec![(Some("a"), 2)]),
            ("credential_refused", Some("a"), Some("c"), vec![(Some("a"), 2), (Some("c"), 1)]),
        ] {
            let verdict = ShownVerdict { alarms: vec![of(code, own, 2)], ..ShownVerdict::default() };
            let verdict = verdict.with_others([of(code, other, 1)]);
            let shown: Vec<_> =
                verdict.alarms.iter().map(|alarm| (alarm.store.as_deref(), alarm.count)).collect();
            assert_eq!(shown, expected, "{code} {own:?} {other:?}");
        }
    }

    #[test]
    fn a_record_in_another_language_is_told_by_its_name_its_machine_and_its_store() {
        let english = Locale::of(Language::English);
        for (store, expected) in [
            (None, "Machine hub-2: wrong clock (1)."),
            (Some("loja-1"), "Machine hub-2: wrong clock, store loja-1 (1)."),
        ] {
            let found = found("clock_wrong", store, "failing");
            let shown = ShownAlarm::recorded(&found, Language::Portuguese, english);
            assert_eq!(shown.text, expected);
            assert!(shown.next.ends_with("espelho status --lang pt-BR"), "{}", shown.next);
            let same = recorded(&found);
            assert_eq!((same.text, same.next), (found.alarm.text, found.alarm.next));
        }
    }
}
