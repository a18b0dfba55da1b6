//! `espelho webhook`: `move` allows a webhook to get another address, `replay` has deliveries handled again.

mod replay;

use espelho_model::{StoreKey, text};
use espelho_sync_engine::Problem;
use serde_json::json;

use super::{
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{Cli, MoveArgs, ReplayArgs},
    exit,
};

pub(super) async fn let_move(cli: &Cli, arguments: &MoveArgs) -> u8 {
    let store = arguments.store();
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let done = forget(&reading, store).await;
    reading.store.close().await;
    match done {
        Ok(()) => {
            match cli.json {
                true => println!("{}", json!({ "state": "complete" })),
                false => {
                    let text = text!("run-webhook-moved", store = store);
                    println!("{}", text.message(cli.locale));
                    text.next(cli.locale).iter().for_each(|next| println!("{next}"));
                }
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn forget(reading: &Reading, store: &str) -> Result<(), Problem> {
    for key in named(&reading.configuration, Some(store))? {
        let key: StoreKey = key;
        reading.store.inbox().let_webhook_move(&key).await?;
    }
    Ok(())
}

pub(super) async fn replay(cli: &Cli, arguments: &ReplayArgs) -> u8 {
    replay::run(cli, arguments).await
}
