//! The report of `espelho migrate --rehearse`. Pure.

use std::{collections::BTreeMap, time::Duration};

use espelho_model::{
    text,
    text::{Arg, Locale, Text},
};
use espelho_store::{
    CopyWay, MigrationState, Rehearsal, RehearsalCopy, RehearsedMigration, SchemaChange, Stops, TableRows,
};
use espelho_sync_engine::{Problem, Trouble};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::exit;

pub(super) struct Report {
    /// The address, without its password.
    pub(super) address: String,
    pub(super) rehearsal: Rehearsal,
}

impl Report {
    /// The reason why an upgrade should wait, with the exit code.
    pub(super) fn problem(&self) -> Option<(u8, Problem)> {
        if let Some((migration, error)) =
            self.rehearsal.failed().and_then(|failed| failed.error.as_ref().map(|error| (failed, error)))
        {
            let cause = match std::error::Error::source(error) {
                Some(source) => source.to_string(),
                None => error.to_string(),
            };
            let text = text!("rehearsal-failed", version = name(migration), cause = cause);
            return Some((exit::FAILED, Problem::new(Trouble::Failure, "migration", error, text)));
        }
        let tables: Vec<&str> = self.rehearsal.with_fewer_rows().map(|rows| rows.table.as_str()).collect();
        (!tables.is_empty()).then(|| {
            let text = text!("rehearsal-fewer", tables = tables.join(", "));
            (exit::PARTIAL, Problem::of(Trouble::Failure, "fewer_rows", text))
        })
    }

    pub(super) fn as_json(&self, locale: Locale) -> Value {
        let Rehearsal { copy, migrations, tables, mended, free_bytes } = &self.rehearsal;
        let state = match self.problem() {
            None => "complete",
            Some((exit::PARTIAL, _)) => "partial",
            Some(_) => "failed",
        };
        let mut object = json!({
            "state": state,
            "pending": migrations.iter().map(migration_json).collect::<Vec<_>>(),
            "tables": tables.iter().map(rows_json).collect::<Vec<_>>(),
            "mended": mended.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "copy": copy.as_ref().map(copy_json),
            "needs_bytes": copy.as_ref().map_or(0, needs_bytes),
            "free_bytes": free_bytes,
            "seconds": seconds(self.rehearsal.migrated_in()),
        });
        if let Some((_, problem)) = self.problem() {
            object["error"] = crate::report::problem_json(&problem, locale);
        }
        object
    }

    pub(super) fn as_text(&self, locale: Locale) -> String {
        let mut lines = Vec::new();
        let mut say = |indent: &str, text: &Text| lines.push(format!("{indent}{}", text.message(locale)));
        let Some(copy) = &self.rehearsal.copy else {
            return text!("rehearsal-current", address = &self.address).message(locale);
        };
        let way: &str = copy.way.into();
        let took = in_seconds(copy.took);
        say("", &text!("rehearsal-copied", way = way, size = mebibytes(copy.bytes), took = took));
        for migration in &self.rehearsal.migrations {
            say("  ", &headline(migration));
            for text in details(migration) {
                say("      ", &text);
            }
        }
        for text in rows(&self.rehearsal.tables) {
            say("", &text);
        }
        if !self.rehearsal.mended.is_empty() {
            let objects: Vec<String> = self.rehearsal.mended.iter().map(ToString::to_string).collect();
            say("", &text!("rehearsal-mended", objects = objects.join(", ")));
        }
        if self.rehearsal.failed().is_none() {
            say("", &total(&self.rehearsal, copy));
        }
        say("", &text!("rehearsal-removed", address = &self.address));
        lines.join("\n")
    }
}

/// The free room that the migrations need. On files the backup before them is included.
fn needs_bytes(copy: &RehearsalCopy) -> u64 {
    match copy.way {
        CopyWay::Backup => copy.most_bytes,
        CopyWay::Template | CopyWay::Dump => copy.most_bytes.saturating_sub(copy.bytes),
    }
}

fn name(migration: &RehearsedMigration) -> String {
    format!("{:04} ({})", migration.version, migration.name)
}

fn headline(migration: &RehearsedMigration) -> Text {
    let (part, state): (&str, &str) = (migration.part.into(), migration.state.into());
    text!(
        "rehearsal-step",
        name = name(migration),
        part = part,
        state = state,
        took = in_seconds(migration.took)
    )
}

