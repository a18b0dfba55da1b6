//! The files of labels: fetched when they are ready, kept on the disk, and noted in the mirror.
//!
//! `pace` and `kind` decide, purely; `fetch` gets one file; [`fetch_ready`] all there are at the moment, once; the
//! living mirror's own worker (`live::labels`) does it again and again, and looks at what is being made.

mod fetch;
pub(crate) mod kind;
pub(crate) mod pace;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::{Client, HostPattern};
use espelho_model::{shipment::LabelFormat, text, text::Arg};
use espelho_store::{LabelFolder, LabelsToFetch, ReadyLabel};
use futures_util::future::join_all;

pub(crate) use fetch::{Fault, Fetched};

use crate::{Problem, StoreContext, Trouble, report::failure};

/// Files that are fetched at once.
pub(crate) const WORKERS: usize = 3;
/// Labels that are looked up at once.
pub(crate) const PAGE: u32 = 60;

/// Which labels of a store are fetched, from where, and where to.
#[derive(Clone, Debug)]
pub struct Labels {
    /// Where they lie.
    pub folder: LabelFolder,
    /// In these formats; in every format where there are none.
    pub formats: Vec<LabelFormat>,
    /// The hosts that they may come from; any public one where there are none.
    pub hosts: Vec<HostPattern>,
    /// Those that were made within so many days.
    pub days: u32,
    /// For how many days void files are kept; for ever where it does not say.
    pub keep_days: Option<u32>,
}

impl Labels {
    /// Which of those that are ready are to be fetched.
    pub(crate) fn wanted(&self, now: DateTime<Utc>) -> LabelsToFetch {
        let since = now.checked_sub_signed(TimeDelta::days(self.days.into()));
        LabelsToFetch { formats: self.formats.clone(), since: since.unwrap_or_default() }
    }
}

/// What became of all the labels that were ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchedLabels {
    /// Files that were fetched.
    pub fetched: u64,
    /// Labels whose files could not be had; each is noted with its cause.
    pub failed: u64,
}

/// Fetches the file of every wanted label that is ready, each once. Nothing is done where labels are not fetched at all.
///
/// # Errors
/// What nothing else would get past either: the credential, the lease, the database.
pub async fn fetch_ready(context: &StoreContext) -> Result<FetchedLabels, Problem> {
    let mut sum = FetchedLabels::default();
    let Some(labels) = &context.labels else { return Ok(sum) };
    let wanted = labels.wanted(context.clock.now());
    let mut after = String::new();
    while !context.stop.is_cancelled() {
        let ready = context.store.labels_to_fetch(&context.key, &wanted, &after, PAGE).await;
        let ready = ready.map_err(|e| Problem::from_store(&e))?;
        let Some(last) = ready.last() else { break };
        after = last.id.as_str().to_owned();
        for some in ready.chunks(WORKERS) {
            for (_, result) in fetch_some(context, &context.client, labels, some).await {
                match result {
                    Ok(Fetched::Kept { .. }) => sum.fetched += 1,
                    Ok(Fetched::Overtaken) => (),
                    Err(fault) if fault.ends_all() => return Err(fault.into_problem()),
                    Err(_) => sum.failed += 1,
                }
            }
        }
    }
    Ok(sum)
}

/// Fetches some files at once, and notes the failures that are worth it.
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
    let fetching = fetch::fetch(context, client, labels, label);
    let fetched = tokio::select! {
        fetched = fetching => fetched,
        () = context.stop.cancelled() => Ok(Fetched::Overtaken),
    };
    (label, fetched)
}

/// Shows on the row why a label's file is not there.
pub(crate) async fn note(context: &StoreContext, label: &ReadyLabel, fault: &Fault) {
    let why = fault.text();
    let next = Arg::Next(Box::new(why.clone()));
    let text = text!("run-label", order = label.order.as_str(), why = why, next = next);
    let failure = failure(label.id.as_str().to_owned(), fault.code(), text, context.locale);
    let (code, error) = (&failure.code, fault.in_words());
    tracing::warn!(store = %context.key, order_number = %label.order, label = %label.id, code, error,
        "a label's file cannot be had");
    let noted = async {
        let mut tx = context.store.begin(&context.lease).await?;
        tx.note_label_failures(std::slice::from_ref(&failure)).await?;
        tx.commit().await
    };
    if let Err(error) = noted.await {
        tracing::warn!(store = %context.key, %error, "a failure could not be noted");
    }
}

/// A problem with the database.
pub(crate) fn of_store(error: &espelho_store::Error) -> Problem {
    Problem::from_store(error)
}

/// Whether nothing else would go better either.
pub(crate) fn is_hopeless(problem: &Problem) -> bool {
    matches!(problem.trouble, Trouble::Authentication | Trouble::Held | Trouble::Configuration)
}
