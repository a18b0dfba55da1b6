//! Checks whether there is a recent backup in its usual place. Whether it can be restored, `espelho backup verify` proves.

use std::{io, path::Path};

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use espelho_model::{program::quoted, text, text::Arg, time::past};
use espelho_store::{BackupAct, BackupRecord, Store};

use super::{
    facts::Facts,
    finding::{Finding, SkipReason},
};
use crate::{commands::backup, place::Place};

/// The timer makes one each night: after this time one has failed, or the machine was off.
const LATE: TimeDelta = TimeDelta::hours(36);

pub(super) async fn look(facts: &Facts) -> Finding {
    let place = Place::meant(&facts.configuration);
    let Some(database) = Store::file_named_by(&place.url) else {
        return Finding::not_configured(text!("doctor-backup-of-server"));
    };
    let folder = backup::default_folder(&database);
    let now = facts.clock.now();
    let record = BackupRecord::read(&database, BackupAct::Copy);
    let is_there = record.made.is_some_and(|made| made.is_dir());
    let last = past(record.succeeded_at, now).filter(|_| is_there);
    let names = backup::names_in(&folder);
    let newest = names.as_ref().ok().and_then(|names| names.iter().max()).map(|name| folder.join(name));
    if let Some(damaged) = newest.filter(|newest| backup::is_marked(newest)) {
        return Finding::yellow(text!("doctor-backup-damaged", path = damaged.display().to_string()));
    }
    match &names {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && facts.is_denied() => {
            Finding::skipped(SkipReason::AnotherUser)
        }
        names => judge(names, last, &folder, now),
    }
}

/// Judges the newest backup: of those in the folder, or the last one of all, which may lie elsewhere.
fn judge(
    names: &io::Result<Vec<String>>,
    last: Option<DateTime<Utc>>,
    folder: &Path,
    now: DateTime<Utc>,
) -> Finding {
    let folder = folder.display().to_string();
    let newest = match names {
        Ok(names) => names.iter().filter_map(|name| made_at(name)).chain(last).max(),
        Err(_) if last.is_some() => last,
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let quoted = quoted(&folder);
            return Finding::yellow(text!("database-copy-in-the-way", path = folder, quoted = quoted));
        }
        Err(error) => {
            let cause = error.to_string();
            return Finding::absent(text!("doctor-backup-unread", folder = folder, cause = cause));
        }
    };
    let Some(made_at) = newest else {
        return Finding::not_configured(text!("doctor-backup-none", folder = folder));
    };
    let age = now - made_at;
    match age > LATE {
        true => {
            Finding::yellow(text!("doctor-backup-late", at = made_at, age = Arg::Seconds(age.num_seconds())))
        }
        false => Finding::green(text!("doctor-backup", at = made_at)),
    }
}

/// Returns when a backup was made, by its name.
fn made_at(name: &str) -> Option<DateTime<Utc>> {
    let time = name.strip_prefix(backup::PREFIX)?;
    NaiveDateTime::parse_from_str(time, backup::TIME).ok().map(|time| time.and_utc())
}

#[cfg(test)]
mod tests {
    use super::{super::finding::State, *};

    #[test]
    fn a_backup_is_green_for_the_day_after_it_was_made() {
        let now = DateTime::parse_from_rfc3339("2026-11-28T12:00:00Z").unwrap().to_utc();
        for (names, state, text) in [
            (
                Ok(&["espelho-20261101T031500Z", "espelho-20261128T031500Z"][..]),
                State::Green,
                "doctor-backup",
            ),
            (Ok(&["espelho-20261127T001500Z"]), State::Green, "doctor-backup"),
            (Ok(&["espelho-20261126T235900Z", "espelho-antes"]), State::Yellow, "doctor-backup-late"),
            (Ok(&["espelho-antes"]), State::NotConfigured, "doctor-backup-none"),
            (Ok(&[]), State::NotConfigured, "doctor-backup-none"),
            (Err(io::ErrorKind::NotFound), State::NotConfigured, "doctor-backup-none"),
            (Err(io::ErrorKind::NotADirectory), State::Yellow, "database-copy-in-the-way"),
            (Err(io::ErrorKind::PermissionDenied), State::Unknown, "doctor-backup-unread"),
        ] {
            let names = names.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            let names = names.map_err(io::Error::from);
            let finding = judge(&names, None, Path::new("/var/lib/espelho/backups"), now);
            assert_eq!((finding.state, finding.found.id()), (state, text), "{names:?}");
            let elsewhere = judge(&names, Some(now - TimeDelta::hours(9)), Path::new("/x"), now);
            assert_eq!(elsewhere.state, State::Green, "one was made elsewhere: {names:?}");
        }
    }
}
