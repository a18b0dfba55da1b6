//! `espelho migrate`: brings the database to this version's schema.

use std::sync::Arc;

use espelho_model::text;
use espelho_sync_engine::Silent;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{load, say};
use crate::{cli::Cli, context::Shared, exit};

pub(super) async fn run(cli: &Cli) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    match Shared::open(&configuration, "migrate", Arc::new(Silent), CancellationToken::new()).await {
        Ok(shared) => {
            shared.store.close().await;
            match cli.json {
                true => println!("{}", json!({ "state": "complete" })),
                false => println!("{}", text!("copies-migrated").message(cli.locale)),
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}
