//! Occurrences, as webhooks deliver them.

use espelho_model::{occurrence::Occurrence, sync::Counts};

use super::{
    record::Record,
    table::{Merge, Scope, Table},
};
use crate::{Error, mirror::MirrorWriter};

pub(crate) static OCCURRENCES: Table = Table::new(
    "occurrences",
    "occurrence",
    Scope::Store,
    "id",
    &["title", "severity", "status", "trigger_key", "updated_at"],
)
.merging(Merge { as_of: "updated_at", with_status: &[] });

impl MirrorWriter<'_, '_> {
    /// Mirrors occurrences (API document, "Events": Occurrences). They arrive twice and in any order; the newer
    /// value counts, and fields that it omits stay.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_occurrences(&mut self, occurrences: Vec<Occurrence>) -> Result<Counts, Error> {
        let records = occurrences.into_iter().map(|received| (received.updated_at, received));
        let records = records.map(|(at, received)| (record(received), at)).collect();
        self.page.tables().merge_rows(&OCCURRENCES, records).await
    }
}

fn record(occurrence: Occurrence) -> Record {
    let values = [
        occurrence.title.into(),
        occurrence.severity.into(),
        occurrence.status.into(),
        occurrence.trigger_key.into(),
        occurrence.updated_at.into(),
    ];
    Record::new(occurrence.id.into_string(), values, occurrence.raw)
}
