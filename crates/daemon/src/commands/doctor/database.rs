//! Checks the configuration, the database, whether it accepts writes, and its disk.

use std::{
    io::{self, ErrorKind},
    path::Path,
    time::Duration,
};

use espelho_model::{program, text, text::Text};
use espelho_store::{Error, Process, Store};
use espelho_sync_engine::Problem;

use super::{
    facts::{Database, Facts},
    finding::{Finding, State},
};
use crate::{
    commands::reading::is_not_yet,
    config::{SYSTEM, Use, belongs_to_another, is_service, service_may_use},
    lock_table,
    place::Place,
    unit,
    unit::Forbidden,
    users,
};

/// Free bytes below which the disk is nearly full.
const LITTLE: u64 = 1 << 30;
/// Free bytes below which the disk is full.
const NOTHING: u64 = 32 << 20;
/// Another program whose write takes this long blocks everybody.
const WRITE_WAITS: Duration = Duration::from_secs(4);

pub(super) async fn configuration(facts: &Facts) -> Finding {
    if let Some(file) = facts.configuration.not_the_services(&facts.directory) {
        return Finding::yellow(text!("config-file-not-services", path = file.display().to_string()));
    }
    // The unit runs the configuration of the system. A relative path lies in its own folder.
    let database =
        Place::meant(&facts.configuration).fixed_file().and_then(Path::parent).map(Path::to_path_buf);
    if let Some(outside) = database.filter(|_| facts.directory == Path::new(SYSTEM)) {
        let folder = outside.display().to_string();
        match unit::forbids_writing(&outside) {
            Some(Forbidden::ReadOnly) => {
                return Finding::yellow(text!("doctor-database-outside", folder = folder));
            }
            Some(Forbidden::Hidden) => {
                return Finding::yellow(text!("doctor-database-hidden", folder = folder));
            }
            None => {}
        }
    }
    let (folder, stores) = (facts.directory.display().to_string(), facts.configuration.stores.len());
    Finding::green(text!("doctor-configuration", folder = folder, stores = stores))
}

pub(super) async fn look(facts: &Facts) -> Finding {
    let place = Place::meant(&facts.configuration);
    let is_system = facts.directory == Path::new(SYSTEM);
    if let Some(denied) = place.denied().and_then(|path| judge_denied(&path, is_system)) {
        if denied.state != State::Red {
            let _ = facts.database.set(Database::Denied);
        }
        return denied;
    }
    let (file, files) = (place.file().map(Path::to_path_buf), place.files());
    let url = place.url;
    match Store::attach(&url, facts.clock.clone()).await {
        Ok(store) => {
            // Root opens every file, and its success proves nothing for the service.
            let denied = files.iter().find(|file| service_may_use(file, Use::ReadAndWrite) == Some(false));
            if let Some(file) = denied.filter(|_| is_system) {
                let _ = facts.database.set(Database::Open(store));
                return Finding::red(text!("doctor-database-denied", path = file.display().to_string()));
            }
            // A database that does not answer this does not answer the next check either.
            let shortage = lock_table::shortage(&store, facts.configuration.stores.len()).await;
            let _ = facts.database.set(Database::Open(store));
            judge_room(shortage.ok().flatten(), &Store::shown(&url))
        }
        // A group may be allowed to use the file, and not the folder.
        Err(error) if is_denial(&error) && file.as_deref().is_some_and(is_of_another) => {
            let _ = facts.database.set(Database::Denied);
            another_user(&file.unwrap_or_default())
        }
        Err(error) => {
            if is_not_yet(&error) {
                let _ = facts.database.set(Database::NotYet);
            }
            judge_opening(&error, &Store::shown(&url))
        }
    }
}

/// Returns the finding on a file that this user may not use, or not even see. A file that the service may use is not wrong,
/// nor known to be where the package's service is not installed and another user has the file.
fn judge_denied(file: &Path, is_system: bool) -> Option<Finding> {
    let refused = || Finding::red(text!("doctor-database-denied", path = file.display().to_string()));
    if is_service() {
        return Some(refused());
    }
    let about = match file.metadata() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Some(another_user(file)),
        about => about.ok()?,
    };
    match service_may_use(file, Use::ReadAndWrite) {
        Some(false) if is_system => Some(refused()),
        Some(_) => Some(another_user(file)),
        None => belongs_to_another(&about).then(|| another_user(file)),
    }
}

/// Returns the finding that this user may not open a file of the database, with the user to be.
fn another_user(file: &Path) -> Finding {
    let path = file.display().to_string();
    let (user, command) = (users::owner_of(file), program::typed_look());
    Finding::not_seen(text!("doctor-database-another-user", path = path, user = user, command = command))
}

fn is_of_another(file: &Path) -> bool {
    file.metadata().is_ok_and(|about| belongs_to_another(&about))
}

