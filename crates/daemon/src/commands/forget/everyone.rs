//! `espelho forget --everyone --store KEY`: erases all people of a store.

use espelho_model::{StoreKey, text};
use espelho_store::{Erasure, ErasureCounts};
use espelho_sync_engine::{Problem, Trouble};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Forgotten, Outcome, backups_in, labels_of, remove_files};
use crate::{
    cli::{Cli, ForgetArgs},
    commands::{
        backup, operator, prompt,
        reading::{Reading, named},
    },
};

pub(super) async fn forget(reading: &Reading, cli: &Cli, arguments: &ForgetArgs) -> Result<Outcome, Problem> {
    let erasures = reading.store.erasures();
    let mut stores = Vec::new();
    for store in named(&reading.configuration, arguments.store.as_deref())? {
        let orders = erasures.count_orders(&store).await?;
        let erasure = match arguments.dry_run {
            true => nothing(&store),
            false => {
                confirm(&store, orders, cli, arguments)?;
                erase(reading, &store, orders).await?
            }
        };
        let backups = match reading.store.file() {
            Some(file) => backups_in(&backup::default_folder(file)),
            None => Vec::new(),
        };
        stores.push(Forgotten { orders: usize::try_from(orders).unwrap_or(usize::MAX), erasure, backups });
    }
    let is_compact = arguments.dry_run || erasures.compact().await?;
    Ok(Outcome::Done { stores, is_compact })
}

fn nothing(store: &StoreKey) -> Erasure {
    let (counts, erased_by) = (ErasureCounts::new(), operator());
    Erasure { store: store.clone(), at: None, erased_by, counts, open_commands: 0 }
}

/// Asks the person at the terminal; without one `--yes` is the answer.
fn confirm(store: &StoreKey, orders: u64, cli: &Cli, arguments: &ForgetArgs) -> Result<(), Problem> {
    let question = text!("forget-everyone-confirm", store = store.as_str(), orders = orders);
    match arguments.yes || (prompt::is_possible() && prompt::confirms(&question, cli.locale)) {
        true => Ok(()),
        false => {
            Err(Problem::of(Trouble::Configuration, "not_confirmed", text!("forget-everyone-not-confirmed")))
        }
    }
}

async fn erase(reading: &Reading, store: &StoreKey, orders: u64) -> Result<Erasure, Problem> {
    let erasures = reading.store.erasures();
    let folder = labels_of(reading)?;
    // First the files: where they cannot be removed, nothing is done by half.
    remove_files(&folder, store, &erasures.all_label_files(store).await?).await?;
    let bar = ProgressBar::new(orders);
    bar.set_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len}  {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let erased = erasures.erase_everyone(store, &operator(), &|done| bar.set_position(done)).await;
    bar.finish_and_clear();
    let erasure = erased?;
    // The service may have fetched one again until then.
    remove_files(&folder, store, &erasures.all_label_files(store).await?).await?;
    erasures.forget_all_label_files(store).await?;
    Ok(erasure)
}
