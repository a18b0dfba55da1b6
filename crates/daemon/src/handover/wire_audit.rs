//! The format of an audit on the local API.

use espelho_model::{StoreKey, text::Text};
use espelho_sync_engine::{Audit, AuditOptions, Difference, ResourceAudit, Subject};
use serde::{Deserialize, Serialize};

use super::wire_problem::WireProblem;

/// The body of `POST /audit`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedAudit {
    pub store: String,
    #[serde(default)]
    pub only: Vec<String>,
    pub sample: usize,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct WireAudit {
    store: String,
    resources: Vec<WireComparison>,
    requests: u64,
    problem: Option<WireProblem>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
struct WireComparison {
    resource: String,
    listed: u64,
    total: Option<u64>,
    mirrored: u64,
    sampled: u64,
    differing: u64,
    differences: Vec<[String; 2]>,
    problem: Option<WireProblem>,
    note: Option<Text>,
}

impl AskedAudit {
    pub(crate) fn new(store: &StoreKey, options: &AuditOptions) -> Self {
        let only = options.only.iter().map(Subject::to_string).collect();
        Self { store: store.to_string(), only, sample: options.sample }
    }

    /// Returns the options, or the unknown word.
    pub(crate) fn options(&self) -> Result<AuditOptions, String> {
        let only: Result<_, _> = self.only.iter().map(|word| word.parse::<Subject>()).collect();
        Ok(AuditOptions { only: only.map_err(|error| error.to_string())?, sample: self.sample })
    }
}

impl From<&Audit> for WireAudit {
    fn from(audit: &Audit) -> Self {
        Self {
            store: audit.store.to_string(),
            resources: audit.resources.iter().map(WireComparison::from).collect(),
            requests: audit.requests,
            problem: audit.problem.as_ref().map(WireProblem::from),
        }
    }
}

impl From<&ResourceAudit> for WireComparison {
    fn from(report: &ResourceAudit) -> Self {
        let difference = |(key, is): &(String, Difference)| [key.clone(), is.as_str().to_owned()];
        Self {
            resource: report.subject.to_string(),
            listed: report.listed,
            total: report.total,
            mirrored: report.mirrored,
            sampled: report.sampled,
            differing: report.differing,
            differences: report.differences.iter().map(difference).collect(),
            problem: report.problem.as_ref().map(WireProblem::from),
            note: report.note.clone(),
        }
    }
}

impl WireAudit {
    /// Returns the audit as it was. Unknown comparisons of a newer service are left out.
    pub(crate) fn into_audit(self, store: StoreKey) -> Audit {
        let resources = self.resources.into_iter().filter_map(WireComparison::into_report).collect();
        Audit { store, resources, requests: self.requests, problem: self.problem.map(Into::into) }
    }
}

impl WireComparison {
    fn into_report(self) -> Option<ResourceAudit> {
        let difference = |[key, word]: [String; 2]| {
            let known = Difference::ALL.into_iter().find(|difference| difference.as_str() == word);
            (key, known.unwrap_or(Difference::Detail))
        };
        Some(ResourceAudit {
            listed: self.listed,
            total: self.total,
            mirrored: self.mirrored,
            sampled: self.sampled,
            differing: self.differing,
            differences: self.differences.into_iter().map(difference).collect(),
            problem: self.problem.map(Into::into),
            note: self.note,
            ..ResourceAudit::begun(self.resource.parse().ok()?)
        })
    }
}

#[cfg(test)]
mod tests {
    use espelho_sync_engine::{Problem, Trouble};

    use super::*;
    use crate::handover::Event;

    #[test]
    fn an_audit_arrives_as_it_was_sent() {
        let problem = Problem {
            trouble: Trouble::Authentication,
            code: "c".into(),
            error: "e".into(),
            text: Text::new("t"),
        };
        let differences = Difference::ALL.map(|is| (format!("k-{}", is.as_str()), is)).to_vec();
        let report = ResourceAudit {
            listed: 1,
            total: Some(2),
            mirrored: 3,
            sampled: 4,
            differing: 5,
            differences,
            problem: Some(problem.clone()),
            note: Some(Text::new("n")),
            ..ResourceAudit::begun(Subject::Campaigns)
        };
        let mut sent = Audit::not_begun(StoreKey::new("loja-1").unwrap(), problem);
        (sent.resources, sent.requests) = (vec![report], 9);
        let line = serde_json::to_string(&Event::of_audit(&sent)).unwrap();
        let Event::Audit { audit } = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
        assert_eq!(format!("{:?}", audit.into_audit(sent.store.clone())), format!("{sent:?}"));
    }

    #[test]
    fn what_is_asked_for_arrives_and_an_unknown_word_is_named() {
        let options = AuditOptions { only: vec![Subject::Media, Subject::Orders], sample: 7 };
        let mut asked = AskedAudit::new(&StoreKey::new("loja-1").unwrap(), &options);
        assert_eq!(format!("{:?}", asked.options().unwrap()), format!("{options:?}"));
        asked.only = vec!["ordes".into()];
        assert!(asked.options().unwrap_err().contains("ordes"));
    }
}