/// The objects by what happens to them, and who waits.
fn details(migration: &RehearsedMigration) -> Vec<Text> {
    let mut by_change: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for SchemaChange { kind, name, change } in &migration.changes {
        let (kind, change): (&str, &str) = (kind.into(), change.into());
        by_change.entry(change).or_default().push(format!("{kind} {name}"));
    }
    let objects = by_change
        .into_iter()
        .map(|(change, objects)| text!("rehearsal-objects", change = change, objects = objects.join(", ")));
    let locked = |stops: Stops| {
        let tables = migration.locks.iter().filter(move |lock| lock.stops == stops);
        let tables: Vec<&str> = tables.map(|lock| lock.table.as_str()).collect();
        let who: &str = stops.into();
        match tables.as_slice() {
            [] => None,
            ["*"] => Some(text!("rehearsal-locks-file")),
            _ => Some(text!("rehearsal-locks", who = who, tables = tables.join(", "))),
        }
    };
    let waits = [Stops::Everyone, Stops::Writers].into_iter().filter_map(locked);
    let mut all: Vec<Text> = objects.chain(waits).collect();
    if migration.state == MigrationState::Done && migration.locks.is_empty() {
        all.push(text!("rehearsal-locks-none"));
    }
    all
}

/// The tables whose rows are not as many as before, and how many are.
fn rows(tables: &[TableRows]) -> Vec<Text> {
    let line = |rows: &TableRows| {
        let table = rows.table.as_str();
        match (rows.before, rows.after) {
            (Some(before), Some(after)) if before == after => None,
            (Some(before), Some(after)) => {
                Some(text!("rehearsal-rows", table = table, before = before, after = after))
            }
            (None, after) => Some(text!("rehearsal-rows-new", table = table, after = after.unwrap_or(0))),
            (Some(before), None) => Some(text!("rehearsal-rows-dropped", table = table, before = before)),
        }
    };
    let same = tables.iter().filter(|rows| rows.before == rows.after);
    let (count, sum) =
        same.fold((0_u64, 0), |(count, sum), rows| (count + 1, sum + rows.before.unwrap_or(0)));
    let head = text!("rehearsal-rows-same", tables = count, rows = sum);
    [head].into_iter().chain(tables.iter().filter_map(line)).collect()
}

fn total(rehearsal: &Rehearsal, copy: &RehearsalCopy) -> Text {
    let (took, size) = (in_seconds(rehearsal.migrated_in()), mebibytes(needs_bytes(copy)));
    match rehearsal.free_bytes {
        Some(free) => text!("rehearsal-total", took = took, size = size, free = mebibytes(free)),
        None => text!("rehearsal-total-server", took = took, size = size),
    }
}

fn migration_json(migration: &RehearsedMigration) -> Value {
    let (part, state): (&str, &str) = (migration.part.into(), migration.state.into());
    let change = |change: &SchemaChange| {
        let (kind, what): (&str, &str) = (change.kind.into(), change.change.into());
        json!({ "kind": kind, "name": change.name, "change": what })
    };
    let lock = |lock: &espelho_store::LockedTable| {
        let stops: &str = lock.stops.into();
        json!({ "table": lock.table, "stops": stops })
    };
    json!({
        "version": migration.version, "name": migration.name, "part": part, "state": state,
        "seconds": seconds(migration.took),
        "changes": migration.changes.iter().map(change).collect::<Vec<_>>(),
        "locks": migration.locks.iter().map(lock).collect::<Vec<_>>(),
    })
}

fn rows_json(rows: &TableRows) -> Value {
    let part: &str = rows.part.into();
    json!({ "part": part, "table": rows.table, "before": rows.before, "after": rows.after })
}

fn copy_json(copy: &RehearsalCopy) -> Value {
    let way: &str = copy.way.into();
    json!({
        "way": way, "bytes": copy.bytes, "most_bytes": copy.most_bytes, "seconds": seconds(copy.took),
    })
}

fn seconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1000.0).round() / 1000.0
}

fn in_seconds(took: Duration) -> Arg {
    let hundredths = i64::try_from(took.as_millis() / 10).unwrap_or(i64::MAX);
    Arg::Quantity(Decimal::new(hundredths, 2))
}

