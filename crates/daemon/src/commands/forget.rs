//! `espelho forget PERSON`: erases a person (LGPD, article 18) from everything that the mirror keeps (docs/PRIVACY.md).

mod everyone;

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, person::Identifier, text, text::Text};
use espelho_store::{Erasure, FoundPerson, LabelFolder, copy_has_person};
use espelho_sync_engine::{Problem, Trouble};
use serde_json::{Value, json};

use super::{
    backup, operator,
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{Cli, ForgetArgs},
    context::label_folder,
    exit,
    place::Place,
};

/// The result for one store.
struct Forgotten {
    orders: usize,
    /// The record; of a dry run without a time.
    erasure: Erasure,
    /// Backups that still have the person, or that cannot be read.
    backups: Vec<PathBuf>,
}

/// The result of the command.
enum Outcome {
    /// An earlier erasure came to its end.
    Already(DateTime<Utc>),
    Done {
        stores: Vec<Forgotten>,
        /// True if nothing of deleted rows is left in the files.
        is_compact: bool,
    },
}

pub(super) async fn run(cli: &Cli, arguments: &ForgetArgs) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let done = match &arguments.person {
        Some(person) => forget(&reading, arguments, person).await,
        None => everyone::forget(&reading, cli, arguments).await,
    };
    reading.store.close().await;
    match done {
        Ok(outcome) => {
            match cli.json {
                true => println!("{}", as_json(&outcome, arguments.dry_run)),
                false => lines(&outcome, arguments.dry_run).iter().for_each(|line| tell(line, cli)),
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn forget(reading: &Reading, arguments: &ForgetArgs, asked: &str) -> Result<Outcome, Problem> {
    let erasures = reading.store.erasures();
    let (mut people, mut erased_at) = (Vec::new(), None);
    for store in named(&reading.configuration, arguments.store.as_deref())? {
        match erasures.find(&store, asked).await? {
            Some(found) => people.push((store, found)),
            None => erased_at = erased_at.max(erasures.erased_at(&store, asked).await?),
        }
    }
    refuse_ambiguous(reading, asked, &people).await?;
    let mut stores = Vec::new();
    for (store, mut found) in people {
        let erasure = match arguments.dry_run {
            true => count(reading, &store, &found).await?,
            false => erase(reading, &store, &mut found).await?,
        };
        let backups = backups_with(reading, &store, &found).await;
        stores.push(Forgotten { orders: found.orders.len(), erasure, backups });
    }
    match (stores.is_empty(), erased_at) {
        (true, Some((at, true))) => return Ok(Outcome::Already(at)),
        (true, Some((_, false))) => {
            return Err(Problem::of(Trouble::Failure, "unfinished_erasure", text!("forget-unfinished")));
        }
        // The message does not repeat who was asked for.
        (true, None) => {
            return Err(Problem::of(Trouble::Failure, "unknown_person", text!("forget-unknown")));
        }
        (false, _) => (),
    }
    let is_compact = arguments.dry_run || erasures.compact().await?;
    Ok(Outcome::Done { stores, is_compact })
}

/// Refuses a number that may be two people: an order's and a customer's, or one of several stores.
async fn refuse_ambiguous(
    reading: &Reading,
    asked: &str,
    people: &[(StoreKey, FoundPerson)],
) -> Result<(), Problem> {
    let is_number =
        Identifier::of_text(asked).iter().all(|identifier| matches!(identifier, Identifier::Customer(_)));
    let mut is_ambiguous = is_number && people.len() > 1;
    for (store, found) in people.iter().filter(|_| is_number) {
        is_ambiguous = is_ambiguous || reading.store.erasures().is_ambiguous(store, asked, found).await?;
    }
    match is_ambiguous {
        true => Err(Problem::of(Trouble::Configuration, "ambiguous_person", text!("forget-ambiguous"))),
        false => Ok(()),
    }
}

async fn count(reading: &Reading, store: &StoreKey, found: &FoundPerson) -> Result<Erasure, Problem> {
    let (counts, open_commands) = reading.store.erasures().count(store, found).await?;
    Ok(Erasure { store: store.clone(), at: None, erased_by: operator(), counts, open_commands })
}

async fn erase(reading: &Reading, store: &StoreKey, found: &mut FoundPerson) -> Result<Erasure, Problem> {
    let (erasures, folder) = (reading.store.erasures(), labels_of(reading)?);
    // First the files: where they cannot be removed, nothing is done by half.
    remove_files(&folder, store, &erasures.label_files(store, found).await?).await?;
    let erasure = erasures.erase(store, found, &operator()).await?;
    // The service may have fetched one again until then.
    remove_files(&folder, store, &erasures.label_files(store, found).await?).await?;
    erasures.forget_label_files(store, found).await?;
    Ok(erasure)
}

fn labels_of(reading: &Reading) -> Result<LabelFolder, Problem> {
    let base = Place::to_read(&reading.configuration)?.base();
    Ok(label_folder(&reading.configuration.installation.labels, &base))
}

async fn remove_files(folder: &LabelFolder, store: &StoreKey, files: &[String]) -> Result<(), Problem> {
    folder.remove(store, files).await.map_err(|error| {
        let text = text!("forget-labels-kept", problem = error.to_string());
        Problem::new(Trouble::Failure, "labels_kept", &error, text)
    })
}

/// Returns the backups in their default folder that still have the person, or that cannot be read.
async fn backups_with(reading: &Reading, store: &StoreKey, found: &FoundPerson) -> Vec<PathBuf> {
    let Some(file) = reading.store.file() else { return Vec::new() };
    let mut with_person = Vec::new();
    for folder in backups_in(&backup::default_folder(file)) {
        if copy_has_person(&folder, store, found).await != Some(false) {
            with_person.push(folder);
        }
    }
    with_person
}

fn backups_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn as_json(outcome: &Outcome, dry_run: bool) -> Value {
    let (stores, is_compact, erased_at) = match outcome {
        Outcome::Already(at) => (&[][..], true, Some(*at)),
        Outcome::Done { stores, is_compact } => (&stores[..], *is_compact, None),
    };
    let erasures = stores.iter().map(|Forgotten { orders, erasure, backups }| {
        let mut record = json!(erasure);
        record["orders"] = json!(orders);
        record["backups"] = backups.iter().map(|path| path.display().to_string()).collect();
        record
    });
    let erasures: Vec<Value> = erasures.collect();
    json!({
        "state": "complete", "dry_run": dry_run, "erasures": erasures, "compact": is_compact,
        "erased_at": erased_at,
    })
}

/// Returns what people read.
fn lines(outcome: &Outcome, dry_run: bool) -> Vec<Text> {
    let (stores, is_compact) = match outcome {
        Outcome::Already(at) => return vec![text!("forget-already", at = *at)],
        Outcome::Done { stores, is_compact } => (stores, *is_compact),
    };
    let mut lines = Vec::new();
    for Forgotten { orders, erasure, backups } in stores {
        let Erasure { store, counts, open_commands, erased_by, at } = erasure;
        let (store, rows) = (store.as_str(), counts.values().sum::<u64>());
        lines.push(match (dry_run, at) {
            (false, Some(at)) => {
                let (at, by) = (*at, erased_by.as_str());
                text!("forget-done", store = store, orders = *orders, rows = rows, at = at, by = by)
            }
            _ => text!("forget-would", store = store, orders = *orders, rows = rows),
        });
        let of_table =
            |(table, rows): (&String, &u64)| text!("forget-table", table = table.as_str(), rows = *rows);
        lines.extend(counts.iter().map(of_table));
        if *open_commands > 0 {
            lines.push(text!("forget-open-commands", count = *open_commands));
        }
        let of_backup = |path: &PathBuf| text!("forget-backup", path = path.display().to_string());
        lines.extend(backups.iter().map(of_backup));
    }
    if !is_compact {
        lines.push(text!("forget-not-compact"));
    }
    lines
}

fn tell(line: &Text, cli: &Cli) {
    println!("{}", line.message(cli.locale));
    line.next(cli.locale).iter().for_each(|next| println!("  {next}"));
}
