//! `espelho plan`: what would be sent now, and with `--apply` the sending of it.

use std::{sync::Arc, time::Duration};

use espelho_sync_engine::{
    Problem, Silent,
    push::{Next, NobodyLooks, PlannedCall, Pusher, preview},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    load,
    reading::{Reading, named},
    say,
};
use crate::{
    cli::Cli,
    config::StoreConfig,
    context::{Shared, give_back, stop_on_signals},
    exit,
};

/// The code of a level that is there, and below what is reserved of it.
const OVERSOLD: &str = "oversold";
/// What waits for longer than this is left to the service.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

pub(super) async fn run(cli: &Cli, store: Option<&str>, apply: bool) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let keys = match named(&reading.configuration, store) {
        Ok(keys) => keys,
        Err(problem) => return say(&problem, cli.json),
    };
    let mut shown = Vec::new();
    for config in reading.configuration.stores.iter().filter(|config| keys.contains(&config.key)) {
        match preview(&reading.store, &config.key, &config.push).await {
            Ok(calls) => shown.push((config.clone(), calls)),
            Err(error) => return say(&Problem::from_store(&error), cli.json),
        }
    }
    reading.store.close().await;
    if !apply {
        show(&shown, cli.json);
        return exit::COMPLETE;
    }
    if !cli.json {
        show(&shown, false);
    }
    let stores: Vec<StoreConfig> =
        shown.into_iter().filter(|(_, calls)| !calls.is_empty()).map(|(config, _)| config).collect();
    apply_to(cli, &stores).await
}

fn show(shown: &[(StoreConfig, Vec<PlannedCall>)], as_json: bool) {
    if as_json {
        let stores: Vec<Value> = shown
            .iter()
            .map(|(config, calls)| {
                let requests: u32 = calls.iter().map(|call| call.requests).sum();
                json!({ "store": config.key.as_str(), "requests": requests, "seconds": seconds(config, requests),
                    "calls": calls.iter().map(as_value).collect::<Vec<_>>() })
            })
            .collect();
        println!("{}", json!({ "stores": stores }));
        return;
    }
    for (config, calls) in shown {
        let requests: u32 = calls.iter().map(|call| call.requests).sum();
        let seconds = seconds(config, requests);
        println!(
            "{}: {} linha(s) / row(s), {requests} chamada(s) / request(s), {seconds} s",
            config.key,
            calls.len()
        );
        for call in calls {
            println!("  {} {}  {}", call.entity, call.key, call.diff);
            call.calls.iter().for_each(|line| println!("    {line}"));
            call.note.iter().for_each(|note| println!("    ({note})"));
        }
    }
}

fn seconds(config: &StoreConfig, requests: u32) -> u32 {
    (requests * 60).div_ceil(config.requests_per_minute.get())
}

fn as_value(call: &PlannedCall) -> Value {
    let PlannedCall { entity, key, diff, calls, requests, note } = call;
    json!({ "entity": entity, "key": key, "diff": diff, "calls": calls, "requests": requests, "note": note })
}

async fn apply_to(cli: &Cli, stores: &[StoreConfig]) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    let stop = CancellationToken::new();
    if let Err(error) = stop_on_signals(&stop) {
        eprintln!("espelho: {error}");
        return exit::FAILED;
    }
    let shared = match Shared::open(&configuration, "plan --apply", Arc::new(Silent), stop).await {
        Ok(shared) => shared,
        Err(problem) => return say(&problem, cli.json),
    };
    for config in stores {
        if let Err(problem) = push_one(&shared, config).await {
            shared.store.close().await;
            return say(&problem, cli.json);
        }
    }
    let mut failed = 0;
    for config in stores {
        let errors = shared.store.errors(Some(&config.key), 10_000).await.unwrap_or_default();
        let own =
            errors.into_iter().filter(|row| matches!(row.entity.as_str(), "stock" | "price" | "command"));
        for row in own {
            // What is there as it was wanted has not failed, whatever else is to be said of it.
            failed += u32::from(row.code != OVERSOLD);
            if !cli.json {
                print!("{}", super::errors::as_text(&row));
            }
        }
    }
    shared.store.close().await;
    let state = if failed == 0 { "complete" } else { "partial" };
    match cli.json {
        true => println!("{}", json!({ "state": state, "failed": failed })),
        false => println!("{state}: {failed} linha(s) com erro / row(s) with an error"),
    }
    if failed == 0 { exit::COMPLETE } else { exit::PARTIAL }
}

async fn push_one(shared: &Shared, config: &StoreConfig) -> Result<(), Problem> {
    let context = shared.context(config).await?;
    let pushed = async {
        let pusher = Pusher::new(&context, &config.push, &NobodyLooks);
        loop {
            match pusher.round().await? {
                Next::Now => (),
                Next::After(wait) if wait <= LONGEST_WAIT => shared.clock.sleep(wait).await,
                Next::After(_) | Next::Idle => return Ok(()),
            }
            if shared.stop.is_cancelled() {
                return Ok(());
            }
        }
    };
    let pushed = pushed.await;
    let _ = context.client.gate().settle().await;
    give_back(config, context.lease).await;
    pushed
}
