//! `espelho plan`: shows what would be sent now; `--apply` sends it.

mod telling;
mod words;

use std::{sync::Arc, time::Duration};

use espelho_model::{
    push::PushState,
    text,
    text::{Arg, Locale},
};
use espelho_store::SeenRow;
use espelho_sync_engine::{
    Problem, Silent,
    push::{NoopListener, PlannedCall, Pusher, preview},
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::{telling::Telling, words::Counts};
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

/// Without progress for this long, the rest is left to the service.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The interval between two progress checks.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// A store, its planned calls, and its rows that wait for a person.
struct Planned {
    config: StoreConfig,
    calls: Vec<PlannedCall>,
    troubled: Vec<SeenRow>,
}

pub(super) async fn run(cli: &Cli, store: Option<&str>, apply: bool) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let keys = match named(&reading.configuration, store) {
        Ok(keys) => keys,
        Err(problem) => return say(&problem, cli),
    };
    let troubled = match reading.store.releases().troubled_rows().await {
        Ok(rows) => rows,
        Err(error) => return say(&Problem::from_store(&error), cli),
    };
    let (mut shown, mut is_settled): (Vec<Planned>, Vec<bool>) = (Vec::new(), Vec::new());
    for config in reading.configuration.stores.iter().filter(|config| keys.contains(&config.key)) {
        match preview(&reading.store, &config.key, &config.push).await {
            Ok(calls) => {
                let is_its = |row: &&SeenRow| row.store == config.key.as_str();
                let troubled = troubled.iter().filter(is_its).cloned().collect();
                shown.push(Planned { config: config.clone(), calls, troubled });
            }
            Err(error) => return say(&Problem::from_store(&error), cli),
        }
        match reading.store.journal().open_effects(&config.key).await {
            Ok(effects) => is_settled.push(effects.is_empty()),
            Err(error) => return say(&Problem::from_store(&error), cli),
        }
    }
    reading.store.close().await;
    if !apply {
        show(&shown, cli);
        return exit::COMPLETE;
    }
    if !cli.json {
        show(&shown, cli);
    }
    // Also if nothing is planned, but an outcome is unknown.
    let has_work = |(planned, is_settled): (Planned, bool)| {
        (!planned.calls.is_empty() || !is_settled).then_some(planned)
    };
    let shown: Vec<Planned> = shown.into_iter().zip(is_settled).filter_map(has_work).collect();
    apply_to(cli, &shown).await
}

fn show(shown: &[Planned], cli: &Cli) {
    if cli.json {
        println!("{}", json!({ "stores": shown.iter().map(as_value).collect::<Vec<_>>() }));
        return;
    }
    for planned in shown {
        println!("{}", headline(planned, cli.locale));
        for line in words::trouble(planned.config.key.as_str(), &planned.troubled) {
            println!("  {}", line.message(cli.locale));
        }
        for line in planned.calls.iter().flat_map(|call| words::row(call, cli.locale)) {
            println!("{line}");
        }
    }
}

fn headline(planned: &Planned, locale: Locale) -> String {
    let Planned { config, calls, troubled } = planned;
    let requests = planned.requests();
    let seconds = Arg::Seconds(i64::from(seconds(config, requests)));
    let kept = calls.iter().filter(|call| call.requests == 0).count();
    let counts = Counts { rows: calls.len(), kept, troubled: troubled.len() };
    words::headline(config.key.as_str(), counts, requests, seconds).message(locale)
}

impl Planned {
    fn requests(&self) -> u32 {
        self.calls.iter().map(|call| call.requests).sum()
    }
}

fn seconds(config: &StoreConfig, requests: u32) -> u32 {
    (requests * 60).div_ceil(config.requests_per_minute.get())
}

fn as_value(planned: &Planned) -> Value {
    let (key, requests) = (planned.config.key.as_str(), planned.requests());
    let count = |state: PushState| planned.troubled.iter().filter(|row| row.state == state).count();
    json!({
        "store": key,
        "requests": requests,
        "seconds": seconds(&planned.config, requests),
        "failed": count(PushState::Failed),
        "held": count(PushState::Held),
        "doubtful": count(PushState::Doubtful),
        "calls": planned.calls.iter().map(call_as_value).collect::<Vec<_>>(),
    })
}

