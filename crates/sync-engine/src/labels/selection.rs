//! Which label files a store fetches.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::HostPattern;
use espelho_model::shipment::LabelFormat;
use espelho_store::{LabelFolder, LabelsToFetch};

/// Which labels of a store are fetched, from where, and where to.
#[derive(Clone, Debug)]
pub struct Labels {
    /// The folder of the files.
    pub folder: LabelFolder,
    /// Formats to fetch; every format if empty.
    pub formats: Vec<LabelFormat>,
    /// Hosts to accept; any public host if empty.
    pub hosts: Vec<HostPattern>,
    /// Fetch labels that were made within this many days.
    pub days: u32,
    /// For how many days void files are kept; for ever if absent.
    pub keep_days: Option<u32>,
}

impl Labels {
    /// Returns which of the ready labels to fetch.
    pub(crate) fn wanted(&self, now: DateTime<Utc>) -> LabelsToFetch {
        let since = now.checked_sub_signed(TimeDelta::days(self.days.into()));
        LabelsToFetch { formats: self.formats.clone(), since: since.unwrap_or_default() }
    }
}
