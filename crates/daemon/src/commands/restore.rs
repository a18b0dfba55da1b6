//! `espelho restore`: a backup in the place of the database.

use std::path::Path;

use espelho_model::clock::SystemClock;
use espelho_store::{Restored, restore};
use espelho_sync_engine::Problem;
use serde_json::json;

use super::{
    backup::{Bar, only_files},
    load, say,
};
use crate::{cli::Cli, config::Configuration, exit, place::Place};

pub(super) async fn run(cli: &Cli, path: &Path, replace: bool) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    match put_back(&configuration, path, replace).await {
        Ok((restored, place)) => {
            let file = place.file().map(|file| file.display().to_string()).unwrap_or_default();
            tell(&restored, &file, cli.json);
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli.json),
    }
}

async fn put_back(
    configuration: &Configuration,
    path: &Path,
    replace: bool,
) -> Result<(Restored, Place), Problem> {
    only_files(configuration, |url| {
        format!(
            "pg_restore --clean --if-exists --dbname=\"{url}\" espelho.dump, with all services stopped, and then \
             the statements under \"Backups\" in docs/OPERATIONS.md"
        )
    })?;
    let bar = Bar::new();
    let told = |name, done, all| bar.tell(name, done, all);
    let place = Place::to_open(configuration, false)?;
    let restored = restore(&place.url, path, replace, SystemClock::shared(), &told).await;
    restored.map(|restored| (restored, place)).map_err(|error| Problem::from_store(&error))
}

fn tell(restored: &Restored, place: &str, json: bool) {
    let Restored { kept, replaced, feed_from } = restored;
    let deliveries = replaced.map_or(0, |replaced| replaced.deliveries);
    if json {
        let kept = kept.as_ref().map(|kept| kept.display().to_string());
        let told = json!({ "state": "complete", "database": place, "kept": kept, "deliveries": deliveries, "feed_from": feed_from });
        println!("{told}");
        return;
    }
    println!("the backup is in place: {place}");
    if let Some(kept) = kept {
        println!("the files that were there are in {}", kept.display());
    }
    if let Some(replaced) = replaced {
        match replaced.inbox_read {
            true => {
                println!("{deliveries} deliveries that the backup did not have were taken over from them");
            }
            false => {
                println!("their inbox could not be read: deliveries that came after the backup are lost");
            }
        }
        if !replaced.mirror_read {
            println!("their mirror could not be read: nothing was taken over from it");
        }
    }
    println!(
        "the change feed goes on above {feed_from} and tells of every row once more; readers keep their place"
    );
    println!("the next start logs in anew and reconciles completely");
}
