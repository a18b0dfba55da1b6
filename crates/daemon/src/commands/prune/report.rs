//! The report of `espelho prune`. Pure.

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey, text,
    text::{Arg, Locale, Text},
    time::fixed_width,
};
use espelho_store::Prunable;
use espelho_sync_engine::{
    plan::retention::Cutoffs,
    retention::{Deleted, OldRecords},
};
use serde_json::{Value, json};

/// The void label files of a store.
pub(super) struct LabelFilesLine {
    pub(super) store: StoreKey,
    pub(super) void: Prunable,
    /// Another process holds the store, and removes them.
    pub(super) is_left: bool,
}

pub(super) struct Report {
    pub(super) cutoffs: Cutoffs,
    pub(super) old: OldRecords,
    /// `None`: nothing was to be deleted.
    pub(super) deleted: Option<Deleted>,
    /// Empty where files are kept for ever.
    pub(super) files: Vec<LabelFilesLine>,
}

/// A table, what goes of it, and the age; no age: it is kept.
type Line = (&'static str, Prunable, Option<DateTime<Utc>>);

impl Report {
    fn lines(&self) -> [Line; 8] {
        let Self { cutoffs, old, deleted, files } = self;
        // The service may have deleted some of what was counted.
        let rows =
            |old: Prunable, deleted: Option<u64>| Prunable { rows: deleted.unwrap_or(old.rows), ..old };
        let mut void = Prunable::default();
        files.iter().filter(|line| !line.is_left).for_each(|line| void += line.void);
        [
            (
                "webhook_inbox",
                rows(old.deliveries, deleted.map(|deleted| deleted.deliveries)),
                Some(cutoffs.deliveries),
            ),
            ("effects", rows(old.effects, deleted.map(|deleted| deleted.effects)), Some(cutoffs.effects)),
            ("changes", rows(old.changes, deleted.map(|deleted| deleted.changes)), cutoffs.changes),
            ("label_files", void, cutoffs.label_files),
            ("sync_runs", rows(old.runs, deleted.map(|deleted| deleted.runs)), cutoffs.runs),
            ("commands", rows(old.commands, deleted.map(|deleted| deleted.commands)), cutoffs.commands),
            ("messages", rows(old.messages, deleted.map(|deleted| deleted.messages)), cutoffs.messages),
            ("raw", rows(old.raw, deleted.map(|deleted| deleted.raw)), cutoffs.raw),
        ]
    }

    pub(super) fn as_json(&self) -> Value {
        let line = |(table, gone, before): &Line| {
            json!({
                "table": table, "rows": gone.rows, "bytes": gone.bytes, "before": before.map(fixed_width),
            })
        };
        let left = self.files.iter().filter(|line| line.is_left).map(
            |line| json!({ "store": line.store.as_str(), "rows": line.void.rows, "bytes": line.void.bytes }),
        );
        json!({
            "state": if self.deleted.is_some() { "complete" } else { "dry_run" },
            "tables": self.lines().iter().map(line).collect::<Vec<_>>(),
            "left": left.collect::<Vec<_>>(),
        })
    }

    pub(super) fn as_text(&self, locale: Locale) -> String {
        let line = |(table, gone, before): &Line| match before {
            Some(before) => text!(
                "prune-line",
                table = *table,
                rows = gone.rows,
                size = Arg::Quantity(gone.bytes.into()),
                before = Arg::Time(*before)
            ),
            None => Text::new(format!("prune-kept-{}", table.replace('_', "-"))),
        };
        let left = self
            .files
            .iter()
            .filter(|line| line.is_left)
            .map(|line| text!("prune-left", store = line.store.as_str(), rows = line.void.rows));
        let head = match self.deleted {
            Some(_) => text!("prune-done"),
            None => text!("prune-dry"),
        };
        let lines = self.lines().iter().map(line).chain(left).collect::<Vec<_>>();
        let lines = lines.iter().map(|text| format!("  {}", text.message(locale)));
        [head.message(locale)].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;
    use espelho_sync_engine::plan::retention::Retention;

    use super::*;

    fn report(is_dry_run: bool, keep_days: Option<u32>) -> Report {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        let some = |rows, bytes| Prunable { rows, bytes };
        let line = |store: &str, rows, is_left| LabelFilesLine {
            store: StoreKey::new(store).unwrap(),
            void: some(rows, 1_000),
            is_left,
        };
        let retention = Retention { label_files: keep_days, raw: keep_days, ..Retention::default() };
        let files = vec![line("a", 2, false), line("b", 3, true), line("c", 4, false)];
        Report {
            cutoffs: Cutoffs::of_service(&retention, true, now),
            old: OldRecords {
                deliveries: some(9, 1_234_567),
                effects: some(5, 10),
                raw: some(3, 30),
                ..OldRecords::default()
            },
            deleted: (!is_dry_run).then_some(Deleted {
                deliveries: 8,
                effects: 5,
                raw: 3,
                ..Deleted::default()
            }),
            files: if keep_days.is_some() { files } else { Vec::new() },
        }
    }

    #[test]
    fn each_table_is_told_with_what_goes_of_it() {
        let counted = report(true, Some(30)).as_json();
        let done = report(false, Some(30)).as_json();
        assert_eq!((&counted["state"], &done["state"]), (&json!("dry_run"), &json!("complete")));
        assert_eq!((&counted["tables"][0]["rows"], &done["tables"][0]["rows"]), (&json!(9), &json!(8)));
        assert_eq!(done["tables"][2], json!({"table": "changes", "rows": 0, "bytes": 0, "before": null}));
        assert_eq!((&done["tables"][3]["rows"], &done["tables"][3]["bytes"]), (&json!(6), &json!(2_000)));
        assert_eq!(done["left"], json!([{"store": "b", "rows": 3, "bytes": 1_000}]));
    }

    #[test]
    fn what_is_kept_is_said_with_its_reason() {
        for language in Language::ALL {
            let locale = Locale::of(language);
            let (kept, left) = (report(true, None).as_text(locale), report(false, Some(30)).as_text(locale));
            assert!(!kept.contains("prune-") && kept.contains("labels.keep_days"), "{kept}");
            assert!(kept.contains("--older-than") && !left.contains("labels.keep_days"), "{kept}\n{left}");
            assert!(kept.contains("retention.raw_days") && !left.contains("retention.raw_days"), "{kept}");
            assert_eq!((kept.lines().count(), left.lines().count()), (9, 10), "{left}");
        }
        let english = report(false, Some(30)).as_text(Locale::of(Language::English));
        assert!(english.contains("webhook_inbox: 8 rows, 1,234,567 bytes"), "{english}");
    }
}
