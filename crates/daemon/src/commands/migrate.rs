//! `espelho migrate`: brings the database to this version's schema.

use espelho_model::{clock::SystemClock, text};
use espelho_store::Store;
use espelho_sync_engine::Problem;
use serde_json::json;

use super::{load, say};
use crate::{cli::Cli, config::Configuration, context::refuse_beside_service, exit, place::Place};

pub(super) async fn run(cli: &Cli, may_be_second: bool) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    match migrate(&configuration, may_be_second).await {
        Ok(address) => {
            match cli.json {
                true => println!("{}", json!({ "state": "complete" })),
                false => println!("{}", text!("copies-migrated", address = address).message(cli.locale)),
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn migrate(configuration: &Configuration, may_be_second: bool) -> Result<String, Problem> {
    let place = Place::to_open(configuration, may_be_second)?;
    if !may_be_second {
        refuse_beside_service(configuration, &place).await?;
    }
    let opened = match may_be_second {
        true => Store::open_anew(&place.url, SystemClock::shared()).await,
        false => Store::open(&place.url, SystemClock::shared()).await,
    };
    opened?.close().await;
    Ok(Store::shown(&place.url))
}
