//! Keeps the folder of label files and their records in step: finds lost files, removes void ones and orphans.

use std::{collections::HashSet, time::Duration};

use espelho_model::{
    LabelId,
    text::{Language, Locale},
};

use crate::{
    Error, StoreContext,
    labels::{Fault, Labels, remove_void_files},
    plan::{
        interval::is_due,
        label_files::{LostFiles, lost_files, orphans, void_until},
    },
};

/// How often void files are searched for.
const HOUR: Duration = Duration::from_secs(3600);
/// How often the presence of the files is checked, and how many labels at a time.
const DAY: Duration = Duration::from_secs(24 * 3_600);
const CHECKED_AT_ONCE: u32 = 1_000;

/// The label files of a store.
pub(super) struct LabelFiles<'c> {
    context: &'c StoreContext,
    labels: &'c Labels,
    tidied: Option<Duration>,
    checked: Option<Duration>,
}

impl<'c> LabelFiles<'c> {
    /// Returns the files of a store, which were not checked yet.
    pub(super) fn new(context: &'c StoreContext, labels: &'c Labels) -> Self {
        Self { context, labels, tidied: None, checked: None }
    }

    /// Once an hour, removes expired void files, and failures of labels that are no longer to be fetched; the failures
    /// also whenever there are any.
    pub(super) async fn tidy_when_due(&mut self, has_failures: bool) -> Result<(), Error> {
        let (context, now) = (self.context, self.context.clock.monotonic());
        let is_due = is_due(self.tidied, now, HOUR);
        if is_due || has_failures {
            let forgotten = async {
                let mut tx = context.store.begin(&context.lease).await?;
                tx.label_files().forget_settled_label_failures().await?;
                tx.commit().await
            };
            forgotten.await?;
        }
        if !is_due {
            return Ok(());
        }
        self.tidied = Some(now);
        self.remove_void().await
    }

    async fn remove_void(&self) -> Result<(), Error> {
        let (context, folder) = (self.context, &self.labels.folder);
        let Some(then) = void_until(self.labels.keep_days, context.clock.now()) else { return Ok(()) };
        remove_void_files(&context.store, &context.lease, folder, then).await?;
        Ok(())
    }

    /// At the start and once a day, finds label files that were removed: they are fetched again. Reads the folder once,
    /// rather than each file; nothing else writes to it meanwhile.
    pub(super) async fn find_lost_when_due(&mut self) -> Result<(), Error> {
        let (context, folder, now) = (self.context, &self.labels.folder, self.context.clock.monotonic());
        if !is_due(self.checked, now, DAY) {
            return Ok(());
        }
        let names = folder.tidy(&context.key).await.map_err(Fault::Disk)?;
        let there: HashSet<String> = names.iter().map(|name| folder.shown(&context.key, name)).collect();
        let (mut after, mut files) = (String::new(), 0);
        loop {
            let store = context.store.label_files();
            let on_record = store.labels_with_file(&context.key, &after, CHECKED_AT_ONCE).await;
            let on_record = on_record?;
            let Some((last, _)) = on_record.last() else { break };
            after = last.as_str().to_owned();
            match lost_files(&there, on_record) {
                LostFiles::All => {
                    let folder = folder.shown(&context.key, "");
                    tracing::error!(store = %context.key, folder, "all label files are missing: is the disk mounted? none is fetched again");
                    break;
                }
                LostFiles::Some(lost) => {
                    files += lost.len();
                    self.note_lost(lost).await?;
                }
            }
        }
        if files > 0 {
            tracing::warn!(store = %context.key, files, "label files are missing on the disk; will fetch them again");
        }
        self.checked = Some(now);
        Ok(())
    }

    async fn note_lost(&self, lost: Vec<(LabelId, String)>) -> Result<(), espelho_store::Error> {
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
    pub(super) async fn remove_orphans(&self) {
        let (context, folder) = (self.context, &self.labels.folder);
        let removed = async {
            let names = folder.tidy(&context.key).await.map_err(Fault::Disk)?;
            let files: Vec<String> = names.iter().map(|name| folder.shown(&context.key, name)).collect();
            let known =
                context.store.label_files().label_files_on_record(&context.key, files.clone()).await?;
            folder.remove(&context.key, &orphans(files, &known)).await.map_err(Fault::Disk)
        };
        if let Err(fault) = removed.await {
            let text = fault.text();
            let (error, next_step) = (&text, text.next(Locale::of(Language::English)));
            tracing::warn!(store = %context.key, %error, next_step, "orphaned label files cannot be removed");
        }
    }
}
