//! `espelho restore`: puts a backup in the place of the database.

use std::path::Path;

use espelho_model::{clock::SystemClock, program::quoted, text, text::Text};
use espelho_store::{Restored, restore};
use espelho_sync_engine::{Problem, Trouble};
use serde_json::json;

use super::{
    backup::{Bar, only_files},
    load, say,
};
use crate::{cli::Cli, config::Configuration, context::refuse_beside_service, exit, place::Place};

pub(super) async fn run(cli: &Cli, path: &Path, replace: bool) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    match put_back(&configuration, path, replace).await {
        Ok((restored, place)) => {
            let file = place.file().map(|file| file.display().to_string()).unwrap_or_default();
            tell(&restored, &file, cli);
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn put_back(
    configuration: &Configuration,
    path: &Path,
    replace: bool,
) -> Result<(Restored, Place), Problem> {
    only_files(configuration, |url| text!("copies-postgres-restore", url = url))?;
    let bar = Bar::new();
    let told = |name, done, all| bar.tell(name, done, all);
    let place = Place::to_restore(configuration, path)?;
    if let Some(folder) = place.file().and_then(Path::parent).filter(|folder| !is_there(folder)) {
        let folder = folder.display().to_string();
        let text = text!("copies-no-folder", folder = folder.clone(), quoted = quoted(&folder));
        return Err(Problem::of(Trouble::Configuration, "no_folder", text));
    }
    refuse_beside_service(configuration, &place).await?;
    let restored =
        restore(&place.url, path, replace, (SystemClock::shared(), configuration.locale()), &told).await;
    restored.map(|restored| (restored, place)).map_err(Problem::from)
}

/// Tells whether a folder exists; the one of a name without a folder is the working directory.
fn is_there(folder: &Path) -> bool {
    folder.as_os_str().is_empty() || folder.exists()
}

fn tell(restored: &Restored, place: &str, cli: &Cli) {
    let Restored { kept, replaced, feed_from } = restored;
    let deliveries = replaced.map_or(0, |replaced| replaced.deliveries);
    if cli.json {
        let kept = kept.as_ref().map(|kept| kept.display().to_string());
        let told = json!({ "state": "complete", "database": place, "kept": kept, "deliveries": deliveries, "feed_from": feed_from });
        println!("{told}");
        return;
    }
    let say = |text: Text| println!("{}", text.message(cli.locale));
    say(text!("copies-restored", place = place));
    if let Some(kept) = kept {
        say(text!("copies-kept", folder = kept.display().to_string()));
    }
    if let Some(replaced) = replaced {
        match replaced.inbox_read {
            true => say(text!("copies-deliveries", deliveries = deliveries)),
            false => say(text!("copies-inbox-lost")),
        }
        if !replaced.mirror_read {
            say(text!("copies-mirror-lost"));
        }
    }
    say(text!("copies-feed", from = feed_from.to_string()));
    say(text!("copies-next-start"));
    say(text!("copies-other-installation"));
}
