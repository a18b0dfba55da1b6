//! Decides which label files are fetched again, and which are removed.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use espelho_model::LabelId;
use espelho_store::ReadyLabel;

use super::retention::days_before;

/// The labels whose files are missing on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LostFiles {
    /// No file at all is there: the disk may not be mounted, so that none is fetched again.
    All,
    /// These are missing.
    Some(Vec<(LabelId, String)>),
}

/// Compares the files that are there with those on record.
pub fn lost_files(there: &HashSet<String>, on_record: Vec<(LabelId, String)>) -> LostFiles {
    if there.is_empty() && !on_record.is_empty() {
        return LostFiles::All;
    }
    LostFiles::Some(on_record.into_iter().filter(|(_, file)| !there.contains(file)).collect())
}

/// Returns the files without a record: a killed process has left them.
pub fn orphans(there: Vec<String>, on_record: &HashSet<String>) -> Vec<String> {
    there.into_iter().filter(|file| !on_record.contains(file)).collect()
}

/// Returns until when a label must have been void for its file to be removed, if files are removed at all.
pub fn void_until(keep_days: Option<u32>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    Some(days_before(keep_days?, now))
}

/// A walk over the labels that are ready, some at a time.
#[derive(Debug, Default)]
pub struct ReadyWalk {
    /// The id of the last label that was seen.
    after: String,
    /// The labels seen since the walk began.
    seen: HashSet<String>,
}

impl ReadyWalk {
    /// Returns the id after which the walk goes on.
    pub fn after(&self) -> &str {
        &self.after
    }

    /// Goes on over some labels, of at most `most` at once; returns whether these were the last.
    pub fn advance(&mut self, ready: &[ReadyLabel], most: usize) -> bool {
        self.seen.extend(ready.iter().map(|label| label.id.as_str().to_owned()));
        self.after = ready.last().map(|label| label.id.as_str().to_owned()).unwrap_or_default();
        ready.len() < most
    }

    /// Ends the walk, so that the next begins with the first label; returns all labels that it saw.
    pub fn end(&mut self) -> HashSet<String> {
        self.after.clear();
        std::mem::take(&mut self.seen)
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::{ContentHash, OrderNumber};

    use chrono::TimeDelta;

    use super::*;

    fn files(names: &[&str]) -> HashSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn ready(id: &str) -> ReadyLabel {
        let order = OrderNumber::new("1");
        ReadyLabel {
            id: LabelId::new(id),
            shipment: None,
            order,
            format: None,
            version: ContentHash::from_i64(1),
        }
    }

    #[test]
    fn files_that_are_missing_are_lost_unless_all_of_them_are() {
        let record = |ids: &[&str]| -> Vec<(LabelId, String)> {
            ids.iter().map(|id| (LabelId::new(*id), format!("{id}.pdf"))).collect()
        };
        for (there, on_record, expected) in [
            (&["a.pdf", "b.pdf"][..], &["a", "b"][..], LostFiles::Some(Vec::new())),
            (&["a.pdf"], &["a", "b"], LostFiles::Some(record(&["b"]))),
            (&["x.pdf"], &["a", "b"], LostFiles::Some(record(&["a", "b"]))),
            (&[], &["a"], LostFiles::All),
            (&[], &[], LostFiles::Some(Vec::new())),
        ] {
            assert_eq!(lost_files(&files(there), record(on_record)), expected, "{there:?} {on_record:?}");
        }
    }

    #[test]
    fn a_file_without_a_record_is_an_orphan() {
        let there = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
        assert_eq!(orphans(there.clone(), &files(&["b"])), ["a", "c"]);
        assert!(orphans(there, &files(&["a", "b", "c", "d"])).is_empty());
    }

    #[test]
    fn void_files_are_kept_for_the_days_that_are_configured_or_for_ever() {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        assert_eq!(void_until(None, now), None);
        assert_eq!(void_until(Some(0), now), Some(now));
        assert_eq!(void_until(Some(30), now), Some(now - TimeDelta::days(30)));
    }

    #[test]
    fn a_walk_goes_on_after_the_last_label_and_ends_with_a_page_that_is_not_full() {
        let mut walk = ReadyWalk::default();
        assert_eq!(walk.after(), "");
        assert!(!walk.advance(&[ready("a"), ready("b")], 2));
        assert_eq!(walk.after(), "b");
        assert!(walk.advance(&[ready("c")], 2));
        assert_eq!(walk.end(), files(&["a", "b", "c"]));
        assert_eq!(walk.after(), "", "the next walk begins with the first label");
        assert!(walk.end().is_empty());
    }

    #[test]
    fn a_page_with_nothing_ends_the_walk_too() {
        let mut walk = ReadyWalk::default();
        assert!(!walk.advance(&[ready("a"), ready("b")], 2));
        assert!(walk.advance(&[], 2));
        assert_eq!(walk.after(), "");
        assert_eq!(walk.end().len(), 2);
    }
}
