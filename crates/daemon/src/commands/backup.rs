//! `espelho backup`: a copy of the database, made while the service runs. `verify` proves that one can be restored.

mod verify;

use parking_lot::Mutex;
use std::{
    io::{self, IsTerminal as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::{
    Clock,
    clock::SystemClock,
    text,
    text::{Locale, Text},
};
use espelho_store::{BackupAct, BackupRecord, Store};
use espelho_sync_engine::{Problem, Trouble};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::{load_to_read, say};
use crate::{
    cli::{BackupArgs, BackupCommand, BackupPlan, Cli},
    config::Configuration,
    exit,
    place::Place,
    report,
};

pub(super) async fn run(cli: &Cli, arguments: &BackupArgs) -> u8 {
    let configuration = match load_to_read(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    if let Some(BackupCommand::Verify { path, plan }) = &arguments.command {
        return verify::run(cli, &configuration, path.as_deref(), *plan).await;
    }
    let record = Record::begin(&configuration, BackupAct::Copy, arguments.plan, cli.locale);
    let done = back_up(&configuration, arguments.path.as_deref()).await;
    record.end(done.as_ref().map(|path| std::path::absolute(path).ok()), true);
    match done {
        Ok(path) => {
            match cli.json {
                true => println!("{}", json!({ "state": "complete", "path": path.display().to_string() })),
                false => println!("{}", path.display()),
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn back_up(configuration: &Configuration, path: Option<&Path>) -> Result<PathBuf, Problem> {
    only_files(configuration, |url| text!("copies-postgres-backup", url = url))?;
    let place = Place::to_read(configuration)?;
    let clock = SystemClock::shared();
    let store = espelho_store::open_to_copy(&place.url, clock.clone()).await?;
    let path = match path {
        Some(path) => path.to_path_buf(),
        None => free_folder(&default_folder(store.file().unwrap_or(Path::new(""))), &clock).await,
    };
    let bar = Bar::new();
    let done = espelho_store::back_up(&store, &path, &|name, done, all| bar.tell(name, done, all)).await;
    store.close().await;
    done.map(|()| path).map_err(Problem::from)
}

/// Returns the place of a backup that is made now. One that was made a moment ago has the name of this second.
async fn free_folder(folder: &Path, clock: &Arc<dyn Clock>) -> PathBuf {
    let of_now = || folder.join(format!("{PREFIX}{}", clock.now().format(TIME)));
    if of_now().exists() {
        clock.sleep(Duration::from_secs(1)).await;
    }
    of_now()
}

/// The record of an act, for the service's alarms.
struct Record {
    act: BackupAct,
    /// The database's file; `None` on a server.
    database: Option<PathBuf>,
    /// The time within which the next one has to succeed; zero ends that, `None` changes nothing.
    next_within: Option<Duration>,
    locale: Locale,
}

impl Record {
    /// Begins an act. One with a plan is on record from its beginning: a kill must not hide it.
    fn begin(
        configuration: &Configuration,
        act: BackupAct,
        BackupPlan { next_within }: BackupPlan,
        locale: Locale,
    ) -> Self {
        let database = Store::file_named_by(&Place::meant(configuration).url);
        let begun = Self { act, database, next_within, locale };
        if let Some(next_within) = next_within.filter(|span| !span.is_zero()) {
            begun.change(|record, at| record.plan(at, next_within));
        }
        begun
    }

    /// Notes the end of the act. A person who starts one by hand sees its failure; its success ends an alarm, if it proves
    /// what the alarm is about: one of root's does not prove that the service's user could make one.
    fn end(self, done: Result<Option<PathBuf>, &Problem>, proves: bool) {
        match (self.next_within, done) {
            (Some(Duration::ZERO), _) => self.forget(),
            (None, Ok(made)) if proves && self.is_by_owner() && !self.read().is_empty() => {
                self.change(|record, at| record.succeed(at, made));
            }
            (None, _) => (),
            (Some(_), Ok(made)) => self.change(|record, at| record.succeed(at, made)),
            (Some(_), Err(problem)) => self.change(|record, at| record.fail(at, problem.text.clone())),
        }
    }

    /// Forgets the act; without copies, there are none to prove.
    fn forget(&self) {
        let acts: &[BackupAct] = match self.act {
            BackupAct::Copy => &[BackupAct::Copy, BackupAct::Verification],
            BackupAct::Verification => &[BackupAct::Verification],
        };
        let Some(database) = &self.database else { return };
        acts.iter().for_each(|act| self.tell(BackupRecord::forget(database, *act)));
    }

    /// Says that the record was not kept.
    fn tell(&self, written: Result<(), espelho_store::Error>) {
        if let Err(error) = written {
            eprint!("espelho:\n{}", report::problem_lines(&Problem::from(error), self.locale));
        }
    }

    /// Tells if this process is of the user whose folder the database is in.
    fn is_by_owner(&self) -> bool {
        let folder = self.database.as_deref().and_then(Path::parent);
        let about = folder.and_then(|folder| std::fs::metadata(folder).ok());
        about.is_some_and(|about| about.uid() == rustix::process::geteuid().as_raw())
    }

    fn read(&self) -> BackupRecord {
        self.database.as_deref().map(|file| BackupRecord::read(file, self.act)).unwrap_or_default()
    }

    /// Changes the record, where this process may: a file of another user's is none that the service believes.
    fn change(&self, change: impl FnOnce(&mut BackupRecord, DateTime<Utc>)) {
        let may_write = rustix::process::geteuid().is_root() || self.is_by_owner();
        let Some(database) = self.database.as_deref().filter(|_| may_write) else { return };
        let mut record = self.read();
        change(&mut record, SystemClock::shared().now());
        self.tell(record.write(database, self.act));
    }
}

/// The name of a backup that is given none is this, and the time at which it was made: names sort by time.
pub(super) const PREFIX: &str = "espelho-";
pub(super) const TIME: &str = "%Y%m%dT%H%M%SZ";

/// Returns the names of the complete backups in a folder.
///
/// # Errors
/// When the folder cannot be read.
pub(super) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = std::fs::read_dir(folder)?.flatten().filter(|entry| entry.path().is_dir());
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name.starts_with(PREFIX) && !name.ends_with(".partial")).collect())
}

/// The file in a backup that was found to be damaged; the next verification that succeeds removes it.
const DAMAGED: &str = "espelho.damaged";

/// Tells if a verification has found a backup to be damaged.
pub(super) fn is_marked(backup: &Path) -> bool {
    backup.join(DAMAGED).exists()
}

/// Returns the folder of backups that are given no path.
pub(super) fn default_folder(database: &Path) -> PathBuf {
    database.parent().unwrap_or(Path::new("")).join("backups")
}

/// Refuses a server's database: the server's own tools copy it, and know what else is in it.
pub(super) fn only_files(
    configuration: &Configuration,
    instead: impl FnOnce(&str) -> Text,
) -> Result<(), Problem> {
    let url = &configuration.installation.database.url;
    if url.starts_with("sqlite:") {
        return Ok(());
    }
    Err(Problem::of(Trouble::Configuration, "postgres", instead(&Store::shown(url))))
}

/// The progress of a copy, on a terminal.
pub(super) struct Bar {
    bar: Option<ProgressBar>,
    name: Mutex<&'static str>,
}

impl Bar {
    pub(super) fn new() -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style = "{prefix:16} {wide_bar} {bytes:>10}/{total_bytes:10} ETA {eta}";
            let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::no_length().with_style(style)
        });
        Self { bar, name: Mutex::new("") }
    }

    pub(super) fn tell(&self, name: &'static str, done: u64, all: u64) {
        let Some(bar) = &self.bar else { return };
        let mut last = self.name.lock();
        if *last != name {
            *last = name;
            bar.set_prefix(name);
            bar.set_length(all);
            bar.reset();
        }
        bar.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
