//! The format of the local API: a request of one object, and answers of one object a line.

use chrono::NaiveDate;
use espelho_api_client::limit::Lane;
use espelho_model::{StoreKey, sync::Target};
use espelho_sync_engine::{Audit, Examination, Options, Question, StoreReport};
use serde::{Deserialize, Serialize};

/// The body of `POST /resync`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    pub store: String,
    #[serde(default)]
    pub only: Vec<String>,
    #[serde(default)]
    pub since: Option<NaiveDate>,
    #[serde(default)]
    pub restart: bool,
    #[serde(default)]
    pub deep: bool,
    #[serde(default)]
    pub dry_run: bool,
    #[serde(default)]
    pub accept_gone: bool,
}

/// The body of `POST /examine`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedExamination {
    pub store: String,
    pub question: Question,
}

/// A line of the answer. The last one is `Report`, `Audit` or `Examination`; an answer without it was cut off.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum Event {
    /// The run waits behind another one, and the connection is still open.
    Wait,
    Begin {
        resource: String,
        resumed: u64,
    },
    Advance {
        resource: String,
        done: u64,
        total: Option<u64>,
        #[serde(default)]
        requests_left: Option<u64>,
    },
    End {
        resource: String,
    },
    Report {
        report: Box<StoreReport>,
    },
    /// Instead of `Report`, for a question.
    Examination {
        examination: Box<Examination>,
    },
    /// Instead of `Report`, for an audit.
    Audit {
        audit: Box<Audit>,
    },
}

impl Asked {
    pub(crate) fn new(store: &StoreKey, options: &Options) -> Self {
        Self {
            store: store.to_string(),
            only: options.only.iter().map(Target::to_string).collect(),
            since: options.since,
            restart: options.restart,
            deep: options.deep,
            dry_run: options.dry_run,
            accept_gone: options.accept_gone,
        }
    }

    /// Returns the options, or the resource that does not exist.
    pub(crate) fn options(&self) -> Result<Options, String> {
        let only: Result<_, _> = self.only.iter().map(|word| word.parse::<Target>()).collect();
        Ok(Options {
            // The service's own work for its stores goes first.
            lane: Some(Lane::Backfill),
            only: only.map_err(|error| error.to_string())?,
            since: self.since,
            restart: self.restart,
            deep: self.deep,
            dry_run: self.dry_run,
            accept_gone: self.accept_gone,
            // The service's own worker fetches them.
            label_files: false,
            kind: "resync",
        })
    }
}

impl Event {
    pub(crate) fn of_report(report: &StoreReport) -> Self {
        Self::Report { report: Box::new(report.clone()) }
    }

    pub(crate) fn of_audit(audit: &Audit) -> Self {
        Self::Audit { audit: Box::new(audit.clone()) }
    }

    /// Whether this is the last event.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self, Self::Report { .. } | Self::Audit { .. } | Self::Examination { .. })
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::{
        sync::{Counts, Resource, RunState},
        text::Text,
    };
    use espelho_store::Failure;
    use espelho_sync_engine::{Problem, ResourceReport, Trouble};

    use super::*;

    fn report() -> StoreReport {
        let problem =
            |trouble| Problem { trouble, code: "c".into(), error: "e".into(), text: Text::new("t") };
        let mut resource = ResourceReport::new(Target::Listed(Resource::Products));
        resource.counts = Counts { seen: 4, changed: 3, gone: 2, failed: 1 };
        resource.state = RunState::Partial;
        resource.problem = Some(problem(Trouble::Guard));
        resource.notes = vec![Text::new("a-note")];
        resource.resumed_at = Some(7);
        let [key, code, error, hint] = ["k", "c", "e", "h"].map(str::to_owned);
        resource.failures = vec![Failure { key, code, error, hint, message: None }];
        let mut report =
            StoreReport::not_begun(StoreKey::new("loja-1").unwrap(), problem(Trouble::Authentication));
        (report.resources, report.requests, report.seconds) = (vec![resource], 9, 1.5);
        report
    }

    #[test]
    fn a_report_arrives_as_it_was_sent() {
        let sent = report();
        let line = serde_json::to_string(&Event::of_report(&sent)).unwrap();
        assert!(!line.contains('\n'));
        let Event::Report { report } = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
        assert_eq!(*report, sent);
    }

    #[test]
    fn the_report_of_another_version_is_read_as_far_as_it_is_known() {
        let line = r#"{"event":"report","report":{"store":"loja-1","state":"halfway","requests":9,"rate_limited":0,
            "logins":0,"seconds":1.5,"novel":1,"problem":{"trouble":"novel","code":"c","error":"e","text":{"id":"t"}},
            "resources":[
                {"resource":"novel","state":"complete"},
                {"resource":"products","state":"partial","seen":4,"changed":3,"gone":2,"failed":1,"pages":0,
                 "details":0,"failures":[["k","c","e","h"]],"problem":null,"notes":[{"id":"a-note"}],"resumed_at":7}
            ]}}"#;
        let Event::Report { report: received } = serde_json::from_str(line).unwrap() else {
            panic!("{line}")
        };
        let mut expected = report();
        (expected.resources[0].problem, expected.state) = (None, RunState::Failed);
        expected.problem.as_mut().unwrap().trouble = Trouble::Failure;
        assert_eq!(*received, expected);
    }

    #[test]
    fn options_arrive_as_they_were_asked_for_and_an_unknown_resource_is_named() {
        let options = Options {
            only: vec![Target::Listed(Resource::Orders), Target::Campaigns],
            since: NaiveDate::from_ymd_opt(2026, 1, 31),
            deep: true,
            kind: "resync",
            lane: Some(Lane::Backfill),
            ..Options::default()
        };
        let mut asked = Asked::new(&StoreKey::new("loja-1").unwrap(), &options);
        assert_eq!(format!("{:?}", asked.options().unwrap()), format!("{options:?}"));
        asked.only = vec!["ordes".into()];
        assert!(asked.options().unwrap_err().contains("ordes"));
    }
}
