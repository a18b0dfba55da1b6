//! `espelho get order NUMBER`: a mirrored order with its lines, shipments and fiscal documents. Reads the database only.

use espelho_model::{StoreKey, text};
use espelho_store::{MirroredOrder, Store};
use espelho_sync_engine::{Problem, Trouble};

use super::{
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{Cli, GetOrderArgs},
    exit, mirrored_order,
    terminal::shown,
};

pub(super) async fn order(cli: &Cli, arguments: &GetOrderArgs) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let found = match named(&reading.configuration, arguments.store.as_deref()) {
        Ok(stores) => find(&reading.store, &stores, &arguments.number).await,
        Err(problem) => Err(problem),
    };
    reading.store.close().await;
    let shown = found.and_then(|found| match cli.json {
        true => serde_json::to_string(&found).map_err(|error| unprintable(&error)),
        false => Ok(mirrored_order::as_text(&found, cli.locale)),
    });
    match shown {
        Ok(shown) => {
            println!("{}", shown.trim_end());
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

/// Finds the order in the only store that has one of this number.
async fn find(store: &Store, keys: &[StoreKey], number: &str) -> Result<MirroredOrder, Problem> {
    let mut found = Vec::new();
    for key in keys {
        found.extend(store.history().mirrored_order(key, number).await?.map(|order| (key, order)));
    }
    only_one(found, number)
}

/// Returns the order, unless no store or more than one has it.
fn only_one(mut found: Vec<(&StoreKey, MirroredOrder)>, number: &str) -> Result<MirroredOrder, Problem> {
    match (found.pop(), found.is_empty()) {
        (Some((_, order)), true) => Ok(order),
        (Some((last, _)), false) => {
            let stores: Vec<&str> =
                found.iter().map(|(key, _)| key.as_str()).chain([last.as_str()]).collect();
            let text = text!("get-several", number = shown(number), stores = stores.join(", "));
            Err(Problem::of(Trouble::Configuration, "usage", text))
        }
        (None, _) => {
            let text = text!("get-unknown-order", number = shown(number));
            Err(Problem::of(Trouble::Failure, "unknown_order", text))
        }
    }
}

fn unprintable(error: &serde_json::Error) -> Problem {
    Problem::of(Trouble::Failure, "output", text!("run-output", problem = error.to_string()))
}
