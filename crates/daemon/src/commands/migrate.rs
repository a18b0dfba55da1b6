//! `espelho migrate`: brings the database to this version's schema. `rehearsal` tries that on a copy.

mod rehearsal;
mod report;

use std::path::PathBuf;

use espelho_model::{clock::SystemClock, text};
use espelho_store::Store;
use espelho_sync_engine::Problem;
use serde_json::json;

use super::{backup::Bar, load, say};
use crate::{
    cli::{Cli, MigrateArgs},
    config::Configuration,
    context::refuse_beside_service,
    exit,
    place::Place,
};

pub(super) async fn run(cli: &Cli, arguments: &MigrateArgs) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    if arguments.rehearse {
        return rehearsal::run(cli, &configuration).await;
    }
    match migrate(&configuration, arguments).await {
        Ok((address, backup)) => {
            let backup = backup.map(|path| path.display().to_string());
            if cli.json {
                println!("{}", json!({ "state": "complete", "backup": backup }));
                return exit::COMPLETE;
            }
            if let Some(path) = backup {
                println!("{}", text!("copies-before-migration", path = path).message(cli.locale));
            }
            println!("{}", text!("copies-migrated", address = address).message(cli.locale));
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

/// Returns the address, and the backup that was made before.
async fn migrate(
    configuration: &Configuration,
    arguments: &MigrateArgs,
) -> Result<(String, Option<PathBuf>), Problem> {
    let place = Place::to_open(configuration, arguments.new)?;
    if !arguments.new {
        refuse_beside_service(configuration, &place).await?;
    }
    let (url, clock) = (&place.url, SystemClock::shared());
    let with_backup = configuration.installation.database.backup_before_migration && !arguments.no_backup;
    let (store, backup) = if arguments.new {
        (Store::open_anew(url, clock).await?, None)
    } else if with_backup {
        let bar = Bar::new();
        Store::open_after_backup(url, clock, &|name, done, all| bar.tell(name, done, all)).await?
    } else {
        (Store::open(url, clock).await?, None)
    };
    store.close().await;
    Ok((Store::shown(url), backup))
}
