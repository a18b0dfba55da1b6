//! `espelho prune`: deletes the old records that the service deletes by itself, now, and says how much goes.
//!
//! Deliveries, effects and the change feed are pruned beside a running service. Files of labels belong to the holder of
//! the store: where a service holds it, they are left to the service.

mod report;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::StoreKey;
use espelho_store::{Error, LabelFolder, Prunable, Store};
use espelho_sync_engine::{
    Problem,
    labels::remove_void_files,
    plan::retention::{Cutoffs, Retention},
    retention::{Deleted, blank_old, count_old, delete_old},
};

use self::report::{LabelFilesLine, Report};
use super::{reading::Reading, say};
use crate::{
    cli::{Cli, PruneArgs},
    context::label_folder,
    exit,
    place::Place,
    telemetry,
};

pub(super) async fn run(cli: &Cli, arguments: &PruneArgs) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    // A file that cannot be removed is a warning.
    telemetry::start(reading.configuration.installation.log.format, "warn");
    let done = prune(&reading, arguments).await;
    reading.store.close().await;
    match done {
        Ok(report) => {
            match cli.json {
                true => println!("{}", report.as_json()),
                false => println!("{}", report.as_text(cli.locale)),
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn prune(reading: &Reading, arguments: &PruneArgs) -> Result<Report, Problem> {
    let (store, configuration) = (&reading.store, &reading.configuration);
    let labels = &configuration.installation.labels;
    let retention = configuration.installation.retention.limits(labels.keep_days);
    let has_consumers = !store.changes().consumers().await?.is_empty();
    let cutoffs = cutoffs(&retention, arguments.older_than, has_consumers, reading.clock.now());
    let stores: Vec<StoreKey> = configuration.stores.iter().map(|config| config.key.clone()).collect();
    let old = count_old(store, &stores, &cutoffs).await?;
    let mut files = Vec::new();
    if let Some(before) = cutoffs.label_files {
        let folder = label_folder(labels, &Place::to_read(configuration)?.base());
        for key in &stores {
            files.push(label_files(store, key, &folder, before, arguments.dry_run).await?);
        }
    }
    let deleted = match arguments.dry_run {
        true => None,
        false => Some(delete(store, &stores, &cutoffs).await?),
    };
    Ok(Report { cutoffs, old, deleted, files })
}

/// Deletes and blanks what is old in all stores.
async fn delete(store: &Store, stores: &[StoreKey], cutoffs: &Cutoffs) -> Result<Deleted, Error> {
    let mut deleted = delete_old(store, cutoffs).await?;
    for key in stores {
        let (messages, raw) = blank_old(store, key, cutoffs).await?;
        deleted.messages += messages;
        deleted.raw += raw;
    }
    Ok(deleted)
}

/// Returns the service's cutoffs, or those that an operator's age gives.
fn cutoffs(
    retention: &Retention,
    older_than: Option<Duration>,
    has_consumers: bool,
    now: DateTime<Utc>,
) -> Cutoffs {
    match older_than.map(|span| TimeDelta::from_std(span).unwrap_or(TimeDelta::MAX)) {
        Some(age) => Cutoffs::of_operator(retention, age, has_consumers, now),
        None => Cutoffs::of_service(retention, has_consumers, now),
    }
}

/// Counts a store's void files, and removes them if nothing else holds the store.
async fn label_files(
    store: &Store,
    key: &StoreKey,
    folder: &LabelFolder,
    before: DateTime<Utc>,
    is_dry_run: bool,
) -> Result<LabelFilesLine, Error> {
    let void = store.label_files().prunable_label_files(key, before).await?;
    let line = |is_left| LabelFilesLine { store: key.clone(), void, is_left };
    if is_dry_run || void == Prunable::default() {
        return Ok(line(false));
    }
    let owner = format!("espelho prune (process {})", std::process::id());
    let lease = match store.leases().acquire_now(key, &owner).await {
        Ok(lease) => lease,
        Err(Error::Held { .. }) => return Ok(line(true)),
        Err(error) => return Err(error),
    };
    let removed = async {
        while remove_void_files(store, &lease, folder, before).await? {}
        Ok(())
    };
    let removed: Result<(), Error> = removed.await;
    lease.release().await?;
    removed.map(|()| line(false))
}
