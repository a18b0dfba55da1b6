//! Label files: fetched when they are ready, kept on disk, and recorded in the mirror.
//!
//! `pace` and `kind` decide, purely. `fetch` gets one file. [`fetch_ready`] fetches all files that are ready, once. The
//! live mirror's own worker (`live::labels`) repeats this, and polls labels in progress.

mod fetch;
pub(crate) mod kind;
pub(crate) mod pace;
mod selection;
mod void_files;

use espelho_api_client::Client;
use espelho_model::{
    fault,
    sync::{Counts, RunState, Target},
    text,
    text::Arg,
};
use espelho_store::{Failure, ReadyLabel};
use futures_util::future::join_all;

pub(crate) use fetch::{Fault, Fetched};
pub use selection::Labels;
pub use void_files::remove_void_files;

use crate::{Error, Input, ResourceReport, StoreContext, quarantine::Attempt, report::failure};

/// Files fetched at once.
pub(crate) const WORKERS: usize = 3;
/// Labels looked up at once.
pub(crate) const PAGE: u32 = 60;

/// The result of fetching all ready labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchedLabels {
    /// Files fetched.
    pub fetched: u64,
    /// Labels whose file could not be fetched, each with its cause.
    pub failures: Vec<Failure>,
}

impl FetchedLabels {
    /// Returns them as a resource of a run; it names the first failures.
    pub fn into_report(self) -> ResourceReport {
        let failed = self.failures.len() as u64;
        let mut report = ResourceReport::new(Target::Labels);
        report.counts = Counts { seen: self.fetched + failed, changed: self.fetched, gone: 0, failed };
        report.state = if failed == 0 { RunState::Complete } else { RunState::Partial };
        report.failures = self.failures;
        report.failures.truncate(ResourceReport::SHOWN);
        report
    }
}

/// Fetches the file of every selected label that is ready, each once, and shows on each label's row why its file is
/// missing: nothing else will. Does nothing if labels are not fetched at all.
///
/// # Errors
/// Problems that would stop every other file as well: the credential, the lease, the database.
pub async fn fetch_ready(context: &StoreContext) -> Result<FetchedLabels, Error> {
    let mut sum = FetchedLabels::default();
    let Some(labels) = &context.labels else { return Ok(sum) };
    let wanted = labels.wanted(context.clock.now());
    let mut after = String::new();
    while !context.stop.is_cancelled() {
        let ready = context.store.label_files().labels_to_fetch(&context.key, &wanted, &after, PAGE).await;
        let ready = ready?;
        let Some(last) = ready.last() else { break };
        after = last.id.as_str().to_owned();
        for some in ready.chunks(WORKERS) {
            for (label, result) in fetch_some(context, &context.client, labels, some).await {
                match result {
                    Ok(Fetched::Kept { .. }) => sum.fetched += 1,
                    Ok(Fetched::Overtaken) => (),
                    Err(fault) if fault.ends_all() => return Err(fault.into()),
                    Err(fault) => sum.failures.push(note(context, label, &fault).await),
                }
            }
        }
    }
    Ok(sum)
}

/// Fetches some files at once.
pub(crate) async fn fetch_some<'r>(
    context: &StoreContext,
    client: &Client,
    labels: &Labels,
    ready: &'r [ReadyLabel],
) -> Vec<(&'r ReadyLabel, Result<Fetched, Fault>)> {
    join_all(ready.iter().map(|label| fetch_one(context, client, labels, label))).await
}

async fn fetch_one<'r>(
    context: &StoreContext,
    client: &Client,
    labels: &Labels,
    label: &'r ReadyLabel,
) -> (&'r ReadyLabel, Result<Fetched, Fault>) {
    let key = label.id.as_str();
    let fetching = async {
        let fetch = || async {
            fault::point("label", key);
            fetch::fetch(context, client, labels, label).await
        };
        loop {
            match context.attempt(Input::Label, key, fetch()).await {
                Attempt::Ended(fetched) => return fetched,
                // One that panics twice is set aside.
                Attempt::Panicked(_) => (),
                Attempt::SetAside(poison) => {
                    return Err(Fault::SetAside(poison.text_of(Input::Label, key, context.key.as_str())));
                }
            }
        }
    };
    let fetched = tokio::select! {
        fetched = fetching => fetched,
        () = context.stop.cancelled() => Ok(Fetched::Overtaken),
    };
    (label, fetched)
}

/// Shows on the label's row why its file is missing, and returns that.
pub(crate) async fn note(context: &StoreContext, label: &ReadyLabel, fault: &Fault) -> Failure {
    let why = fault.text();
    let next = Arg::Next(Box::new(why.clone()));
    let text = text!("run-label", order = label.order.as_str(), why = why, next = next);
    let failure = failure(label.id.as_str().to_owned(), fault.code(), text, context.locale);
    let (code, error) = (&failure.code, fault.in_words());
    tracing::warn!(store = %context.key, order_number = %label.order, label = %label.id, code, error,
        "a label file cannot be fetched");
    let noted = async {
        let mut tx = context.store.begin(&context.lease).await?;
        tx.failures().note_label_failures(std::slice::from_ref(&failure)).await?;
        tx.commit().await
    };
    if let Err(error) = noted.await {
        tracing::warn!(store = %context.key, %error, "a failure could not be recorded");
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_partial_where_files_are_missing_and_names_the_first_of_them() {
        let failure = |n: usize| {
            let [code, error, hint] = ["not_a_label", "e", "h"].map(str::to_owned);
            Failure { key: n.to_string(), code, error, hint, message: None }
        };
        for (fetched, failed, state) in [
            (0, 0, RunState::Complete),
            (4, 0, RunState::Complete),
            (4, 1, RunState::Partial),
            (0, ResourceReport::SHOWN + 1, RunState::Partial),
        ] {
            let failures = (0..failed).map(failure).collect();
            let report = FetchedLabels { fetched, failures }.into_report();
            let Counts { seen, changed, failed: counted, .. } = report.counts;
            assert_eq!(report.state, state, "{fetched} {failed}");
            assert_eq!((seen, changed, counted), (fetched + failed as u64, fetched, failed as u64));
            assert_eq!(report.failures.len(), failed.min(ResourceReport::SHOWN));
        }
    }
}
