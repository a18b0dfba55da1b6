//! The request of an audit on the local API.

use espelho_model::StoreKey;
use espelho_sync_engine::{AuditOptions, Subject};
use serde::{Deserialize, Serialize};

/// The body of `POST /audit`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedAudit {
    pub store: String,
    #[serde(default)]
    pub only: Vec<String>,
    pub sample: usize,
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

#[cfg(test)]
mod tests {
    use espelho_model::text::Text;
    use espelho_sync_engine::{Audit, Difference, Problem, ResourceAudit, Trouble};

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
        assert!(
            line.contains(r#""resource":"campaigns""#) && line.contains(r#"["k-missing","missing"]"#),
            "{line}"
        );
        let Event::Audit { audit } = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
        assert_eq!(*audit, sent);
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
