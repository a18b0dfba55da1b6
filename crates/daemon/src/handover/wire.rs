//! The format of the local API: a request of one object, and answers of one object a line.

use chrono::NaiveDate;
use espelho_api_client::limit::Lane;
use espelho_model::{
    StoreKey,
    sync::{Counts, RunState, Target},
    text::Text,
};
use espelho_store::Failure;
use espelho_sync_engine::{Audit, Examination, Options, Problem, Question, ResourceReport, StoreReport};
use serde::{Deserialize, Serialize};

use super::{wire_audit::WireAudit, wire_problem::WireProblem};

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
        report: Box<WireReport>,
    },
    /// Instead of `Report`, for a question.
    Examination {
        examination: Box<Examination>,
    },
    /// Instead of `Report`, for an audit.
    Audit {
        audit: Box<WireAudit>,
    },
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct WireReport {
    store: String,
    state: String,
    resources: Vec<WireResource>,
    requests: u64,
    rate_limited: u64,
    logins: u64,
    seconds: f64,
    problem: Option<WireProblem>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
struct WireResource {
    resource: String,
    state: String,
    seen: u64,
    changed: u64,
    gone: u64,
    failed: u64,
    pages: u64,
    details: u64,
    failures: Vec<[String; 4]>,
    problem: Option<WireProblem>,
    notes: Vec<Text>,
    resumed_at: Option<u64>,
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
            kind: "resync",
        })
    }
}

impl Event {
    pub(crate) fn of_report(report: &StoreReport) -> Self {
        Self::Report { report: Box::new(report.into()) }
    }

    pub(crate) fn of_audit(audit: &Audit) -> Self {
        Self::Audit { audit: Box::new(audit.into()) }
    }

    /// Whether this is the last event.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self, Self::Report { .. } | Self::Audit { .. } | Self::Examination { .. })
    }
}

impl From<&StoreReport> for WireReport {
    fn from(report: &StoreReport) -> Self {
        Self {
            store: report.store.to_string(),
            state: report.state.as_str().to_owned(),
            resources: report.resources.iter().map(WireResource::from).collect(),
            requests: report.requests,
            rate_limited: report.rate_limited,
            logins: report.logins,
            seconds: report.seconds,
            problem: report.problem.as_ref().map(WireProblem::from),
        }
    }
}

impl From<&ResourceReport> for WireResource {
    fn from(report: &ResourceReport) -> Self {
        let Counts { seen, changed, gone, failed } = report.counts;
        let failure = |f: &Failure| [f.key.clone(), f.code.clone(), f.error.clone(), f.hint.clone()];
        Self {
            resource: report.resource.to_string(),
            state: report.state.as_str().to_owned(),
            seen,
            changed,
            gone,
            failed,
            pages: report.pages,
            details: report.details,
            failures: report.failures.iter().map(failure).collect(),
            problem: report.problem.as_ref().map(WireProblem::from),
            notes: report.notes.clone(),
            resumed_at: report.resumed_at,
        }
    }
}

impl WireReport {
    /// Returns the report as the run itself would give it. Unknown resources of a newer service are left out.
    pub(crate) fn into_report(self, store: StoreKey) -> StoreReport {
        StoreReport {
            store,
            state: state(&self.state),
            resources: self.resources.into_iter().filter_map(WireResource::into_report).collect(),
            requests: self.requests,
            rate_limited: self.rate_limited,
            logins: self.logins,
            seconds: self.seconds,
            problem: self.problem.map(Problem::from),
        }
    }
}

impl WireResource {
    fn into_report(self) -> Option<ResourceReport> {
        let failure =
            |[key, code, error, hint]: [String; 4]| Failure { key, code, error, hint, message: None };
        Some(ResourceReport {
            resource: self.resource.parse().ok()?,
            state: state(&self.state),
            counts: Counts { seen: self.seen, changed: self.changed, gone: self.gone, failed: self.failed },
            pages: self.pages,
            details: self.details,
            failures: self.failures.into_iter().map(failure).collect(),
            problem: self.problem.map(Problem::from),
            notes: self.notes,
            resumed_at: self.resumed_at,
        })
    }
}

fn state(word: &str) -> RunState {
    let all = [RunState::Complete, RunState::Partial, RunState::Failed];
    all.into_iter().find(|state| state.as_str() == word).unwrap_or(RunState::Failed)
}

#[cfg(test)]
mod tests {
    use espelho_model::sync::Resource;

    use espelho_sync_engine::Trouble;

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
        let received = report.into_report(sent.store.clone());
        assert_eq!(format!("{received:?}"), format!("{sent:?}"));
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