fn mebibytes(bytes: u64) -> Arg {
    let tenths = i64::try_from((u128::from(bytes) * 10) >> 20).unwrap_or(i64::MAX);
    Arg::Quantity(Decimal::new(tenths, 1))
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;
    use espelho_store::{ChangeKind, Error, LockedTable, ObjectKind, Part};

    use super::*;

    fn migration(version: i64, state: MigrationState) -> RehearsedMigration {
        let change = |kind, name: &str, change| SchemaChange { kind, name: name.to_owned(), change };
        let lock = |table: &str, stops| LockedTable { table: table.to_owned(), stops };
        RehearsedMigration {
            version,
            name: "big amounts".to_owned(),
            part: Part::Database,
            state,
            took: Duration::from_millis(1_234),
            changes: vec![
                change(ObjectKind::Table, "shops", ChangeKind::Added),
                change(ObjectKind::View, "v_errors", ChangeKind::Changed),
                change(ObjectKind::Index, "shops_by_name", ChangeKind::Added),
            ],
            locks: vec![lock("orders", Stops::Everyone), lock("products", Stops::Writers)],
            error: None,
        }
    }

    fn report(migrations: Vec<RehearsedMigration>, orders_after: u64) -> Report {
        let rows = |table: &str, before, after| TableRows {
            part: Part::Database,
            table: table.to_owned(),
            before,
            after,
        };
        let copy = RehearsalCopy {
            way: CopyWay::Template,
            bytes: 10 << 20,
            most_bytes: 15 << 20,
            took: Duration::from_secs(2),
        };
        let tables = vec![
            rows("orders", Some(7), Some(orders_after)),
            rows("products", Some(3), Some(3)),
            rows("shops", None, Some(0)),
            rows("tokens", Some(1), None),
        ];
        let rehearsal =
            Rehearsal { copy: Some(copy), migrations, tables, mended: Vec::new(), free_bytes: None };
        Report { address: "postgres://erp@db/mirror".to_owned(), rehearsal }
    }

    #[test]
    fn a_migration_is_told_with_its_objects_its_time_and_whoever_waits_for_it() {
        let report = report(vec![migration(83, MigrationState::Done)], 7);
        assert!(report.problem().is_none());
        let text = report.as_text(Locale::of(Language::English));
        for words in [
            "0083 (big amounts)",
            "1.23 s",
            "new: table shops, index shops_by_name",
            "view v_errors",
            "reads or writes orders",
            "writes products",
            "5 MiB",
            "shops: new, 0 rows",
            "tokens: dropped, it had 1 row",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        let object = report.as_json(Locale::of(Language::English));
        assert_eq!((&object["state"], &object["needs_bytes"]), (&json!("complete"), &json!(5 << 20)));
        assert_eq!(object["pending"][0]["locks"][1], json!({"table": "products", "stops": "writers"}));
        assert_eq!(object["tables"][3]["after"], Value::Null);
    }

    #[test]
    fn fewer_rows_are_partial_and_a_failed_migration_is_a_failure_with_its_name() {
        let fewer = report(vec![migration(83, MigrationState::Done)], 6);
        let (code, problem) = fewer.problem().unwrap();
        assert_eq!(code, exit::PARTIAL);
        assert!(problem.message(Locale::of(Language::English)).contains("orders"));
        assert_eq!(fewer.as_json(Locale::default())["state"], "partial");
        let mut failing = migration(83, MigrationState::Failed);
        failing.error = Some(Error::Newer { found: 9_999 });
        let failed = report(vec![failing, migration(84, MigrationState::NotRun)], 7);
        let (code, problem) = failed.problem().unwrap();
        assert_eq!(code, exit::FAILED);
        let sentence = problem.message(Locale::of(Language::English));
        assert!(sentence.contains("0083 (big amounts)") && sentence.contains("9999"), "{sentence}");
        let object = failed.as_json(Locale::default());
        assert_eq!((&object["state"], &object["pending"][1]["state"]), (&json!("failed"), &json!("not_run")));
    }

    #[test]
    fn every_word_of_a_report_is_in_both_languages() {
        for language in Language::ALL {
            let locale = Locale::of(language);
            for way in [CopyWay::Backup, CopyWay::Template, CopyWay::Dump] {
                let mut report = report(vec![migration(83, MigrationState::Done)], 7);
                if let Some(copy) = &mut report.rehearsal.copy {
                    copy.way = way;
                }
                report.rehearsal.free_bytes = (way == CopyWay::Backup).then_some(1 << 30);
                let text = report.as_text(locale);
                assert!(!text.contains("rehearsal-") && !text.contains("{ $"), "{text}");
            }
            let none = Rehearsal { copy: None, ..report(Vec::new(), 7).rehearsal };
            let current = Report { address: "sqlite:espelho.db".to_owned(), rehearsal: none };
            assert!(current.as_text(locale).contains("sqlite:espelho.db"));
        }
    }
}
