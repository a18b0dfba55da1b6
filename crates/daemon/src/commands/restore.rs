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
use crate::{cli::Cli, context::database_url, exit};

pub(super) async fn run(cli: &Cli, path: &Path, replace: bool) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    let url = database_url(&configuration.installation.database.url);
    match put_back(&url, path, replace).await {
        Ok(restored) => {
            let file = url.trim_start_matches("sqlite:").split('?').next().unwrap_or_default();
            let place = std::path::absolute(file).unwrap_or_default();
            tell(&restored, &place.display().to_string(), cli.json);
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli.json),
    }
}

async fn put_back(url: &str, path: &Path, replace: bool) -> Result<Restored, Problem> {
    only_files(url, |url| {
        format!(
            "pg_restore --clean --if-exists --dbname=\"{url}\" espelho.dump, with all services stopped, and then \
             the statements under \"Backups\" in docs/OPERATIONS.md"
        )
    })?;
    let bar = Bar::new();
    let told = |name, done, all| bar.tell(name, done, all);
    let restored = restore(url, path, replace, SystemClock::shared(), &told).await;
    restored.map_err(|error| Problem::from_store(&error))
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
