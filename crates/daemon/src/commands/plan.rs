//! `espelho plan`: shows what would be sent now; `--apply` sends it.

mod telling;

use std::{sync::Arc, time::Duration};

use espelho_model::{
    push::PushState,
    text,
    text::{Arg, Locale, Text},
};
use espelho_sync_engine::{
    Problem, Silent,
    push::{NoopListener, PlannedCall, Pusher, preview},
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::telling::Telling;
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

/// A store and its planned calls.
type Planned = (StoreConfig, Vec<PlannedCall>);

pub(super) async fn run(cli: &Cli, store: Option<&str>, apply: bool) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let keys = match named(&reading.configuration, store) {
        Ok(keys) => keys,
        Err(problem) => return say(&problem, cli),
    };
    let (mut shown, mut is_settled): (Vec<Planned>, Vec<bool>) = (Vec::new(), Vec::new());
    for config in reading.configuration.stores.iter().filter(|config| keys.contains(&config.key)) {
        match preview(&reading.store, &config.key, &config.push).await {
            Ok(calls) => shown.push((config.clone(), calls)),
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
    let has_work =
        |(planned, is_settled): (Planned, bool)| (!planned.1.is_empty() || !is_settled).then_some(planned);
    let shown: Vec<Planned> = shown.into_iter().zip(is_settled).filter_map(has_work).collect();
    apply_to(cli, &shown).await
}

fn show(shown: &[Planned], cli: &Cli) {
    if cli.json {
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
        println!("{}", headline(config, calls, cli.locale));
        for call in calls {
            println!("  {} {}  {}", call.entity, call.key, call.diff);
            call.calls.iter().for_each(|line| println!("    {line}"));
            call.note.iter().for_each(|note| println!("    ({note})"));
        }
    }
}

fn headline(config: &StoreConfig, calls: &[PlannedCall], locale: Locale) -> String {
    let requests: u32 = calls.iter().map(|call| call.requests).sum();
    let seconds = Arg::Seconds(i64::from(seconds(config, requests)));
    let (store, rows) = (config.key.as_str(), calls.len());
    let kept = calls.iter().filter(|call| call.requests == 0).count();
    headline_text(store, (rows, kept), requests, seconds).message(locale)
}

/// Says of a store how many rows wait, how many of them are not sent, and what sending the others takes.
fn headline_text(store: &str, (rows, kept): (usize, usize), requests: u32, seconds: Arg) -> Text {
    match rows {
        0 => text!("wishes-plan-nothing", store = store),
        _ => text!(
            "wishes-plan-store",
            store = store,
            rows = rows,
            kept = kept,
            requests = requests,
            seconds = seconds
        ),
    }
}

fn seconds(config: &StoreConfig, requests: u32) -> u32 {
    (requests * 60).div_ceil(config.requests_per_minute.get())
}

fn as_value(call: &PlannedCall) -> Value {
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
    for (config, calls) in planned {
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
    for (config, calls) in planned {
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
        let is_ours = planned.iter().any(|(config, calls)| {
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
            let ended = text!("wishes-plan-ended", open = open, held = held, failed = failed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_what_waits_what_is_sent_and_what_is_not() {
        for (rows, kept, requests, expected) in [
            (0, 0, 0, "loja: nada a enviar; nenhum registro do ERP espera"),
            (1, 0, 3, "loja: 1 registro do ERP espera; 3 chamadas ao marketplace, cerca de 90 s"),
            (
                1,
                1,
                0,
                "loja: 1 registro do ERP espera; nenhuma chamada ao marketplace será feita; 1 registro não será enviado, \
                 pelo motivo entre parênteses",
            ),
            (
                5,
                2,
                1,
                "loja: 5 registros do ERP esperam; 1 chamada ao marketplace, cerca de 90 s; 2 registros não serão \
                 enviados, pelo motivo entre parênteses",
            ),
        ] {
            let text = headline_text("loja", (rows, kept), requests, Arg::Seconds(90));
            assert_eq!(text.message(Locale::default()), expected);
        }
    }
}
