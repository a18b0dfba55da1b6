//! `espelho webhook`: `move` allows a webhook to get another address, `replay` has deliveries handled again.

mod replay;

use espelho_model::text;
use espelho_sync_engine::Problem;
use serde_json::json;

use super::{
    reading::{Reading, named},
    reload::{Ended, reload},
    say,
};
use crate::{
    cli::{Cli, MoveArgs, ReplayArgs},
    exit,
};

/// Moves a webhook to the configured address. A service of this installation reads the configuration first: its login
/// registers the address that it knows.
pub(super) async fn let_move(cli: &Cli, arguments: &MoveArgs) -> u8 {
    let store = arguments.store();
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let done = move_to_configured(&reading, store).await;
    reading.store.close().await;
    match done {
        Ok(has_reloaded) => {
            let text = match has_reloaded {
                true => text!("run-webhook-moving", store = store),
                false => text!("run-webhook-moved", store = store),
            };
            match cli.json {
                true => println!("{}", json!({ "state": "complete" })),
                false => {
                    println!("{}", text.message(cli.locale));
                    text.next(cli.locale).iter().for_each(|next| println!("{next}"));
                }
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

/// Lets the next login register the configured address; returns true if a running service has read the configuration.
async fn move_to_configured(reading: &Reading, store: &str) -> Result<bool, Problem> {
    let keys = named(&reading.configuration, Some(store))?;
    let reloaded = reload(&reading.configuration, &reading.clock).await;
    for key in keys {
        reading.store.inbox().let_webhook_move(&key).await?;
    }
    Ok(matches!(reloaded, Ok(Ended::Whole | Ended::Partly(_))))
}

pub(super) async fn replay(cli: &Cli, arguments: &ReplayArgs) -> u8 {
    replay::run(cli, arguments).await
}
