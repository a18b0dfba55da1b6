//! Occurrences, as webhooks tell of them.

use espelho_model::{occurrence::Occurrence, sync::Counts};

use super::{
    record::Record,
    table::{Merge, Scope, Table},
};
use crate::{Error, PageTx};

pub(crate) static OCCURRENCES: Table = Table::new(
    "occurrences",
    "occurrence",
    Scope::Store,
    "id",
    &["title", "severity", "status", "trigger_key", "updated_at"],
)
.merging(Merge { as_of: "updated_at", with_status: &[] });

impl PageTx<'_> {
    /// Mirrors occurrences (API document, "Events": Occurrences). They come doubled and in any order; the newer word
    /// counts, and what it leaves out stays.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_occurrences(&mut self, occurrences: Vec<Occurrence>) -> Result<Counts, Error> {
        let records = occurrences.into_iter().map(|told| (told.updated_at, told));
        let records = records.map(|(at, told)| (record(told), at)).collect();
        self.merge_rows(&OCCURRENCES, records).await
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
