//! The alarm of the database and its disk.

use chrono::TimeDelta;
use espelho_model::{
    symptom::Symptom,
    text,
    text::{Arg, Text},
};

use super::{Alarm, Code, DatabaseHolder, DatabaseKind, Observations, Severity, alarm, lasts};

/// Trouble that ends sooner raises no alarm: a program may lock the database for a moment.
const DATABASE_LASTS: TimeDelta = TimeDelta::seconds(20);
/// Below this the disk cannot keep acknowledged data for long.
const LEAST_DISK: u64 = 32 << 20;

/// Returns the alarm of the database and its disk.
pub(super) fn database(seen: &Observations) -> Option<Alarm> {
    let is_small = seen.free_bytes.filter(|free| *free < LEAST_DISK);
    if let Some(free) = is_small {
        let text = full(free, seen);
        let since = seen.database.as_ref().map_or(seen.at, |trouble| trouble.since);
        return Some(alarm(Code::DiskFull, Severity::Failing, None, Some(since), text));
    }
    let trouble = seen.database.as_ref()?;
    let symptom = trouble.symptom.text();
    let (code, text) = match trouble.kind {
        DatabaseKind::Full => (Code::DiskFull, full(0, seen)),
        DatabaseKind::Busy => {
            let text = match &trouble.holder {
                Some(DatabaseHolder::Process(name, id)) => {
                    text!(
                        "alarm-database-busy",
                        holder = format!("{name} (pid {id})"),
                        process = id.to_string()
                    )
                }
                Some(DatabaseHolder::Session { id, user, application, table }) => text!(
                    "alarm-database-busy-session",
                    session = id,
                    user = user,
                    application = if application.is_empty() { "–" } else { application.as_str() },
                    table = table
                ),
                None => text!("alarm-database-busy-unnamed"),
            };
            (Code::DatabaseBusy, text)
        }
        DatabaseKind::Unreachable => {
            let text = match trouble.symptom {
                Symptom::Database(..) => {
                    let step = Arg::Next(Box::new(symptom.clone()));
                    text!("alarm-database-refuses", detail = symptom, step = step)
                }
                _ => text!("alarm-database-unreachable", detail = symptom),
            };
            (Code::DatabaseUnreachable, text)
        }
        DatabaseKind::ReadOnly => {
            let file = seen.database_file.as_deref().unwrap_or("none");
            (Code::DatabaseReadOnly, text!("alarm-database-read-only", detail = symptom, file = file))
        }
        DatabaseKind::Replaced => {
            (Code::DatabaseReplaced, text!("alarm-database-replaced", file = &trouble.detail))
        }
    };
    let lasts = trouble.kind.lasts() || lasts(seen.at, trouble.since, DATABASE_LASTS);
    let detail = trouble.detail.clone();
    lasts.then(|| Alarm { detail, ..alarm(code, Severity::Failing, None, Some(trouble.since), text) })
}

fn full(free: u64, seen: &Observations) -> Text {
    let folder =
        seen.database_file.as_deref().and_then(|file| file.rsplit_once('/')).map(|(folder, _)| folder);
    text!("alarm-disk-full", mebibytes = free >> 20, folder = folder.unwrap_or("none"))
}