fn call_as_value(call: &PlannedCall) -> Value {
    let PlannedCall { entity, key, diff, calls, requests, note } = call;
    json!({ "entity": entity, "key": key, "diff": diff, "calls": calls, "requests": requests, "note": note })
}

async fn apply_to(cli: &Cli, planned: &[Planned]) -> u8 {
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
        Err(problem) => return say(&problem, cli),
    };
    for Planned { config, calls, .. } in planned {
        let telling = Telling::new(calls.len(), cli);
        if let Err(problem) = push_one(&shared, config, telling).await {
            shared.store.close().await;
            return say(&problem, cli);
        }
    }
    let ended = print_outcome(&shared, planned, cli).await;
    shared.store.close().await;
    match ended {
        Ok(code) => code,
        Err(error) => say(&Problem::from_store(&error), cli),
    }
}

/// Whether a row belongs to a planned call: prices are planned by SKU, and each tier is a row.
fn is_of(call: &PlannedCall, entity: &str, key: &str) -> bool {
    let is_same = match call.entity {
        "price" => key.strip_prefix(&call.key).is_some_and(|rest| rest.starts_with('/')),
        _ => call.key == key,
    };
    call.entity == entity && is_same
}

/// Prints which planned rows are not done, row by row, and returns the exit code.
async fn print_outcome(shared: &Shared, planned: &[Planned], cli: &Cli) -> Result<u8, espelho_store::Error> {
    let (mut open, mut held, mut failed) = (0, 0, 0);
    for Planned { config, calls, .. } in planned {
        open += preview(&shared.store, &config.key, &config.push).await?.len();
        for row in
            shared.store.clone().read_in(cli.locale).history().errors(Some(&config.key), 10_000).await?
        {
            if !cli.json && calls.iter().any(|call| is_of(call, &row.entity, &row.key)) {
                print!("{}", super::errors::as_text(&row, cli.locale));
            }
        }
    }
    for row in shared.store.releases().troubled_rows().await? {
        let is_ours = planned.iter().any(|Planned { config, calls, .. }| {
            config.key.as_str() == row.store
                && calls.iter().any(|call| is_of(call, row.intent.as_str(), &row.key))
        });
        match row.state {
            PushState::Held if is_ours => held += 1,
            _ if is_ours => failed += 1,
            _ => (),
        }
    }
    let state = if open + held + failed == 0 { "complete" } else { "partial" };
    match cli.json {
        true => println!("{}", json!({ "state": state, "open": open, "held": held, "failed": failed })),
        false => {
            let mark = if state == "complete" { '✓' } else { '!' };
            let ended = text!("intents-plan-ended", open = open, held = held, failed = failed);
            println!("{mark} {}", ended.message(cli.locale));
        }
    }
    Ok(match (open, held, failed) {
        (0, 0, 0) => exit::COMPLETE,
        (0, _, 0) => exit::GUARD,
        _ => exit::PARTIAL,
    })
}

async fn push_one(shared: &Shared, config: &StoreConfig, mut telling: Telling) -> Result<(), Problem> {
    let context = shared.context(config).await?;
    let pushed = async {
        let pusher = Pusher::new(&context, &config.push, &NoopListener);
        let (mut waited, nothing_is_written) = (Duration::ZERO, Notify::new());
        loop {
            let mut working = Box::pin(pusher.work(&nothing_is_written));
            let worked = loop {
                tokio::select! {
                    worked = &mut working => break worked?,
                    () = shared.clock.sleep(TELL_EVERY) => telling.look(shared, config).await?,
                }
            };
            telling.look(shared, config).await?;
            let Some(wait) = worked else { break };
            let left = LONGEST_WAIT.saturating_sub(waited);
            if shared.stop.is_cancelled() || left.is_zero() {
                break;
            }
            let wait = wait.min(left).max(Duration::from_millis(10));
            shared.clock.sleep(wait).await;
            waited += wait;
        }
        Ok(())
    };
    let pushed = pushed.await;
    let _ = context.client.limiter().settle().await;
    give_back(config, context.lease).await;
    pushed
}
