//! `espelho webhook replay`: has kept deliveries handled again. The service finds them by itself.

use espelho_model::{
    StoreKey, text,
    text::{Arg, Locale},
};
use espelho_store::{DeliveryRow, DeliverySelection};
use espelho_sync_engine::{Problem, Trouble};
use serde_json::json;

use super::super::{
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{Cli, ReplayArgs},
    exit,
    replay::{Replay, replay},
    terminal::shown,
};

/// Deliveries that are named one by one; the table has all of them.
const SHOWN: usize = 20;

pub(super) async fn run(cli: &Cli, arguments: &ReplayArgs) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let done = match named(&reading.configuration, arguments.store.as_deref()) {
        Ok(stores) => selected(&reading, &stores, arguments).await,
        Err(problem) => Err(problem),
    };
    reading.store.close().await;
    match done {
        Ok(done) => {
            show(&done, arguments.dry_run, cli);
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn selected(reading: &Reading, stores: &[StoreKey], arguments: &ReplayArgs) -> Result<Replay, Problem> {
    let zone = reading.configuration.locale().timezone;
    let selection = DeliverySelection {
        name: arguments.delivery.clone(),
        since: arguments.since.map(|since| since.instant(reading.clock.now(), zone)),
        event: arguments.event.clone(),
    };
    let done = replay(&reading.store, stores, &selection, arguments.dry_run).await?;
    match done.matching == 0 && arguments.delivery.is_some() {
        true => Err(Problem::of(Trouble::Failure, "no_such_delivery", text!("run-no-such-delivery"))),
        false => Ok(done),
    }
}

fn show(done: &Replay, is_dry_run: bool, cli: &Cli) {
    if cli.json {
        let state = if is_dry_run { "dry_run" } else { "complete" };
        println!(
            "{}",
            json!({
                "state": state, "matching": done.matching, "waiting": done.waiting, "replayed": done.replayed,
                "deliveries": done.first,
            })
        );
        return;
    }
    if is_dry_run {
        done.first.iter().take(SHOWN).for_each(|row| println!("{}", line(row, cli.locale)));
        let hidden = done.matching.saturating_sub(SHOWN as u64);
        if hidden > 0 {
            println!("{}", text!("run-replay-more", deliveries = hidden).message(cli.locale));
        }
    }
    let found = text!("run-replay-matching", deliveries = done.matching, left = done.waiting);
    println!("{}", found.message(cli.locale));
    let did = match is_dry_run {
        true => text!("run-replay-dry"),
        false => text!("run-replayed", deliveries = done.replayed),
    };
    println!("{}", did.message(cli.locale));
}

fn line(row: &DeliveryRow, locale: Locale) -> String {
    let event = row.event.as_deref().map_or_else(|| "?".to_owned(), shown);
    let delivered = match row.handled_at {
        Some(at) => text!("explain-delivered", event = event, handled = Arg::Time(at)),
        None => text!("explain-delivered-open", event = event),
    };
    format!(
        "{} {}  {}  {}",
        shown(&row.store),
        row.id,
        locale.time(row.received_at),
        delivered.message(locale)
    )
}
