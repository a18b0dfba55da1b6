//! The last comparison of each resource with the marketplace.

use chrono::{DateTime, Utc};

use crate::{
    Error,
    driver::{Insert, Value},
    mirror::rows::last_of_each,
    operations::SweepWriter,
};

pub(crate) const NOTE: Insert = Insert {
    operation: "note an audit",
    head: "INSERT INTO audits (store, resource, at, compared, differing)",
    columns: 5,
    tail: "ON CONFLICT (store, resource) DO UPDATE SET at = excluded.at, compared = excluded.compared, \
           differing = excluded.differing \
           WHERE audits.differing = 0 OR excluded.compared >= audits.compared",
};

/// The last audit of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// The resource, by its name in reports.
    pub resource: String,
    /// When it ended.
    pub at: DateTime<Utc>,
    /// Rows that were compared.
    pub compared: u64,
    /// Rows that differed, in the second comparison too.
    pub differing: u64,
}

impl SweepWriter<'_, '_> {
    /// Records the results of audits. A smaller sample does not hide the differences that a larger audit has found.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_audits(&mut self, audits: Vec<AuditRecord>) -> Result<(), Error> {
        let store = self.page.store_key().as_str().to_owned();
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX).into();
        let audits = last_of_each(audits, |audit| audit.resource.clone());
        let values = audits.into_iter().flat_map(|a| -> [Value; 5] {
            [store.as_str().into(), a.resource.into(), a.at.into(), number(a.compared), number(a.differing)]
        });
        let values = values.collect();
        self.page.tx.insert(&NOTE, values).await.map(drop)
    }
}
