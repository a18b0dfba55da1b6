//! Occurrences: problems with a sale that the marketplace reports to the store, as the mirror stores them (API
//! document, "Events").

use chrono::{DateTime, Utc};

use crate::{OccurrenceId, RawJson};

/// The `severity` values of the document.
pub const SEVERITIES: [&str; 4] = ["low", "medium", "high", "critical"];

/// The `status` values of the document.
pub const STATUSES: [&str; 4] = ["open", "resolved", "cancelled", "auto_closed"];

/// One occurrence, as described by its deliveries. `None` means not reported.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct Occurrence {
    pub id: OccurrenceId,
    pub title: Option<String>,
    pub severity: Option<String>,
    pub status: Option<String>,
    pub trigger_key: Option<String>,
    /// The delivery's `timestamp`, in UTC. The newer of two deliveries applies.
    pub updated_at: DateTime<Utc>,
    /// The delivery's `data` as received.
    pub raw: RawJson,
}

impl Occurrence {
    /// Returns the enum values of this occurrence that the document does not list, as (field, value).
    pub fn unknown_values(&self) -> Vec<(&'static str, &str)> {
        let own = [
            ("severity", self.severity.as_deref(), &SEVERITIES[..]),
            ("status", self.status.as_deref(), &STATUSES[..]),
        ];
        own.into_iter()
            .filter_map(|(field, value, known)| value.filter(|v| !known.contains(v)).map(|v| (field, v)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_the_document_does_not_know_are_named_with_their_field() {
        let of = |severity: &str, status: &str| Occurrence {
            id: OccurrenceId::new("1"),
            title: None,
            severity: Some(severity.into()),
            status: Some(status.into()),
            trigger_key: None,
            updated_at: DateTime::UNIX_EPOCH,
            raw: RawJson::new("{}"),
        };
        for (severity, status) in SEVERITIES.into_iter().zip(STATUSES) {
            assert_eq!(of(severity, status).unknown_values(), []);
        }
        assert_eq!(
            of("fatal", "forgotten").unknown_values(),
            [("severity", "fatal"), ("status", "forgotten")]
        );
    }
}