/// Tells if the system denied this user something.
fn is_denial(error: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::PermissionDenied)
        {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Returns RED where the service would refuse to start.
fn judge_room(shortage: Option<Text>, address: &str) -> Finding {
    match shortage {
        Some(shortage) => Finding::red(shortage),
        None => Finding::green(text!("doctor-database", address = address)),
    }
}

fn judge_opening(error: &Error, address: &str) -> Finding {
    if is_not_yet(error) {
        return Finding::absent(text!("doctor-database-not-yet", address = address));
    }
    let cause = Problem::from_store(error).text;
    Finding::red(match error {
        Error::Older { found, wanted } => {
            text!("doctor-database-older", found = found.to_string(), wanted = wanted.to_string())
        }
        Error::Newer { found } => text!("doctor-database-newer", found = found.to_string()),
        Error::Restoring { .. } => text!("doctor-database-restoring"),
        Error::Connect { .. } if address.starts_with("postgres") => {
            text!("doctor-database-unreachable", address = address, cause = cause)
        }
        _ => text!("doctor-database-failed", address = address, cause = cause),
    })
}

pub(super) async fn write(facts: &Facts) -> Finding {
    let store = match facts.opened() {
        Ok(store) => store,
        Err(closed) => return closed,
    };
    if let Some(trouble) = store.file_trouble() {
        return Finding::red(text!("doctor-write-failed", cause = trouble.to_string()));
    }
    tokio::select! {
        written = store.diagnostics().prove_write() => match written {
            Ok(()) => Finding::green(text!("doctor-write")),
            Err(error) => Finding::red(text!("doctor-write-failed", cause = Problem::from_store(&error).text)),
        },
        () = facts.clock.sleep(WRITE_WAITS) => {
            let _ = facts.busy.set(());
            let writer = store.leases().database_writer();
            let process = writer.as_ref().map_or_else(|| "none".to_owned(), |writer| writer.id.to_string());
            let (seconds, holder) = (WRITE_WAITS.as_secs(), name(writer));
            Finding::red(text!("doctor-write-busy", seconds = seconds, holder = holder, process = process))
        }
    }
}

/// Returns the name by which people find a process.
pub(super) fn name(process: Option<Process>) -> Text {
    match process {
        None => text!("doctor-process-unknown"),
        Some(Process { id, command: None }) => text!("doctor-process", id = id.to_string()),
        Some(Process { id, command: Some(command) }) => {
            text!("doctor-process-named", id = id.to_string(), command = command)
        }
    }
}

pub(super) async fn schema(facts: &Facts) -> Finding {
    let store = match facts.opened() {
        Ok(store) => store,
        Err(closed) => return closed,
    };
    match store.schema_defects().await {
        Ok(defects) => judge_schema(&defects.iter().map(ToString::to_string).collect::<Vec<_>>()),
        Err(error) => {
            Finding::not_seen(text!("doctor-schema-unread", cause = Problem::from_store(&error).text))
        }
    }
}

fn judge_schema(defects: &[String]) -> Finding {
    match defects {
        [] => Finding::green(text!("doctor-schema")),
        _ => Finding::red(text!("doctor-schema-changed", objects = defects.join(", "))),
    }
}

pub(super) async fn disk(facts: &Facts) -> Finding {
    let store = match facts.opened() {
        Ok(store) => store,
        Err(closed) => return closed,
    };
    let folder = store.file().and_then(Path::parent).map(|folder| folder.display().to_string());
    match (folder, crate::http::free(store)) {
        (None, _) => Finding::absent(text!("doctor-disk-elsewhere")),
        (Some(_), None) => Finding::not_seen(text!("doctor-disk-unknown")),
        (Some(folder), Some(free)) => judge_disk(free, if folder.is_empty() { "." } else { &folder }),
    }
}

fn judge_disk(free: u64, folder: &str) -> Finding {
    let shown = format!("{} MiB", free >> 20);
    match free {
        ..NOTHING => Finding::red(text!("doctor-disk-full", free = shown, folder = folder)),
        NOTHING..LITTLE => Finding::yellow(text!("doctor-disk-short", free = shown, folder = folder)),
        _ => Finding::green(text!("doctor-disk", free = shown)),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::finding::State, *};

    #[test]
    fn a_database_that_nobody_made_yet_is_no_fault_and_every_other_trouble_is() {
        let missing = Error::Missing { url: "sqlite:x.db".into() };
        for (error, state) in [
            (missing, State::Unknown),
            (Error::Older { found: 0, wanted: 15 }, State::Unknown),
            (Error::Older { found: 3, wanted: 15 }, State::Red),
            (Error::Newer { found: 99 }, State::Red),
            (Error::Restoring { path: "x.db".into() }, State::Red),
            (Error::Damaged { file: "x.db".into(), what: "?".into() }, State::Red),
        ] {
            let finding = judge_opening(&error, "sqlite:x.db");
            assert_eq!((finding.state, finding.is_open), (state, false), "{error}");
        }
    }

    #[test]
    fn a_database_with_too_few_locks_for_the_stores_is_red() {
        assert_eq!(judge_room(None, "postgres://db").state, State::Green);
        let shortage = text!("run-lock-table", stores = 13_000, found = "64", needed = "260");
        assert_eq!(judge_room(Some(shortage), "postgres://db").state, State::Red);
    }

    #[test]
    fn a_schema_that_differs_is_red_and_says_in_what() {
        assert_eq!(judge_schema(&[]).state, State::Green);
        let finding = judge_schema(&["trigger t".to_owned(), "view v".to_owned()]);
        assert_eq!(finding.state, State::Red);
    }

    #[test]
    fn a_disk_is_judged_by_what_is_free() {
        for (free, state) in [
            (0, State::Red),
            (NOTHING - 1, State::Red),
            (NOTHING, State::Yellow),
            (LITTLE - 1, State::Yellow),
            (LITTLE, State::Green),
        ] {
            assert_eq!(judge_disk(free, "/x").state, state, "{free}");
        }
    }
}
