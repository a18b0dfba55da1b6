//! Keeps label files while the service runs: fetches ready labels, and polls labels in progress.
//!
//! No delivery reports that a label was started or is ready (API document, "Events"). Labels that the mirror shows as
//! in progress are polled at a pace that slows down, a few orders at a time, however many there are; orders with
//! shipments and without labels, rarely. What a poll finds is queued like what sweeps find.

use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use chrono::TimeDelta;
use espelho_model::{
    LabelId, OrderNumber,
    text::{Language, Locale},
    watch,
};
use espelho_store::{ReadyLabel, Subresource};
use futures_util::future::BoxFuture;

use super::{
    Live,
    refresh_request::{Entity, RefreshRequest, Urgency},
    sweeps::CROWDED,
};
use crate::{
    Problem,
    labels::{
        Fault, Fetched, Labels, PAGE, WORKERS, fetch_some, is_hopeless, note, of_store,
        pace::{Failing, due},
    },
};

/// Pause between two polls, with and without pending work.
const EAGER: Duration = Duration::from_secs(5);
const PATIENT: Duration = Duration::from_secs(60);
/// Wait this long for more shipments before a poll: those that were just read may have labels.
const GATHER: Duration = Duration::from_secs(1);
/// Orders with labels in progress in one poll: sixty a minute, a fifth of the budget.
const LOOKED_AT: usize = 5;
/// Orders considered for it.
const CONSIDERED: u32 = 200;
/// How often orders without labels are polled: some each minute, none more often than every ten.
const MINUTE: Duration = Duration::from_secs(60);
const UNLABELLED: u32 = 5;
const UNLABELLED_EVERY: TimeDelta = TimeDelta::minutes(10);
/// How often void files are searched for, and how many are removed at once.
const HOUR: Duration = Duration::from_secs(3600);
const REMOVED_AT_ONCE: u32 = 500;
/// How often the presence of the files is checked, and how many labels at a time.
const DAY: Duration = Duration::from_secs(24 * 3_600);
const CHECKED_AT_ONCE: u32 = 1_000;

/// The state of the label worker between two polls.
#[derive(Default)]
struct LabelWorker {
    failing: Failing,
    /// The id of the last ready label that was processed.
    after: String,
    /// Ready labels seen since the list was started.
    seen: HashSet<String>,
    hosts: HashSet<String>,
    polled_labels_in_progress: Option<Duration>,
    is_making: bool,
    looked_for_unlabelled: Option<Duration>,
    tidied: Option<Duration>,
    checked: Option<Duration>,
}

