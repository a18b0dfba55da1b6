//! `espelho backup verify`: restores a backup into a place of its own, as `espelho restore` would, and counts what is there.

use std::{
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use espelho_model::{
    Clock,
    clock::SystemClock,
    text,
    text::{Arg, Locale},
};
use espelho_store::{BackupAct, Error, Store};
use espelho_sync_engine::{Problem, Trouble};
use serde_json::json;

use super::{Bar, DAMAGED, Record, default_folder, names_in, only_files};
use crate::{
    cli::{BackupPlan, Cli},
    commands::say,
    config::Configuration,
    exit,
    place::Place,
};

/// The messages about a backup that cannot be restored.
const DEFECTS: [&str; 2] = ["database-damaged-backup", "database-no-backup"];

/// A backup that was restored.
struct Verified {
    path: PathBuf,
    orders: u64,
    products: u64,
    took: Duration,
}

pub(super) async fn run(
    cli: &Cli,
    configuration: &Configuration,
    path: Option<&Path>,
    plan: BackupPlan,
) -> u8 {
    let record = Record::begin(configuration, BackupAct::Verification, plan, cli.locale);
    let done = verify(configuration, path).await;
    // One that a person names need not be the newest.
    record.end(done.as_ref().map(|_| None), path.is_none());
    match done {
        Ok(Verified { path, orders, products, took }) => {
            let path = path.display().to_string();
            match cli.json {
                true => println!(
                    "{}",
                    json!({
                        "state": "complete", "path": path, "orders": orders, "products": products,
                        "seconds": took.as_secs_f64(),
                    })
                ),
                false => {
                    let span = Arg::Seconds(i64::try_from(took.as_secs()).unwrap_or(i64::MAX));
                    let text = text!(
                        "copies-verified",
                        path = path,
                        orders = orders,
                        products = products,
                        span = span
                    );
                    println!("{}", text.message(cli.locale));
                }
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn verify(configuration: &Configuration, path: Option<&Path>) -> Result<Verified, Problem> {
    only_files(configuration, |url| text!("copies-postgres-backup", url = url))?;
    let place = Place::to_read(configuration)?;
    let database = Store::file_named_by(&place.url).unwrap_or_default();
    let folder = default_folder(&database);
    let path = match path {
        Some(path) => path.to_path_buf(),
        None => newest_in(&folder).ok_or_else(|| {
            let text = text!("copies-none", folder = folder.display().to_string());
            Problem::of(Trouble::Failure, "no_backup", text)
        })?,
    };
    // On the disk of the database: there is room for one more, or a restore would fail too.
    let scratch = Scratch::make(&database).map_err(|error| {
        let text = text!("copies-no-scratch", problem = error.to_string());
        Problem::new(Trouble::Failure, "no_scratch", &error, text)
    })?;
    let clock = SystemClock::shared();
    let began = clock.monotonic();
    let restored = restore_into(&scratch.0, &path, &clock).await;
    if path.parent() == Some(&folder) {
        mark(&path, restored.as_ref().err());
    }
    let (orders, products) = restored?;
    Ok(Verified { path, orders, products, took: clock.monotonic().saturating_sub(began) })
}

/// Leaves a mark in a backup that is damaged, and takes it from one that is not. Whoever may not write there leaves none.
fn mark(backup: &Path, problem: Option<&Problem>) {
    let marker = backup.join(DAMAGED);
    let _ = match problem {
        Some(problem) if DEFECTS.contains(&problem.text.id()) => std::fs::write(marker, &problem.error),
        Some(_) => Ok(()),
        None => std::fs::remove_file(marker),
    };
}

/// Restores as a person would, which checks every page and index, and counts the mirror.
async fn restore_into(scratch: &Path, from: &Path, clock: &Arc<dyn Clock>) -> Result<(u64, u64), Problem> {
    let url = format!("sqlite:{}", scratch.join("espelho.db").display());
    let bar = Bar::new();
    let progress = |name, done, all| bar.tell(name, done, all);
    espelho_store::restore(&url, from, false, (Arc::clone(clock), Locale::default()), &progress).await?;
    let store = Store::attach(&url, Arc::clone(clock)).await?;
    let counted = async {
        let states = store.overview().table_states(None).await?;
        let live = |table: &str| -> u64 {
            states
                .tables
                .values()
                .flatten()
                .filter(|state| state.table == table)
                .map(|state| state.live)
                .sum()
        };
        Ok::<_, Error>((live("orders"), live("products")))
    };
    let counted = counted.await;
    store.close().await;
    Ok(counted?)
}

/// Returns the newest backup: their names sort by time.
fn newest_in(folder: &Path) -> Option<PathBuf> {
    names_in(folder).ok()?.into_iter().max().map(|name| folder.join(name))
}

/// A private folder beside the database, which goes with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn make(database: &Path) -> std::io::Result<Self> {
        let name = format!(".espelho-verify-{}", std::process::id());
        let folder = database.parent().unwrap_or(Path::new("")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_backup_is_the_last_by_name_and_other_folders_are_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(newest_in(folder.path()), None);
        for name in ["espelho-20260101T000000Z", "espelho-20261125T030000Z", "zzz"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("espelho-99999999T000000Z"), "").unwrap();
        assert_eq!(newest_in(folder.path()), Some(folder.path().join("espelho-20261125T030000Z")));
    }

    #[test]
    fn the_scratch_goes_with_its_value() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::make(&folder.path().join("espelho.db")).unwrap();
        let path = scratch.0.clone();
        assert!(path.is_dir());
        drop(scratch);
        assert!(!path.exists());
    }
}