impl Live<'_> {
    /// Keeps the label files until the work stops.
    pub(super) async fn keep_labels(&self) -> Result<(), Problem> {
        let Some(labels) = &self.context.labels else {
            let _waiting = watch::idle();
            self.context.stop.cancelled().await;
            return Ok(());
        };
        let mut keeper = Box::<LabelWorker>::default();
        self.boxed_remove_orphans(labels).await;
        while !self.is_stopping() {
            let busy = match self.boxed_poll_labels(labels, &mut keeper).await {
                Err(problem) if is_hopeless(&problem) => return Err(problem),
                Err(problem) => {
                    let (error, next_step) = (&problem.error, problem.hint());
                    tracing::warn!(store = %self.context.key, error, next_step, "label poll failed; will retry");
                    false
                }
                Ok(busy) => busy,
            };
            let _waiting = watch::idle();
            tokio::select! {
                () = self.context.clock.sleep(if busy { EAGER } else { PATIENT }) => (),
                () = self.shipped.notified() => self.context.clock.sleep(GATHER).await,
                () = self.context.stop.cancelled() => (),
            }
        }
        Ok(())
    }

    // Not `async`: the future of an `async` function would also reserve space for the boxed value.
    fn boxed_remove_orphans<'s>(&'s self, labels: &'s Labels) -> BoxFuture<'s, ()> {
        Box::pin(self.remove_orphans(labels))
    }

    fn boxed_poll_labels<'s>(
        &'s self,
        labels: &'s Labels,
        keeper: &'s mut LabelWorker,
    ) -> BoxFuture<'s, Result<bool, Problem>> {
        Box::pin(self.poll_labels(labels, keeper))
    }

    /// Polls once; returns whether the next poll should follow soon.
    async fn poll_labels(&self, labels: &Labels, keeper: &mut LabelWorker) -> Result<bool, Problem> {
        self.tidy_when_due(labels, keeper).await?;
        self.find_lost_files_when_due(labels, keeper).await?;
        let fetched = self.fetch_labels(labels, keeper).await?;
        let making = self.poll_labels_in_progress(keeper).await?;
        Ok(fetched || making || !keeper.failing.is_empty())
    }

    /// Fetches what is ready; returns whether there was anything.
    async fn fetch_labels(&self, labels: &Labels, keeper: &mut LabelWorker) -> Result<bool, Problem> {
        let (context, client) = (self.context, self.poll());
        if !keeper.failing.may_try_any(context.clock.monotonic()) {
            return Ok(false);
        }
        let wanted = labels.wanted(context.clock.now());
        let ready =
            context.store.label_files().labels_to_fetch(&context.key, &wanted, &keeper.after, PAGE).await;
        let ready = ready.map_err(|e| of_store(&e))?;
        keeper.seen.extend(ready.iter().map(|label| label.id.as_str().to_owned()));
        keeper.after = ready.last().map(|label| label.id.as_str().to_owned()).unwrap_or_default();
        let is_whole = ready.len() < PAGE as usize;
        let due = |label: &ReadyLabel| keeper.failing.may_try(context.clock.monotonic(), label);
        let due: Vec<ReadyLabel> = ready.into_iter().filter(due).collect();
        for some in due.chunks(WORKERS) {
            for (label, result) in fetch_some(context, &client, labels, some).await {
                self.after_fetching(keeper, label, result).await?;
            }
            self.observer.stats(context.client.stats());
            if self.is_stopping() || !keeper.failing.may_try_any(context.clock.monotonic()) {
                return Ok(true);
            }
        }
        if is_whole {
            let seen = std::mem::take(&mut keeper.seen);
            keeper.failing.keep_only(|label| seen.contains(label.as_str()));
            keeper.after.clear();
        }
        Ok(!due.is_empty() || !is_whole)
    }

    async fn after_fetching(
        &self,
        keeper: &mut LabelWorker,
        label: &ReadyLabel,
        result: Result<Fetched, Fault>,
    ) -> Result<(), Problem> {
        match result {
            Ok(Fetched::Kept { host }) => {
                keeper.failing.went_well(&label.id);
                if !keeper.hosts.contains(&host) {
                    tracing::info!(store = %self.context.key, host, "files of labels come from this host");
                    keeper.hosts.insert(host);
                }
            }
            Ok(Fetched::Overtaken) => (),
            Err(fault) if fault.ends_all() => return Err(fault.into_problem()),
            Err(fault) => {
                if fault.is_stale() {
                    self.push([order_to_poll(label.order.clone())]);
                }
                if keeper.failing.failed(self.context.clock.monotonic(), label, &fault) {
                    note(self.context, label, &fault).await;
                }
            }
        }
        Ok(())
    }

    /// Polls some of the labels in progress; returns whether there are any.
    async fn poll_labels_in_progress(&self, keeper: &mut LabelWorker) -> Result<bool, Problem> {
        let (context, now) = (self.context, self.context.clock.now());
        let monotonic = context.clock.monotonic();
        // The wake-up may be the answer to the last poll.
        if keeper.polled_labels_in_progress.is_some_and(|then| monotonic - then < EAGER) {
            return Ok(keeper.is_making);
        }
        keeper.polled_labels_in_progress = Some(monotonic);
        let making = context.store.label_files().labels_in_the_making(&context.key, CONSIDERED).await;
        let making = making.map_err(|e| of_store(&e))?;
        keeper.is_making = !making.is_empty();
        let mut orders = due(now, &making, LOOKED_AT);
        if keeper.looked_for_unlabelled.is_none_or(|then| monotonic - then >= MINUTE) {
            keeper.looked_for_unlabelled = Some(monotonic);
            let before = now - UNLABELLED_EVERY;
            let without =
                context.store.label_files().orders_without_labels(&context.key, before, UNLABELLED).await;
            orders.extend(without.map_err(|e| of_store(&e))?);
        }
        if self.queue().waiting(Urgency::Swept) < CROWDED {
            self.push(orders.into_iter().map(order_to_poll));
        }
        Ok(keeper.is_making)
    }

    /// Once an hour, removes expired void files, and failures of labels that are no longer to be fetched.
    async fn tidy_when_due(&self, labels: &Labels, keeper: &mut LabelWorker) -> Result<(), Problem> {
        let (context, now) = (self.context, self.context.clock.monotonic());
        let is_due = keeper.tidied.is_none_or(|then| now - then >= HOUR);
        if is_due || !keeper.failing.is_empty() {
            let forgotten = async {
                let mut tx = context.store.begin(&context.lease).await?;
                tx.label_files().forget_settled_label_failures().await?;
                tx.commit().await
            };
            forgotten.await.map_err(|e| of_store(&e))?;
        }
        if !is_due {
            return Ok(());
        }
        keeper.tidied = Some(now);
        let Some(days) = labels.keep_days else { return Ok(()) };
        let then = context.clock.now() - TimeDelta::days(days.into());
        let void =
            context.store.label_files().label_files_void_before(&context.key, then, REMOVED_AT_ONCE).await;
        let void = void.map_err(|e| of_store(&e))?;
        if void.is_empty() {
            return Ok(());
        }
        // A file without a record is an orphan that the next start removes; a record without a file would be wrong.
        let forgotten = async {
            let mut tx = context.store.begin(&context.lease).await?;
            tx.label_files().forget_label_files(void.clone()).await?;
            tx.commit().await
        };
        forgotten.await.map_err(|e| of_store(&e))?;
        let removed = labels.folder.remove(&context.key, &void).await;
        if let Err(error) = removed {
            tracing::warn!(store = %context.key, %error, "void label files cannot be removed");
        }
        Ok(())
    }

    /// At the start and once a day, finds label files that were removed: they are fetched again. Reads the folder once,
    /// rather than each file; nothing else writes to it meanwhile.
    async fn find_lost_files_when_due(
        &self,
        labels: &Labels,
        keeper: &mut LabelWorker,
    ) -> Result<(), Problem> {
        let (context, folder, now) = (self.context, &labels.folder, self.context.clock.monotonic());
        if keeper.checked.is_some_and(|then| now - then < DAY) {
            return Ok(());
        }
        let names = folder.tidy(&context.key).await.map_err(|e| Fault::Disk(e).into_problem())?;
        let there: HashSet<String> = names.iter().map(|name| folder.shown(&context.key, name)).collect();
        let (mut after, mut count) = (String::new(), 0);
        loop {
            let on_record =
                context.store.label_files().labels_with_file(&context.key, &after, CHECKED_AT_ONCE).await;
            let on_record = on_record.map_err(|e| of_store(&e))?;
            let Some((last, _)) = on_record.last() else { break };
            after = last.as_str().to_owned();
            if there.is_empty() {
                let folder = folder.shown(&context.key, "");
                tracing::error!(store = %context.key, folder, "all label files are missing: is the disk mounted? none is fetched again");
                break;
            }
            let lost: Vec<_> = on_record.into_iter().filter(|(_, file)| !there.contains(file)).collect();
            count += lost.len();
            self.note_lost_files(lost).await.map_err(|e| of_store(&e))?;
        }
        if count > 0 {
            let files = count;
            tracing::warn!(store = %context.key, files, "label files are missing on the disk; will fetch them again");
        }
        keeper.checked = Some(now);
        Ok(())
    }

    async fn note_lost_files(&self, lost: Vec<(LabelId, String)>) -> Result<(), espelho_store::Error> {
        if lost.is_empty() {
            return Ok(());
        }
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        for (label, file) in lost {
            tx.label_files().lose_label_file(&label, &file).await?;
        }
        tx.commit().await
    }

    /// Removes what a killed process has left: unfinished files, and files without a record.
    async fn remove_orphans(&self, labels: &Labels) {
        let (context, folder) = (self.context, &labels.folder);
        let removed = async {
            let names = folder.tidy(&context.key).await.map_err(Fault::Disk)?;
            let files: Vec<String> = names.iter().map(|name| folder.shown(&context.key, name)).collect();
            let known =
                context.store.label_files().label_files_on_record(&context.key, files.clone()).await?;
            let orphans: Vec<String> = files.into_iter().filter(|file| !known.contains(file)).collect();
            folder.remove(&context.key, &orphans).await.map_err(Fault::Disk)
        };
        if let Err(fault) = removed.await {
            let text = fault.text();
            let (error, next_step) = (&text, text.next(Locale::of(Language::English)));
            tracing::warn!(store = %context.key, %error, next_step, "orphaned label files cannot be removed");
        }
    }
}

/// Returns a request to refresh the shipments of an order.
fn order_to_poll(number: OrderNumber) -> (Entity, RefreshRequest) {
    (
        Entity::Order(number),
        RefreshRequest {
            subresources: BTreeSet::from([Subresource::Shipments]),
            ..RefreshRequest::default()
        },
    )
}
